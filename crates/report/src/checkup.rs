//! A suite's results in continuous integration: its guards, and its numbers compared with snapshots.
//!
//! `compare`, `check`, `sweep` and `tune` use the plan and the report of `run`; each adds one type (`Contrast`, `CheckUp`, `Sweep`,
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

use super::contrast::points;
use super::guard::GuardVerdict;
use super::made::{MadeWith, VERSION};
use super::shot::Moved;
use crate::prelude::*;
use ctxsim_base::diag::{Diagnostic, Place};

/// The most changed numbers shown per snapshot.
const MOVED_SHOWN: usize = 12;

/// A suite's results.
#[derive(Clone, Debug, Default)]
pub struct CheckUp {
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
    pub moved: Vec<Moved>,
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
    pub fn words(&self) -> String {
        let mut by_days: IndexMap<[&str; 2], Vec<&str>> = IndexMap::new();
        for (profile, days) in &self.prices {
            by_days.entry(days.each_ref().map(String::as_str)).or_default().push(profile);
        }
        let one = |([old, new], profiles): (&[&str; 2], &Vec<&str>)| {
            let of = if by_days.len() > 1 { format!(" ({})", profiles.join(", ")) } else { String::new() };
            format!("prices of {old}; newer: {new}{of}")
        };
        let all: Vec<String> = by_days.iter().map(one).listed();
        format!("{}, {}", all.join("; "), self.adopted_by)
    }

    /// Says how many guard checks hold under the newer prices.
    fn guards(&self) -> Option<String> {
        let (n_held, n) = (self.verdicts.iter().filter(|it| it.holds).count(), self.verdicts.len());
        (n > 0).then(|| format!("under the newer prices, {n_held} of {} pass", counted(n, "guard check")))
    }

    /// Says both in a sentence.
    pub fn sentence(&self) -> String {
        let guards = self.guards().map_or_else(String::new, |it| format!("; {it}"));
        format!("{}{guards}.", self.words())
    }

    /// Returns that, and a line for each guard that does not hold under the newer prices.
    pub fn lines(&self) -> Vec<String> {
        let failed = self.failed().map(|it| format!("Fails under them: {it}."));
        std::iter::once(self.sentence()).chain(failed).listed()
    }

    /// Returns the guards that do not hold under the newer prices.
    pub fn failed(&self) -> impl Iterator<Item = &GuardVerdict> {
        self.verdicts.iter().filter(|it| !it.holds)
    }

    fn value(&self) -> Value {
        let one = |(profile, days): &(String, [String; 2])| {
            let [old, new] = days.clone();
            group! { "profile": profile.clone(), "checked": old, "newer": new }
        };
        group! {
            "words": self.words(),
            "prices": self.prices.iter().map(one).listed(),
            "guards": self.verdicts.iter().map(verdict_json).listed(),
        }
    }
}

impl SnapshotCheck {
    /// Makes the result of a snapshot in which nothing moved.
    pub fn new(file: String, state: SnapshotState) -> Self {
        Self { file, of: Default::default(), state, differs: Vec::new(), moved: Vec::new() }
    }

    /// Returns whether nothing needs attention.
    pub fn holds(&self) -> bool {
        matches!(self.state, SnapshotState::Same | SnapshotState::Blessed)
    }

    /// Describes the result in a few words.
    pub fn words(&self) -> String {
        match self.state {
            SnapshotState::Same => "unchanged".to_owned(),
            SnapshotState::Moved => format!("{} changed", counted(self.moved.len(), "number")),
            SnapshotState::Missing => "no snapshot yet".to_owned(),
            SnapshotState::Orphan => "the suite no longer has this run".to_owned(),
            SnapshotState::Blessed => "accepted".to_owned(),
        }
    }

    /// Returns what else differs, and the changed numbers, one per line.
    pub fn lines(&self) -> Vec<String> {
        let lines = |it: MovedGroup| {
            let head = (!it.because.is_empty()).then(|| format!("because of {}:", it.because));
            head.into_iter().chain(it.lines).listed()
        };
        self.groups().into_iter().flat_map(lines).listed()
    }

    /// Returns what else differs, and the changed numbers by what they are because of.
    fn groups(&self) -> Vec<MovedGroup> {
        let mut groups = vec![MovedGroup { because: String::new(), lines: self.differs.clone() }];
        let mut by: IndexMap<String, Vec<&Moved>> = IndexMap::new();
        for it in &self.moved {
            by.entry(causes::words(&it.by)).or_default().push(it);
        }
        for (because, moved) in by {
            // What was asked of each number is shown of each.
            let n_shown = if because.is_empty() { MOVED_SHOWN } else { moved.len() };
            let mut lines = moved.iter().take(n_shown).map(|it| it.words()).listed();
            let more = moved.len().saturating_sub(n_shown);
            lines.extend((more > 0).then(|| format!("and {more} more")));
            match groups.last_mut().filter(|it| it.because == because) {
                Some(before) => before.lines.extend(lines),
                None => groups.push(MovedGroup { because, lines }),
            }
        }
        groups
    }
}

/// Numbers that changed for one reason; empty where that is not known.
struct MovedGroup {
    because: String,
    lines: Vec<String>,
}

impl Moved {
    /// Says what moved.
    pub fn words(&self) -> String {
        let [old, new] = self.values.each_ref().map(|it| it.as_deref().unwrap_or("(none)"));
        let change = self.points().map(points).or_else(|| self.relative.map(signed));
        let change = change.map_or_else(String::new, |it| format!(" ({it})"));
        format!("{}, {}: {old} → {new}{change}{}", self.policy, self.column, causes::without(&self.by))
    }
}

impl GuardVerdict {
    /// Returns the guard's position: file, line and column.
    pub fn at(&self) -> String {
        place(&self.place)
    }

    /// Returns the line to mark: the subject in the policy's file, or the guard if the policy is bundled.
    pub fn marked(&self) -> &Place {
        let is_own = self.policy_place.line_column.is_some() && !self.policy_place.file.contains(':');
        if is_own { &self.policy_place } else { &self.place }
    }

    /// Returns which run it is about.
    pub fn on(&self) -> String {
        let [policy, scenario, profile] = &self.run;
        format!("{policy} on {scenario} under {profile}")
    }
}

impl CheckUp {
    /// Makes the result of a suite that could not be checked. Problems that belong to no file are the suite's.
    pub fn unchecked(suite: String, file: String, mut errors: Vec<Diagnostic>) -> Self {
        for it in errors.iter_mut().filter(|it| it.place.file.is_empty()) {
            it.place.file.clone_from(&file);
        }
        Self { suite, file, errors, ..Self::default() }
    }

    /// Returns whether every guard holds and no number changed.
    pub fn holds(&self) -> bool {
        let holds =
            self.verdicts.iter().all(|it| it.holds) && self.snapshots.iter().all(SnapshotCheck::holds);
        holds && self.errors.is_empty()
    }

    /// Says how many guards hold and how many snapshots are unchanged.
    pub fn heading(&self) -> String {
        if !self.errors.is_empty() {
            return format!("{} could not be checked: {}", self.suite, counted(self.errors.len(), "problem"));
        }
        let n_held = self.verdicts.iter().filter(|it| it.holds).count();
        let n_same = self.snapshots.iter().filter(|it| it.holds()).count();
        let snapshots = match (
            self.snapshots.len(),
            self.snapshots.iter().any(|it| it.state == SnapshotState::Blessed),
        ) {
            (0, _) => "no snapshots".to_owned(),
            (n, true) => format!("{n_same} of {} accepted", counted(n, "snapshot")),
            (n, false) => format!("{n_same} of {} unchanged", counted(n, "snapshot")),
        };
        let word = if self.holds() { "passed" } else { "failed" };
        let checks = counted(self.verdicts.len(), "guard check");
        format!("{} {word}: {n_held} of {checks} passed, {snapshots}", self.suite)
    }
}

/// Returns the results of suites as text: failures first, then successes.
pub fn text(all: &[CheckUp], on: impl Into<Terminal>) -> String {
    let on = on.into();
    let mut text = String::new();
    let (bad, good) = (on.paint(Tint::Bad, "  FAIL "), on.paint(Tint::Good, "  ok   "));
    for it in all {
        text += &format!("{}\n", on.paint(Tint::Strong, &it.heading()));
        for error in &it.errors {
            on.paragraph(Tint::Bad, "  ERROR ", &format!("{}: {}", at(error), first_line(error)), &mut text);
        }
        for verdict in it.verdicts.iter().filter(|it| !it.holds) {
            wrap(&verdict.to_string(), &bad, on.width, &mut text);
            text += &format!("       {}\n", verdict.at());
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.holds()) {
            wrap(&format!("{}: {}", snapshot.file, snapshot.words()), &bad, on.width, &mut text);
            on.paragraphs(Tint::Plain, "       ", snapshot.lines(), &mut text);
        }
        let held = it.verdicts.iter().filter(|it| it.holds);
        held.for_each(|it| wrap(&it.to_string(), &good, on.width, &mut text));
        let n_same = it.snapshots.iter().filter(|it| it.holds()).count();
        if n_same > 0 {
            text += &format!("{good}{}\n", counted(n_same, "snapshot"));
        }
        if it.snapshots.iter().any(|it| !it.holds()) {
            let bless = "Run `ctxsim check --bless` to accept these numbers.";
            on.paragraph(Tint::Plain, "  ", bless, &mut text);
        }
        for note in it.notes.iter().filter(|_| !on.is_quiet) {
            on.paragraph(Tint::Faint, "  note ", &format!("{note}."), &mut text);
        }
        if let Some(newer) = it.newer.as_ref().filter(|_| !on.is_quiet) {
            on.paragraph(Tint::Faint, "  note ", &newer.sentence(), &mut text);
            on.paragraphs(Tint::Faint, "       ", newer.lines().into_iter().skip(1), &mut text);
        }
        on.paragraph(Tint::Faint, "  ", &format!("with {}", it.made.words()), &mut text);
    }
    text
}

/// Returns a problem's file, line and column.
fn at(error: &Diagnostic) -> String {
    place(&error.place)
}

/// Writes a place: file, line and column.
fn place(it: &Place) -> String {
    let line = it.line_column.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
    format!("{}{line}", it.file)
}

/// Returns the first line of a problem's message.
fn first_line(error: &Diagnostic) -> &str {
    error.message.lines().next().unwrap_or_default()
}

/// Returns a problem's message with its fix.
fn with_help(error: &Diagnostic) -> String {
    let help = error.help.iter().map(|it| format!("\nhelp: {it}"));
    error.message.clone() + &help.collect::<String>()
}

fn error_json(it: &Diagnostic) -> Value {
    group! {
        "code": it.code.name(),
        "file": it.place.file.clone(),
        "line": it.place.line_column.map(|at| at.0),
        "column": it.place.line_column.map(|at| at.1),
        "field": it.place.field.clone(),
        "message": it.message.clone(),
        "help": it.help.clone(),
    }
}

/// Returns a verdict after its run and the guard's position.
fn verdict_json(it: &GuardVerdict) -> Value {
    let [policy, scenario, profile] = it.run.clone();
    let of = group! { "policy": policy, "scenario": scenario, "profile": profile, "place": it.at() };
    of.and(Value::serialised(it))
}

fn suite_json(it: &CheckUp) -> Value {
    let all = group! {
        "suite": it.suite.clone(),
        "file": it.file.clone(),
        "holds": it.holds(),
        "guards": it.verdicts.iter().map(verdict_json).listed(),
        "snapshots": Value::serialised(&it.snapshots),
        "made": it.made.value(),
        "assumed": Value::Fields(it.assumed.iter().map(|(name, number)| (name.clone().into(), number.clone().into())).listed()),
        "notes": it.notes.clone(),
    };
    let all = match &it.newer {
        Some(newer) => all.and(group! { "newer_prices": newer.value() }),
        None => all,
    };
    if it.errors.is_empty() {
        return all;
    }
    all.and(group! { "errors": it.errors.iter().map(error_json).listed() })
}

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.check/1";

/// Returns one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(all: &[CheckUp]) -> Result<String, serde_json::Error> {
    json_text(
        &group! { "schema": SCHEMA, "version": VERSION.to_owned(), "suites": all.iter().map(suite_json).listed() },
    )
}
