//! Advice on the settings of the agents that recorded some sessions: what is in force, what else could be, and what holds up.

pub mod agents;
mod files;
mod lifetimes;
mod month;
mod play;
mod states;
mod trial;

use indexmap::IndexMap;

use super::{Comparison, Progress};
use crate::catalog::Catalog;
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::grid::numbers::thousands;
use crate::quantity::Tokens;
use crate::report::advise::saved::Saved;
use crate::report::advise::{Advice, AgentAdvice, Candidate, From, InForce, LeftOut, SCHEMA};
use agents::{Agent, Setting, ShownBy, is_older};
use month::Calendar;
use play::Played;
use states::ByLane;
use trial::Trial;

pub(super) use play::{Seen, Whose, played, seen};
pub(super) use states::{Policies, State};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Asked {
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
    asked: &Asked,
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
    let unknown = unknown.into_iter().collect();
    Ok((Advice { schema: SCHEMA, agents, unknown, skipped }, saved))
}

/// The agents of some sessions, and by format how many sessions are of none that is known.
struct Recognised {
    agents: Vec<&'static Agent>,
    unknown: IndexMap<String, usize>,
}

impl Recognised {
    /// Finds the agents of some sessions.
    fn new(all: &[Seen], asked: &Asked) -> Result<Self, Error> {
        let known = Agent::all()?;
        if let Some(name) = &asked.agent {
            let agent = known.get(name).ok_or_else(|| unknown_agent(name, known))?;
            return Ok(Self { agents: vec![agent], unknown: IndexMap::new() });
        }
        let is_of = |agent: &Agent, it: &Seen| agent.is_of(it.format, &it.model);
        let agents: Vec<&Agent> = known.values().filter(|agent| all.iter().any(|it| is_of(agent, it))).collect();
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
        Diagnostic::at("agent-unknown", "", format!("no settings of an agent `{name}` are known"));
    "--agent".clone_into(&mut problem.place.file);
    vec![problem.help(format!("use one of {}", names(known)))]
}

/// Says that no session is one of a known agent.
fn no_agent(formats: &IndexMap<String, usize>, known: &IndexMap<String, Agent>) -> Error {
    let message = match formats.keys().next() {
        None => "no recorded session is there to advise on".to_owned(),
        Some(_) => format!(
            "whose sessions these are cannot be told from their format: {}",
            formats.keys().cloned().collect::<Vec<_>>().join(", ")
        ),
    };
    let help = match formats.is_empty() {
        true => "name recorded sessions: files, or folders of them".to_owned(),
        false => format!("name the agent with `--agent`: {}", names(known)),
    };
    vec![Diagnostic::at("agent-unrecognised", "", message).help(help)].into()
}

fn names(known: &IndexMap<String, Agent>) -> String {
    known.keys().cloned().collect::<Vec<_>>().join(", ")
}

/// Returns whether the agent is known whose logs have a format and name a model.
pub(super) fn knows(format: &str, model: &str) -> bool {
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
    asked: &'a Asked,
    agent: &'a Agent,
    threads: Option<usize>,
    progress: Progress<'a>,
}

/// Settings that are tried, with the policies that play them.
pub(super) struct Variant {
    /// Keys and values that differ from what is in force.
    pub(super) set: Vec<(String, String)>,
    pub(super) by_lane: ByLane,
}

impl Advising<'_> {
    fn whose(&self) -> Whose<'_> {
        Whose { agent: self.agent, is_named: self.asked.agent.is_some() }
    }

    fn advice(&self, all: &[Seen]) -> Result<(AgentAdvice, Option<Saved>), Error> {
        let own: Vec<&Seen> = all.iter().filter(|it| self.whose().is_own(it)).collect();
        let file = self.asked.settings.as_ref().map(|(name, text)| files::values(self.agent, name, text));
        let base: State = file.transpose()?.unwrap_or_default();
        let mut policies = Policies::new(self.catalog);
        let base_lanes = policies.of_state(self.agent, &base)?;
        let mut variants = self.variants(&own, &base, &mut policies)?;
        let wishes: Vec<(usize, ByLane)> = self.wishes(&mut policies)?;
        let lives = lifetimes::Axis::new(self.agent, &mut policies)?;
        let mut played = self.played(&policies, 0)?;
        let n_played = policies.files.len();
        let joint = self.joint(&variants, &played, (&base, base_lanes), &mut policies)?;
        variants.extend(joint);
        if policies.files.len() > n_played {
            let more = self.played(&policies, n_played)?;
            played.iter_mut().zip(more).for_each(|(it, more)| it.runs.extend(more.runs));
        }
        let n_policies = policies.files.len();
        let calendar = Calendar::new(&played);
        let trial = Trial {
            agent: self.agent,
            calendar: &calendar,
            played: &played,
            base: base_lanes,
            min_evidence: self.asked.min_evidence,
        };
        let found = trial.found(&variants);
        let wishes = wishes.iter().map(|(nth, lanes)| trial.wish(&self.agent.wishes[*nth], *lanes));
        let seen: Vec<&Seen> = played.iter().map(|it| &it.seen).collect();
        let advice = AgentAdvice {
            agent: self.agent.name.clone(),
            versions: versions(&seen),
            sessions: played.len(),
            sub_agents: seen.iter().filter(|it| it.is_of_agent).count(),
            requests: seen.iter().map(|it| it.requests).sum(),
            projects: trial.n_projects(),
            month: trial.month(),
            evidence_kept: trial.evidence_kept(),
            in_force: self.in_force(&seen, &base),
            lifetimes: lives.into_iter().flat_map(|it| it.found(&trial)).collect(),
            wishes: wishes.filter(|it: &Candidate| it.change.is_some_and(|it| it < 0.0)).collect(),
            left_out: self.left_out(&own, &base),
            ..AgentAdvice::default()
        };
        let before = self.before(&found, &own, &base);
        let lanes = match before.is_empty() {
            true => None,
            // Each value of a lifetime has been played.
            false => Some(policies.of_state(self.agent, &before)?)
                .filter(|it| it.iter().all(|it| *it < n_policies)),
        };
        let before = if lanes.is_some() { before } else { State::new() };
        Ok(self.finished(advice, found, (&base, &trial), (&before, lanes)))
    }

    /// Returns the values in force of the advised settings, if all of them are known and later sessions can be played with them: what a
    /// compaction took out of a log cannot be put back, but lifetimes change no prompt.
    fn before(&self, found: &trial::Found, own: &[&Seen], base: &State) -> State {
        let known = |(key, _): &(String, String)| {
            let setting = self.agent.setting(key).filter(|it| it.shown_by == Some(ShownBy::Lifetimes))?;
            Some((key.clone(), base.get(key).cloned().or_else(|| shown(setting, own))?))
        };
        let set = found.advised_set.iter().flatten().map(known).collect::<Option<State>>();
        set.unwrap_or_default()
    }

    /// Puts the advice and what to paste beside what was found.
    fn finished(
        &self,
        advice: AgentAdvice,
        found: trial::Found,
        (base, trial): (&State, &Trial<'_>),
        before: (&State, Option<ByLane>),
    ) -> (AgentAdvice, Option<Saved>) {
        let mut whole = base.clone();
        if let Some(set) = &found.advised_set {
            whole.extend(set.iter().cloned());
        }
        let settings = |it: (&String, &String)| self.agent.setting(it.0);
        let set = found.advised_set.clone().unwrap_or_default();
        let chosen: Vec<(&Setting, &str)> = whole
            .iter()
            .filter(|_| found.advised.is_some())
            .filter_map(|it| Some((settings(it)?, it.1.as_str())))
            .collect();
        let new: Vec<&Setting> = set.iter().filter_map(|it| self.agent.setting(&it.0)).collect();
        let saved = trial.saved(&found, before.0, before.1);
        let advice = AgentAdvice {
            paste: files::pastes(&chosen),
            heed: self.heed(&new, advice.versions.as_ref()),
            advised: found.advised,
            reason: found.reason,
            rejected: found.rejected,
            tried: found.tried,
            ..advice
        };
        (advice, saved)
    }

    /// Says what to check when pasting: which version has the settings, and what outranks them.
    fn heed(&self, settings: &[&Setting], versions: Option<&[String; 2]>) -> Vec<String> {
        if settings.is_empty() {
            return Vec::new();
        }
        let mut heed = Vec::new();
        for setting in settings {
            let Some(since) = &setting.since else { continue };
            let name = &self.agent.name;
            heed.push(match versions {
                Some([_, newest]) if is_older(newest, since) => format!(
                    "`{}` exists since {name} {since}, and the newest version in these sessions is {newest}: update first.",
                    setting.key
                ),
                _ => format!("`{}` exists since {name} {since}.", setting.key),
            });
        }
        heed.push(self.agent.outranks.clone());
        heed.push(
            "Not tried on the agent: that it heeds the text is what its documentation says.".to_owned(),
        );
        heed
    }

    /// Returns what is tried: each value of each setting that differs from what is in force.
    fn variants(
        &self,
        own: &[&Seen],
        base: &State,
        policies: &mut Policies<'_>,
    ) -> Result<Vec<Variant>, Error> {
        let mut variants = Vec::new();
        let is_lane = |setting: &Setting| own.iter().any(|it| setting.lane.include(it.is_of_agent));
        for setting in
            self.agent.settings.iter().filter(|it| is_lane(it) && self.unmet(it, own, base).is_none())
        {
            let in_force = base.get(&setting.key).cloned().or_else(|| shown(setting, own));
            for value in setting.values.iter().filter(|it| Some(*it) != in_force.as_ref()) {
                let mut state = base.clone();
                state.insert(setting.key.clone(), value.clone());
                let by_lane = policies.of_state(self.agent, &state)?;
                variants.push(Variant { set: vec![(setting.key.clone(), value.clone())], by_lane });
            }
        }
        Ok(variants)
    }

    /// Returns what a setting needs that is not in force: without it, it does nothing.
    fn unmet<'s>(
        &self,
        setting: &'s Setting,
        own: &[&Seen],
        base: &State,
    ) -> Option<(&'s String, &'s String)> {
        let in_force = |key: &String| base.get(key).cloned().or_else(|| shown(self.agent.setting(key)?, own));
        setting.needs.iter().find(|(key, value)| in_force(key).as_ref() != Some(*value))
    }

    /// Returns the settings that are not tried, with the reasons.
    fn left_out(&self, own: &[&Seen], base: &State) -> Vec<LeftOut> {
        let unmet = self.agent.settings.iter().filter_map(|it| {
            let (key, value) = self.unmet(it, own, base)?;
            Some(LeftOut {
                key: it.key.clone(),
                reason: format!("it needs `{key}={value}`, which is not in force in all sessions"),
            })
        });
        let known =
            self.agent.left_out.iter().map(|it| LeftOut { key: it.key.clone(), reason: it.reason.clone() });
        unmet.chain(known).collect()
    }

    fn wishes(&self, policies: &mut Policies<'_>) -> Result<Vec<(usize, ByLane)>, Error> {
        self.agent.wishes.iter().enumerate().map(|(nth, it)| Ok((nth, policies.of_wish(it)?))).collect()
    }

    fn played(&self, policies: &Policies<'_>, from: usize) -> Result<Vec<Played>, Error> {
        let what = (self.whose(), policies, from);
        play::played(self.catalog, self.comparison, what, self.threads, self.progress)
    }

    /// Returns settings to try together: of each that saves on the older sessions the best value, all of them and two by two.
    fn joint(
        &self,
        variants: &[Variant],
        played: &[Played],
        (base, base_lanes): (&State, ByLane),
        policies: &mut Policies<'_>,
    ) -> Result<Vec<Variant>, Error> {
        /// Two by two, more settings would be more variants than single values.
        const MOST: usize = 4;
        let older = trial::older(played);
        let cost =
            |lanes: ByLane| -> Option<f64> { older.iter().map(|it| it.run(lanes).costs.total()).sum() };
        let Some(in_force) = cost(base_lanes) else { return Ok(Vec::new()) };
        let mut best: IndexMap<&String, (f64, &String)> = IndexMap::new();
        for it in variants {
            let [(key, value)] = it.set.as_slice() else { continue };
            let Some(usd) = cost(it.by_lane).filter(|it| *it < in_force) else { continue };
            let own = best.entry(key).or_insert((usd, value));
            if usd < own.0 {
                *own = (usd, value);
            }
        }
        best.sort_by(|_, one, _, other| one.0.total_cmp(&other.0));
        let best: Vec<(String, String)> =
            best.into_iter().take(MOST).map(|(key, (_, value))| (key.clone(), value.clone())).collect();
        let pairs = (0..best.len()).flat_map(|one| (one + 1..best.len()).map(move |other| vec![one, other]));
        let all: Vec<usize> = (0..best.len()).collect();
        let sets = pairs.chain((best.len() > 2).then_some(all));
        let variant = |members: Vec<usize>| {
            let set: Vec<(String, String)> = members.into_iter().map(|it| best[it].clone()).collect();
            let mut state = base.clone();
            state.extend(set.iter().cloned());
            Ok(Variant { by_lane: policies.of_state(self.agent, &state)?, set })
        };
        sets.map(variant).collect()
    }

    /// Returns the settings in force, and who says so.
    fn in_force(&self, seen: &[&Seen], base: &State) -> Vec<InForce> {
        let one = |setting: &Setting| {
            let log = || told(setting, seen).map(|it| (it, From::Log));
            let file = base.get(&setting.key).map(|it| (it.clone(), From::File));
            let (value, from) = file.or_else(log).unwrap_or_else(|| (setting.default.clone(), From::Default));
            InForce { key: setting.key.clone(), about: setting.about.clone(), value, from }
        };
        self.agent.settings.iter().map(one).collect()
    }
}

/// Returns the value of a setting that all sessions show alike, if they do.
fn shown(setting: &Setting, seen: &[&Seen]) -> Option<String> {
    if setting.shown_by? != ShownBy::Lifetimes {
        return None;
    }
    let [short, long] = lives(setting, seen);
    match (short, long) {
        (0, 0) => None,
        (_, 0) => Some(called(setting, "5m")),
        (0, _) => Some(called(setting, "1h")),
        _ => None,
    }
}

/// Counts the sessions that wrote for a short time, and those that wrote for a long one.
fn lives(setting: &Setting, seen: &[&Seen]) -> [usize; 2] {
    let own = seen.iter().filter(|it| setting.lane.include(it.is_of_agent));
    own.fold([0; 2], |n, it| {
        let is_long = it.written[1] > it.written[0];
        let is_any = it.written != [0; 2];
        [n[0] + usize::from(is_any && !is_long), n[1] + usize::from(is_long)]
    })
}

/// Returns what a value of the logs is called.
pub(super) fn called(setting: &Setting, value: &str) -> String {
    setting.names.get(value).map_or(value, String::as_str).to_owned()
}

/// Says what the logs show of a setting.
fn told(setting: &Setting, seen: &[&Seen]) -> Option<String> {
    match setting.shown_by? {
        ShownBy::Lifetimes => {
            let [short, long] = lives(setting, seen);
            let both = || {
                let names = [called(setting, "5m"), called(setting, "1h")];
                format!("{} in {short} sessions, {} in {long}", names[0], names[1])
            };
            shown(setting, seen).or_else(|| (short + long > 0).then(both))
        }
        ShownBy::Compactions(more) => {
            let lowest: Option<Tokens> = seen.iter().flat_map(|it| &it.compacted_at).copied().min();
            let trigger = lowest?;
            let n: usize = seen.iter().map(|it| it.compacted_at.len()).sum();
            let of = if n == 1 { "the prompt".to_owned() } else { format!("the smallest of {n} prompts") };
            Some(format!(
                "at most {} ({of} before a compaction had {} tokens)",
                thousands(trigger + more),
                thousands(trigger)
            ))
        }
    }
}

/// Returns the oldest and the newest version.
fn versions(seen: &[&Seen]) -> Option<[String; 2]> {
    let mut all: Vec<&String> = seen.iter().map(|it| &it.version).filter(|it| !it.is_empty()).collect();
    all.sort_by(|one, other| match (is_older(one, other), is_older(other, one)) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => std::cmp::Ordering::Equal,
    });
    Some([all.first()?, all.last()?].map(|it| (*it).clone()))
}
