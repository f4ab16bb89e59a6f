//! Advice on the settings of the agents that recorded some sessions: what is in force, what else could be, and what holds up.

pub mod agents;
pub mod files;
mod in_force;
mod lifetimes;
mod play;
pub mod stated;
mod states;
mod trial;

use indexmap::IndexMap;

use super::{Comparison, Progress};
use crate::catalog::Catalog;
use agents::{Agent, AgentSetting, is_older};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::month::Calendar;
use ctxsim_report::advise::saved::Saved;
use ctxsim_report::advise::{Advice, AgentAdvice, Candidate, Paste, SCHEMA};
use ctxsim_report::as_logged::sum_of;
use in_force::Force;
use play::PlayedSession;
use stated::FileSettings;
use states::ByLane;
use trial::{AgentTrial, SettingsBefore};

pub(super) use play::{AdvicePlays, SeenLog, Whose, played, seen};
pub(super) use states::{PlayedPolicies, SettingValues};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct AdviceRequest {
    /// The agent by the name of its file, where formats do not tell.
    pub agent: Option<String>,
    /// A settings file: its name and its text.
    pub settings: Option<(String, String)>,
    /// The share of the needed evidence that must be kept.
    pub min_evidence: f64,
}

/// Advises on the settings of each agent; also returns what to write down of it, if it is of one agent.
///
/// # Errors
/// Every problem of the inputs, or no session is one of a known agent.
pub fn advise(
    catalog: &Catalog,
    comparison: &Comparison,
    asked: &AdviceRequest,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(Advice, Option<Saved>), Error> {
    let (all, skipped) = play::seen(catalog, comparison, threads, progress)?;
    let Recognised { agents: known, unknown } = Recognised::new(&all, asked)?;
    let mut agents = Vec::new();
    let mut saved = Vec::new();
    for agent in known {
        let one = Advising { catalog, comparison, asked, agent, threads, progress };
        let (advice, kept) = one.advice(&all)?;
        agents.push(advice);
        saved.extend(kept);
    }
    let saved = if agents.len() == 1 { saved.pop() } else { None };
    let unknown = unknown.into_iter().listed();
    Ok((Advice { schema: SCHEMA, agents, unknown, skipped }, saved))
}

/// The agents of some sessions, and by format how many sessions are of none that is known.
struct Recognised {
    agents: Vec<&'static Agent>,
    unknown: IndexMap<String, usize>,
}

impl Recognised {
    /// Finds the agents of some sessions.
    fn new(all: &[SeenLog], asked: &AdviceRequest) -> Result<Self, Error> {
        let known = Agent::all()?;
        if let Some(name) = &asked.agent {
            let agent = known.get(name).ok_or_else(|| unknown_agent(name, known))?;
            return Ok(Self { agents: vec![agent], unknown: IndexMap::new() });
        }
        let is_of = |agent: &Agent, it: &SeenLog| agent.is_of(it.format, &it.model);
        let agents: Vec<&Agent> =
            known.values().filter(|agent| all.iter().any(|it| is_of(agent, it))).listed();
        let mut unknown: IndexMap<String, usize> = IndexMap::new();
        for it in all.iter().filter(|it| !agents.iter().any(|agent| is_of(agent, it))) {
            *unknown.entry(it.format.to_owned()).or_default() += 1;
        }
        if agents.is_empty() { Err(no_agent(&unknown, known)) } else { Ok(Self { agents, unknown }) }
    }
}

/// Says that no agent has this name.
fn unknown_agent(name: &str, known: &IndexMap<String, Agent>) -> Vec<Diagnostic> {
    let mut problem =
        Diagnostic::at(Code::AgentUnknown, "", format!("no settings of an agent `{name}` are known"));
    "--agent".clone_into(&mut problem.place.file);
    vec![problem.help(format!("use one of {}", names(known)))]
}

/// Says that no session is one of a known agent.
fn no_agent(formats: &IndexMap<String, usize>, known: &IndexMap<String, Agent>) -> Error {
    if formats.is_empty() {
        return no_recording("advise on");
    }
    let formats: Vec<&str> = formats.keys().map(String::as_str).listed();
    let message =
        format!("whose sessions these are cannot be told from their format: {}", formats.join(", "));
    let help = format!("name the agent with `--agent`: {}", names(known));
    vec![Diagnostic::at(Code::AgentUnrecognised, "", message).help(help)].into()
}

/// Says that nothing recorded is there to do something with.
pub(super) fn no_recording(what: &str) -> Error {
    let problem =
        Diagnostic::at(Code::AgentUnrecognised, "", format!("no recorded session is there to {what}"));
    vec![problem.help("name recorded sessions: files, or folders of them")].into()
}

fn names(known: &IndexMap<String, Agent>) -> String {
    known.keys().cloned().listed().join(", ")
}

/// Returns whether the agent is known whose logs have a format and name a model.
pub fn knows_agent(format: &str, model: &str) -> bool {
    Agent::all().is_ok_and(|it| it.values().any(|it| it.is_of(format, model)))
}

impl Agent {
    /// Returns whether recordings of a format and a model are its logs.
    pub(super) fn is_of(&self, format: &str, model: &str) -> bool {
        self.formats.iter().any(|it| it == format) && model.to_lowercase().contains(&self.needs_model)
    }
}

/// Advice on one agent, on its way.
struct Advising<'a> {
    catalog: &'a Catalog,
    comparison: &'a Comparison,
    asked: &'a AdviceRequest,
    agent: &'a Agent,
    threads: Option<usize>,
    progress: Progress<'a>,
}

/// Settings that are tried, with the policies that play them.
pub(super) struct AdviceVariant {
    /// Keys and values that differ from what is in force.
    pub(super) set: Vec<(String, String)>,
    pub(super) by_lane: ByLane,
}

impl Advising<'_> {
    fn advice(&self, all: &[SeenLog]) -> Result<(AgentAdvice, Option<Saved>), Error> {
        let whose = self.whose();
        let file =
            self.asked.settings.as_ref().map(|(name, text)| FileSettings::read(self.agent, name, text));
        let force = Force {
            agent: self.agent,
            seen: all.iter().filter(|it| whose.is_own(it)).listed(),
            file: file.transpose()?.unwrap_or_default(),
        };
        let mut policies = PlayedPolicies::new(self.catalog);
        let base = policies.of_state(self.agent, &force.file.values)?;
        let mut variants = self.variants(&force, &mut policies)?;
        let wishes =
            self.agent.wishes.iter().map(|it| policies.of_wish(it)).collect::<Result<Vec<_>, _>>()?;
        let lives = lifetimes::LifetimeAxis::new(self.agent, &mut policies)?;
        let mut played = self.played(&policies, 0)?;
        let n_played = policies.files.len();
        for set in trial::joint(&variants, &played, base) {
            variants.push(self.variant(set, &force, &mut policies)?);
        }
        if policies.files.len() > n_played {
            let more = self.played(&policies, n_played)?;
            played.iter_mut().zip(more).for_each(|(it, more)| it.runs.extend(more.runs));
        }
        let calendar = Calendar::new(&played.iter().map(|it| it.seen.span_ms).listed());
        let min_evidence = self.asked.min_evidence;
        let trial =
            AgentTrial { agent: self.agent, calendar: &calendar, played: &played, base, min_evidence };
        let found = trial.found(&variants);
        let wishes = self.agent.wishes.iter().zip(wishes).map(|(it, by_lane)| trial.wish(it, by_lane));
        let keys = found.set.iter().map(|it| &it.0);
        let before = force.playable(keys).filter(|it| !it.is_empty());
        let before = before.map(|it| {
            Ok::<_, Error>(SettingsBefore { by_lane: policies.of_state(self.agent, &it)?, state: it })
        });
        let saved = trial.saved(&found, before.transpose()?.as_ref());
        let new: Vec<&AgentSetting> = found.set.iter().filter_map(|it| self.agent.setting(&it.0)).listed();
        let versions = force.versions();
        let advice = AgentAdvice {
            agent: self.agent.name.clone(),
            sessions: played.len(),
            sub_agents: force.seen.iter().filter(|it| it.is_of_agent).count(),
            requests: force.seen.iter().map(|it| it.requests).sum(),
            projects: trial.n_projects(),
            as_logged: sum_of(force.seen.iter().filter_map(|it| it.as_logged.as_ref())),
            month: trial.month(),
            evidence_kept: trial.evidence_kept(),
            in_force: force.all(),
            paste: self.pastes(&force, &found),
            heed: self.heed(&new, versions.as_ref(), &force.file),
            notes: force.file.notes.clone(),
            versions,
            lifetimes: lives.into_iter().flat_map(|it| it.found(&trial)).listed(),
            wishes: wishes.filter(|it: &Candidate| it.change.is_some_and(|it| it < 0.0)).listed(),
            left_out: force.left_out(),
            split: found.split,
            advised: found.advised,
            reason: found.reason,
            rejected: found.rejected,
            tried: found.tried,
        };
        Ok((advice, saved))
    }

    fn whose(&self) -> Whose<'_> {
        Whose { agent: self.agent, is_named: self.asked.agent.is_some() }
    }

    fn played(&self, policies: &PlayedPolicies<'_>, from: usize) -> Result<Vec<PlayedSession>, Error> {
        let plays = AdvicePlays { whose: self.whose(), policies, from };
        play::played(self.catalog, self.comparison, &plays, self.threads, self.progress)
    }

    /// Returns what is tried: each value of each setting that differs from what is in force.
    fn variants(
        &self,
        force: &Force<'_>,
        policies: &mut PlayedPolicies<'_>,
    ) -> Result<Vec<AdviceVariant>, Error> {
        let mut variants = Vec::new();
        for setting in force.effective() {
            let in_force = force.value(setting);
            for value in setting.values.iter().filter(|it| Some(*it) != in_force.as_ref()) {
                variants.push(self.variant(vec![(setting.key.clone(), value.clone())], force, policies)?);
            }
        }
        Ok(variants)
    }

    /// Returns settings over what is in force.
    fn variant(
        &self,
        set: Vec<(String, String)>,
        force: &Force<'_>,
        policies: &mut PlayedPolicies<'_>,
    ) -> Result<AdviceVariant, Error> {
        let mut state = force.file.values.clone();
        state.extend(set.iter().cloned());
        Ok(AdviceVariant { by_lane: policies.of_state(self.agent, &state)?, set })
    }

    /// Returns what to paste: what is advised, with what the file says already at its place.
    fn pastes(&self, force: &Force<'_>, found: &trial::TrialResult) -> Vec<Paste> {
        if found.set.is_empty() {
            return Vec::new();
        }
        let FileSettings { values, variables, .. } = &force.file;
        let mut whole = values.clone();
        whole.retain(|key, _| !variables.contains_key(key));
        whole.extend(found.set.iter().cloned());
        let chosen = whole.iter().filter_map(|it| Some((self.agent.setting(it.0)?, it.1.as_str())));
        files::pastes(&chosen.listed())
    }

    /// Says what to check when pasting: which version has the settings, and what outranks them.
    fn heed(
        &self,
        settings: &[&AgentSetting],
        versions: Option<&[String; 2]>,
        file: &FileSettings,
    ) -> Vec<String> {
        if settings.is_empty() {
            return Vec::new();
        }
        let name = &self.agent.name;
        let exists = |setting: &&AgentSetting| {
            let (key, since) = (&setting.key, setting.since.as_ref()?);
            let newest = versions.map(|it| &it[1]).filter(|it| is_older(it, since));
            let update = newest.map_or_else(String::new, |it| {
                format!(", and the newest version in these sessions is {it}: update first")
            });
            Some(format!("`{key}` exists since {name} {since}{update}."))
        };
        let outranked = |setting: &&AgentSetting| {
            let variable = file.outranked_by(setting)?;
            Some(format!("Remove `{variable}` from the file, because it outranks `{}`.", setting.key))
        };
        let not_tried = "Not tried on the agent: that it heeds the text is what its documentation says.";
        let rest = [self.agent.outranks.clone(), not_tried.to_owned()];
        settings.iter().filter_map(exists).chain(settings.iter().filter_map(outranked)).chain(rest).listed()
    }
}
