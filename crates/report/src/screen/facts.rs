//! What a first screen needs of one recorded session: whose it is, what it was billed day by day, and how well that is predicted.

use std::ops::AddAssign;

use super::waiting::{SessionWaits, WaitCounter};
use crate::as_logged::{LoggedRequest, MadeFor, ProfileOf, for_each_logged_request};
use crate::beside_bill::BillFootnotes;
use crate::prelude::*;
use crate::session::BillCheck;
use ctxsim_engine::measure::missed::{Miss, all_misses};
use ctxsim_engine::measure::month::Calendar;
use ctxsim_timeline::AsideKind;

/// What a bill is paid for. Every picodollar of it is in one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BillPart {
    /// Earlier messages, sent again and read from the cache.
    History,
    /// What a prompt holds for the first time in its session.
    New,
    /// What was in the cache, and expired in a pause.
    AfterPauses,
    /// What was in the cache, and was not read for another reason.
    AfterOtherMisses,
    Answers,
    /// Requests that wrote summaries, those on branches that the user left, and advisors.
    Other,
}

impl BillPart {
    pub const ALL: [Self; 6] =
        [Self::History, Self::New, Self::AfterPauses, Self::AfterOtherMisses, Self::Answers, Self::Other];

    /// Says what it is to a reader who knows what a prompt cache is, and no more.
    pub fn description(self) -> &'static str {
        match self {
            Self::History => "history, sent again with every request (cache reads)",
            Self::New => "new content, and what sessions begin with",
            Self::AfterPauses => "sent again after a pause that outlasted the cache",
            Self::AfterOtherMisses => "sent again after other cache misses",
            Self::Answers => "answers, as far as the logs count them",
            Self::Other => "compaction requests, abandoned branches and advisors",
        }
    }
}

/// What the misses of a cause cost, and whose requests these were.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MissedCosts {
    pub all: Cost,
    /// Of it: requests of sub-agents.
    pub by_sub_agents: Cost,
    /// Of it: requests that a user's message began; the others follow the results of tools.
    pub at_turns: Cost,
}

impl AddAssign for MissedCosts {
    fn add_assign(&mut self, more: Self) {
        self.all += more.all;
        self.by_sub_agents += more.by_sub_agents;
        self.at_turns += more.at_turns;
    }
}

/// What a request missed that had been in the cache.
struct RequestMiss {
    cause: MissCause,
    cost: Cost,
    is_of_agent: bool,
    begins_turn: bool,
}

/// What was billed, by what it was paid for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartCosts {
    parts: [Cost; BillPart::ALL.len()],
    /// What was sent again after other cache misses, by their causes.
    pub by_cause: BTreeMap<MissCause, MissedCosts>,
}

impl PartCosts {
    /// Returns what a part cost.
    pub fn cost_of(&self, part: BillPart) -> Cost {
        self.parts[part as usize]
    }

    /// Returns what all parts cost together.
    pub fn total(&self) -> Cost {
        self.parts.iter().fold(Cost::default(), |sum, it| sum + *it)
    }

    /// Adds a request of the agent's own, with what of its prompt had been cached and was not read.
    fn add_request(&mut self, bill: &Bill, missed: Option<&RequestMiss>) {
        let sent = bill.write + bill.uncached;
        let again = missed.map_or(Cost::default(), |miss| miss.cost.min(sent));
        let of_again = match missed.map(|miss| miss.cause) {
            // Tools and system prompt are new to the session.
            None | Some(MissCause::Began) => BillPart::New,
            Some(MissCause::Paused) => BillPart::AfterPauses,
            Some(_) => BillPart::AfterOtherMisses,
        };
        if let Some(miss) = missed.filter(|_| of_again == BillPart::AfterOtherMisses) {
            let part = |is_of_it: bool| if is_of_it { again } else { Cost::default() };
            let (by_sub_agents, at_turns) = (part(miss.is_of_agent), part(miss.begins_turn));
            *self.by_cause.entry(miss.cause).or_default() +=
                MissedCosts { all: again, by_sub_agents, at_turns };
        }
        self.parts[BillPart::History as usize] += bill.read;
        self.parts[BillPart::New as usize] += Cost(sent.0 - again.0);
        self.parts[BillPart::Answers as usize] += bill.output;
        self.parts[of_again as usize] += again;
    }

    /// Returns it with each amount scaled to a month.
    pub fn scaled_to_month(&self, calendar: &Calendar) -> Self {
        let scaled = |cost: Cost| calendar.scaled(cost);
        let by_cause = self.by_cause.iter().map(|(cause, costs)| {
            let MissedCosts { all, by_sub_agents, at_turns } = *costs;
            let [all, by_sub_agents, at_turns] = [all, by_sub_agents, at_turns].map(scaled);
            (*cause, MissedCosts { all, by_sub_agents, at_turns })
        });
        Self { parts: self.parts.map(scaled), by_cause: by_cause.collect() }
    }
}

impl AddAssign<&Self> for PartCosts {
    fn add_assign(&mut self, more: &Self) {
        self.parts.iter_mut().zip(more.parts).for_each(|(sum, it)| *sum += it);
        more.by_cause.iter().for_each(|(cause, it)| *self.by_cause.entry(*cause).or_default() += *it);
    }
}

/// What a first screen needs of one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFacts {
    /// The agent's name, or the format of its log where the agent is not known.
    pub agent: String,
    /// Whether the settings of the agent are known.
    pub has_settings: bool,
    /// The newest version of the agent that made it; empty if unknown.
    pub version: String,
    /// The user's home and the working folder; empty where no log tells them.
    pub user: String,
    pub project: String,
    pub is_of_agent: bool,
    /// When it began and ended, in milliseconds since 1970.
    pub span_ms: Option<[i64; 2]>,
    pub requests: u64,
    /// Of these: requests without usage in the log, which no bill knows.
    pub without_usage: u64,
    /// Its file, and what is left out of it: what, and how often.
    pub file: String,
    pub left_out: Vec<(String, usize)>,
    /// Billed requests of models without a price, by model.
    pub without_price: BTreeMap<String, u64>,
    /// What was billed, by days since 1970; no day where the log tells no times.
    pub by_day: BTreeMap<Option<i64>, PartCosts>,
    /// How long its requests took, by what was measured of their models.
    pub waits: SessionWaits,
    /// What stands beside the bill.
    pub beside: BillFootnotes,
    /// How well the bill is predicted.
    pub check: Option<BillCheck>,
}

impl SessionFacts {
    /// Reads what the log of a session tells; whose it is, and how well it is predicted, is for the caller to add. The profile tells what
    /// the cache had held.
    pub fn from_timeline(timeline: &Timeline, profile: Option<&Profile>, profile_of: ProfileOf<'_>) -> Self {
        let misses = profile.map_or_else(Vec::new, |it| all_misses(timeline, it));
        let mut misses = misses.iter().peekable();
        let mut facts = Self {
            is_of_agent: timeline.is_of_agent(),
            span_ms: timeline.began_ms.zip(timeline.last_ms()).map(|it| [it.0, it.1]),
            requests: timeline.spine.steps.len() as u64,
            ..Self::default()
        };
        let turn_starts = timeline.spine.turns.iter().map(|turn| turn.steps.start).listed();
        let mut n_billed = 0;
        let mut waits = WaitCounter::default();
        for_each_logged_request(timeline, profile_of, |request| {
            waits.add_request(request, timeline);
            let MadeFor::Step(nth) = request.made_for else { return facts.add_billed_request(request, None) };
            n_billed += 1;
            while misses.next_if(|miss| (miss.step as usize) < nth).is_some() {}
            let miss = misses.peek().copied().filter(|miss| miss.step as usize == nth);
            facts.add_billed_request(
                request,
                miss.map(|miss| (miss, turn_starts.binary_search(&miss.step).is_ok())),
            );
        });
        facts.waits = waits.into_session_waits();
        if let Some(recorded) = &timeline.recorded {
            facts.file.clone_from(&recorded.file);
            facts.left_out = recorded.losses.iter().map(|it| (it.what.clone(), it.count)).listed();
        }
        facts.without_usage = facts.requests.saturating_sub(n_billed);
        facts.beside = BillFootnotes::from_timeline(timeline, profile_of);
        facts
    }

    /// Adds a request that the log bills.
    fn add_billed_request(&mut self, request: &LoggedRequest<'_, '_>, miss: Option<(&Miss, bool)>) {
        let tokens = request.token_use();
        let priced = request.price_list().map(|it| (it, Bill::of_request(it, &tokens)));
        let Some((list, bill, total)) = priced.and_then(|(list, it)| Some((list, it, it.total()?))) else {
            let model = if request.model.is_empty() { "none is named" } else { request.model };
            *self.without_price.entry(model.to_owned()).or_default() += 1;
            return;
        };
        let costs = self.by_day.entry(request.day_since_1970()).or_default();
        // What goes on inside a request is sent as its own steps are.
        if !matches!(request.made_for, MadeFor::Step(_) | MadeFor::Aside(AsideKind::Inner)) {
            costs.parts[BillPart::Other as usize] += total;
            return;
        }
        let again = miss.map(|(miss, begins_turn)| {
            let place = [tokens.read, tokens.read.saturating_add(miss.tokens)];
            let part = Bill::of_part(list, &tokens, place).1;
            let (cause, cost, is_of_agent) = (miss.cause, part.write + part.uncached, self.is_of_agent);
            RequestMiss { cause, cost, is_of_agent, begins_turn }
        });
        costs.add_request(&bill, again.as_ref());
    }
}
