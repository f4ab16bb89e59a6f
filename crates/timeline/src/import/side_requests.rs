//! Side requests: what a harness sends after a turn beside the agent's own requests, as its rules, the log and earlier bills tell.
//!
//! Whether one is inferred before a turn is told by the bills of earlier turns, never by its own.

use ctxsim_input::scenario::HiddenRequest;

use super::assumed::ScenarioAssumptions;
use super::harness::Conduct;
use crate::import::prelude::*;

/// The evidence for side requests in this session.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideRequestEvidence {
    /// How long after a turn's last reply a side request comes.
    pub(super) delay_ms: u64,
    /// None follows a request of which more tokens than this were not read from the cache.
    pub(super) cold_tokens: Tokens,
    /// One is expected where more than this share of the turns before had one.
    pub(super) share: Decimal,
    /// So many turns are taken to be before the first: with one where the harness usually sends it, else without.
    pub(super) prior_turns: u32,
}

/// The side requests of a session.
#[derive(Debug, Default)]
pub(super) struct SideRequests {
    /// How long after a turn they come; nothing where the harness makes none.
    pub(super) delay_ms: Option<u64>,
    /// The requests that begin a turn and before which one comes, in order.
    pub(super) due: Vec<usize>,
    /// Those before which the log shows some, each with when.
    pub(super) logged: Vec<(usize, Vec<i64>)>,
}

impl SideRequests {
    /// Finds those of a session, as a scenario has them.
    pub(super) fn new(transcript: &Transcript, assumed: &ScenarioAssumptions, conduct: &Conduct) -> Self {
        let (evidence, hidden) = (&assumed.inference, assumed.spec.side_request);
        let hidden = hidden.unwrap_or(HiddenRequest::Inferred);
        let exchanges = transcript.exchanges.as_slice();
        let turns = || exchanges.iter().enumerate().skip(1).filter(|it| it.1.begins.is_some());
        let after = |delay_ms| Self {
            delay_ms: Some(delay_ms),
            due: turns().map(|it| it.0).collect(),
            logged: Vec::new(),
        };
        let usual = match hidden {
            HiddenRequest::None => return Self::default(),
            HiddenRequest::AfterTurn { delay } => return after(delay.0),
            _ if !transcript.makes_side_requests => return Self::default(),
            HiddenRequest::Usual | HiddenRequest::Inferred => after(evidence.delay_ms),
        };
        let habit = |index: usize| {
            let known = HarnessRules::side_requests(transcript.harness, exchanges[index].version);
            known.unwrap_or(Habit { is_usual: true, recaps: Recaps::Never })
        };
        let is_logged = |index: usize| {
            let comes = match habit(index).recaps {
                Recaps::Never => false,
                Recaps::WhereShort => conduct.lifetime_at(index - 1) == Some(TtlClass::Short),
                Recaps::Always => true,
            };
            comes && !exchanges[index].recaps.is_empty()
        };
        let logged: Vec<(usize, Vec<i64>)> =
            turns().filter(|it| is_logged(it.0)).map(|(index, it)| (index, it.recaps.clone())).collect();
        let due = match hidden {
            HiddenRequest::Inferred => {
                expected(exchanges, evidence, |index| habit(index).is_usual, is_logged)
            }
            _ => usual.due.into_iter().filter(|it| habit(*it).is_usual).collect(),
        };
        Self { due, logged, ..usual }
    }

    /// Returns how many the log shows.
    pub(super) fn n_logged(&self) -> usize {
        self.logged.iter().map(|it| it.1.len()).sum()
    }
}

/// What a version of a harness is known to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habit {
    /// Whether most sessions have a side request after nearly every turn.
    pub(super) is_usual: bool,
    /// Whether it sends the prompt and the reply when it sums up for a user who was away.
    pub(super) recaps: Recaps,
}

/// When a summary for a user who was away goes with a request that leaves the prompt and the reply in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Recaps {
    /// As far as is known, never.
    #[default]
    Never,
    /// Where entries are asked to live for less than an hour.
    WhereShort,
    Always,
}

/// Returns the requests that begin a turn and before which a side request is expected by the bills of earlier turns, in order.
fn expected(
    exchanges: &[Exchange],
    evidence: &SideRequestEvidence,
    is_usual: impl Fn(usize) -> bool,
    is_logged: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut expected = Vec::new();
    let prior = Tokens::from(evidence.prior_turns);
    let (mut n_with, mut n_told) = (0, 0);
    for (index, pair) in exchanges.windows(2).enumerate() {
        let [before, turn] = pair else { continue };
        if turn.begins.is_none() {
            continue;
        }
        let n_usual = if is_usual(index + 1) { prior } else { 0 };
        if n_with + n_usual > evidence.share.share_of(n_told + prior) {
            expected.push(index + 1);
        }
        // What one that the log shows has left says nothing of the others.
        if let Some(had_one) = tells(before, turn, evidence).filter(|_| !is_logged(index + 1)) {
            n_with += Tokens::from(had_one);
            n_told += 1;
        }
    }
    expected
}

/// Returns whether a turn's bill shows that a side request preceded it, or that none did; most misses show neither.
fn tells(before: &Exchange, turn: &Exchange, evidence: &SideRequestEvidence) -> Option<bool> {
    let (billed_before, billed) = (before.usage?, turn.usage?);
    let cached_before = billed_before.cached();
    if billed.cache_read != cached_before {
        return (billed.cache_read > cached_before).then_some(true);
    }
    let came_ms = before.end_ms?.saturating_add_unsigned(evidence.delay_ms);
    let not_read = billed_before.prompt.saturating_sub(billed_before.cache_read);
    (turn.at_ms? >= came_ms && not_read <= evidence.cold_tokens).then_some(false)
}
