//! Sessions that were played with everything that is tried of their agents, to measure the rule: it reads some of them, and is judged on others.

use super::AdviceRequest;
use super::in_force::Force;
use super::menu::{MenuChoice, Menus};
use super::play::{self, PlayedSession};
use super::verdicts::{AgentMonth, AgentSessions, Verdicts};
use crate::Comparison;
use crate::catalog::Catalog;
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::limits::sum_of_pairs;
use ctxsim_engine::measure::month::Calendar;
use ctxsim_report::advise::saved::EarlierSession;

/// Sessions of agents, each played once.
pub struct PlayedFolder<'c> {
    menus: Menus<'c>,
    all: Vec<PlayedSession>,
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

impl<'c> PlayedFolder<'c> {
    /// Reads sessions and plays them.
    ///
    /// # Errors
    /// Every problem of the inputs.
    pub fn read(
        catalog: &'c Catalog,
        comparison: &Comparison,
        asked: &'c AdviceRequest,
    ) -> Result<Self, Error> {
        let menus = Menus::new(catalog, asked)?;
        let plan = play::plan(catalog, comparison)?;
        let (all, _) = play::played(&plan, &menus, (None, &|_, _| {}), |_| ())?;
        Ok(Self { menus, all: all.into_iter().map(|it| it.0).listed() })
    }

    /// Returns the agents of the sessions.
    pub fn agents(&self) -> Vec<&'static str> {
        let of = |it: &PlayedSession| Some(self.menus.agent(it.seen.format, &it.seen.model)?.name.as_str());
        ctxsim_report::distinct(self.all.iter().filter_map(of))
    }

    /// Returns how many sessions are of an agent.
    pub fn n_sessions(&self, agent: &str) -> usize {
        self.of(agent).len()
    }

    /// Returns when the last request of an agent's session was, in milliseconds since 1970.
    pub fn last_ms(&self, agent: &str, nth: usize) -> Option<i64> {
        self.of(agent).get(nth)?.seen.span_ms.map(|it| it[1])
    }

    /// Returns what the rule pastes on some sessions of an agent, and the saving that it forecasts.
    pub fn advised(&self, agent: &str, part: &[usize], floor: f64) -> Option<(TriedChoice, f64)> {
        let (played, menu) = (self.part(agent, part), self.menus.named_menu(agent)?);
        let calendar = Calendar::default();
        let month = AgentMonth::new(&calendar, &played);
        let sessions = AgentSessions { menu, month: &month, played: &played, min_evidence: floor };
        let force = Force { agent: menu.agent, seen: Vec::new(), file: &menu.file };
        let Verdicts { levers, pasted, .. } = sessions.verdicts(&force);
        let (nth, choice) = pasted?;
        Some((TriedChoice(choice), -levers[nth].expected?))
    }

    /// Returns the choice that saves most on some sessions and keeps the floor, if one saves.
    pub fn best(&self, agent: &str, part: &[usize], floor: f64) -> Option<TriedChoice> {
        let choices = self.menus.named_menu(agent)?.choices.iter().map(|it| TriedChoice(it.clone()));
        let came = choices.map(|it| (self.came(agent, part, &it), it));
        let keeps = came.filter(|it| it.0.0 > 0.0 && it.0.1.is_none_or(|kept| kept >= floor));
        keeps.max_by(|one, other| one.0.0.total_cmp(&other.0.0)).map(|it| it.1)
    }

    /// Returns what a choice saves on some sessions, as a share, and the share of the needed evidence that it keeps.
    pub fn came(&self, agent: &str, part: &[usize], choice: &TriedChoice) -> (f64, Option<f64>) {
        let played = self.part(agent, part);
        let cost = |it: &&PlayedSession| {
            (it.run(&choice.0).costs.total().unwrap_or_default(), it.base.costs.total().unwrap_or_default())
        };
        let (own, base) = sum_of_pairs(played.iter().map(cost));
        let (met, needed) = sum_of_pairs(played.iter().map(|it| it.run(&choice.0).sums.needs.evidence()));
        (1.0 - own / base, (needed > 0.0).then(|| met / needed))
    }

    /// Returns what a change of settings does in each session of an agent whose bill and times are known; none where a pair is not tried.
    pub fn changed(&self, agent: &str, change: &[&str]) -> Option<Vec<ChangedSession>> {
        let menu = self.menus.named_menu(agent)?;
        let place = |text: &&str| menu.pairs.iter().position(|it| it.text() == **text);
        let choice: MenuChoice = change.iter().map(place).collect::<Option<_>>()?;
        let session = |it: &PlayedSession| {
            Some(ChangedSession {
                earlier: it.earlier(&choice, true),
                project: it.seen.project.clone(),
                requests: it.seen.requests,
                billed_usd: it.seen.billed_usd?,
            })
        };
        Some(self.of(agent).into_iter().filter_map(session).listed())
    }

    fn of(&self, agent: &str) -> Vec<&PlayedSession> {
        let is_own = |it: &&PlayedSession| {
            self.menus.agent(it.seen.format, &it.seen.model).is_some_and(|it| it.name == agent)
        };
        self.all.iter().filter(is_own).listed()
    }

    fn part(&self, agent: &str, part: &[usize]) -> Vec<&PlayedSession> {
        let own = self.of(agent);
        part.iter().filter_map(|it| own.get(*it).copied()).listed()
    }
}
