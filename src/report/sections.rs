//! The tables of a report: one a group of scenarios and a profile, one line a policy.

use super::numbers::{self, NONE};
use super::{ALL, Report, Run, distinct};
use crate::measure::Tally;
use crate::quantity::Tokens;

/// Up to so many scenarios are shown beside their sum.
const FEW_SCENARIOS: usize = 3;

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Groups of scenarios.
    #[default]
    Groups,
    /// Every scenario too, and what is assumed.
    Scenarios,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What was run: a scenario, or a group of them.
    pub load: String,
    /// Under which profile.
    pub profile: String,
    /// The day of the profile's prices.
    pub as_of: String,
    /// The policies; the first is what the others are measured against.
    pub lines: Vec<Line>,
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The policy.
    pub policy: String,
    /// Its numbers.
    pub tally: Tally,
    /// Where it stopped at a limit.
    pub stopped: Option<String>,
}

/// What a table's columns are called.
pub const COLUMNS: [&str; 11] = [
    "policy",
    "requests",
    "prompt max",
    "cache hit",
    "read",
    "write",
    "uncached",
    "recovery calls",
    "evidence kept",
    "cost USD",
    "Δ cost",
];

/// How tokens are written.
pub type Digits = fn(Tokens) -> String;

impl Section {
    /// Returns the cells, line by line, in the order of [`COLUMNS`].
    #[must_use]
    pub fn cells(&self, digits: Digits) -> Vec<Vec<String>> {
        let costs = self.lines.iter().map(|it| it.tally.costs.total());
        let decimals = numbers::decimals(costs.fold(0.0, f64::max));
        self.lines.iter().enumerate().map(|(index, it)| self.line(index, it, digits, decimals)).collect()
    }

    fn line(&self, index: usize, line: &Line, digits: Digits, decimals: usize) -> Vec<String> {
        let (tally, first) = (&line.tally, &self.lines[0].tally);
        let main = &tally.sums.main;
        let is_same_work = tally.outcome.turns_completed == first.outcome.turns_completed;
        let change = (index > 0 && is_same_work)
            .then(|| numbers::change(tally.costs.total(), first.costs.total()))
            .flatten();
        let calls = tally.has_needs.then(|| numbers::expected(tally.sums.needs.calls));
        let or_none = |it: Option<String>| it.unwrap_or_else(|| NONE.to_owned());
        vec![
            line.policy.clone(),
            numbers::thousands(main.n),
            digits(main.prompt_max),
            numbers::percent(tally.cache_hit_ratio()),
            digits(main.read),
            digits(main.write[0] + main.write[1]),
            digits(main.uncached),
            or_none(calls),
            or_none(tally.evidence_kept().map(numbers::percent)),
            numbers::fixed(tally.costs.total(), decimals),
            or_none(change),
        ]
    }
}

impl Report {
    /// Returns the tables: groups of scenarios first, then, if asked for, the scenarios one by one.
    #[must_use]
    pub fn sections(&self, detail: Detail) -> Vec<Section> {
        let profiles = distinct(self.runs.iter().map(|it| it.profile.as_str()));
        let groups = self.groups(detail);
        let pairs = groups.iter().flat_map(|group| profiles.iter().map(move |it| (group, *it)));
        pairs.map(|((load, scenarios), profile)| self.section(load, scenarios, profile)).collect()
    }

    /// Returns a note for the scenarios whose needs are not known.
    #[must_use]
    pub fn note_on_needs(&self) -> Option<String> {
        let unknown = self
            .runs
            .iter()
            .filter(|it| !it.tally.has_needs && it.retention.is_none())
            .map(|it| it.scenario.as_str());
        let names = distinct(unknown).join(", ");
        (!names.is_empty()).then(|| {
            format!("{names}: nothing says what needs what, so recovery and kept evidence are unknown ({NONE}) and a lower cost is no verdict.")
        })
    }

    /// Returns groups of scenarios with their titles.
    fn groups(&self, detail: Detail) -> Vec<(String, Vec<&str>)> {
        // Loads with planted facts have tables of their own.
        let shown = self.runs.iter().filter(|it| it.retention.is_none());
        let scenarios = distinct(shown.map(|it| it.scenario.as_str()));
        if scenarios.is_empty() {
            return Vec::new();
        }
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        if self.sums.is_empty() {
            let folders = distinct(scenarios.iter().map(|it| folder(it)));
            for name in folders {
                groups.push((
                    name.to_owned(),
                    scenarios.iter().copied().filter(|it| folder(it) == name).collect(),
                ));
            }
        } else {
            groups.push((ALL.to_owned(), scenarios.clone()));
        }
        let is_shown =
            detail == Detail::Scenarios || (!self.sums.is_empty() && scenarios.len() <= FEW_SCENARIOS);
        let mut singles = Vec::new();
        for (title, members) in &mut groups {
            if let [only] = members[..] {
                only.clone_into(title);
                continue;
            }
            if is_shown {
                singles.extend(members.iter().map(|it| ((*it).to_owned(), vec![*it])));
            }
            let n_turns: u32 = members.iter().filter_map(|it| self.turns(it)).sum();
            *title = format!(
                "{title} ({} scenarios, {} turns)",
                members.len(),
                numbers::thousands(n_turns.into())
            );
        }
        groups.extend(singles);
        groups
    }

    /// Returns the user turns of a scenario.
    fn turns(&self, scenario: &str) -> Option<u32> {
        let run = self.runs.iter().find(|it| it.scenario == scenario)?;
        Some(run.tally.outcome.turns_requested)
    }

    /// Adds up the runs of one table.
    fn section(&self, load: &str, scenarios: &[&str], profile: &str) -> Section {
        let is_in = |it: &&Run| it.profile == profile && scenarios.contains(&it.scenario.as_str());
        let runs: Vec<&Run> = self.runs.iter().filter(is_in).collect();
        let policies = distinct(runs.iter().map(|it| it.policy.as_str()));
        let lines = policies.into_iter().filter_map(|policy| {
            let mine: Vec<&Run> = runs.iter().copied().filter(|it| it.policy == policy).collect();
            line(&mine)
        });
        Section {
            load: load.to_owned(),
            profile: profile.to_owned(),
            as_of: runs.first().map(|it| it.assumed.as_of.clone()).unwrap_or_default(),
            lines: lines.collect(),
        }
    }
}

/// Adds up the runs of one policy.
fn line(runs: &[&Run]) -> Option<Line> {
    let (first, more) = runs.split_first()?;
    let mut tally = first.tally;
    for run in more {
        tally.add(&run.tally);
    }
    Some(Line { policy: first.policy.clone(), tally, stopped: stopped(runs) })
}

/// Says where a policy stopped at a limit, if it did.
fn stopped(runs: &[&Run]) -> Option<String> {
    let mut failed = runs.iter().filter_map(|it| Some((it, it.tally.outcome.failure?)));
    let (run, failure) = failed.next()?;
    let at = format!("turn {} of {}", failure.turn, run.tally.outcome.turns_requested);
    Some(match (runs.len(), 1 + failed.count()) {
        (1, _) => format!("stopped at {at} (limit)"),
        (n_runs, n_failed) => {
            format!("stopped in {n_failed} of {n_runs} scenarios (limit), first in {} at {at}", run.scenario)
        }
    })
}

/// Returns the first part of a scenario's path; a name without a folder stands for itself.
fn folder(scenario: &str) -> &str {
    scenario.split('/').next().unwrap_or(scenario)
}
