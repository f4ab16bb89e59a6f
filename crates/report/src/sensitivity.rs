//! A comparison across profiles as tables, Markdown, JSON and rows.

mod grids;
pub mod page;

use std::io;

use serde::Serializer;
use serde::ser::SerializeMap as _;

use super::ALL;
use crate::prelude::*;
use ctxsim_base::grid::terminal;
use ctxsim_engine::measure::Label;
use ctxsim_engine::measure::sensitivity::{PriceCell, Sensitivity, SensitivityGrid as Compared};
use ctxsim_input::profile::price::VariedRate;
use ctxsim_timeline::row::json::{EachOf, write_json};
use ctxsim_timeline::row::{Columns as _, Fields, columns, fields, row_fields};
use grids::{heading, letters, notes, tables};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.sensitivity/1";

/// One policy under one profile.
struct One<'a> {
    profile: &'a str,
    policy: &'a str,
    cell: &'a PriceCell,
    label: Option<Label>,
}

columns! { One<'_>;
    /// The profile.
    "profile": Text = |it| it.profile.to_owned(),
    /// The policy.
    "policy": Text = |it| it.policy.to_owned(),
    /// The cost; null if it is unknown.
    "cost_usd": Usd = |it| it.cell.cost(),
    /// Its place among the policies by cost, from 1; null where it stopped.
    "rank": Count = |it| it.cell.rank,
    /// Whether a limit stopped it.
    "stopped": Flag = |it| it.cell.is_stopped(),
    /// The share of the prompts that was read from the cache.
    "cache_hit_ratio": Share = |it| it.cell.cache_hit_ratio,
    /// The share of needed evidence that prompts still held; null without needs.
    "evidence_kept": Share = |it| it.cell.evidence_kept(),
    /// What is remembered, for loads in which something is.
    "remembered": Group(Vec::new) sparse = |it| it.cell.remembered.as_deref().map(Value::serialised),
    /// Tokens of recovery.
    "recovery_tokens": Tokens = |it| it.cell.recovery_tokens(),
    /// The share of tool results' tokens that prompts show.
    "results_shown": Share = |it| it.cell.results_shown(),
    /// The longest prompt as a share of the limit.
    "of_limit": Share = |it| it.cell.of_limit(),
    /// How it compares with the first policy.
    "label": Text = |it| it.label.map(|label| Value::serialised(&label)),
    /// By rate: the elasticity of the cost, and the cost with the rate a tenth lower and a tenth higher.
    "rates": Group(Vec::new) = |it| it.rates(),
}

impl One<'_> {
    fn rates(&self) -> Value {
        let rate = |part: VariedRate| {
            let [low, high] = self.cell.cost_at(part);
            let costs = [("cost_usd_at_90_percent", low), ("cost_usd_at_110_percent", high)];
            let all = std::iter::once(("elasticity", self.cell.elasticity(part))).chain(costs);
            (part.name(), Value::from_iter(all))
        };
        VariedRate::ALL.into_iter().map(rate).collect()
    }
}

/// Returns the comparison as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(it: &Sensitivity) -> Result<String, serde_json::Error> {
    json_text(&Document(it))
}

/// Writes the comparison as one JSON document, load by load.
///
/// # Errors
/// A value that JSON cannot hold, or it cannot be written.
pub fn write_document(it: &Sensitivity, to: impl io::Write) -> Result<(), serde_json::Error> {
    write_json(&Document(it), to)
}

/// The comparison as a JSON document: the loads have a row for each policy under each profile, so they are made one by one.
struct Document<'a>(&'a Sensitivity);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let it = self.0;
        let profiles = it.profiles.iter().map(|it| {
            group! {
                "profile": it.name.clone(),
                "as_of": it.as_of.clone(),
                "tokens": it.counts(),
                "break_even": Value::serialised(&it.break_even),
            }
        });
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        map.serialize_entry("policies", &it.policies)?;
        map.serialize_entry("distinct_rules_and_limits", &it.n_distinct)?;
        map.serialize_entry("simulations", &it.n_simulations)?;
        map.serialize_entry("asked", &it.asked.as_ref().map(Value::serialised))?;
        map.serialize_entry("profiles", &profiles.listed())?;
        map.serialize_entry("loads", &EachOf(|| it.grids.iter().map(|grid| load(it, grid))))?;
        map.end()
    }
}

/// Returns a scenario, or all of them.
fn load(all: &Sensitivity, grid: &Compared) -> Value {
    let policy = |index: usize| all.policies[index].clone();
    let cheapest = all.profiles.iter().zip(&grid.rows).map(|(profile, row)| {
        let until = row
            .nearest
            .map(|it| group! { "rate": it.part.name(), "factor": it.factor, "then": policy(it.policy) });
        group! {
            "profile": profile.name.clone(),
            "policy": row.cheapest().map(policy),
            // Every policy costs nothing, so that none is the cheapest.
            "free": row.is_free(),
            "until": until,
        }
    });
    let flips = grid.flips.iter().map(|flip| {
        let names = |all_of: &Vec<usize>| all_of.iter().map(|it| all.profiles[*it].name.clone()).listed();
        let [first, second] = flip.cheaper.each_ref().map(names);
        let policies = flip.policies.map(policy).to_vec();
        group! { "policies": policies, "first_cheaper": first, "second_cheaper": second }
    });
    group! {
        "scenario": grid.load.clone(),
        "cells": cells(all, grid).map(|it| fields(&it)).listed(),
        "cheapest": cheapest.listed(),
        "flips": flips.listed(),
    }
}

/// Returns the cells with their profile and policy.
fn cells<'a>(all: &'a Sensitivity, grid: &'a Compared) -> impl Iterator<Item = One<'a>> {
    all.profiles.iter().zip(&grid.rows).flat_map(|(profile, row)| {
        let policies = all.policies.iter().zip(&row.cells).enumerate();
        policies.map(|(index, (policy, cell))| One {
            profile: &profile.name,
            policy,
            cell,
            label: row.label(index),
        })
    })
}

/// Returns the comparison as rows: one per policy, profile and scenario, with the profile's break-even points.
pub fn rows(it: &Sensitivity) -> Rows {
    let columns = One::columns();
    let mut rows = Vec::new();
    // Whoever adds up a column counts each scenario once.
    for grid in it.grids.iter().filter(|it| it.load != ALL) {
        let profiles = it.profiles.iter().flat_map(|profile| std::iter::repeat_n(profile, it.policies.len()));
        for (one, profile) in cells(it, grid).zip(profiles) {
            let mut fields: Fields = vec![
                ("scenario".into(), grid.load.clone().into()),
                ("as_of".into(), profile.as_of.clone().into()),
            ];
            fields.extend(row_fields(&columns, &one));
            fields.push(("break_even".into(), Value::serialised(&profile.break_even)));
            rows.push(fields);
        }
    }
    Rows { rows, ..Rows::default() }
}

/// Returns the comparison as Markdown; `is_detailed` shows every scenario and every policy's elasticities.
pub fn markdown(it: &Sensitivity, is_detailed: bool) -> Markdown {
    let mut text = Markdown::default();
    page::answer_in_words(it).iter().for_each(|it| text.paragraph(it));
    text.paragraph(&heading(it));
    letters(it).iter().zip(&it.policies).for_each(|(letter, policy)| text.lettered(letter, policy));
    text.end();
    for grid in tables(it, is_detailed) {
        text.table(&grid);
        grids::legend(&grid, &[]).iter().for_each(|it| text.paragraph(it));
    }
    notes(it).iter().for_each(|it| text.item(it));
    text
}

/// Returns the comparison as tables for people, notes wrapped at the width of a terminal; `is_detailed` shows every scenario and every policy's elasticities.
pub fn table(it: &Sensitivity, is_detailed: bool, on: impl Into<Terminal>) -> String {
    let on = on.into();
    let mut text = String::new();
    on.paragraphs(Tint::Strong, "", page::answer_in_words(it), &mut text);
    text.push('\n');
    on.paragraph(Tint::Plain, "", &heading(it), &mut text);
    for (letter, policy) in letters(it).iter().zip(&it.policies) {
        text += &format!("  {letter}  {policy}\n");
    }
    let mut hidden = Vec::new();
    for grid in tables(it, is_detailed) {
        let drawn = terminal::draw(&grid, on);
        text += &format!("\n{}\n{}\n", on.paint(Tint::Strong, &grid.title), drawn.text);
        on.paragraphs(Tint::Faint, "", grids::legend(&grid, &drawn.hidden), &mut text);
        hidden.extend(drawn.hidden);
    }
    if on.is_quiet {
        return text;
    }
    text.push('\n');
    on.paragraphs(Tint::Faint, "Note: ", terminal::hidden_note(hidden), &mut text);
    on.paragraphs(Tint::Faint, "Note: ", notes(it), &mut text);
    let more = "--details for each scenario and policy, --sort and --top for fewer price lists, --format \
        json or csv for each number.";
    on.paragraph(Tint::Faint, "More: ", more, &mut text);
    text
}
