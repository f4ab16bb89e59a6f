//! The runs of a comparison with what they were run under, in the forms that people and programs read.

mod aging;
mod aligned;
pub mod calibration;
mod card;
pub mod carried;
mod compactions;
pub mod sections;
pub mod chart;
pub mod checkup;
pub mod contrast;
pub mod csv;
pub mod explain;
mod failures;
pub mod firings;
mod figures;
mod fit;
pub mod guards;
pub mod html;
pub mod json;
pub mod markdown;
pub mod memory_runners;
pub mod metric;
pub mod numbers;
pub mod places;
mod prose;
mod reasons;
mod resets;
pub mod recording;
pub mod retention;
pub mod rows;
pub mod runner_rows;
pub mod sensitivity;
pub mod session;
pub mod shot;
mod summariser;
pub mod sweep;
#[cfg(feature = "tables")]
pub mod table;
pub mod tune;
pub mod verdict;
mod template;

use std::hash::Hash;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use self::numbers::thousands;
use crate::aging::Summary;
use crate::error::Error;
use crate::input::Profile;
use crate::input::policy::Apply;
use crate::input::profile::written::RecoveryPrice;
use crate::input::scenario::refetch::{Bound, Refetch};
use crate::input::suite::{Figure, Reference};
use crate::measure::{Label, Retention, Tally};
use crate::quantity::Cost;
use crate::runner;

pub use failures::{FailedRun, FailedRuns};
pub use figures::FigureLine;
pub use firings::StageFacts;
pub use guards::GuardVerdict;
pub use metric::Totals;
pub use session::{BillCheck, Session};
pub use verdict::Verdict;

/// What the row that adds up the scenarios is called.
pub const ALL: &str = "ALL";

/// A comparison: every policy on every scenario under every profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The suite, where one took part.
    pub suite: Option<String>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Figures of others that stand beside ours.
    pub references: Vec<Reference>,
    /// Published figures that stand beside ours, in a table of their own.
    pub figures: Vec<Figure>,
    /// The runs: by scenario, then by profile, then by policy.
    pub runs: Vec<Run>,
    /// The scenarios added up, by profile, then by policy; none unless asked for.
    pub sums: Vec<Run>,
    /// What the guards came to.
    pub guard_verdicts: Vec<GuardVerdict>,
    /// The runs that came to no result; they are in no other list, and in no sum.
    pub failures: Vec<FailedRun>,
    /// What was named, or found where it was looked for, and is not in it.
    pub skipped: Vec<Skipped>,
    /// The recorded sessions that were run.
    pub sessions: Vec<Session>,
    /// The policies that know what will be needed, which no agent does.
    pub oracles: Vec<String>,
    /// The share of the evidence that a policy must keep to be advised.
    pub min_evidence: f64,
    /// Whether tables rank the policies and say why each costs what it does.
    pub is_ranked: bool,
}

/// A file that was named, or found where it was looked for, and that is not in a report.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// Its path.
    pub file: String,
    /// Why, in a few words.
    pub reason: String,
}

impl Skipped {
    /// Says in a few words why a file that was found cannot be used.
    #[must_use]
    pub fn new(file: &str, error: Error) -> Self {
        let problem = match error {
            Error::Invalid(mut problems) if !problems.is_empty() => problems.swap_remove(0),
            other => other.into_problem(),
        };
        let reason = match problem.code {
            "recording-empty" => "no request".to_owned(),
            "recording-unknown" => "not a recorded session".to_owned(),
            _ => problem.message,
        };
        Self { file: file.to_owned(), reason }
    }

    /// Returns how many there are of each reason, most first, in words.
    #[must_use]
    pub fn counted(skipped: &[Self]) -> String {
        let mut counts: IndexMap<&str, usize> = IndexMap::new();
        for one in skipped {
            *counts.entry(&one.reason).or_default() += 1;
        }
        counts.sort_by(|_, one, _, other| other.cmp(one));
        let counts: Vec<String> =
            counts.iter().map(|(reason, n)| format!("{} {reason}", thousands(*n as u64))).collect();
        counts.join(", ")
    }
}

/// One policy on one scenario under one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The policy.
    pub policy: String,
    /// The scenario, or [`ALL`].
    pub scenario: String,
    /// The profile.
    pub profile: String,
    /// The seed.
    pub seed: u64,
    /// How many times each load of it was drawn; 1 where nothing is drawn.
    pub trials: u64,
    /// What was kept of planted facts, where the load has any.
    pub retention: Option<Arc<Retention>>,
    /// How a memory ages, where the load has many sessions.
    pub aging: Option<Arc<Summary>>,
    /// What a memory runner came to, where sessions were written to a service.
    pub runner: Option<Arc<runner::Summary>>,
    /// Whether the policy knows what will be needed, as no real policy does.
    pub looks_ahead: bool,
    /// The numbers.
    pub tally: Tally,
    /// What they rest on.
    pub assumed: Arc<Assumed>,
    /// The stages of the policy.
    pub stages: Arc<[StageFacts]>,
    /// The setting that makes the real agent do it, where the policy has one.
    pub apply: Option<Arc<Apply>>,
}

/// What of a load a report speaks of.
#[derive(Clone, Copy, Debug)]
pub struct LoadFacts<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether anything in it needs anything.
    pub has_needs: bool,
    /// Whether it is a recorded session.
    pub is_recorded: bool,
    /// Whether it is a conversation that plants facts.
    pub is_conversation: bool,
    /// Whether it is sessions over which a memory ages.
    pub is_aging: bool,
    /// Whether it is chats of many sessions.
    pub is_chats: bool,
    /// Where its needs are drawn: from which seed.
    pub drawn_from: Option<u64>,
    /// How many times each load of it is drawn; 1 where nothing is.
    pub trials: u64,
    /// What it takes to fetch something again.
    pub refetch: Refetch,
    /// What is assumed rather than known, in sentences.
    pub assumptions: &'a [String],
}

/// What the numbers of a run rest on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// The day of the profile's sources.
    pub as_of: String,
    /// Whether the load is a recorded session.
    pub is_recorded: bool,
    /// What is assumed rather than known, in sentences.
    pub sentences: Vec<String>,
}

impl Run {
    /// Returns whether its load has tables of its own: of planted facts, of ageing, of a memory runner.
    fn has_tables_of_its_own(&self) -> bool {
        self.retention.is_some() || self.aging.is_some() || self.runner.is_some()
    }
}

impl Report {
    /// Puts runs together; `has_sum` adds up the scenarios where there are several.
    #[must_use]
    pub fn new(suite: Option<String>, notes: Vec<String>, runs: Vec<Run>, has_sum: bool) -> Self {
        let (runs, failures) = Self::without_failed(runs);
        let n_scenarios = distinct(runs.iter().map(|it| it.scenario.as_str())).len();
        let sums = if has_sum && n_scenarios > 1 { sums(&runs, &failures) } else { Vec::new() };
        Self {
            suite,
            notes,
            references: Vec::new(),
            figures: Vec::new(),
            runs,
            sums,
            guard_verdicts: Vec::new(),
            failures,
            skipped: Vec::new(),
            sessions: Vec::new(),
            oracles: Vec::new(),
            min_evidence: verdict::MIN_EVIDENCE,
            is_ranked: false,
        }
    }

    /// Returns the scenarios added up, by profile, then by policy, whether or not its tables show that.
    #[must_use]
    pub fn added_up(&self) -> Vec<Run> {
        sums(&self.runs, &self.failures)
    }

    /// Returns every run with its verdict, the sums last.
    pub fn labelled(&self) -> impl Iterator<Item = (&Run, Option<Label>)> {
        let is_group =
            |left: &Run, right: &Run| left.scenario == right.scenario && left.profile == right.profile;
        let groups = self.runs.chunk_by(is_group).chain(self.sums.chunk_by(is_group));
        groups.flat_map(|group| {
            group.iter().enumerate().map(move |(index, run)| {
                let baseline = &group[0].tally;
                let label = if index == 0 { Some(Label::Baseline) } else { Label::new(&run.tally, baseline) };
                (run, label)
            })
        })
    }

    /// Returns the tables that loads of some kinds have besides: of planted facts, of ageing memories, of memory runners.
    #[must_use]
    pub fn grids(&self) -> Vec<retention::Grid> {
        let facts = self.retention_grids().into_iter().chain(self.aging_grids());
        facts.chain(self.runner_grids()).collect()
    }

    /// Returns everything that the runs assume, each sentence once, with the profiles that it does not hold for all of.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let mut by_sentence: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
        for run in &self.runs {
            for sentence in &run.assumed.sentences {
                by_sentence.entry(sentence).or_default().insert(&run.profile);
            }
        }
        let n_profiles = distinct(self.runs.iter().map(|it| it.profile.as_str())).len();
        let written = by_sentence.into_iter().map(|(sentence, profiles)| {
            if profiles.len() == n_profiles {
                return sentence.to_owned();
            }
            let names: Vec<&str> = profiles.into_iter().collect();
            format!("{} (under {}).", sentence.trim_end_matches('.'), names.join(", "))
        });
        written.collect()
    }
}

impl Assumed {
    /// Collects what a load and a profile assume.
    #[must_use]
    pub fn new(load: &LoadFacts<'_>, profile: &Profile) -> Self {
        let assumed = &profile.assumptions;
        let mut sentences = load.assumptions.to_vec();
        if load.is_chats {
            sentences.extend(
                [
                    "What a memory loses is drawn by the numbers of `assumptions/memory_runners`; no model ran.",
                    "Costs, calls and times are of the first trial. Each request has the system prompt and the document in front of it; a \
                     request for an entry has its message alone.",
                ]
                .map(str::to_owned),
            );
        } else if load.is_aging {
            sentences.extend(
                [
                    "What a memory loses is drawn by the numbers of `assumptions/aging`; no model ran.",
                    "Costs are of the first stream. Each request has the system prompt and the memory in front of it; what a memory \
                     keeps whole is one growing history.",
                ]
                .map(str::to_owned),
            );
        } else if load.is_conversation {
            sentences.extend(
                [
                    "A conversation's budget is its prompt limit; a memory stands at the end of the prompt, where no cache reads it.",
                    "What a memory takes to write, and the calls that fetch a fact by its key, are not billed.",
                ]
                .map(str::to_owned),
            );
        } else if !load.has_needs {
            sentences.push(format!(
                "{} does not say what needs what: recovery and kept evidence are unknown.",
                load.name
            ));
        } else if let Some(seed) = load.drawn_from {
            let (times, sums) = match load.trials {
                1 => ("once".to_owned(), ""),
                n => (format!("{} times", numbers::thousands(n)), " Numbers are sums over these trials."),
            };
            sentences.push(format!(
                "Needs are drawn {times}, from seed {seed}: what a drawn need fetches is a request, a call and a result like any \
                 other. Another seed gives other numbers.{sums}"
            ));
        } else if assumed.recovery == RecoveryPrice::Requests {
            sentences.push(refetch_sentence(&load.refetch));
        } else {
            sentences.push(format!(
                "A recovery call reads {} tokens beside what it fetches and writes {}.",
                numbers::thousands(assumed.recovery_overhead_tokens),
                numbers::thousands(assumed.recovery_output_tokens)
            ));
        }
        if assumed.failure_penalty > Cost::default() {
            let penalty = assumed.failure_penalty.usd();
            sentences
                .push(format!("A need without a handle, or a request over a limit, costs {penalty} USD."));
        }
        if assumed.request_latency_ms > 0.0 {
            sentences.push(format!(
                "A request takes {} ms, {} ms per input token not read from the cache and {} ms per output token; \
                 a recovery call takes {} ms.",
                assumed.request_latency_ms,
                assumed.latency_ms_per_uncached_token,
                assumed.latency_ms_per_output_token,
                assumed.recovery_latency_ms
            ));
        }
        Self { as_of: profile.as_of.clone(), is_recorded: load.is_recorded, sentences }
    }
}

/// Adds up the scenarios, per profile and policy; a policy that failed on one of them has no sum.
fn sums(runs: &[Run], failures: &[FailedRun]) -> Vec<Run> {
    let profiles = distinct(runs.iter().map(|it| it.profile.as_str()));
    let mut sums: Vec<Run> = Vec::new();
    for profile in profiles {
        let first = sums.len();
        let failed = |it: &Run| failures.iter().any(|no| no.policy == it.policy && no.profile == it.profile);
        for run in runs.iter().filter(|it| it.profile == profile && !failed(it)) {
            match sums[first..].iter_mut().find(|it| it.policy == run.policy) {
                Some(sum) => {
                    sum.tally.add(&run.tally);
                    let assumed = Arc::make_mut(&mut sum.assumed);
                    for sentence in &run.assumed.sentences {
                        if !assumed.sentences.contains(sentence) {
                            assumed.sentences.push(sentence.clone());
                        }
                    }
                }
                None => {
                    sums.push(Run {
                        scenario: ALL.to_owned(),
                        retention: None,
                        aging: None,
                        runner: None,
                        ..run.clone()
                    });
                }
            }
        }
    }
    sums
}

/// Returns values in order, each once.
pub(crate) fn distinct<T: Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<IndexSet<T>>().into_iter().collect()
}

/// Says what recovery is taken to cost.
fn refetch_sentence(refetch: &Refetch) -> String {
    let [terms, low, high] = Bound::ALL.map(|it| refetch.terms(it));
    format!(
        "Recovery is priced as requests: {} of the calls (from {} to {}) send the prompt once more, the others ride along; each \
         brings at most {} tokens of a result (from {} to {}) and takes {} itself, and both are carried until an edit or a reset \
         takes them out. The interval beside a cost is what these intervals and those of the weights imply.",
        numbers::percent(terms.own_request),
        numbers::percent(low.own_request),
        numbers::percent(high.own_request),
        numbers::thousands(terms.fetched_max.into()),
        numbers::thousands(low.fetched_max.into()),
        numbers::thousands(high.fetched_max.into()),
        terms.call_tokens
    )
}
