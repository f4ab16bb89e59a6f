//! Sessions of one agent under several policies, and what their logs show of the settings in force.

use super::agents::Agent;
use super::states::{ByLane, PlayedPolicies};
use crate::catalog::{Catalog, Kind};
use crate::{Comparison, ListPrices, Plan, Progress};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_base::quantity::Tokens;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_engine::measure::Tally;
use ctxsim_engine::price::Bill;
use ctxsim_engine::take::{FailedRuns, Load};
use ctxsim_report::{BillAsLogged, Skipped};
use ctxsim_timeline::{Recorded, Timeline, Usage};

/// What a log shows of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenLog {
    /// The format of its log.
    pub(crate) format: &'static str,
    /// The newest version of the agent that made it; empty if unknown.
    pub(crate) version: String,
    /// The model that was billed for most of it; empty if unknown.
    pub(crate) model: String,
    /// The user and the working folder; empty where neither the log nor its folder tells.
    pub(crate) project: String,
    /// Whether it is a sub-agent's.
    pub(crate) is_of_agent: bool,
    /// How many requests it has.
    pub(crate) requests: u64,
    /// When its first and its last request started, in milliseconds since 1970.
    pub(crate) span_ms: Option<[i64; 2]>,
    /// The longest prompt of its model.
    pub(crate) window: Tokens,
    /// The prompts before the harness's own compactions.
    pub(crate) compacted_at: Vec<Tokens>,
    /// What was written to the cache, by lifetime: short, long; as far as the log tells them apart.
    pub(crate) written: [Tokens; 2],
    /// What it was billed, in US dollars, where the log has usage and the model a price; side by side with the simulated one.
    pub(crate) billed_usd: Option<f64>,
    /// The same as its log says it, at list prices of its own models, with each request at the prices of its time.
    pub(crate) as_logged: Option<BillAsLogged>,
    /// Its size, where it was measured.
    pub(crate) size: Option<f64>,
}

impl SeenLog {
    /// Returns its size and what it was billed in US dollars, if both are known.
    pub(crate) fn bill(&self) -> Option<(f64, f64)> {
        Some((self.size?, self.billed_usd?))
    }

    /// Returns what kind of session it is: its lane, its model and its length, because a request of a long session costs more.
    pub(crate) fn kind(&self) -> String {
        const LENGTHS: [u64; 3] = [20, 60, 180];
        let lane = if self.is_of_agent { "sub-agent" } else { "main" };
        let length = match LENGTHS.into_iter().find(|it| self.requests <= *it) {
            Some(most) => format!("up to {most} requests"),
            None => "longer".to_owned(),
        };
        format!("{lane}, {}, {length}", self.model)
    }
}

/// A session under every policy.
#[derive(Clone, Debug)]
pub(crate) struct PlayedSession {
    pub(crate) seen: SeenLog,
    /// By policy.
    pub(super) runs: Vec<Tally>,
}

impl PlayedSession {
    /// Returns its size: what it costs under some policies, or its requests without any.
    pub(crate) fn size(&self, by_lane: Option<ByLane>) -> Option<f64> {
        by_lane.map_or(Some(self.seen.requests as f64), |it| self.run(it).costs.total())
    }

    /// Returns its run under the policies of a state.
    pub(super) fn run(&self, by_lane: ByLane) -> &Tally {
        &self.runs[by_lane[usize::from(self.seen.is_of_agent)]]
    }
}

/// Whose sessions are played.
#[derive(Clone, Copy)]
pub(crate) struct Whose<'a> {
    pub(crate) agent: &'a Agent,
    /// Whether all sessions are this agent's, whatever their format.
    pub(crate) is_named: bool,
}

impl Whose<'_> {
    /// Returns whether a session is one of these.
    pub(super) fn is_own(self, seen: &SeenLog) -> bool {
        self.is_named || self.agent.is_of(seen.format, &seen.model)
    }
}

/// What is played: the policies from one on, of which the first is what was recorded.
pub(crate) struct AdvicePlays<'a> {
    pub(crate) whose: Whose<'a>,
    pub(crate) policies: &'a PlayedPolicies<'a>,
    pub(crate) from: usize,
}

/// Looks at the recorded sessions, without playing them; also returns what takes no part.
///
/// # Errors
/// Every problem of the inputs.
pub(crate) fn seen(
    catalog: &Catalog,
    comparison: &Comparison,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(Vec<SeenLog>, Vec<Skipped>), Error> {
    let plan = plan(catalog, comparison, &[])?;
    let prices = ListPrices::read(catalog);
    let one = |load: &Load| {
        let as_logged = load.timeline().and_then(|it| prices.as_logged(it));
        Some(SeenLog { as_logged, ..of_load(load)? })
    };
    let all = plan.each_of(threads, progress, |it| plan.open(it), |load, _| one(load))?;
    let (all, skipped) = all;
    Ok((all.into_iter().flatten().listed(), skipped))
}

/// Plays the sessions of an agent.
///
/// # Errors
/// Every problem of the inputs, or a run failed.
pub(crate) fn played(
    catalog: &Catalog,
    comparison: &Comparison,
    plays: &AdvicePlays<'_>,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Vec<PlayedSession>, Error> {
    let mut catalog = catalog.clone();
    let AdvicePlays { whose, policies, from } = *plays;
    let files = || policies.files.iter().skip(from.max(1));
    for file in files() {
        catalog.hold(Kind::Policy, &file.name, file.clone(), None);
    }
    let names: Vec<String> = files().map(|it| it.name.clone()).listed();
    let plan = plan(&catalog, comparison, &names)?;
    let one = |load: &Load, progress: Progress<'_>| -> Result<Option<PlayedSession>, Error> {
        let Some(seen) = of_load(load).filter(|it| whose.is_own(it)) else { return Ok(None) };
        let runs = load.runs(progress);
        FailedRuns::none_of(runs.iter())?;
        let asked = runs.into_iter().skip(usize::from(from > 0));
        Ok(Some(PlayedSession { seen, runs: asked.map(|it| it.tally).listed() }))
    };
    let all =
        plan.each_of(threads, progress, |it| plan.opened_by_folder(it, whose.agent.has_folders), one)?.0;
    Ok(all.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().listed())
}

/// Plans the recorded sessions under what was recorded, then under some policies; each under the profile of its own model.
fn plan(catalog: &Catalog, comparison: &Comparison, names: &[String]) -> Result<Plan, Error> {
    let policies = std::iter::once("identity".to_owned()).chain(names.iter().cloned()).listed();
    Plan::new(catalog, &Comparison { policies, ..comparison.clone() })
}

/// Returns what the log of a load shows, if it is a recording.
fn of_load(load: &Load) -> Option<SeenLog> {
    let timeline = load.timeline()?;
    let recorded = timeline.recorded.as_ref()?;
    let last = timeline.last_ms();
    Some(SeenLog {
        format: recorded.format,
        version: recorded.version.clone(),
        model: timeline.main_model().map(|it| it.name.clone()).unwrap_or_default(),
        project: load.project.clone(),
        is_of_agent: timeline.is_of_agent(),
        requests: timeline.spine.steps.len() as u64,
        span_ms: timeline.began_ms.zip(last).map(|it| [it.0, it.1]),
        window: load.profiles.first().map_or(0, |it| it.limits.prompt),
        compacted_at: compacted_at(recorded),
        written: written(recorded),
        billed_usd: billed(load, timeline, recorded),
        as_logged: None,
        size: None,
    })
}

/// Returns the prompts of the last requests before the harness's compactions, as billed.
fn compacted_at(recorded: &Recorded) -> Vec<Tokens> {
    let usage = recorded
        .before_compactions
        .iter()
        .filter_map(|it| recorded.usage.get(*it as usize).copied().flatten());
    usage.map(|it| it.prompt + it.output).filter(|it| *it > 0).listed()
}

/// Returns what was written with a short and with a long lifetime, where the log says which.
fn written(recorded: &Recorded) -> [Tokens; 2] {
    let known = recorded.usage.iter().flatten().filter(|it| it.cache_write_long.is_some());
    known.map(|it| it.writes(None)).fold([0; 2], |sum, it| [sum[0] + it[0], sum[1] + it[1]])
}

/// Returns the recorded bill of a session, at the prices of its own profile.
fn billed(load: &Load, timeline: &Timeline, recorded: &Recorded) -> Option<f64> {
    let list = load.profiles.first()?.prices.at(0);
    let bill = |it: &Usage| {
        let write = it.writes(timeline.harness.ttl);
        let tokens = TokenUse { read: it.cache_read, write, uncached: it.uncached, output: it.output };
        Bill::of_request(list, &tokens)
    };
    let all: Option<Vec<f64>> =
        recorded.usage.iter().flatten().map(|it| Some(bill(it).total()?.usd())).collect();
    all.filter(|it| !it.is_empty()).map(|it| it.iter().sum())
}
