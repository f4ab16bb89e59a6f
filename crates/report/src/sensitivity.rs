//! A comparison across profiles as tables, Markdown, JSON and rows.

mod answer;
mod grids;
pub mod page;

use std::io;

use serde::Serializer;
use serde::ser::SerializeMap as _;

use super::ALL;
use crate::blocks::{Block, blocks_to_markdown, draw_blocks};
use crate::prelude::*;
use answer::PriceAnswer;
use ctxsim_engine::measure::Label;
use ctxsim_engine::measure::sensitivity::{
    ComparedProfile, PriceCell, Sensitivity, SensitivityGrid as Compared,
};
use ctxsim_input::profile::price::VariedRate;
use ctxsim_timeline::row::json::{EachOf, write_json};
use ctxsim_timeline::row::{Columns as _, Fields, columns, fields, row_fields};
use grids::{comparison_notes, counts_heading, detail_grids, first_grids, lettered_policies};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.sensitivity/1";

/// More answers leave their tables to those who ask for details, so that forty lines are enough.
const ANSWERS_WITH_TABLES: usize = 2;

/// One policy under one profile.
struct PriceCellRow<'a> {
    profile: &'a ComparedProfile,
    policy: &'a str,
    cell: &'a PriceCell,
    label: Option<Label>,
}

columns! { PriceCellRow<'_>;
    /// The profile.
    "profile": Text = |it| it.profile.name.clone(),
    /// The policy.
    "policy": Text = |it| it.policy.to_owned(),
    /// The cost; null if it is unknown.
    "cost_usd": Usd = |it| it.cell.cost(),
    /// Its place among the policies by cost, from 1; null where it stopped.
    "rank": Count = |it| it.cell.rank,
    /// Whether a limit stopped it.
    "stopped": Flag = |it| it.cell.is_stopped,
    /// The share of the prompts that was read from the cache.
    "cache_hit_ratio": Share = |it| it.cell.cache_hit_ratio,
    /// The share of needed evidence that prompts still held; null without needs.
    "evidence_kept": Share = |it| it.cell.evidence_kept(),
    /// What is remembered, for loads in which something is.
    "remembered": Group(Vec::new) sparse = |it| it.cell.remembered.as_deref().map(Value::serialised),
    /// Tokens of recovery.
    "recovery_tokens": Tokens = |it| it.cell.recovery_tokens,
    /// The share of tool results' tokens that prompts show.
    "results_shown": Share = |it| it.cell.results_shown,
    /// The longest prompt as a share of the limit.
    "of_limit": Share = |it| it.cell.of_limit,
    /// How it compares with the first policy.
    "label": Text = |it| it.label.map(|label| Value::serialised(&label)),
    /// By rate: the elasticity of the cost, and the cost with the rate a tenth lower and a tenth higher.
    "rates": Group(Vec::new) = |it| it.rate_effects(),
}

impl PriceCellRow<'_> {
    fn rate_effects(&self) -> Value {
        let rate = |part: VariedRate| {
            let [low, high] = self.cell.cost_at(part);
            let costs = [("cost_usd_at_90_percent", low), ("cost_usd_at_110_percent", high)];
            let elasticity = [("elasticity", self.cell.elasticity(part))];
            (part.name(), Value::from_iter(elasticity.into_iter().chain(costs)))
        };
        VariedRate::ALL.into_iter().map(rate).collect()
    }
}

/// Returns the comparison as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn sensitivity_json(comparison: &Sensitivity) -> Result<String, serde_json::Error> {
    json_text(&Document(comparison))
}

/// Writes the comparison as one JSON document, load by load.
///
/// # Errors
/// A value that JSON cannot hold, or it cannot be written.
pub fn write_json_document(comparison: &Sensitivity, to: impl io::Write) -> Result<(), serde_json::Error> {
    write_json(&Document(comparison), to)
}

/// The comparison as a JSON document: the loads have a row for each policy under each profile, so they are made one by one.
struct Document<'a>(&'a Sensitivity);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let comparison = self.0;
        let profiles = comparison.profiles.iter().map(|profile| {
            group! {
                "profile": profile.name.clone(),
                "as_of": profile.as_of.clone(),
                "tokens": profile.counts(),
                "break_even": Value::serialised(&profile.break_even),
            }
        });
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        map.serialize_entry("policies", &comparison.policies)?;
        map.serialize_entry("distinct_rules_and_limits", &comparison.n_distinct)?;
        map.serialize_entry("simulations", &comparison.n_simulations)?;
        map.serialize_entry("asked", &comparison.asked.as_ref().map(Value::serialised))?;
        let answers = PriceAnswer::all(comparison).iter().map(PriceAnswer::to_json).listed();
        map.serialize_entry("answer", &answers.first())?;
        map.serialize_entry("answers", &answers)?;
        map.serialize_entry("profiles", &profiles.listed())?;
        let loads = || comparison.grids.iter().map(|grid| scenario_json(comparison, grid));
        map.serialize_entry("loads", &EachOf(loads))?;
        map.end()
    }
}

/// Returns a scenario, or all of them.
fn scenario_json(sensitivity: &Sensitivity, grid: &Compared) -> Value {
    let policy = |index: usize| sensitivity.policies[index].clone();
    let cheapest = sensitivity.profiles.iter().zip(&grid.rows).map(|(profile, row)| {
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
        let names = |all: &Vec<usize>| all.iter().map(|it| sensitivity.profiles[*it].name.clone()).listed();
        let [first, second] = flip.cheaper.each_ref().map(names);
        let policies = flip.policies.map(policy).to_vec();
        group! { "policies": policies, "first_cheaper": first, "second_cheaper": second }
    });
    group! {
        "scenario": grid.load.clone(),
        "cells": price_cell_rows(sensitivity, grid).map(|it| fields(&it)).listed(),
        "cheapest": cheapest.listed(),
        "flips": flips.listed(),
    }
}

/// Returns the cells with their profile and policy.
fn price_cell_rows<'a>(all: &'a Sensitivity, grid: &'a Compared) -> impl Iterator<Item = PriceCellRow<'a>> {
    all.profiles.iter().zip(&grid.rows).flat_map(|(profile, row)| {
        let policies = all.policies.iter().zip(&row.cells).enumerate();
        policies.map(|(nth, (policy, cell))| PriceCellRow { profile, policy, cell, label: row.label(nth) })
    })
}

/// Returns the comparison as rows: one per policy, profile and scenario, with the profile's break-even points.
pub fn sensitivity_rows(comparison: &Sensitivity) -> Rows {
    let columns = PriceCellRow::columns();
    let mut rows = Vec::new();
    // Whoever adds up a column counts each scenario once.
    for grid in comparison.grids.iter().filter(|it| it.load != ALL) {
        for row in price_cell_rows(comparison, grid) {
            let (scenario, as_of) = (grid.load.clone(), row.profile.as_of.clone());
            let mut all: Fields = vec![("scenario".into(), scenario.into()), ("as_of".into(), as_of.into())];
            all.extend(row_fields(&columns, &row));
            all.push(("break_even".into(), Value::serialised(&row.profile.break_even)));
            rows.push(all);
        }
    }
    Rows { rows, ..Rows::default() }
}

/// Returns the comparison as Markdown; `is_detailed` shows every scenario and every policy's elasticities.
pub fn markdown(comparison: &Sensitivity, is_detailed: bool) -> Markdown {
    blocks_to_markdown(&text_blocks(comparison, is_detailed))
}

/// Returns the comparison for a terminal; `is_detailed` shows every scenario and every policy's elasticities.
pub fn terminal_text(comparison: &Sensitivity, is_detailed: bool, terminal: impl Into<Terminal>) -> String {
    draw_blocks(&text_blocks(comparison, is_detailed), "", terminal.into())
}

/// The answer, what each policy saves, the price lists that matter, and what else to know; in detail, every table, in which letters stand for policies.
fn text_blocks(comparison: &Sensitivity, is_detailed: bool) -> Vec<Block> {
    let answers = PriceAnswer::all(comparison);
    let mut blocks = Vec::new();
    for answer in &answers {
        let [number, what] = answer.headline();
        let of = text_if(answers.len() > 1, || format!("{}, ", answer.group.title));
        blocks.push(Block::Answer(format!("{of}{number} {what}. {}", answer.sentences().join(" "))));
    }
    let n_told = if is_detailed || answers.len() <= ANSWERS_WITH_TABLES { answers.len() } else { 0 };
    blocks.extend(answers[..n_told].iter().flat_map(|it| first_grids(it, n_told == 1)).map(Block::Table));
    if is_detailed {
        blocks.extend(Block::list_if_any(&counts_heading(comparison), lettered_policies(comparison)));
        blocks.extend(detail_grids(&answers, comparison).into_iter().map(Block::Table));
    } else {
        blocks.push(Block::Aside(format!("{}.", counts_heading(comparison))));
    }
    blocks.push(Block::Notes(comparison_notes(comparison, is_detailed)));
    let more = "More: --details for every price list, scenario and break-even point, --format json or csv for each number, \
                and --html for a picture.";
    blocks.push(Block::Aside(more.to_owned()));
    blocks
}
