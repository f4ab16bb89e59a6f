//! Sessions with everything that is tried of their agents, and what their logs show of the settings in force.

use crate::prelude::*;

use super::agents::{AgentSetting, ShownBy};
use super::in_force::{SettingPolicies, SettingValues};
use super::menu::{MenuChoice, SettingMenu, SettingMenus};
use crate::entry::ReadyLoad;
use ctxsim_base::quantity::Tokens;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_engine::measure::missed::rewrites_not_foreseen;
use ctxsim_engine::price::{Bill, Costs};
use ctxsim_engine::take::Run;
use ctxsim_report::BillAsLogged;
use ctxsim_report::advise::saved::EarlierSession;
use ctxsim_report::as_logged::AS_RECORDED;
use ctxsim_report::billed::SavingsByLever;
use ctxsim_timeline::{LoggedOutcome, Usage};

/// What a log shows of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogData {
    /// The session's name.
    pub(crate) name: String,
    /// What became of its task, if its log tells.
    pub(crate) outcome: Option<LoggedOutcome>,
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
    /// Of that, what its input was billed: logs hold only a part of what a model writes.
    pub(crate) input_usd: Option<f64>,
    /// The same as its log says it, at list prices of its own models, with each request at the prices of its time.
    pub(crate) as_logged: Option<BillAsLogged>,
    /// The largest prompt that the next request, too, was as large as: with a window in force, history is compacted in between.
    pub(crate) held: Tokens,
}

impl LogData {
    /// Returns what its input was billed, and as simulated what its log does not show whole: outputs, the requests that compact, and what is
    /// looked up again.
    pub(crate) fn billed_input_plus_simulated_usd(&self, simulated: &Costs) -> Option<f64> {
        let main = &simulated.main;
        Some(self.input_usd? + simulated.total()? - (main.read + main.write + main.uncached).usd())
    }

    /// Returns what kind of session it is: its lane, its model and its length, because a request of a long session costs more.
    pub(crate) fn session_kind_label(&self) -> String {
        const LENGTHS: [u64; 3] = [20, 60, 180];
        let lane = if self.is_of_agent { "sub-agent" } else { "main" };
        let most = LENGTHS.into_iter().find(|it| self.requests <= *it);
        let length = most.map_or_else(|| "longer".to_owned(), |most| format!("up to {most} requests"));
        format!("{lane}, {}, {length}", self.model)
    }
}

/// A session as recorded, as it is with what is in force, and under what is tried.
pub(crate) struct PlayedSession {
    pub(crate) seen: LogData,
    /// With what is in force.
    pub(super) base: Tally,
    /// What was played: choices of pairs that do something in it.
    pub(super) runs: IndexMap<MenuChoice, Tally>,
    /// What only maintainers can change, in their order; as things are where it does not concern the session.
    pub(super) wishes: Vec<Tally>,
    /// Of each pair of the menu: whether it does something in it.
    pub(super) acts: Vec<bool>,
    /// What its bills tell of levers; none where its log has no bill.
    pub(super) by_bills: Option<SavingsByLever>,
}

impl PlayedSession {
    fn new(seen: LogData, base: Tally) -> Self {
        let (runs, wishes, acts) = (IndexMap::new(), Vec::new(), Vec::new());
        Self { seen, base, runs, wishes, acts, by_bills: None }
    }

    /// Returns what its log says was billed.
    pub(super) fn logged_bill(&self) -> Option<&BillAsLogged> {
        self.seen.as_logged.as_ref()
    }

    /// Returns whether a pair of the menu does something in it.
    pub(super) fn pair_has_effect(&self, pair_index: usize) -> bool {
        self.acts.get(pair_index).copied().unwrap_or_default()
    }

    /// Returns the pairs of a choice that do something in it: one that does nothing alone does nothing beside others.
    pub(super) fn pairs_with_effect(&self, choice: &[usize]) -> MenuChoice {
        choice.iter().copied().filter(|it| self.pair_has_effect(*it)).listed()
    }

    /// Returns its run under a choice.
    pub(super) fn tally_under(&self, choice: &[usize]) -> &Tally {
        self.runs.get(&self.pairs_with_effect(choice)).unwrap_or(&self.base)
    }

    /// Returns what a forecast reads of it: its size is what it costs with what is in force, or its requests.
    pub(super) fn to_earlier_session(&self, choice: &[usize], is_sized_by_cost: bool) -> EarlierSession {
        let (size, billed_usd) = if is_sized_by_cost {
            (self.base.costs.total(), self.seen.billed_input_plus_simulated_usd(&self.base.costs))
        } else {
            (Some(self.seen.requests as f64), self.seen.billed_usd)
        };
        let (usd, changed_usd) = (self.base.costs.total(), self.tally_under(choice).costs.total());
        let at_ms = self.seen.span_ms.map(|it| it[1]);
        EarlierSession { kind: self.seen.session_kind_label(), at_ms, size, billed_usd, usd, changed_usd }
    }
}

/// Plays sessions with everything that is tried of their agents, each opened once; returns what is to be kept of each while it is open, and
/// what takes no part. A session of no known agent is played as it was recorded.
///
/// # Errors
/// Every problem of the inputs, or a run failed.
pub(super) fn play_sessions<T: Send>(
    plan: &Plan,
    menus: &SettingMenus<'_>,
    threads: Option<usize>,
    progress: Progress<'_>,
    map_session: impl Fn(&Load, PlayedSession) -> T + Sync,
) -> Result<(Vec<T>, Vec<SkippedFile>)> {
    let open = |ready: &ReadyLoad| plan.open_with_projects(ready, |it| menus.has_project_folders(it));
    let one = |load: &Load, progress: Progress<'_>| -> Result<Option<T>> {
        Ok(play_load_with_menu(load, menus, progress)?.map(|session| map_session(load, session)))
    };
    let (all, skipped) = plan.map_loads_opened_by(threads, progress, open, one)?;
    let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok((all.into_iter().flatten().listed(), skipped))
}

/// Plays a session under everything that is tried for its agent; if its agent is unknown, as it was recorded. `None` if the load is
/// not a recording.
///
/// # Errors
/// The settings file that was given cannot be used, or a run failed.
pub(crate) fn play_load_with_menu(
    load: &Load,
    menus: &SettingMenus<'_>,
    progress: Progress<'_>,
) -> Result<Option<PlayedSession>> {
    let Some(mut seen) = log_data(load) else { return Ok(None) };
    let timeline = load.timeline();
    seen.as_logged = timeline.and_then(|it| menus.prices.bill_as_logged(it));
    let own = load_with_billed_cache(load);
    let play = SessionPlay { load: own.as_ref().unwrap_or(load), of_agent: seen.is_of_agent, progress };
    let menu = menus.menu_for_log(&seen)?;
    let sets_lifetime = |it: &AgentSetting| it.shown_by == Some(ShownBy::Lifetimes);
    let has_lifetimes = menu.is_some_and(|it| it.agent.settings.iter().any(sets_lifetime));
    let by_bills =
        timeline.and_then(|it| menus.prices.billed_facts(it, load.profiles.first(), has_lifetimes));
    Ok(Some(PlayedSession { by_bills, ..play.play_session(menu, seen)? }))
}

/// Returns a load whose first request finds in the cache what its bill says that it found, and whose messages are written anew where bills say
/// so and nothing else does; `None` where that is not known.
pub(crate) fn load_with_billed_cache(load: &Load) -> Option<Load> {
    let timeline = load.timeline().filter(|_| load.counts.iter().all(Option::is_none))?;
    let mut billed = timeline.begun_as_billed()?;
    if let Some(profile) = load.profiles.first() {
        billed.rewritten_before(&rewrites_not_foreseen(timeline, profile));
    }
    Some(Load { world: ctxsim_worlds::of_items(Arc::new(billed)), ..load.clone() })
}

/// A session that is being played.
struct SessionPlay<'a> {
    load: &'a Load,
    of_agent: bool,
    progress: Progress<'a>,
}

impl SessionPlay<'_> {
    /// Plays policies, in order.
    fn run_policies(&self, policies: Vec<Arc<Policy>>) -> Result<Vec<Run>> {
        let runs = Load { policies, ..self.load.clone() }.runs(self.progress);
        FailedRuns::none_of(runs.iter())?;
        Ok(runs)
    }

    /// Plays what is in force, each pair alone, what only maintainers can change, and then the choices of pairs that do something in it.
    fn play_session(&self, menu: Option<&SettingMenu<'_>>, seen: LogData) -> Result<PlayedSession> {
        let Some(menu) = menu else {
            let recorded = self.run_policies(self.load.policies.iter().take(1).cloned().listed())?.remove(0);
            return Ok(PlayedSession::new(seen, recorded.tally));
        };
        let alone = (0..menu.pairs.len()).filter(|pair| menu.pairs[*pair].setting.needs.is_empty());
        let alone = alone.map(|it| menu.pairs_in_lane(&[it], self.of_agent)).filter(|own| !own.is_empty());
        let alone: Vec<MenuChoice> = alone.listed();
        let mut policies = vec![menu.policy_for_choice(&[], self.of_agent)?];
        for choice in &alone {
            policies.push(menu.policy_for_choice(choice, self.of_agent)?);
        }
        let wishes = menu.wishes.iter().map(|wish| menu.policy_for_wish(wish, self.of_agent));
        let wishes = wishes.collect::<Result<Vec<_>, _>>()?;
        policies.extend(wishes.iter().flatten().cloned());
        let mut tallies = self.run_policies(policies)?.into_iter().map(|run| run.tally);
        let mut session = PlayedSession::new(seen, tallies.next().unwrap_or_else(Tally::empty));
        session.runs = alone.into_iter().zip(tallies.by_ref()).collect();
        for wish in wishes {
            let own = wish.and_then(|_| tallies.next());
            session.wishes.push(own.unwrap_or_else(|| session.base.clone()));
        }
        let base = &session.base;
        session.runs.retain(|_, run| run.costs != base.costs || run.sums != base.sums);
        self.play_choices(menu, session)
    }

    /// Plays the choices of pairs that do something in it, by what each pair does alone.
    fn play_choices(&self, menu: &SettingMenu<'_>, mut session: PlayedSession) -> Result<PlayedSession> {
        // What needs something else is not played alone, so it may act.
        let acts = |pair: usize| {
            session.runs.contains_key(&vec![pair]) || !menu.pairs[pair].setting.needs.is_empty()
        };
        session.acts = (0..menu.pairs.len())
            .map(|pair| acts(pair) && !menu.pairs_in_lane(&[pair], self.of_agent).is_empty())
            .listed();
        let mut left = menu.choices.iter().map(|choice| session.pairs_with_effect(choice)).listed();
        left.sort();
        left.dedup();
        left.retain(|choice| !choice.is_empty() && !session.runs.contains_key(choice));
        if !left.is_empty() {
            let made = left.iter().map(|choice| menu.policy_for_choice(choice, self.of_agent));
            let runs = self.run_policies(made.collect::<Result<_, _>>()?)?;
            session.runs.extend(left.into_iter().zip(runs.into_iter().map(|run| run.tally)));
        }
        Ok(session)
    }
}

/// Looks at the recorded sessions, without playing them.
///
/// # Errors
/// Every problem of the inputs.
pub(crate) fn read_log_data(
    plan: &Plan,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Vec<LogData>> {
    let open = |ready: &ReadyLoad| plan.open_with_projects(ready, |_| false);
    let all = plan.map_loads_opened_by(threads, progress, open, |load, _| log_data(load))?.0;
    Ok(all.into_iter().flatten().listed())
}

/// What a log shows of a session, and what it costs with each of some settings in force.
pub(crate) struct CostedLog {
    pub(crate) seen: LogData,
    pub(crate) costs: [Costs; 2],
}

/// Plays sessions of one agent with each of two settings in force.
///
/// # Errors
/// Every problem of the inputs, or a run failed.
pub(crate) fn costs_under_settings(
    comparison: &Comparison,
    policies: SettingPolicies<'_>,
    settings: &[SettingValues; 2],
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Vec<CostedLog>> {
    let plan = plan_as_recorded(policies.catalog, comparison)?;
    let one = |load: &Load, progress: Progress<'_>| -> Result<Option<CostedLog>> {
        let Some(seen) = log_data(load) else { return Ok(None) };
        let own = load_with_billed_cache(load);
        let play = SessionPlay { load: own.as_ref().unwrap_or(load), of_agent: seen.is_of_agent, progress };
        let made = settings.iter().map(|it| policies.policy_for_values(it, seen.is_of_agent));
        let runs = play.run_policies(made.collect::<Result<_, _>>()?)?;
        Ok(Some(CostedLog { seen, costs: [runs[0].tally.costs, runs[1].tally.costs] }))
    };
    let open = |ready: &ReadyLoad| plan.open_with_projects(ready, |_| policies.agent.has_folders);
    let all = plan.map_loads_opened_by(threads, progress, open, one)?.0;
    Ok(all.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().listed())
}

/// Plans the recorded sessions under what was recorded, each under the profile of its own model.
///
/// # Errors
/// Every problem of the inputs.
pub(crate) fn plan_as_recorded(catalog: &Catalog, comparison: &Comparison) -> Result<Plan> {
    Plan::new(catalog, &Comparison { policies: vec![AS_RECORDED.to_owned()], ..comparison.clone() })
}

/// Returns what the log of a load shows, if it is a recording.
pub(super) fn log_data(load: &Load) -> Option<LogData> {
    let timeline = load.timeline()?;
    let recorded = timeline.recorded.as_ref()?;
    let last = timeline.last_ms();
    let usage = || recorded.usage.iter().flatten();
    // The prompts of the last requests before the harness's compactions, as billed.
    let before = recorded.before_compactions.iter();
    let before = before.filter_map(|request| recorded.usage.get(*request as usize).copied().flatten());
    let compacted_at = before.map(|it| it.prompt + it.output).filter(|it| *it > 0).listed();
    // What was written with a short and with a long lifetime, where the log says which.
    let written = usage().filter(|it| it.cache_write_long.is_some()).map(|it| it.writes(None));
    let prompts = usage().map(|it| it.prompt).listed();
    Some(LogData {
        name: load.name.clone(),
        outcome: recorded.outcome.clone(),
        format: recorded.format,
        version: recorded.version.clone(),
        model: timeline.main_model().map(|it| it.name.clone()).unwrap_or_default(),
        project: load.project.clone(),
        is_of_agent: timeline.is_of_agent(),
        requests: timeline.spine.steps.len() as u64,
        span_ms: timeline.began_ms.zip(last).map(|it| [it.0, it.1]),
        window: load.profiles.first().map_or(0, |it| it.limits.prompt),
        compacted_at,
        written: written.fold([0; 2], |sum, it| [sum[0] + it[0], sum[1] + it[1]]),
        billed_usd: recorded_bill_usd(load, timeline, |it| it.output),
        input_usd: recorded_bill_usd(load, timeline, |_| 0),
        as_logged: None,
        held: prompts.windows(2).map(|it| it[0].min(it[1])).max().unwrap_or_default(),
    })
}

/// Returns the recorded bill of a session, at the prices of its own profile, with the output that counts.
fn recorded_bill_usd(load: &Load, timeline: &Timeline, counted_output: fn(&Usage) -> Tokens) -> Option<f64> {
    let prices = &load.profiles.first()?.prices;
    let mut sum = None;
    for (step, usage) in timeline.spine.steps.iter().zip(&timeline.recorded.as_ref()?.usage) {
        let Some(usage) = usage else { continue };
        let write = usage.writes(timeline.harness.ttl);
        let (read, uncached, output) = (usage.cache_read, usage.uncached, counted_output(usage));
        let tokens = TokenUse { read, write, uncached, output };
        let usd = Bill::of_request(prices.at(step.at_ms), &tokens).total()?.usd();
        sum = Some(sum.unwrap_or(0.0) + usd);
    }
    sum
}
