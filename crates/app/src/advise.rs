//! Advice on the settings of the agents that recorded some sessions: what is in force, what else could be, and what holds up.
//!
//! Advice (`app/advise/`) lays out the `SettingMenu` of an agent (pairs and choices, fixed before any result), opens each session once (`play.rs`:
//! pairs alone first, then choices of pairs that do something in it; what the first request found in the cache, and what was written anew
//! for no reason that the log tells, is taken from the bills) and hands the family over (`verdicts.rs`). The first screen and `advise` are
//! that one pass; `decide/beside.rs` gives `run` and `tune` their words.

pub mod agents;
mod asked;
pub mod edit;
pub mod files;
mod in_force;
pub(crate) mod in_run;
mod measured;
mod menu;
mod play;
pub mod stated;
mod verdicts;

use crate::prelude::*;

use crate::selection::OwnerFilter;
use agents::{Agent, AgentSetting, FixedSetting, is_older_version};
use asked::SessionsToAdviseOn;
pub use asked::TrialRequest;
use ctxsim_engine::measure::limits::sum_of_pairs;
use ctxsim_engine::measure::month::Calendar;
use ctxsim_report::advise::saved::SavingsForecast;
use ctxsim_report::advise::{Advice, AgentAdvice, AskedAdvice, Paste, SCHEMA, UntriedSetting};
use ctxsim_report::as_logged::sum_bills;
use measured::{CacheLifetimes, advise_from_bills};
pub(crate) use menu::SettingMenus;
use play::PlayedSession;
use stated::{FileSettings, SettingsFile};
use verdicts::{AgentMonth, AgentSessions, Verdicts};

pub(super) use in_force::{SettingPolicies, SettingValues, UNSET};
pub use measured::{ChangedSession, JudgedChoice, PlayedSessions, TriedChoice};
pub(crate) use play::{
    CostedLog, LogData, costs_under_settings, load_with_billed_cache, plan_as_recorded, play_load_with_menu,
    read_log_data,
};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct AdviceRequest {
    /// The agent by the name of its file: where formats do not tell, and where sessions of several are there.
    pub agent: Option<String>,
    /// Settings files, at most one for each agent.
    pub settings: Vec<SettingsFile>,
    /// The share of the needed evidence that must be kept.
    pub min_evidence: f64,
    /// Whether what only an agent's maintainers can change is played, too.
    pub has_wishes: bool,
    /// Settings that are tried together beside the rest: `KEY=VALUE` each.
    pub pairs: Vec<String>,
    /// The trial of these that is planned, if one is.
    pub trial: Option<TrialRequest>,
}

/// Advises on the settings of each agent; also returns what to write down of it, at most one forecast for each.
///
/// # Errors
/// Every problem of the inputs, or no session is one of a known agent.
pub fn advise(
    catalog: &Catalog,
    comparison: &Comparison,
    request: &AdviceRequest,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(Advice, Vec<SavingsForecast>)> {
    let menus = SettingMenus::new(catalog, request)?;
    // What is wrong with the days is said before any session is read.
    request.trial.iter().try_for_each(|trial| trial.schedule_days(Some(0)).map(|_| ()))?;
    let whose = OwnerFilter::new(comparison);
    let (played, _, skipped) =
        play_sessions_of_all(catalog, comparison, &menus, threads, progress, |_, _, _| ())?;
    let (mut advice, mut saved) = advise_on_sessions(&menus, &played, request.min_evidence, &whose)?;
    if let Some(trial) = &request.trial {
        let newest = played.iter().filter_map(|session| session.seen.span_ms).map(|[_, end]| end).max();
        let days = trial.schedule_days(newest)?;
        saved.iter_mut().for_each(|forecast| forecast.trial.clone_from(&days));
        let own = advice.agents.iter_mut().filter_map(|advice| advice.asked.as_mut());
        own.for_each(|choice| choice.trial.clone_from(&days));
    }
    if let Some(name) = request.agent.as_ref().filter(|_| played.is_empty() && !skipped.is_empty()) {
        return Err(no_recording_error(&format!("advise on that is one of `{name}`")));
    }
    if advice.agents.is_empty() {
        return Err(no_known_agent_error(&advice.unknown, Agent::all_by_file_name()?));
    }
    let names = advice.agents.iter().map(|advice| advice.agent.clone()).listed();
    asked::check_agents_have_settings(&names, &request.pairs)?;
    Ok((Advice { skipped, ..advice }, saved))
}

/// The same beside what else is asked of each session, which is told what keeps everything; sessions of no known agent are in that alone.
///
/// # Errors
/// Every problem of the inputs.
pub(super) fn advise_and_collect<T: Send>(
    catalog: &Catalog,
    comparison: &Comparison,
    request: &AdviceRequest,
    threads: Option<usize>,
    progress: Progress<'_>,
    collect_per_load: impl Fn(&Load, &Policy) -> T + Sync,
) -> Result<(Advice, Vec<T>)> {
    let menus = SettingMenus::new(catalog, request)?;
    let whose = OwnerFilter::new(comparison);
    let own = |load: &Load, as_recorded: &Policy, session: &PlayedSession| {
        whose.includes_folder(&session.seen.project).then(|| collect_per_load(load, as_recorded))
    };
    let (played, told, skipped) = play_sessions_of_all(catalog, comparison, &menus, threads, progress, own)?;
    let (advice, _) = advise_on_sessions(&menus, &played, request.min_evidence, &whose)?;
    Ok((Advice { skipped, ..advice }, told.into_iter().flatten().listed()))
}

/// Plays everybody's sessions, each with what is asked beside it: who has few of his own is advised by those of all. Somebody who is asked for
/// must have one.
fn play_sessions_of_all<T: Send>(
    catalog: &Catalog,
    comparison: &Comparison,
    menus: &SettingMenus<'_>,
    threads: Option<usize>,
    progress: Progress<'_>,
    ask: impl Fn(&Load, &Policy, &PlayedSession) -> T + Sync,
) -> Result<(Vec<PlayedSession>, Vec<T>, Vec<SkippedFile>)> {
    let whose = OwnerFilter::new(comparison);
    let everybody = Comparison { user: None, project: None, ..comparison.clone() };
    let plan = play::plan_as_recorded(catalog, &everybody)?;
    let beside = |load: &Load, session: PlayedSession| {
        let told = ask(load, &plan.as_recorded, &session);
        (session, told)
    };
    let (all, mut skipped) = play::play_sessions(&plan, menus, threads, progress, beside)?;
    let is_other =
        |it: &(PlayedSession, T)| menus.named.is_some() && menus.agent_of_log(&it.0.seen).is_none();
    let (others, own): (Vec<_>, Vec<_>) = all.into_iter().partition(is_other);
    skipped.extend(
        others.iter().map(|it| SkippedFile::not_asked(&it.0.seen.name, "of another agent".to_owned())),
    );
    if !own.is_empty() && !own.iter().any(|it| whose.includes_folder(&it.0.seen.project)) {
        return Err(asked::no_session_of_owner_error(own.iter().map(|it| &it.0.seen.project), &whose));
    }
    let (played, told) = own.into_iter().unzip();
    Ok((played, told, skipped))
}

/// Advises on sessions that were played.
///
/// # Errors
/// The settings file that was given cannot be used.
pub(crate) fn advise_on_sessions(
    menus: &SettingMenus<'_>,
    played_sessions: &[PlayedSession],
    min_evidence: f64,
    owner: &OwnerFilter,
) -> Result<(Advice, Vec<SavingsForecast>)> {
    let mut by_agent: IndexMap<&'static str, Vec<&PlayedSession>> = IndexMap::new();
    let mut by_format: IndexMap<&'static str, Vec<&PlayedSession>> = IndexMap::new();
    for session in played_sessions {
        match menus.agent_of_log(&session.seen) {
            Some(agent) => by_agent.entry(&agent.name).or_default().push(session),
            None => by_format.entry(session.seen.format).or_default().push(session),
        }
    }
    // One month for all agents, so that theirs add up.
    let asked_for = played_sessions.iter().filter(|session| owner.includes_folder(&session.seen.project));
    let calendar = Calendar::new(asked_for.map(|session| session.seen.span_ms));
    let (mut agents, mut saved) = (Vec::new(), Vec::new());
    let known = Agent::all_by_file_name()?.values();
    let present = known.filter(|agent| by_agent.contains_key(agent.name.as_str())).listed();
    let files = SettingsFile::indices_for_agents(&menus.asked.settings, &present)?;
    for (agent, settings_file) in present.into_iter().zip(files) {
        let played = &by_agent[agent.name.as_str()];
        let Some(SessionsToAdviseOn { played, few }) = SessionsToAdviseOn::own_or_all(played, owner) else {
            continue;
        };
        let month = AgentMonth::new(&calendar, &played);
        let sessions =
            AgentSessions { menu: menus.menu_for_agent(&agent.name)?, month, played: &played, min_evidence };
        let (mut advice, forecast) = sessions.advise();
        advice.settings_file = settings_file;
        if settings_file.is_none() {
            // They are of a file that is another agent's.
            advice.notes.clear();
        }
        match few {
            Some(few) => agents.push(asked::narrow_to_owner(advice, owner, few)),
            None => {
                // Where something is asked for, it alone is written down.
                saved.extend(forecast.filter(|_| menus.asked.pairs.is_empty() || advice.asked.is_some()));
                agents.push(advice);
            }
        }
    }
    let by_bills = by_format.iter().map(|(format, played)| {
        let own = played.iter().copied().filter(|it| owner.includes_folder(&it.seen.project)).listed();
        let advice = advise_from_bills(&own, &AgentMonth::new(&calendar, &own), min_evidence);
        AgentAdvice { agent: (*format).to_owned(), ..advice }
    });
    let by_bills = by_bills.listed();
    let unknown = by_format.iter().map(|(format, played)| ((*format).to_owned(), played.len())).listed();
    Ok((Advice { schema: SCHEMA, agents, by_bills, unknown, skipped: Vec::new(), forecast: None }, saved))
}

/// Says that no agent has this name.
fn unknown_agent_problems(name: &str, known: &IndexMap<String, Agent>) -> Vec<Diagnostic> {
    let message = format!("no settings of an agent `{name}` are known");
    let help = format!("use one of {}", join_agent_names(known));
    vec![problem_in("--agent", Code("agent-unknown"), message).help(help)]
}

/// Says that no session is one of a known agent.
fn no_known_agent_error(sessions_by_format: &[(String, usize)], known: &IndexMap<String, Agent>) -> Error {
    if sessions_by_format.is_empty() {
        return no_recording_error("advise on");
    }
    let formats: Vec<&str> = sessions_by_format.iter().map(|it| it.0.as_str()).listed();
    let message =
        format!("whose sessions these are cannot be told from their format: {}", formats.join(", "));
    let help = format!("name the agent with `--agent`: {}", join_agent_names(known));
    Error::refused(Code("agent-unrecognised"), message, help)
}

/// Says that nothing recorded is there to do something with.
pub(super) fn no_recording_error(purpose: &str) -> Error {
    let message = format!("no recorded session is there to {purpose}");
    Error::refused(Code("agent-unrecognised"), message, "name recorded sessions: files, or folders of them")
}

fn join_agent_names(known: &IndexMap<String, Agent>) -> String {
    known.keys().cloned().listed().join(", ")
}

/// Returns whether the agent is known whose logs have a format and name a model.
pub fn is_log_of_known_agent(format: &str, model: &str) -> bool {
    Agent::all_by_file_name().is_ok_and(|it| it.values().any(|it| it.matches_log(format, model)))
}

impl Agent {
    /// Returns whether recordings of a format and a model are its logs.
    pub(super) fn matches_log(&self, format: &str, model: &str) -> bool {
        self.formats.iter().any(|it| it == format) && model.to_lowercase().contains(&self.needs_model)
    }
}

impl AgentSessions<'_> {
    /// Advises on the settings of the agent; also returns what to write down of it.
    fn advise(&self) -> (AgentAdvice, Option<SavingsForecast>) {
        let Self { menu, month, played, min_evidence } = self;
        let force = self.settings_in_force();
        let Verdicts { levers, pasted, asked, next } = self.judge_choices();
        let by_bills = advise_from_bills(played, month, *min_evidence);
        let saved = asked.as_ref().or(pasted.as_ref()).or(next.as_ref());
        let saved = saved.and_then(|placed| self.forecast_to_save(&placed.choice, &levers[placed.lever]));
        let versions = force.oldest_and_newest_version();
        let new = pasted.as_ref().map(|placed| menu.values_of_choice(&placed.choice)).unwrap_or_default();
        let asked = asked.map(|placed| {
            // What changes nothing is nothing to paste.
            let changes = levers[placed.lever].word.is_some();
            let new = if changes { menu.values_of_choice(&placed.choice) } else { SettingValues::default() };
            let heed = self.paste_warnings(&new, versions.as_ref());
            AskedAdvice { lever: placed.lever, paste: self.settings_to_paste(&new), heed, trial: Vec::new() }
        });
        let axes = CacheLifetimes::all_of_agent(menu);
        let projects = force.seen.iter().map(|seen| seen.project.as_str());
        let untried = |it: &FixedSetting| UntriedSetting { key: it.key.clone(), reason: it.reason.clone() };
        let (met, needed) = sum_of_pairs(played.iter().map(|it| it.base.sums.needs.evidence()));
        let advice = AgentAdvice {
            agent: menu.agent.name.clone(),
            sessions: played.len(),
            sub_agents: force.seen.iter().filter(|seen| seen.is_of_agent).count(),
            requests: force.seen.iter().map(|seen| seen.requests).sum(),
            projects: distinct(projects.filter(|it| !it.is_empty())).len(),
            as_logged: sum_bills(force.seen.iter().filter_map(|seen| seen.as_logged.as_ref())),
            month: month.cost_of_sessions(played),
            min_evidence: *min_evidence,
            evidence_kept: (needed > 0.0).then(|| met / needed),
            in_force: force.values_in_force(),
            paste: self.settings_to_paste(&new),
            heed: self.paste_warnings(&new, versions.as_ref()),
            asked,
            notes: menu.file.notes.clone(),
            versions,
            lifetimes: axes.iter().filter_map(|axis| axis.lifetime_costs(self)).listed(),
            wishes: self.saving_wishes(),
            left_out: menu.agent.left_out.iter().map(untried).listed(),
            tried: menu.choices.len(),
            pasted: pasted.map(|placed| placed.lever),
            levers: Vec::new(),
            untold: by_bills.untold,
            ceilings: by_bills.ceilings,
            settings_file: None,
        };
        (advice.with_replaced_levers(levers.into_iter().chain(by_bills.levers).enumerate().listed()), saved)
    }

    /// Returns what to paste: what is advised, with what the file says already at its place.
    fn settings_to_paste(&self, new: &SettingValues) -> Vec<Paste> {
        if new.is_empty() {
            return Vec::new();
        }
        let FileSettings { values, variables, .. } = &self.menu.file;
        let mut whole = values.clone();
        whole.retain(|key, _| !variables.contains_key(key));
        whole.extend(new.clone());
        let chosen = whole.iter();
        let chosen = chosen.filter_map(|(key, value)| Some((self.menu.agent.setting(key)?, value.as_str())));
        files::pastes_by_place(&chosen.listed())
    }

    /// Says what to check when pasting: which version has the settings, and what outranks them.
    fn paste_warnings(&self, new: &SettingValues, versions: Option<&[String; 2]>) -> Vec<String> {
        let settings: Vec<&AgentSetting> = new.keys().filter_map(|it| self.menu.agent.setting(it)).listed();
        if settings.is_empty() {
            return Vec::new();
        }
        let name = &self.menu.agent.name;
        let exists = |setting: &&AgentSetting| {
            let (key, since) = (&setting.key, setting.since.as_ref()?);
            let newest = versions.map(|[_, newest]| newest).filter(|newest| is_older_version(newest, since));
            let update = newest.map_or_else(String::new, |newest| {
                format!(", and the newest version in these sessions is {newest}: update first")
            });
            Some(format!("`{key}` exists since {name} {since}{update}."))
        };
        let outranked = |setting: &&AgentSetting| {
            let variable = self.menu.file.outranking_variable(setting)?;
            Some(format!("Remove `{variable}` from the file, because it outranks `{}`.", setting.key))
        };
        let not_tried = "Taken from the agent's documentation; not tested on the agent.";
        let rest = [self.menu.agent.outranks.clone(), not_tried.to_owned()];
        settings.iter().filter_map(exists).chain(settings.iter().filter_map(outranked)).chain(rest).listed()
    }
}
