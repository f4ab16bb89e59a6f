//! A suite's results in continuous integration: its guards, and its numbers compared with snapshots.
//!
//! `compare`, `check`, `sweep` and `tune` use the plan and the report of `run`; each adds one type (`Contrast`, `SuiteCheck`, `Sweep`,
//! `Tuned`; `docs/reference/review.md`). What `compare` and `check` write says what it was made with (`MadeWith`: version, price days,
//! digests of inputs). A flat price list prices sums, tiers an index of rows, everything else each request. `pricelist/` never makes a
//! prompt cheaper by what it cannot read (`docs/reference/prices.md`). Snapshots carry what they rest on (header: price day, version,
//! digests; row: policy file; `assumed.toml`: the numbers read, by `app/assumed.rs`); `check --explain` (`cli/verbs/check/explained.rs`)
//! starts ctxsim once for each changed input with that one as it was, and once with all, and `report/checkup/causes.rs` says which moved
//! what. Every reader of assumptions reads `ctxsim_assumptions::current(text)`, which a process may replace once, before its first reader
//! (`--assume`). `ctxsim.toml` pins `version` and `prices` (`catalog::Pins`).

pub mod causes;
pub mod github;
pub mod junit;
pub mod page;
pub mod sarif;

use super::contrast::format_percentage_points;
use super::guard::GuardVerdict;
use super::made::{MadeWith, VERSION};
use super::shot::ChangedNumber;
use crate::ALL;
use crate::blocks::{Block, CheckedBlock, draw_blocks};
use crate::prelude::*;
use ctxsim_base::diag::{Diagnostic, Place};

/// The most changed numbers shown per snapshot.
const MOVED_SHOWN: usize = 12;

/// A suite's results.
#[derive(Clone, Debug, Default)]
pub struct SuiteCheck {
    pub suite: String,
    pub file: String,
    /// Its guards' verdicts.
    pub verdicts: Vec<GuardVerdict>,
    /// Its snapshots; empty if there are none.
    pub snapshots: Vec<SnapshotCheck>,
    /// Why it could not be checked; empty if it was.
    pub errors: Vec<Diagnostic>,
    /// What the results were made with.
    pub made: MadeWith,
    /// Prices newer than those that were checked, if there are any.
    pub newer: Option<NewerPrices>,
    /// The assumed numbers that its runs read, by name.
    pub assumed: IndexMap<String, String>,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// Prices newer than those of the snapshots, which change nothing until somebody accepts them.
#[derive(Clone, Debug, PartialEq)]
pub struct NewerPrices {
    /// The day of the snapshots and the newest day, by profile.
    pub prices: Vec<(String, [String; 2])>,
    /// What the guards say under the newer prices.
    pub verdicts: Vec<GuardVerdict>,
    /// What adopts them.
    pub adopted_by: &'static str,
}

/// What adopts newer prices where snapshots say the day, and where the configuration does.
pub const ADOPTED_BY: [&str; 2] = ["`--bless` adopts them", "change `prices` in ctxsim.toml to adopt them"];

/// A table of numbers compared with its snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotCheck {
    /// The file of the snapshot.
    pub file: String,
    /// The scenario and the profile, where the suite has the run.
    #[serde(skip)]
    pub of: [String; 2],
    /// The result of the comparison.
    pub state: SnapshotState,
    /// What else is not as it was when the snapshot was written: the version, the scenario, the profile, a policy.
    pub differs: Vec<String>,
    /// The changed numbers.
    pub moved: Vec<ChangedNumber>,
    /// What moves its cost most, as a comparison says it, if that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// The result of comparing a table with its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SnapshotState {
    /// Every number is as it was.
    Same,
    /// Some numbers changed.
    Moved,
    /// There is no snapshot yet.
    Missing,
    /// The suite no longer has this run.
    Orphan,
    /// It was accepted.
    Blessed,
}

impl NewerPrices {
    /// Says in a sentence which prices were checked, and that there are newer ones.
    pub fn describe(&self) -> String {
        let by_days = grouped(self.prices.iter().map(|(profile, days)| (days, profile.as_str())));
        let one = |([old, new], profiles): (&&[String; 2], &Vec<&str>)| {
            let whose = if by_days.len() > 1 { format!(" ({})", profiles.join(", ")) } else { String::new() };
            format!("prices of {old}; newer: {new}{whose}")
        };
        format!("{}, {}", by_days.iter().map(one).listed().join("; "), self.adopted_by)
    }

    /// Says that, and how many guard checks hold under the newer prices.
    pub fn describe_with_guards(&self) -> String {
        let n_held = self.verdicts.iter().filter(|it| it.holds).count();
        let guards = text_if_any(self.verdicts.len(), |n| {
            format!("; under the newer prices, {n_held} of {} pass", counted(n, "guard check"))
        });
        format!("{}{guards}.", self.describe())
    }

    /// Returns that, and a line for each guard that does not hold under the newer prices.
    pub fn describe_in_lines(&self) -> Vec<String> {
        let failed = self.failed_guards().map(|it| format!("Fails under them: {it}."));
        std::iter::once(self.describe_with_guards()).chain(failed).listed()
    }

    /// Returns the guards that do not hold under the newer prices.
    pub fn failed_guards(&self) -> impl Iterator<Item = &GuardVerdict> {
        self.verdicts.iter().filter(|it| !it.holds)
    }

    fn to_json(&self) -> Value {
        let one = |(profile, days): &(String, [String; 2])| {
            let [old, new] = days.clone();
            group! { "profile": profile.clone(), "checked": old, "newer": new }
        };
        group! {
            "words": self.describe(),
            "prices": self.prices.iter().map(one).listed(),
            "guards": self.verdicts.iter().map(verdict_json).listed(),
        }
    }
}

impl SnapshotCheck {
    /// Makes the result of a snapshot in which nothing moved.
    pub fn new(file: String, state: SnapshotState) -> Self {
        Self {
            file,
            of: Default::default(),
            state,
            differs: Vec::new(),
            moved: Vec::new(),
            causes: Vec::new(),
        }
    }

    /// Returns whether nothing needs attention.
    pub fn is_passing(&self) -> bool {
        matches!(self.state, SnapshotState::Same | SnapshotState::Blessed)
    }

    /// Describes the result in a few words.
    pub fn describe(&self) -> String {
        match self.state {
            SnapshotState::Same => "unchanged".to_owned(),
            SnapshotState::Moved => format!("{} changed", counted(self.moved.len(), "number")),
            SnapshotState::Missing => "no snapshot yet".to_owned(),
            SnapshotState::Orphan => "the suite no longer has this run".to_owned(),
            SnapshotState::Blessed => "accepted".to_owned(),
        }
    }

    /// Returns what else differs, and the changed numbers by what they are because of, one per line.
    pub fn difference_lines(&self) -> Vec<String> {
        // What moved each number says it of all.
        let is_explained = self.moved.iter().any(|it| !it.by.is_empty());
        let mut lines = if is_explained { Vec::new() } else { self.differs.clone() };
        lines.extend(self.causes.iter().cloned());
        let because = |it: &ChangedNumber| it.by.iter().map(|it| it.cause.as_str()).listed().join(", ");
        for (because, moved) in grouped(self.moved.iter().map(|it| (because(it), it))) {
            // What was asked of each number is shown of each.
            let n_shown = if because.is_empty() { MOVED_SHOWN } else { moved.len() };
            lines.extend((!because.is_empty()).then(|| format!("because of {because}:")));
            lines.extend(moved.iter().take(n_shown).map(|it| it.describe()));
            let more = moved.len().saturating_sub(n_shown);
            lines.extend((more > 0).then(|| format!("and {more} more")));
        }
        lines
    }
}

impl ChangedNumber {
    /// Says what moved.
    pub fn describe(&self) -> String {
        let [old, new] = self.shown_values();
        let points = self.share_difference().map(format_percentage_points);
        let change = or_nothing(points.or_else(|| self.relative.map(signed)), |it| format!(" ({it})"));
        let (Self { policy, column, by, .. }, whole) = (self, format!("{old} → {new}{change}"));
        format!("{policy}, {column}: {whole}{}", causes::describe_values_if_undone(by))
    }
}

impl GuardVerdict {
    /// Returns the line to mark: the subject in the policy's file, or the guard if the policy is bundled.
    pub fn place_to_annotate(&self) -> &Place {
        let is_own = self.policy_place.line_column.is_some() && !self.policy_place.file.contains(':');
        if is_own { &self.policy_place } else { &self.place }
    }

    /// Returns which run it is about.
    pub fn describe_run(&self) -> String {
        let [policy, scenario, profile] = &self.run;
        format!("{policy} on {scenario} under {profile}")
    }
}

impl SuiteCheck {
    /// Makes the result of a suite that could not be checked. Problems that belong to no file are the suite's.
    pub fn with_check_errors(suite: String, file: String, mut errors: Vec<Diagnostic>) -> Self {
        let without_file = errors.iter_mut().filter(|it| it.place.file.is_empty());
        without_file.for_each(|it| it.place.file.clone_from(&file));
        Self { suite, file, errors, ..Self::default() }
    }

    /// Returns whether every guard holds and no number changed.
    pub fn is_passing(&self) -> bool {
        self.errors.is_empty()
            && self.verdicts.iter().all(|it| it.holds)
            && self.snapshots.iter().all(SnapshotCheck::is_passing)
    }

    /// Says how many guards hold and how many snapshots are unchanged.
    pub fn describe_result(&self) -> String {
        if !self.errors.is_empty() {
            return format!("{} could not be checked: {}", self.suite, counted(self.errors.len(), "problem"));
        }
        let n_held = self.verdicts.iter().filter(|it| it.holds).count();
        let n_same = self.snapshots.iter().filter(|it| it.is_passing()).count();
        let is_blessed = self.snapshots.iter().any(|it| it.state == SnapshotState::Blessed);
        let state = if is_blessed { "accepted" } else { "unchanged" };
        let snapshots = match self.snapshots.len() {
            0 => "no snapshots".to_owned(),
            n => format!("{n_same} of {} {state}", counted(n, "snapshot")),
        };
        let word = if self.is_passing() { "passed" } else { "failed" };
        let checks = counted(self.verdicts.len(), "guard check");
        format!("{} {word}: {n_held} of {checks} passed, {snapshots}", self.suite)
    }

    /// What there is to say, failures first.
    fn to_blocks(&self) -> Vec<Block> {
        let checked = |holds, words, more| CheckedBlock { holds, words, more };
        let part = |holds, words, more| Block::Part(checked(holds, words, more));
        let mut blocks = vec![Block::Checked(checked(self.is_passing(), self.describe_result(), Vec::new()))];
        for error in &self.errors {
            let lines = message_with_help(error).lines().map(str::to_owned).listed();
            blocks.push(part(false, format_place(&error.place), lines));
        }
        let (held, failed): (Vec<_>, Vec<_>) = self.verdicts.iter().partition(|it| it.holds);
        let failed = failed.into_iter().map(|it| {
            // Which inputs are not as they were when the snapshot was written; of a sum, those of all runs.
            let [_, scenario, profile] = &it.run;
            let of = |own: &[String; 2]| [ALL, &own[0]].contains(&scenario.as_str()) && own[1] == *profile;
            let inputs = self.snapshots.iter().filter(|it| of(&it.of)).flat_map(|it| &it.differs);
            let moved_by = super::distinct(inputs).into_iter().map(|it| format!("since the snapshot, {it}"));
            part(false, it.to_string(), std::iter::once(format_place(&it.place)).chain(moved_by).listed())
        });
        blocks.extend(failed);
        let (same, moved): (Vec<_>, Vec<_>) = self.snapshots.iter().partition(|it| it.is_passing());
        for it in &moved {
            blocks.push(part(false, format!("{}: {}", it.file, it.describe()), it.difference_lines()));
        }
        let same = (!same.is_empty()).then(|| counted(same.len(), "snapshot"));
        let brief = text_if_any(held.len(), |n| counted(n, "guard check"));
        let brief = (!self.is_passing() && !held.is_empty()).then(|| part(true, brief, Vec::new()));
        let held = held.into_iter().map(ToString::to_string).chain(same);
        let passed = held.map(|words| part(true, words, Vec::new())).listed();
        blocks.extend((!passed.is_empty()).then_some(Block::Passed { passed, brief: brief.map(Box::new) }));
        if !moved.is_empty() {
            blocks.push(Block::paragraph("Run `ctxsim check --bless` to accept these numbers."));
        }
        blocks.push(Block::Notes(self.note_lines()));
        blocks.push(Block::Made(format!("With {}.", self.made.summary_line())));
        blocks
    }

    /// Returns what else there is to say, in a sentence each, and whether there are newer prices.
    fn note_lines(&self) -> Vec<String> {
        let notes = self.notes.iter().map(|note| format!("{note}."));
        notes.chain(self.newer.iter().flat_map(NewerPrices::describe_in_lines)).listed()
    }
}

/// Returns the results of suites for a terminal: failures first, then successes.
pub fn draw_suite_checks(check_ups: &[SuiteCheck], terminal: impl Into<Terminal>) -> String {
    draw_blocks(&check_ups.iter().flat_map(SuiteCheck::to_blocks).listed(), "", terminal.into())
}

/// Writes a place: file, line and column.
fn format_place(place: &Place) -> String {
    place.file.clone() + &or_nothing(place.line_column, |(line, column)| format!(":{line}:{column}"))
}

/// Returns a problem's message with its fix.
fn message_with_help(error: &Diagnostic) -> String {
    error.message.clone() + &error.help.iter().map(|it| format!("\nhelp: {it}")).collect::<String>()
}

/// Returns a verdict after its run and the guard's position.
fn verdict_json(verdict: &GuardVerdict) -> Value {
    let [policy, scenario, profile] = verdict.run.clone();
    let run = group! { "policy": policy, "scenario": scenario, "profile": profile, "place": format_place(&verdict.place) };
    run.and(Value::serialised(verdict))
}

fn suite_json(checkup: &SuiteCheck) -> Value {
    let all = group! {
        "suite": checkup.suite.clone(),
        "file": checkup.file.clone(),
        "holds": checkup.is_passing(),
        "guards": checkup.verdicts.iter().map(verdict_json).listed(),
        "snapshots": Value::serialised(&checkup.snapshots),
        "made": checkup.made.to_value(),
        "assumed": Value::Fields(checkup.assumed.iter().map(|(name, number)| (name.clone().into(), number.clone().into())).listed()),
        "notes": checkup.notes.clone(),
    };
    let newer = checkup.newer.iter().map(|it| group! { "newer_prices": it.to_json() });
    let error = |it: &Diagnostic| {
        group! {
            "code": it.code.name(),
            "file": it.place.file.clone(),
            "line": it.place.line_column.map(|at| at.0),
            "column": it.place.line_column.map(|at| at.1),
            "field": it.place.field.clone(),
            "message": it.message.clone(),
            "help": it.help.clone(),
        }
    };
    let errors = checkup.errors.iter().map(error).listed();
    newer.chain((!errors.is_empty()).then(|| group! { "errors": errors })).fold(all, Value::and)
}

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.check/1";

/// Returns one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn check_ups_json(check_ups: &[SuiteCheck]) -> serde_json::Result<String> {
    let suites = check_ups.iter().map(suite_json).listed();
    json_text(&group! { "schema": SCHEMA, "version": VERSION.to_owned(), "suites": suites })
}
