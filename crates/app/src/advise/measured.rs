//! What is measured of settings beside plays: pairs of them tried in a folder, lifetimes of cache entries, and what bills alone tell.

use crate::advise::agents::{AgentSetting, ShownBy};
use crate::advise::menu::{MenuChoice, SettingMenu, SettingMenus};
use crate::advise::play::PlayedSession;
use crate::advise::verdicts::{AgentMonth, AgentSessions, Verdicts};
use crate::advise::{AdviceRequest, play};
use crate::prelude::*;
use ctxsim_engine::measure::assumed::AssumedReach;
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later, sum_of_pairs};
use ctxsim_engine::measure::month::Calendar;
use ctxsim_report::advise::saved::EarlierSession;
use ctxsim_report::advise::{AgentAdvice, LifetimeComparison};
use ctxsim_report::billed::{self, AttributedBill};
use ctxsim_report::lever::Lever;

/// Sessions of agents, each played once.
pub struct PlayedSessions<'c> {
    menus: SettingMenus<'c>,
    all: Vec<PlayedSession>,
}

/// What the rule says of a choice.
#[derive(Clone, Debug)]
pub struct JudgedChoice {
    pub choice: TriedChoice,
    pub lever: Lever,
    pub is_pasted: bool,
}

/// A setting or a combination that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedChoice(MenuChoice);

/// A session under a change of settings.
#[derive(Clone, Debug)]
pub struct ChangedSession {
    /// What a forecast reads of it, measured by what it costs with what is in force.
    pub earlier: EarlierSession,
    pub project: String,
    pub requests: u64,
    /// What its log was billed, in US dollars.
    pub billed_usd: f64,
}

impl<'c> PlayedSessions<'c> {
    /// Reads sessions and plays them.
    ///
    /// # Errors
    /// Every problem of the inputs.
    pub fn read_and_play(
        catalog: &'c Catalog,
        comparison: &Comparison,
        request: &'c AdviceRequest,
    ) -> Result<Self> {
        let menus = SettingMenus::new(catalog, request)?;
        let plan = play::plan_as_recorded(catalog, comparison)?;
        let (all, _) = play::play_sessions(&plan, &menus, None, &|_, _| {}, |_, session| session)?;
        Ok(Self { menus, all })
    }

    /// Returns the agents of the sessions.
    pub fn agent_names(&self) -> Vec<&'static str> {
        let name = |it: &PlayedSession| Some(self.menus.agent_of_log(&it.seen)?.name.as_str());
        ctxsim_report::distinct(self.all.iter().filter_map(name))
    }

    /// Returns how many sessions are of an agent.
    pub fn n_sessions(&self, agent: &str) -> usize {
        self.sessions_of_agent(agent).len()
    }

    /// Returns when the last request of an agent's session was, in milliseconds since 1970.
    pub fn last_request_ms(&self, agent: &str, session_index: usize) -> Option<i64> {
        self.sessions_of_agent(agent).get(session_index)?.seen.span_ms.map(|it| it[1])
    }

    /// Returns what the rule says of everything that was tried on some sessions of an agent.
    pub fn judge_choices(&self, agent: &str, sessions: &[usize], floor: f64) -> Option<Vec<JudgedChoice>> {
        let (played, menu) = (self.sessions_at(agent, sessions), self.menus.menu_for_agent(agent).ok()?);
        let calendar = Calendar::default();
        let month = AgentMonth::new(&calendar, &played);
        let sessions = AgentSessions { menu, month, played: &played, min_evidence: floor };
        let Verdicts { levers, pasted, .. } = sessions.judge_choices();
        let pair = |set: &String| set.split_once('=').and_then(|it| menu.pair_index(it.0, it.1));
        let judged = |(nth, lever): (usize, Lever)| {
            let choice = lever.set.iter().map(pair).collect::<Option<MenuChoice>>()?;
            let is_pasted = pasted.as_ref().is_some_and(|placed| placed.lever == nth);
            Some(JudgedChoice { choice: TriedChoice(choice), lever, is_pasted })
        };
        Some(levers.into_iter().enumerate().filter_map(judged).listed())
    }

    /// Returns the choice that saves most on some sessions and keeps the floor, if one saves.
    pub fn cheapest_choice(&self, agent: &str, sessions: &[usize], min_evidence: f64) -> Option<TriedChoice> {
        let saves = |choice: &MenuChoice| {
            let choice = TriedChoice(choice.clone());
            let (saved, kept) = self.saving_and_evidence_shares(agent, sessions, &choice);
            (saved > 0.0 && kept.is_none_or(|kept| kept >= min_evidence)).then_some((saved, choice))
        };
        let choices = self.menus.menu_for_agent(agent).ok()?.choices.iter().filter_map(saves);
        choices.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, choice)| choice)
    }

    /// Returns what a choice saves on some sessions, as a share, and the share of the needed evidence that it keeps.
    pub fn saving_and_evidence_shares(
        &self,
        agent: &str,
        sessions: &[usize],
        choice: &TriedChoice,
    ) -> (f64, Option<f64>) {
        let played = self.sessions_at(agent, sessions);
        let usd = |it: &Tally| it.costs.total().unwrap_or_default();
        let tallies = || played.iter().map(|it| (it.tally_under(&choice.0), &it.base));
        let (own, base) = sum_of_pairs(tallies().map(|(own, base)| (usd(own), usd(base))));
        let (met, needed) = sum_of_pairs(tallies().map(|(own, _)| own.sums.needs.evidence()));
        (1.0 - own / base, (needed > 0.0).then(|| met / needed))
    }

    /// Returns what a change of settings does in each session of an agent whose bill and times are known; none where a pair is not tried.
    pub fn sessions_under_change(&self, agent: &str, key_values: &[&str]) -> Option<Vec<ChangedSession>> {
        let menu = self.menus.menu_for_agent(agent).ok()?;
        let place = |text: &&str| text.split_once('=').and_then(|it| menu.pair_index(it.0, it.1));
        let choice: MenuChoice = key_values.iter().map(place).collect::<Option<_>>()?;
        let session = |session: &PlayedSession| {
            Some(ChangedSession {
                earlier: session.to_earlier_session(&choice, true),
                project: session.seen.project.clone(),
                requests: session.seen.requests,
                billed_usd: session.seen.billed_usd?,
            })
        };
        Some(self.sessions_of_agent(agent).into_iter().filter_map(session).listed())
    }

    fn sessions_of_agent(&self, agent: &str) -> Vec<&PlayedSession> {
        let is_own = |session: &&PlayedSession| {
            self.menus.agent_of_log(&session.seen).is_some_and(|it| it.name == agent)
        };
        self.all.iter().filter(is_own).listed()
    }

    fn sessions_at(&self, agent: &str, indices: &[usize]) -> Vec<&PlayedSession> {
        let own = self.sessions_of_agent(agent);
        indices.iter().filter_map(|it| own.get(*it).copied()).listed()
    }
}

/// The two values of an agent's lifetimes, as they are played.
pub(super) struct CacheLifetimes {
    /// Sub-agents' sessions, or the agent's own.
    is_of_agent: bool,
    /// Short, long.
    ends: [MenuChoice; 2],
}

impl CacheLifetimes {
    /// Finds an agent's settings of cache lifetimes; an agent without any has no such axis.
    pub(super) fn all_of_agent(menu: &SettingMenu<'_>) -> Vec<Self> {
        let settings = menu.agent.settings.iter().filter(|it| it.shown_by == Some(ShownBy::Lifetimes));
        let axis = |setting: &AgentSetting| {
            let [short, long] = setting.values.as_slice() else { return Vec::new() };
            // What the settings file says is in force, and no choice.
            let end = |value: &String| menu.pair_index(&setting.key, value).into_iter().listed();
            let lanes = [false, true].into_iter().filter(|it| setting.lane.include(*it));
            lanes.map(|is_of_agent| Self { is_of_agent, ends: [end(short), end(long)] }).listed()
        };
        settings.flat_map(axis).listed()
    }

    /// Returns what both cost; none where no session of the lane writes to a cache.
    pub(super) fn lifetime_costs<'t>(&self, sessions: &'t AgentSessions<'_>) -> Option<LifetimeComparison> {
        let own: Vec<&PlayedSession> =
            sessions.played.iter().copied().filter(|it| it.seen.is_of_agent == self.is_of_agent).listed();
        let written = |end: &MenuChoice| -> u64 {
            own.iter().map(|it| it.tally_under(end).sums.main.tokens.write.iter().sum::<u64>()).sum()
        };
        let [short, long] = self.ends.each_ref().map(written);
        if short == 0 {
            return None;
        }
        let sample = |session: &&'t PlayedSession| {
            let [short, long] = self.ends.each_ref().map(|end| session.tally_under(end).costs.total());
            let (project, at_ms) = (session.seen.project.as_str(), session.seen.span_ms.map(|it| it[1]));
            Some(RatioSample { pair: long.zip(short).filter(|it| it.1 > 0.0)?, project, at_ms })
        };
        let samples: Vec<RatioSample<'_>> = own.iter().filter_map(sample).listed();
        let (both, one) = sum_of_pairs(samples.iter().map(|it| it.pair));
        let cost =
            |of: &dyn Fn(&PlayedSession) -> Option<f64>| own.iter().map(|it| of(it)).sum::<Option<f64>>();
        let month_usd = sessions.month.cost_of_sessions(&own).usd;
        let month = |end: &MenuChoice| {
            let share = cost(&|it| it.tally_under(end).costs.total())? / cost(&|it| it.base.costs.total())?;
            Some(month_usd? * share).filter(|it| it.is_finite())
        };
        let rewritten = short.saturating_sub(long);
        Some(LifetimeComparison {
            lane: if self.is_of_agent { "sub-agents" } else { "main" },
            sessions: own.len(),
            usd_month: self.ends.each_ref().map(month),
            written_tokens: short,
            rewritten_tokens: rewritten,
            share: rewritten as f64 / short as f64,
            break_even: self.break_even_rewrite_share(&own),
            change: (one > 0.0).then(|| both / one - 1.0),
            interval: ratio_interval_for_later(&samples, AssumedReach::default()),
        })
    }

    /// Returns the share from which long lifetimes are cheaper, at the prices that the sessions paid.
    fn break_even_rewrite_share(&self, sessions: &[&PlayedSession]) -> Option<f64> {
        let sum = |end: &MenuChoice, part: fn(&Tally) -> (u64, f64)| {
            let all = sessions.iter().map(|it| part(it.tally_under(end)));
            let (tokens, usd) = all.fold((0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
            (tokens > 0).then(|| usd / tokens as f64)
        };
        let write = |it: &Tally| (it.sums.main.tokens.write.iter().sum(), it.costs.main.write.usd());
        let read = |it: &Tally| (it.sums.main.tokens.read, it.costs.main.read.usd());
        let (short, long) = (sum(&self.ends[0], write)?, sum(&self.ends[1], write)?);
        let read = sum(&self.ends[1], read)?;
        (long > read).then(|| (long - short) / (long - read))
    }
}

/// Advises by what bills tell alone; sessions without a bill take no part in its levers.
pub(super) fn advise_from_bills(
    played: &[&PlayedSession],
    month: &AgentMonth<'_>,
    min_evidence: f64,
) -> AgentAdvice {
    let mut bills = Vec::new();
    for session in played {
        let Some(facts) = &session.by_bills else { continue };
        let seen = &session.seen;
        bills.push(AttributedBill {
            person: user_of(&seen.project),
            project: &seen.project,
            span_ms: seen.span_ms,
            month_usd: month.session_month_usd(session).unwrap_or_default(),
            is_of_agent: seen.is_of_agent,
            facts,
        });
    }
    AgentAdvice {
        sessions: played.len(),
        ..billed::advise_by_bills(&bills, month.cost_of_sessions(played), min_evidence)
    }
}
