//! What is said of a run: numbers, tables, drawings and JSON.

mod logged;
pub mod account;
pub mod beside_bill;
pub mod as_logged;
pub mod bill_by;
mod blocks;
pub mod calibration;
pub mod carried;
mod compactions;
pub mod explains;
pub mod filled;
pub mod firings;
mod figures;
mod folded;
pub mod html;
mod lines;
pub mod made;
pub mod metric;
pub mod sections;
pub mod json;
pub mod guard;
pub mod known_task;
pub mod lever;
pub mod decide;
mod names;
mod notes;
mod page;
mod prelude;
pub mod sampled;
pub mod chart;
mod effects;
pub mod part;
pub mod places;
mod remembered;
mod repair;
pub mod fixed;
pub mod recording;
pub mod rows;
pub mod explain;
pub mod runs;
pub mod session;
pub mod shot;
mod spark;
pub mod run_blocks;
pub mod tracer;
pub mod trust;
mod unforeseen;
pub mod verdict;
pub mod contrast;
mod template;
pub mod checkup;
pub mod sensitivity;
mod found;
pub mod sweep;
pub mod tune;
pub mod advise;
pub mod billed;
pub mod outcomes;
pub mod realised;
pub mod screen;

use std::hash::Hash;
use std::path::PathBuf;
use std::sync::Arc;

use ctxsim_base::diag::Code;
use ctxsim_base::error::Error;
use ctxsim_base::grid::shell::quoted;
use ctxsim_engine::measure::Label;
use ctxsim_engine::take::FailedRun;
use ctxsim_input::suite::{Figure, Reference};
use ctxsim_timeline::import::LossReason;

use crate::advise::AgentAdvice;
use crate::lever::Lever;
use crate::prelude::*;

pub use as_logged::BillAsLogged;
pub use figures::ComparedFigure;
pub use folded::FoldedRuns;
pub use guard::GuardVerdict;
pub use lines::RunBrief;
pub use metric::RunTotals;
pub use notes::EstimatedRequests;
pub use sections::groups::GroupKey;
pub use session::{BillCheck, NewerVersion, SessionReport, SharedFront};
pub use verdict::Verdict;

/// The name of the row that sums over scenarios.
pub const ALL: &str = "ALL";

/// A comparison: every policy on every scenario under every profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The suite, if any.
    pub suite: Option<String>,
    /// Notes that a reader must know, and behind them those that explain the numbers further.
    pub notes: Vec<String>,
    /// How many of them a reader must know.
    pub n_first_notes: usize,
    /// Published figures shown beside ours.
    pub references: Vec<Reference>,
    /// Published figures shown beside ours, in their own table.
    pub figures: Vec<Figure>,
    /// The runs: by scenario, then by profile, then by policy.
    pub runs: Vec<Run>,
    /// What a fold kept of the runs, in place of them.
    pub folded: Option<Box<FoldedRuns>>,
    /// The sums over scenarios, by profile, then by policy; empty unless requested.
    pub sums: Vec<Run>,
    pub guard_verdicts: Vec<GuardVerdict>,
    /// The runs that came to no result; they are in no other list, and in no sum.
    pub failures: Vec<FailedRun>,
    /// Files that were named or found but skipped.
    pub skipped: Vec<SkippedFile>,
    /// The recorded sessions that were run.
    pub sessions: Vec<SessionReport>,
    /// What of their recordings could not be used.
    pub losses: RecordingLosses,
    /// The policies that know later needs, which no real agent does.
    pub oracles: Vec<String>,
    /// What policies are called for a reader, by name, if their files say it.
    pub titles: IndexMap<String, String>,
    /// The settings of agents that are played in the place of policies that nobody named.
    pub settings: Vec<String>,
    /// What is advised of the settings of each agent, of which some are played.
    pub advised: Vec<AgentAdvice>,
    /// What the rule says of policies on recorded sessions, by the profile of their table and their name.
    pub levers: IndexMap<(String, String), Lever>,
    /// The share of evidence that a policy must keep to be recommended.
    pub min_evidence: f64,
    /// The columns of its tables; empty for the usual ones.
    pub columns: Vec<sections::columns::TableColumn>,
    /// Whether tables rank the policies and give reasons for their costs.
    pub is_ranked: bool,
    /// How to go on from here, if this is the first report on recorded sessions.
    pub next: Option<NextCommands>,
    /// What names its runs on the command line of `explain`.
    pub explains: explains::ExplainCommands,
}

/// How to go on from a first report on recorded sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextCommands {
    /// The sessions on a command line.
    pub sessions: String,
    /// Options that choose among them, each after a space.
    pub options: String,
}

impl NextCommands {
    /// Returns the command that advises on settings.
    pub fn advise_command(&self) -> String {
        format!("ctxsim advise {}{}", self.sessions, self.options)
    }

    /// Returns the command that compares policies.
    pub fn compare_command(&self) -> String {
        format!("ctxsim run {}{}", self.sessions, self.options)
    }

    /// Returns the command that explains a request, from 1, of a session as it was.
    pub fn explain_command(&self, session: &str, request: u32) -> String {
        let session = quoted(session);
        format!("ctxsim explain {} --session {session} --policy identity --request {request}", self.sessions)
    }
}

/// A file that was named or found, but is not in a report.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SkippedFile {
    /// Its path.
    pub file: String,
    /// The reason, in a few words.
    pub reason: String,
    /// Whether it was not asked for, so that nobody misses it.
    #[serde(skip)]
    pub is_not_asked: bool,
}

/// Records of recordings that could not be used, by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingLosses(IndexMap<String, Lost>);

/// Records of one kind that could not be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Lost {
    pub records: usize,
    /// The number of sessions that miss some.
    pub sessions: usize,
}

impl RecordingLosses {
    /// Counts what one session misses.
    pub fn add_session_losses(&mut self, losses: &[LossReason]) {
        for loss in losses {
            let lost = self.0.entry(loss.what.clone()).or_default();
            lost.records += loss.count;
            lost.sessions += 1;
        }
    }

    /// Returns them by kind.
    pub fn by_kind(&self) -> &IndexMap<String, Lost> {
        &self.0
    }
}

impl From<(PathBuf, &str)> for SkippedFile {
    fn from((path, reason): (PathBuf, &str)) -> Self {
        Self::with_reason(path.display().to_string(), reason)
    }
}

impl SkippedFile {
    /// The most files that are named for a reason.
    const NAMED: usize = 3;

    /// A file that is left out for a reason.
    pub fn with_reason(file: String, reason: &str) -> Self {
        Self { file, reason: reason.to_owned(), is_not_asked: false }
    }

    /// A session that is left out because it was not asked for.
    pub fn not_asked(file: &str, reason: String) -> Self {
        Self { file: file.to_owned(), reason, is_not_asked: true }
    }

    /// Summarises why a file that was found cannot be used.
    pub fn new(file: &str, error: Error) -> Self {
        let problem = match error {
            Error::Invalid(mut problems) if !problems.is_empty() => problems.swap_remove(0),
            other => other.into_problem(),
        };
        let reason = match problem.code {
            Code("recording-empty") => "no request".to_owned(),
            Code("recording-unknown") => "not a recorded session".to_owned(),
            Code("recording-usage") => {
                let line = problem.place.line_column.map_or(0, |it| it.0);
                format!("line {line}: `{}` is {}", problem.place.field, problem.message)
            }
            _ => problem.message,
        };
        Self::with_reason(file.to_owned(), &reason)
    }

    /// Says how many are skipped, and why; `None` if none is.
    pub fn count_with_reasons(skipped: &[Self]) -> Option<String> {
        let n = thousands(skipped.len() as u64);
        (!skipped.is_empty()).then(|| format!("{n} skipped: {}", Self::counts_by_reason(skipped)))
    }

    /// Says how many recordings take no part, and why; nothing if there are none.
    pub fn note(skipped: &[Self]) -> Option<String> {
        let n = skipped.len();
        let take = if n == 1 { "recording takes" } else { "recordings take" };
        (n > 0).then(|| format!("{n} {take} no part: {}.", Self::counts_by_reason(skipped)))
    }

    /// Counts the skipped files by reason, most frequent first, in words, and names the first of each.
    pub fn counts_by_reason(skipped: &[Self]) -> String {
        let mut by_reason = grouped(skipped.iter().map(|it| (it.reason.as_str(), it)));
        by_reason.sort_by(|_, one, _, other| other.len().cmp(&one.len()));
        let counts = by_reason.iter().map(|(reason, all)| {
            format!("{reason} ({}{})", thousands(all.len() as u64), Self::first_file_names(all))
        });
        counts.listed().join("; ")
    }

    /// Names some files, each once; nothing for what was not asked for.
    fn first_file_names(files: &[&Self]) -> String {
        let names = files.iter().filter(|it| !it.is_not_asked);
        let names: IndexSet<&str> = names.map(|it| it.file.rsplit('/').next().unwrap_or(&it.file)).collect();
        let first = names.iter().take(Self::NAMED).map(|it| in_one_line(it)).listed().join(", ");
        let more = if names.len() > Self::NAMED { ", …" } else { "" };
        text_if_any(names.len(), |_| format!(": {first}{more}"))
    }
}

impl Report {
    /// Makes a report of runs; `has_sum` adds sums over scenarios if there are several.
    pub fn new(suite: Option<String>, notes: Vec<String>, runs: Vec<Run>, has_sum: bool) -> Self {
        let (runs, failures) = Self::split_off_failed(repair::drop_repairs_if_many_loads(runs));
        let n_scenarios = distinct(runs.iter().map(|it| it.scenario.as_str())).len();
        let sums = if has_sum && n_scenarios > 1 { sum_over_scenarios(&runs, &failures) } else { Vec::new() };
        Self { suite, notes, runs, sums, failures, min_evidence: verdict::MIN_EVIDENCE, ..Self::default() }
    }

    /// Makes a report of what a fold kept of runs, and of those that failed.
    pub fn from_folded(
        suite: Option<String>,
        notes: Vec<String>,
        (folded, failures): (FoldedRuns, Vec<FailedRun>),
        has_sum: bool,
    ) -> Self {
        let folded = Some(Box::new(folded));
        let mut report = Self { folded, failures, ..Self::new(suite, notes, Vec::new(), false) };
        if has_sum && report.n_scenarios() > 1 {
            report.sums = report.sums_over_scenarios();
        }
        report
    }

    /// Returns the runs in brief, whether or not they were folded.
    pub fn run_briefs(&self) -> impl Iterator<Item = RunBrief<'_>> {
        self.runs.iter().map(RunBrief::from).chain(self.folded.iter().flat_map(|it| it.run_briefs()))
    }

    /// Returns the number of scenarios with runs.
    pub fn n_scenarios(&self) -> usize {
        distinct(self.run_briefs().map(|it| it.scenario)).len()
    }

    /// Returns the sums over scenarios, by profile, then by policy, whether or not its tables show them.
    pub fn sums_over_scenarios(&self) -> Vec<Run> {
        match &self.folded {
            Some(folded) => folded.sums_over_scenarios(&self.failures),
            None => sum_over_scenarios(&self.runs, &self.failures),
        }
    }

    /// Returns every run with its verdicts, the sums last.
    pub fn runs_with_labels(&self) -> impl Iterator<Item = (&Run, Option<Label>)> {
        let groups = self.runs.chunk_by(Run::is_beside).chain(self.sums.chunk_by(Run::is_beside));
        groups.flat_map(|group| {
            group.iter().enumerate().map(move |(index, run)| {
                let baseline = &group[0].tally;
                let label = if index == 0 { Some(Label::Baseline) } else { Label::new(&run.tally, baseline) };
                (run, label)
            })
        })
    }

    /// Returns the cards of runs whose findings have some.
    pub fn finding_cards_json(&self) -> Vec<serde_json::Value> {
        let card = |run: &Run| run.findings.as_ref()?.card(run, self.suite.as_deref(), &self.notes);
        self.runs.iter().filter_map(card).listed()
    }

    /// Returns the tables of what worlds found; those of published figures stand before all others.
    pub fn findings_grids(&self) -> Vec<Grid> {
        let runs: Vec<&Run> = self.runs.iter().listed();
        ctxsim_worlds::findings().flat_map(|it| (it.grids)(&runs, &self.references)).listed()
    }

    /// Returns all assumptions of the runs, each once, naming the profiles if it does not hold for all.
    pub fn assumption_sentences(&self) -> Vec<String> {
        let mut by_sentence: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
        for run in &self.runs {
            for sentence in &run.assumed.sentences {
                by_sentence.entry(sentence).or_default().insert(&run.profile);
            }
        }
        let n_profiles = distinct(self.runs.iter().map(|it| it.profile.as_str())).len();
        let written = |(sentence, profiles): (&str, IndexSet<&str>)| {
            if profiles.len() == n_profiles {
                return sentence.to_owned();
            }
            let names = profiles.into_iter().listed().join(", ");
            format!("{} (under {names}).", sentence.trim_end_matches('.'))
        };
        by_sentence.into_iter().map(written).listed()
    }
}

/// Adds up the scenarios, per profile and policy; a policy that failed on one of them has no sum.
fn sum_over_scenarios(runs: &[Run], failures: &[FailedRun]) -> Vec<Run> {
    let failed = |it: &Run| failures.iter().any(|no| no.policy == it.policy && no.profile == it.profile);
    let mut by_profile: IndexMap<&str, IndexMap<&str, Run>> = IndexMap::new();
    for run in runs.iter().filter(|it| !failed(it)) {
        let sums = by_profile.entry(&run.profile).or_default();
        let Some(sum) = sums.get_mut(run.policy.as_str()) else {
            sums.insert(&run.policy, Run { scenario: ALL.to_owned(), findings: None, ..run.clone() });
            continue;
        };
        sum.tally.add(&run.tally);
        let sentences = &mut Arc::make_mut(&mut sum.assumed).sentences;
        let new = run.assumed.sentences.iter().filter(|it| !sentences.contains(it)).cloned().listed();
        sentences.extend(new);
    }
    by_profile.into_values().flat_map(IndexMap::into_values).listed()
}

/// Returns values by key, both in the order in which they come.
pub fn grouped<K: Hash + Eq, V>(keys_and_values: impl IntoIterator<Item = (K, V)>) -> IndexMap<K, Vec<V>> {
    let mut groups: IndexMap<K, Vec<V>> = IndexMap::new();
    for (key, value) in keys_and_values {
        groups.entry(key).or_default().push(value);
    }
    groups
}

/// Counts how often each value comes, in the order in which they first do.
pub(crate) fn counts_by_value<T: Hash + Eq>(values: impl Iterator<Item = T>) -> IndexMap<T, usize> {
    let mut counts = IndexMap::new();
    values.for_each(|it| *counts.entry(it).or_default() += 1);
    counts
}

/// Returns a value's name in input files.
pub(crate) fn serialized_name(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Adds up what some sessions have; nothing where none has it.
fn sum_if_any<T: std::ops::AddAssign>(all: impl Iterator<Item = T>) -> Option<T> {
    all.reduce(|mut sum, more| {
        sum += more;
        sum
    })
}

/// Returns values in order, each once.
pub fn distinct<T: Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<IndexSet<T>>().into_iter().listed()
}
