//! What one play came to: a run with its numbers, its findings and what they rest on.

use crate::prelude::*;

use super::world::RowsOf;
use super::{Cell, Findings, Load, Progress};
use crate::ledger::CallRow;
use crate::measure::Tally;
use crate::projection::Threshold;
use ctxsim_base::error::Error;
use ctxsim_base::grid::numbers;
use ctxsim_input::profile::WaitRates;
use ctxsim_input::scenario::refetch::Explores;
use ctxsim_input::{Apply, Counting, End, RecoveryPrice, Refetch, WaitModel};
use ctxsim_timeline::row::{ColumnUnit, Columns, Fields, Head, Rows, columns, heads, row_fields};

/// One policy on one scenario under one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The policy.
    pub policy: String,
    /// The scenario, or `ALL` for the sum of several.
    pub scenario: String,
    /// The profile.
    pub profile: String,
    /// The seed.
    pub seed: u64,
    /// The number of trials per load; 1 if nothing is drawn.
    pub trials: u64,
    /// What its world found beside the bill, if it found anything.
    pub findings: Option<Arc<dyn Findings>>,
    /// Whether the policy knows later needs, as no real policy does.
    pub looks_ahead: bool,
    /// The numbers.
    pub tally: Tally,
    /// The basis of the numbers.
    pub assumed: Arc<RunBasis>,
    /// The stages of the policy.
    pub stages: Arc<[StageFacts]>,
    /// The setting that makes a real agent behave like this, if the policy has one.
    pub apply: Option<Arc<Apply>>,
}

impl Run {
    /// Returns what was played, in words.
    pub fn subject(&self) -> String {
        format!("{} under {}", self.scenario, self.profile)
    }

    /// Returns whether another run is of the same scenario and profile.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.scenario == other.scenario && self.profile == other.profile
    }
}

/// A load's part in a report.
#[derive(Clone, Copy, Debug)]
pub struct LoadFacts<'a> {
    pub name: &'a str,
    pub has_needs: bool,
    /// Whether it is a recorded session.
    pub is_recorded: bool,
    /// What its runs rest on in place of what is said of recovery, if its world says it.
    pub premises: Option<[&'static str; 2]>,
    /// The seed of its sampled needs, if they are sampled.
    pub drawn_from: Option<u64>,
    /// The number of trials per load; 1 if nothing is drawn.
    pub trials: u64,
    /// What an agent needs to fetch something again.
    pub refetch: Refetch,
    /// How the models of the profile count its tokens, if it was recorded.
    pub counting: Option<Counting>,
    /// Its assumptions, in sentences.
    pub assumptions: &'a [String],
}

/// The basis of a run's numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunBasis {
    /// The date of the profile's sources.
    pub as_of: String,
    /// Whether the load is a recorded session.
    pub is_recorded: bool,
    /// How the profile's models count its tokens, if it was recorded.
    pub counting: Option<Counting>,
    /// Its assumptions, in sentences.
    pub sentences: Vec<String>,
}

/// A stage in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageFacts {
    /// Its name.
    pub name: String,
    /// Whether it has a condition.
    pub has_trigger: bool,
    /// The prompt length that it needs, if that is known in advance.
    pub threshold: Option<Threshold>,
}

impl RunBasis {
    /// Collects the assumptions of a load and a profile.
    pub fn new(load: &LoadFacts<'_>, profile: &Profile) -> Self {
        let assumed = &profile.assumptions;
        let mut sentences = load.assumptions.to_vec();
        if let Some(Counting::Anew(factor)) = load.counting {
            sentences.push(format!(
                "Sizes are counted anew for the profile's models: each recorded token as {}.",
                factor.words()
            ));
        }
        if let Some(premises) = load.premises {
            sentences.extend(premises.map(str::to_owned));
        } else if !load.has_needs {
            sentences.push(format!(
                "{} declares no evidence needs: recovery is unknown, and so is which results are needed.",
                load.name
            ));
        } else if let Some(seed) = load.drawn_from {
            let (times, sums) = match load.trials {
                1 => ("once".to_owned(), ""),
                n => (format!("{} times", numbers::thousands(n)), " Numbers are sums over these trials."),
            };
            sentences.push(format!(
                "Needs are sampled {times} with seed {seed}: fetching a sampled need adds a request, a call \
                    and a result. Another seed gives other numbers.{sums}"
            ));
        } else if assumed.recovery == RecoveryPrice::Requests {
            sentences.push(refetch_sentence(&load.refetch));
            sentences.extend(exploration_sentence(&load.refetch));
        } else {
            sentences.push(format!(
                "A recovery call reads {} tokens in addition to the result and writes {}.",
                numbers::thousands(assumed.recovery_overhead_tokens),
                numbers::thousands(assumed.recovery_output_tokens)
            ));
        }
        if assumed.failure_penalty > Cost::default() {
            let penalty = assumed.failure_penalty.usd();
            sentences
                .push(format!("A need without a handle, or a request over a limit, costs {penalty} USD."));
        }
        sentences.extend(profile.waiting.map(waiting_sentence));
        if assumed.request_latency_ms > 0.0 {
            sentences.push(format!(
                "A request takes {} ms, plus {} ms per input token not read from the cache and {} ms per \
                    output token; a recovery call takes {} ms.",
                assumed.request_latency_ms,
                assumed.latency_ms_per_uncached_token,
                assumed.latency_ms_per_output_token,
                assumed.recovery_latency_ms
            ));
        }
        Self {
            as_of: profile.as_of.clone(),
            is_recorded: load.is_recorded,
            counting: load.counting,
            sentences,
        }
    }
}

/// Describes how long requests take.
fn waiting_sentence(model: &WaitModel) -> String {
    let WaitRates { request, new, cached, output } = model.rates();
    let seconds = |ns: u64, tokens: f64| format!("{:.1}", ns as f64 * tokens / 1e9);
    let [low, high] = model.session_ratio.map(numbers::percent);
    format!(
        "Waiting: a request takes {} s, plus {} s per 10,000 new tokens, {} s per 100,000 cached tokens and {} s per 1,000 tokens of output, fitted on {} \
            timed requests of {}; 90% of sessions take {low} to {high} of that. Pauses are not counted.",
        seconds(request, 1.0),
        seconds(new, 1e4),
        seconds(cached, 1e5),
        seconds(output, 1e3),
        numbers::thousands(model.fitted.requests),
        model.name
    )
}

/// Describes what is looked up anew after context was removed.
fn exploration_sentence(refetch: &Refetch) -> Option<String> {
    let [declared, low, high] = End::ALL.map(|it| refetch.terms(it).explores);
    let (declared, low, high) = (declared?, low?, high?);
    let size = |of: &Explores| numbers::thousands(of.moments()[0].round() as u64);
    Some(format!(
        "After a policy removes context, each request makes {} calls more (from {} to {}), of {} tokens each (from {} to {}), times the share of the \
            context that is missing; this fades over {} requests. Measured on real compactions, which remove nearly all; for smaller \
            shares it is assumed. Policies that know what will be needed are exempt.",
        declared.calls_per_request,
        low.calls_per_request,
        high.calls_per_request,
        size(&declared),
        size(&low),
        size(&high),
        declared.fades_in_requests
    ))
}

/// Describes how recovery is priced.
fn refetch_sentence(refetch: &Refetch) -> String {
    let [terms, low, high] = End::ALL.map(|it| refetch.terms(it));
    format!(
        "Recovery is priced as requests: {} of the calls (from {} to {}) send the prompt again, the others \
            share a request; each returns at most {} tokens of a result (from {} to {}) and uses {} \
            itself, and both stay in the prompt until an edit or a reset removes them. The interval \
            beside a cost follows from these intervals and those of the weights.",
        numbers::percent(terms.own_request),
        numbers::percent(low.own_request),
        numbers::percent(high.own_request),
        numbers::thousands(terms.fetched_max.into()),
        numbers::thousands(low.fetched_max.into()),
        numbers::thousands(high.fetched_max.into()),
        terms.call_tokens
    )
}

// Runs that came to no result, because code outside this crate did what no run can go on with.

/// A run that came to no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRun {
    /// The policy.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The profile.
    pub profile: String,
    /// The user turn, from 1.
    pub turn: u32,
    /// The agent's request, from 1: the one that could not be sent.
    pub request: u32,
    /// What happened.
    pub reason: String,
}

impl fmt::Display for FailedRun {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { policy, scenario, profile, turn, request, reason } = self;
        write!(
            to,
            "{policy} failed on {scenario} under {profile}, in turn {turn} at request {request}: {reason}"
        )
    }
}

impl std::error::Error for FailedRun {}

impl FailedRun {
    /// Returns why a run came to no result, if it did.
    #[doc(hidden)]
    pub fn from_run(run: &Run) -> Option<Self> {
        let fault = run.tally.outcome.fault.as_deref()?;
        Some(Self {
            policy: run.policy.clone(),
            scenario: run.scenario.clone(),
            profile: run.profile.clone(),
            turn: fault.turn,
            request: fault.step.saturating_add(1),
            reason: fault.what.clone(),
        })
    }
}

/// Runs that came to no result, where everything that was asked for hangs on them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FailedRuns(pub Vec<FailedRun>);

/// Says what happened once for all runs of a policy to which the same happened.
impl fmt::Display for FailedRuns {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut alike: IndexMap<(&str, &str), Vec<&FailedRun>> = IndexMap::new();
        for run in &self.0 {
            alike.entry((&run.policy, &run.reason)).or_default().push(run);
        }
        let lines = alike.values().flat_map(|runs| {
            let others = runs.iter().skip(1).map(|it| format!("{} under {}", it.scenario, it.profile));
            let others: Vec<String> = others.collect();
            let also = runs.first().filter(|_| !others.is_empty());
            let also = also.map(|it| format!("{} failed the same way on {}", it.policy, others.join(", ")));
            runs.first().map(ToString::to_string).into_iter().chain(also)
        });
        to.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

impl FailedRuns {
    /// Returns an error where any of some runs came to no result.
    ///
    /// # Errors
    /// The runs that failed.
    pub fn none_of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Result<(), Error> {
        let failed: Vec<FailedRun> = runs.into_iter().filter_map(FailedRun::from_run).collect();
        if failed.is_empty() { Ok(()) } else { Err(Error::Run(Box::new(Self(failed)))) }
    }
}

// Rows that every world can have: those of trials with drawn needs, and calls of memories to their services.

/// The run of a row.
#[derive(Clone, Copy, Debug)]
pub struct RunName<'a> {
    pub policy: &'a str,
    pub scenario: &'a str,
    pub profile: &'a str,
}

impl RunName<'_> {
    /// Returns the first columns of its rows.
    pub fn fields(&self) -> Fields {
        let names = [("policy", self.policy), ("scenario", self.scenario), ("profile", self.profile)];
        names.map(|(name, it)| (name.into(), it.to_owned().into())).into()
    }
}

/// Returns the rows of a run that name it: trials, probes, questions of a session stream.
pub fn of_run<R: Columns>(run: RunName<'_>, all: &[R]) -> Rows {
    Rows::new::<R>(run.fields(), all)
}

/// Returns the trials of a run with sampled needs.
pub fn drawn(run: RunName<'_>, trials: &[Tally]) -> Rows {
    let columns = Tally::columns();
    let one = |(trial, tally): (usize, &Tally)| {
        let mut fields: Fields = vec![("trial".into(), trial.into())];
        fields.extend(row_fields(&columns, tally));
        fields
    };
    Rows { of: run.fields(), rows: trials.iter().enumerate().map(one).collect() }
}

/// Returns their columns.
pub fn drawn_heads() -> Vec<Head> {
    let trial = Head { name: "trial".to_owned(), unit: ColumnUnit::Count, doc: "The sample, from 0." };
    std::iter::once(trial).chain(heads::<Tally>()).collect()
}

columns! { CallRow;
    /// How many.
    "calls": Count = |it| it.calls,
    /// What they are for.
    "kind": Text = |it| it.kind.name(),
    /// The service.
    "service": Text = |it| it.service.clone(),
    /// What they carry.
    "tokens": Tokens = |it| it.tokens,
    /// The turn in which they were made, or the last turn before them.
    "turn": Count = |it| it.turn_ix,
}

impl Load {
    pub fn run_name(&self, cell: Cell) -> RunName<'_> {
        RunName {
            policy: &self.policies[cell.policy].name,
            scenario: &self.name,
            profile: &self.profiles[cell.profile].name,
        }
    }

    /// Plays it and returns rows of some kind: what its world has, what its memory service has, and what every load can have.
    pub fn rows_of(&self, kind: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        let mut all = self.world.rows(self, kind, progress);
        if let Some(service) = self.service() {
            all.extend(service.rows(self, kind, progress));
        }
        match kind {
            RowsOf::Trials => {
                all.extend(self.drawn(progress).iter().map(|(cell, it)| drawn(self.run_name(*cell), it)));
            }
            RowsOf::Calls => {
                let rows = self.rows(progress);
                all.extend(rows.iter().map(|(cell, it)| of_run(self.run_name(*cell), &it.calls)));
            }
            _ => {}
        }
        all
    }
}
