//! A comparison across profiles as tables, Markdown, JSON and CSV.

mod grids;
mod policies;

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Serialize;

use super::{ALL, csv};
use crate::grid::prose::wrap;
use crate::grid::{markdown, terminal};
use crate::input::profile::price::Part;
use crate::input::suite::Habits;
use crate::measure::sensitivity::{Cell, Grid as Compared, Sensitivity};
use crate::measure::{BreakEven, Label, Remembered};
use grids::{heading, letters, notes, tables};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.sensitivity/1";

/// A comparison as programs read it.
#[derive(Debug, Serialize)]
struct DocumentJson<'a> {
    schema: &'static str,
    policies: &'a [String],
    distinct_rules_and_limits: usize,
    simulations: usize,
    asked: Option<&'a Habits>,
    profiles: Vec<ProfileJson<'a>>,
    loads: Vec<LoadJson<'a>>,
}

/// A profile as programs read it.
#[derive(Debug, Serialize)]
struct ProfileJson<'a> {
    profile: &'a str,
    as_of: &'a str,
    break_even: &'a BreakEven,
}

/// A scenario, or all of them, as programs read it.
#[derive(Debug, Serialize)]
struct LoadJson<'a> {
    scenario: &'a str,
    cells: Vec<CellJson<'a>>,
    cheapest: Vec<CheapestJson<'a>>,
    flips: Vec<FlipJson<'a>>,
}

/// One policy under one profile as programs read it.
#[derive(Debug, Serialize)]
struct CellJson<'a> {
    profile: &'a str,
    policy: &'a str,
    cost_usd: Option<f64>,
    rank: Option<usize>,
    stopped: bool,
    cache_hit_ratio: f64,
    evidence_kept: Option<f64>,
    /// Present for loads in which something is remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    remembered: Option<&'a Remembered>,
    recovery_tokens: Option<f64>,
    results_shown: Option<f64>,
    of_limit: Option<f64>,
    label: Option<Label>,
    rates: IndexMap<&'static str, RateJson>,
}

/// A rate's share of a bill, in JSON.
#[derive(Debug, Serialize)]
struct RateJson {
    elasticity: Option<f64>,
    cost_usd_at_90_percent: Option<f64>,
    cost_usd_at_110_percent: Option<f64>,
}

/// The cheapest policy under one profile as programs read it.
#[derive(Debug, Serialize)]
struct CheapestJson<'a> {
    profile: &'a str,
    policy: Option<&'a str>,
    /// Whether every policy costs nothing, so that none is the cheapest.
    free: bool,
    until: Option<UntilJson<'a>>,
}

/// The nearest change of a rate that makes another policy the cheapest, in JSON.
#[derive(Debug, Serialize)]
struct UntilJson<'a> {
    rate: &'static str,
    factor: f64,
    then: &'a str,
}

/// Two policies whose order depends on the profile, as programs read them.
#[derive(Debug, Serialize)]
struct FlipJson<'a> {
    policies: [&'a str; 2],
    first_cheaper: Vec<&'a str>,
    second_cheaper: Vec<&'a str>,
}

/// Returns the comparison as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(it: &Sensitivity) -> Result<String, serde_json::Error> {
    let document = DocumentJson {
        schema: SCHEMA,
        policies: &it.policies,
        distinct_rules_and_limits: it.n_distinct,
        simulations: it.n_simulations,
        asked: it.asked.as_ref(),
        profiles: it
            .profiles
            .iter()
            .map(|it| ProfileJson { profile: &it.name, as_of: &it.as_of, break_even: &it.break_even })
            .collect(),
        loads: it.grids.iter().map(|grid| load(it, grid)).collect(),
    };
    serde_json::to_string_pretty(&document).map(|it| it + "\n")
}

fn load<'a>(all: &'a Sensitivity, grid: &'a Compared) -> LoadJson<'a> {
    let rows = || all.profiles.iter().map(|it| it.name.as_str()).zip(&grid.rows);
    let policy = |index: usize| all.policies[index].as_str();
    let cheapest = rows().map(|(profile, row)| CheapestJson {
        profile,
        policy: row.cheapest().map(policy),
        free: row.is_free(),
        until: row.nearest.map(|it| UntilJson {
            rate: it.part.name(),
            factor: it.factor,
            then: policy(it.policy),
        }),
    });
    let flips = grid.flips.iter().map(|flip| {
        let [first_cheaper, second_cheaper] =
            flip.cheaper.each_ref().map(|it| it.iter().map(|it| all.profiles[*it].name.as_str()).collect());
        FlipJson { policies: flip.policies.map(policy), first_cheaper, second_cheaper }
    });
    LoadJson {
        scenario: &grid.load,
        cells: cells(all, grid).collect(),
        cheapest: cheapest.collect(),
        flips: flips.collect(),
    }
}

/// Returns the cells with their profile and policy.
fn cells<'a>(all: &'a Sensitivity, grid: &'a Compared) -> impl Iterator<Item = CellJson<'a>> {
    all.profiles.iter().zip(&grid.rows).flat_map(|(profile, row)| {
        let policies = all.policies.iter().zip(&row.cells).enumerate();
        policies.map(|(index, (policy, it))| cell(&profile.name, policy, it, row.label(index)))
    })
}

fn cell<'a>(profile: &'a str, policy: &'a str, cell: &'a Cell, label: Option<Label>) -> CellJson<'a> {
    let rates = Part::ALL.map(|part| {
        let [cost_usd_at_90_percent, cost_usd_at_110_percent] = cell.cost_at(part);
        let elasticity = cell.elasticity(part);
        (part.name(), RateJson { elasticity, cost_usd_at_90_percent, cost_usd_at_110_percent })
    });
    CellJson {
        profile,
        policy,
        cost_usd: cell.cost(),
        rank: cell.rank,
        stopped: cell.is_stopped(),
        cache_hit_ratio: cell.tally.cache_hit_ratio(),
        evidence_kept: cell.tally.evidence_kept(),
        remembered: cell.remembered.as_ref(),
        recovery_tokens: policies::recovery_tokens(cell),
        results_shown: policies::results_shown(cell),
        of_limit: policies::of_limit(cell),
        label,
        rates: rates.into_iter().collect(),
    }
}

/// Returns the comparison as comma-separated values: one line per policy, profile and scenario, with the
/// profile's break-even points.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn values(it: &Sensitivity) -> Result<String, serde_json::Error> {
    let mut rows = Vec::new();
    // Whoever adds up a column counts each scenario once.
    for grid in it.grids.iter().filter(|it| it.load != ALL) {
        let points = it.profiles.iter().flat_map(|profile| {
            std::iter::repeat_n((profile.as_of.as_str(), &profile.break_even), it.policies.len())
        });
        for (one, (as_of, break_even)) in cells(it, grid).zip(points) {
            let mut row = IndexMap::from([
                ("scenario".to_owned(), grid.load.clone()),
                ("as_of".to_owned(), as_of.to_owned()),
            ]);
            row.extend(csv::flat(&serde_json::to_string(&one)?)?);
            for (name, value) in csv::flat(&serde_json::to_string(break_even)?)? {
                row.insert(format!("break_even.{name}"), value);
            }
            rows.push(row);
        }
    }
    Ok(csv::table(&rows))
}

/// Returns the comparison as Markdown; `is_detailed` shows every scenario and every policy's elasticities.
#[must_use]
pub fn markdown(it: &Sensitivity, is_detailed: bool) -> String {
    let mut text = format!("{}\n\n", heading(it));
    for (letter, policy) in letters(it).iter().zip(&it.policies) {
        let _ = writeln!(text, "- **{letter}** {policy}");
    }
    text.push('\n');
    for grid in tables(it, is_detailed) {
        text += &markdown::table(&grid);
        if let Some(legend) = grids::legend(&grid, &[]) {
            let _ = writeln!(text, "{legend}\n");
        }
    }
    if let Some(cheapest) = grids::cheapest(it) {
        let _ = writeln!(text, "{cheapest}\n");
    }
    for note in notes(it) {
        let _ = writeln!(text, "- {note}");
    }
    text
}

/// Returns the comparison as tables for people, notes wrapped at the width of a terminal; `is_detailed` shows every scenario and every policy's elasticities.
#[must_use]
pub fn table(it: &Sensitivity, is_detailed: bool, width: Option<usize>) -> String {
    let mut text = String::new();
    wrap(&heading(it), "", width, &mut text);
    for (letter, policy) in letters(it).iter().zip(&it.policies) {
        let _ = writeln!(text, "  {letter}  {policy}");
    }
    let mut hidden = Vec::new();
    for grid in tables(it, is_detailed) {
        let drawn = terminal::draw(&grid, width);
        let _ = writeln!(text, "\n{}\n{}", grid.title, drawn.text);
        if let Some(legend) = grids::legend(&grid, &drawn.hidden) {
            wrap(&legend, "", width, &mut text);
        }
        hidden.extend(drawn.hidden);
    }
    text.push('\n');
    if let Some(cheapest) = grids::cheapest(it) {
        wrap(&cheapest, "", width, &mut text);
    }
    if let Some(note) = terminal::hidden_note(hidden) {
        wrap(&note, "Note: ", width, &mut text);
    }
    for note in notes(it) {
        wrap(&note, "Note: ", width, &mut text);
    }
    let more = "--details for each scenario and policy, --sort and --top for fewer price lists, --format \
        json or csv for each number.";
    wrap(more, "More: ", width, &mut text);
    text
}
