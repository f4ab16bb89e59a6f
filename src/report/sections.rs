//! The tables of a report: one a group of scenarios and a profile, one line a policy.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::fit::Column;
use super::metric::{Digits, columns};
use super::numbers::{self, NONE};
use super::{ALL, Report, Run, distinct, reasons};
use crate::input::policy::Apply;
use crate::measure::{Spread, Tally};

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
    /// Under which profile, or that each session is under its own model's.
    pub profile: String,
    /// The day of the profile's prices.
    pub as_of: String,
    /// How many scenarios are added up.
    pub scenarios: usize,
    /// Whether it is a part of another table.
    pub is_part: bool,
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
    /// How the change of its cost against the first policy is spread over several scenarios; none for one, or for the first policy.
    pub spread: Option<Spread>,
    /// Where it stopped at a limit.
    pub stopped: Option<String>,
    /// Why its cost is not the first policy's, where that is asked for.
    pub reason: Option<String>,
    /// The setting that makes the real agent do it, where it is the same everywhere.
    pub apply: Option<Arc<Apply>>,
}

impl Line {
    /// Returns what stands below or beside it: where it stopped, and why its cost is not the first policy's.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let notes: Vec<&str> =
            [&self.stopped, &self.reason].into_iter().flatten().map(String::as_str).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

/// A group of scenarios.
struct Group<'r> {
    title: String,
    scenarios: Vec<&'r str>,
    under: Under<'r>,
    is_part: bool,
}

/// Under which profiles a group ran.
#[derive(Clone, Copy)]
enum Under<'r> {
    /// Under each profile of the report, one table each.
    Each,
    /// Under one.
    One(&'r str),
    /// Each scenario under its own model's.
    Own,
}

/// Returns what a table's columns are called, and in which order they leave where there is no room for all.
pub(super) fn columns_of(has_spread: bool) -> Vec<Column> {
    let metrics = columns().into_iter().map(|it| Column::new(it.heading(), it.leaving()));
    let name = std::iter::once(Column::new("policy", None));
    let change = std::iter::once(Column::new("Δ cost", None));
    let spread = SPREAD.iter().filter(|_| has_spread).map(|(heading, leaves)| Column::new(heading, *leaves));
    name.chain(metrics).chain(change).chain(spread).collect()
}

/// The columns of a spread.
const SPREAD: [(&str, Option<u8>); 3] =
    [("95% interval", None), ("median session", Some(8)), ("% cheaper / same / dearer", Some(7))];

impl Section {
    /// Returns whether some line has a spread.
    #[must_use]
    pub fn has_spread(&self) -> bool {
        self.lines.iter().any(|it| it.spread.is_some())
    }

    /// Returns what its columns are called.
    #[must_use]
    pub fn headings(&self) -> Vec<String> {
        columns_of(self.has_spread()).into_iter().map(|it| it.heading).collect()
    }

    /// Returns what was run, and under which profile.
    #[must_use]
    pub fn subject(&self) -> String {
        let joint = if self.profile == OWN { "," } else { " under" };
        format!("{}{joint} {}", self.load, self.profile)
    }

    /// Returns the cells, line by line, in the order of [`Section::headings`].
    #[must_use]
    pub fn cells(&self, digits: Digits) -> Vec<Vec<String>> {
        let costs = self.lines.iter().filter_map(|it| it.tally.costs.total());
        let decimals = numbers::decimals(costs.fold(0.0, f64::max));
        self.lines.iter().enumerate().map(|(index, it)| self.line(index, it, digits, decimals)).collect()
    }

    /// Returns by which share a line's cost differs from the first one's, on the work that both did.
    #[must_use]
    pub fn change(&self, line: &Line) -> Option<f64> {
        let (tally, first) = (&line.tally, &self.lines.first()?.tally);
        if let Some(spread) = &line.spread {
            return Some(spread.change);
        }
        if tally.outcome.turns_completed != first.outcome.turns_completed {
            return None;
        }
        let (cost, other) = tally.costs.total().zip(first.costs.total())?;
        (other > 0.0).then(|| cost / other - 1.0)
    }

    /// Puts the policies behind the first in the order of their costs; those that cannot be compared with it are last.
    fn rank(&mut self) {
        let mut keyed: Vec<(f64, Line)> = std::mem::take(&mut self.lines)
            .into_iter()
            .enumerate()
            .map(|(nth, line)| (if nth == 0 { f64::NEG_INFINITY } else { 0.0 }, line))
            .collect();
        self.lines = keyed.iter().map(|it| it.1.clone()).collect();
        for (key, line) in keyed.iter_mut().skip(1) {
            *key = self.change(line).unwrap_or(f64::INFINITY);
        }
        // Equal costs stay in the order in which they are listed.
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        self.lines = keyed.into_iter().map(|it| it.1).collect();
    }

    fn line(&self, index: usize, line: &Line, digits: Digits, decimals: usize) -> Vec<String> {
        let change = (index > 0).then(|| self.change(line)).flatten();
        let none = || NONE.to_owned();
        let mut cells = vec![line.policy.clone()];
        cells.extend(columns().iter().map(|it| it.cell(&line.tally, digits, decimals)));
        cells.push(change.map_or_else(none, numbers::signed));
        if self.has_spread() {
            let spread = line.spread.as_ref();
            cells.push(spread.and_then(|it| it.interval).map_or_else(none, numbers::interval));
            cells.push(spread.map_or_else(none, |it| numbers::signed(it.median)));
            let shares = |it: &Spread| {
                [it.cheaper, it.same, it.dearer].map(|it| format!("{:.0}", it * 100.0)).join("/")
            };
            cells.push(spread.map_or_else(none, shares));
        }
        cells
    }
}

impl Report {
    /// Returns the tables: groups of scenarios first, then, if asked for, the scenarios one by one.
    #[must_use]
    pub fn sections(&self, detail: Detail) -> Vec<Section> {
        let profiles = distinct(self.runs.iter().map(|it| it.profile.as_str()));
        let mut sections = Vec::new();
        for group in self.groups(detail) {
            match group.under {
                Under::Each => sections.extend(profiles.iter().map(|it| self.section(&group, Some(it)))),
                Under::One(profile) => sections.push(self.section(&group, Some(profile))),
                Under::Own => sections.push(self.section(&group, None)),
            }
        }
        // A recorded session may run under its own model's profile alone.
        sections.retain(|it| !it.lines.is_empty());
        sections
    }

    /// Returns a note for the scenarios whose needs are not known.
    #[must_use]
    pub fn note_on_needs(&self) -> Option<String> {
        let unknown = self
            .runs
            .iter()
            .filter(|it| !it.tally.has_needs && !it.has_tables_of_its_own())
            .map(|it| it.scenario.as_str());
        let names = distinct(unknown).join(", ");
        (!names.is_empty()).then(|| {
            format!("{names}: nothing says what needs what, so recovery and kept evidence are unknown ({NONE}) and a lower cost is no verdict.")
        })
    }

    /// Returns groups of scenarios with their titles.
    fn groups(&self, detail: Detail) -> Vec<Group<'_>> {
        // Loads with planted facts have tables of their own.
        let shown = self.runs.iter().filter(|it| !it.has_tables_of_its_own());
        let scenarios = distinct(shown.map(|it| it.scenario.as_str()));
        if scenarios.is_empty() {
            return Vec::new();
        }
        let recorded: IndexSet<&str> = self.sessions.iter().map(|it| it.name.as_str()).collect();
        let (mut sessions, others): (Vec<&str>, Vec<&str>) = match self.sums.is_empty() {
            true => scenarios.iter().partition(|it| recorded.contains(**it)),
            false => (Vec::new(), Vec::new()),
        };
        let mut groups = Vec::new();
        let mut singles: Vec<&str> = Vec::new();
        let is_whole = detail == Detail::Scenarios;
        if !self.sums.is_empty() {
            groups.push(self.group(ALL, scenarios.clone()));
            if scenarios.len() > 1 && (is_whole || scenarios.len() <= FEW_SCENARIOS) {
                singles.clone_from(&scenarios);
            }
        } else if sessions.len() > 1 {
            groups.extend(self.groups_of_sessions(&sessions));
            singles.extend(sessions.iter().filter(|_| is_whole));
            sessions.clear();
        }
        let rest: Vec<&str> =
            scenarios.into_iter().filter(|it| others.contains(it) || sessions.contains(it)).collect();
        for name in distinct(rest.iter().map(|it| folder(it))) {
            let members: Vec<&str> = rest.iter().copied().filter(|it| folder(it) == name).collect();
            if is_whole && members.len() > 1 {
                singles.extend(&members);
            }
            groups.push(self.group(name, members));
        }
        for name in singles {
            groups.push(Group { is_part: true, ..self.group(name, vec![name]) });
        }
        groups
    }

    /// Makes a group of scenarios; one of a single scenario is called by it.
    fn group<'r>(&self, title: &str, scenarios: Vec<&'r str>) -> Group<'r> {
        let title = match scenarios.as_slice() {
            [only] => (*only).to_owned(),
            all => format!("{title} ({}, {})", numbers::counted(all.len(), "scenario"), self.turns_of(all)),
        };
        Group { title, scenarios, under: Under::Each, is_part: false }
    }

    /// Returns recorded sessions as one group, and by model where each runs under its own model's profile; those that run
    /// under several profiles are a group by themselves.
    fn groups_of_sessions<'r>(&'r self, sessions: &[&'r str]) -> Vec<Group<'r>> {
        let mut profiles: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
        for run in &self.runs {
            profiles.entry(&run.scenario).or_default().insert(&run.profile);
        }
        let mut by_profile: IndexMap<&str, Vec<&str>> = IndexMap::new();
        let (mut under_one, mut under_several) = (Vec::new(), Vec::new());
        for session in sessions {
            let of_it = &profiles[session];
            match of_it.first().filter(|_| of_it.len() == 1) {
                Some(profile) => {
                    under_one.push(*session);
                    by_profile.entry(profile).or_default().push(*session);
                }
                None => under_several.push(*session),
            }
        }
        by_profile.sort_by(|_, one, _, other| other.len().cmp(&one.len()));
        let mut groups = Vec::new();
        match by_profile.first() {
            Some((profile, _)) if by_profile.len() == 1 => {
                groups.push(self.group_of_sessions(under_one, Under::One(profile), false));
            }
            Some(_) => {
                groups.push(self.group_of_sessions(under_one, Under::Own, false));
                let parts = by_profile.into_iter();
                groups.extend(
                    parts.map(|(profile, of_it)| self.group_of_sessions(of_it, Under::One(profile), true)),
                );
            }
            None => {}
        }
        if !under_several.is_empty() {
            groups.push(self.group_of_sessions(under_several, Under::Each, false));
        }
        groups
    }

    fn group_of_sessions<'r>(&self, sessions: Vec<&'r str>, under: Under<'r>, is_part: bool) -> Group<'r> {
        let title = format!("{} ({})", numbers::counted(sessions.len(), "session"), self.turns_of(&sessions));
        Group { title, scenarios: sessions, under, is_part }
    }

    /// Returns the user turns of some scenarios, as people read them.
    fn turns_of(&self, scenarios: &[&str]) -> String {
        let n_turns: u32 = scenarios.iter().filter_map(|it| self.turns(it)).sum();
        numbers::counted(n_turns as usize, "turn")
    }

    /// Returns the user turns of a scenario.
    fn turns(&self, scenario: &str) -> Option<u32> {
        let run = self.runs.iter().find(|it| it.scenario == scenario)?;
        Some(run.tally.outcome.turns_requested)
    }

    /// Adds up the runs of one table.
    fn section(&self, group: &Group<'_>, profile: Option<&str>) -> Section {
        let members: IndexSet<&str> = group.scenarios.iter().copied().collect();
        let is_in = |it: &&Run| {
            profile.is_none_or(|profile| it.profile == profile) && members.contains(it.scenario.as_str())
        };
        let mut by_policy: IndexMap<&str, Vec<&Run>> = IndexMap::new();
        for run in self.runs.iter().filter(is_in) {
            by_policy.entry(&run.policy).or_default().push(run);
        }
        let first = by_policy.first().map(|it| it.1.clone()).unwrap_or_default();
        let baseline = line(&first);
        let lines = by_policy.values().enumerate().filter_map(|(nth, runs)| {
            let spread = (nth > 0 && first.len() > 1).then(|| spread(runs, &first)).flatten();
            let mut line = Line { spread, ..line(runs)? };
            if self.is_ranked && nth > 0 {
                line.reason = baseline.as_ref().and_then(|it| reasons::of(&line, it, runs));
            }
            Some(line)
        });
        let days: IndexSet<&str> = first.iter().map(|it| it.assumed.as_of.as_str()).collect();
        let as_of = match (days.iter().min(), days.iter().max()) {
            (Some(earliest), Some(latest)) if earliest != latest => format!("{earliest} to {latest}"),
            (Some(day), _) => (*day).to_owned(),
            _ => String::new(),
        };
        let mut section = Section {
            load: group.title.clone(),
            profile: profile.unwrap_or(OWN).to_owned(),
            as_of,
            scenarios: first.len(),
            is_part: group.is_part,
            lines: lines.collect(),
        };
        if self.is_ranked {
            section.rank();
        }
        section
    }
}

/// What the profile of a table is called whose sessions each run under their own.
pub const OWN: &str = "each under its own model's profile";

/// Compares the costs of runs with those of others on the same scenarios, where both came equally far.
fn spread(runs: &[&Run], others: &[&Run]) -> Option<Spread> {
    let others: IndexMap<&str, &Run> = others.iter().map(|it| (it.scenario.as_str(), *it)).collect();
    let pairs = runs.iter().filter_map(|run| {
        let other = others.get(run.scenario.as_str())?;
        let is_same = run.tally.outcome.turns_completed == other.tally.outcome.turns_completed;
        run.tally.costs.total().zip(other.tally.costs.total()).filter(|_| is_same)
    });
    Spread::new(&pairs.collect::<Vec<_>>())
}

/// Adds up the runs of one policy.
fn line(runs: &[&Run]) -> Option<Line> {
    let (first, more) = runs.split_first()?;
    let mut tally = first.tally.clone();
    for run in more {
        tally.add(&run.tally);
    }
    let apply = first.apply.clone().filter(|it| more.iter().all(|run| run.apply.as_ref() == Some(it)));
    Some(Line {
        policy: first.policy.clone(),
        tally,
        spread: None,
        stopped: stopped(runs),
        reason: None,
        apply,
    })
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
