//! The cost of a need that the prompt does not meet.
//!
//! The rules are those of selfonomy/duckagent @06550f4, `benchmark/context_policy_benchmark.py`, as expected
//! values: a need of probability `p` of which the prompt meets the share `m` makes `p × (1 − m)` recovery
//! calls.
//!
//! When the prompt does not meet a need and a handle exists, the agent fetches the evidence again. After a policy removed context it also
//! looks things up anew (exploration): `EngineRun` notes what each edit removed (`recovery.rs`), and `Carried::explored` turns the
//! missing share into an `ExploredRow`. What is expected beside a request (`ExpectedRow`: carried, left by others) reaches sinks beside its
//! row, which stays exact. The cost is expected (a closed form over the rows of a play), *sampled* (each need is drawn and what it fetches
//! enters the history, `engine/drawn.rs`), or *played* where fetched results may change what a policy does (`take/play.rs`).
//! `docs/reference/recovery.md` has the terms, their formulas and their intervals.

mod expected;

use crate::ledger::NeedRow;
use crate::prelude::*;
use crate::projection::{Env, Known, Num, Slot, TurnState};
use ctxsim_input::RecoverySpec;
use ctxsim_timeline::{Level, Need, TurnEvidence};
use std::collections::VecDeque;

pub use ctxsim_input::scenario::refetch::{Assumption, End, Ends, Explores, Terms};
pub use expected::{AskedCalls, BilledSteps, Carried, CarriedAgain, NeedSource};

/// A policy's recovery, prepared for one set of limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompiledRecovery {
    how: How,
    /// What an agent needs to fetch something again; `None` if a profile prices every call alike.
    terms: Option<Terms>,
}

/// What an agent fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// One call that fetches what is needed.
    OneShot,
    /// One call; raw file content is met by its smallest exact range.
    Pinned,
    /// Whole files; those that do not fit beside the stable prefix are read repeatedly.
    NaiveReread {
        /// The most attempts.
        limit: u64,
        /// The largest file that stays.
        fits: Tokens,
    },
}

impl CompiledRecovery {
    /// Prepares a policy's recovery.
    pub fn new(recovery: &RecoverySpec, known: &Known, stable: Tokens, terms: Option<Terms>) -> Self {
        let eval = |size: &Size| Num::new(size, known).eval(&Env::default());
        let how = match recovery {
            RecoverySpec::OneShot => How::OneShot,
            RecoverySpec::Pinned => How::Pinned,
            RecoverySpec::NaiveReread { limit, fits } => {
                let fits = fits.as_ref().unwrap_or(&Size::Limit);
                How::NaiveReread { limit: *limit, fits: eval(fits).saturating_sub(stable) }
            }
        };
        Self { how, terms }
    }

    /// One call that fetches what is needed.
    pub fn one_shot(terms: Option<Terms>) -> Self {
        Self { how: How::OneShot, terms }
    }

    /// Returns the same recovery under other terms; who looks nothing up anew does not begin to.
    pub fn under(self, terms: Option<Terms>) -> Self {
        let explores = self.terms.is_some_and(|it| it.explores.is_some());
        Self { terms, ..self }.exploring(explores)
    }

    /// Returns the same recovery of an agent that looks nothing up anew, if it does not explore.
    pub fn exploring(self, explores: bool) -> Self {
        let of = |it: Terms| Terms { explores: it.explores.filter(|_| explores), ..it };
        Self { terms: self.terms.map(of), ..self }
    }

    /// Returns what it takes to fetch something again, or nothing if every call is priced alike.
    pub fn terms(&self) -> Option<Terms> {
        self.terms
    }

    /// Returns how a need is met by what the prompt shows of its source, and whether some request has shown
    /// the source in full.
    #[inline]
    pub fn meet(
        &self,
        due_in: TurnIx,
        need: &Need,
        evidence: &TurnEvidence,
        stands: &TurnState,
        was_seen: bool,
    ) -> NeedRow {
        let met = met(need.level, evidence, stands);
        let weight = self.terms.map_or(need.weight, |it| weight(need, &it, was_seen));
        let row = NeedRow { turn_ix: due_in, level: need.level, weight, met, ..NeedRow::default() };
        let unmet = weight * (1.0 - met);
        if unmet <= 0.0 {
            return row;
        }
        match self.fetch(need, evidence, stands) {
            None => NeedRow { failed: unmet, ..row },
            Some((fetched, attempts)) => NeedRow {
                calls: unmet * attempts as f64,
                repeats: unmet * (attempts - 1) as f64,
                fetched: Tokens::from(fetched),
                ..row
            },
        }
    }

    /// Returns the tokens of each call and the number of calls, or `None` if nothing leads to the source.
    #[inline]
    fn fetch(&self, need: &Need, evidence: &TurnEvidence, stands: &TurnState) -> Option<(u32, u64)> {
        let by_numbers = need.recover_tokens.unwrap_or_else(|| evidence.recover_tokens(need.level));
        // A result is fetched as a whole, or as much of it as a call brings.
        let most = self.terms.filter(|_| evidence.is_single).map_or(u32::MAX, |it| it.fetched_max);
        let by_numbers = by_numbers.min(most);
        let is_lost = evidence.has_handle && stands.n_handles == 0;
        let (fetched, attempts) = match &self.how {
            How::Pinned if need.level == Level::RawContent => (evidence.file_range.unwrap_or(by_numbers), 1),
            How::NaiveReread { limit, fits } if evidence.file > 0 && need.level >= Level::LocalDetail => {
                (evidence.file, if Tokens::from(evidence.file) <= *fits { 1 } else { *limit })
            }
            _ => (by_numbers, 1),
        };
        let is_lost = is_lost || need.level == Level::ContinuationHandle || fetched == 0;
        (!is_lost).then_some((fetched, attempts))
    }
}

/// Returns the probability of a need at some end of the assumptions. A declared weight does not change; a
/// measured one holds only for what the agent has seen.
#[inline]
fn weight(need: &Need, terms: &Terms, was_seen: bool) -> f64 {
    let [low, high] = need.interval;
    if was_seen || low >= high {
        return terms.ends.of(Assumption::Weights).pick(need.weight, [low, high]);
    }
    terms.ends.of(Assumption::UnseenWeights).pick(need.weight, [low, high.max(terms.unseen_high)])
}

/// Returns what the prompt shows of one result, at a turn that shows nothing else; an item that names the
/// result's source is as good as a handle.
pub fn item_state(prompt: &Prompt<'_>, result: Option<SlotIx>, mentions: &[ItemIx]) -> TurnState {
    let Some(result) = result else { return TurnState::default() };
    let (slot, item) = (prompt.slot(result), prompt.item(result));
    // What a fold tells of stands as it was when it was folded.
    let is_told = |slot: &Slot| matches!(slot.state, State::Shown | State::Folded | State::FoldHost);
    let is_whole = |it: SlotIx| is_told(prompt.slot(it)) && prompt.slot(it).rendition == ShownAs::Raw;
    let is_shown = is_told(slot);
    let has_handle = !matches!(slot.state, State::Dropped | State::Past) && item.handle > 0;
    let is_named = || mentions.iter().any(|it| prompt.history().slot_of(*it).is_some_and(is_whole));
    TurnState {
        tokens: Tokens::from(slot.tokens),
        n_exact: u32::from(
            is_shown && (slot.exact || matches!(slot.rendition, ShownAs::Raw | ShownAs::Exact)),
        ),
        n_full: u32::from(is_whole(result) || slot.state == State::Shown && slot.tokens >= item.raw),
        n_raw: u32::from(is_whole(result)),
        n_handles: u32::from(has_handle || is_whole(result) || is_named()),
        n_absorbed: u32::from(matches!(slot.state, State::Absorbed | State::Host)),
    }
}

/// Returns the share of a need, 0 to 1, that is met by what the prompt shows of its source.
#[inline]
fn met(level: Level, evidence: &TurnEvidence, stands: &TurnState) -> f64 {
    let behind_summary = stands.n_absorbed > 0;
    let share =
        |shown: u32, of: u32| if behind_summary || of == 0 { 0.0 } else { f64::from(shown) / f64::from(of) };
    match level {
        Level::None | Level::GlobalConclusion => 1.0,
        Level::ContinuationHandle => f64::from(u8::from(stands.n_handles > 0)),
        Level::LocalDetail => f64::from(u8::from(!behind_summary && stands.n_raw > 0)),
        Level::ExactEvidence => share(stands.n_exact, evidence.n_working),
        Level::RawContent => share(stands.n_full, evidence.n_results),
    }
}

// How much of the working context is missing because a policy took it out, which fades as the work goes on.
//
// What was removed counts in full at the next request, and evenly less at each one after, until it counts nothing. What comes back is
// taken off. A reset by the harness and a new session begin with nothing missing: what follows them is in the load already.

/// The tokens that a policy has removed lately.
#[derive(Clone, Debug)]
pub struct Removed {
    /// In how many requests what was removed fades.
    window: u32,
    /// By request, the oldest first: what was removed before it, less what came back.
    by_request: VecDeque<i64>,
    sum: i64,
    /// Their sum, each weighed by the requests in which it still counts.
    weighed: i64,
    /// What was removed since the last request.
    since: i64,
}

impl Removed {
    /// Begins with nothing removed.
    pub fn new(window: u32) -> Self {
        Self { window: window.max(1), by_request: VecDeque::new(), sum: 0, weighed: 0, since: 0 }
    }

    /// Notes that a prompt of so many tokens has so many now, because the policy edited it or took an edit back.
    #[inline]
    pub fn note(&mut self, before: Tokens, after: Tokens) {
        self.since = self.since.saturating_add(before.cast_signed()).saturating_sub(after.cast_signed());
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        *self = Self::new(self.window);
    }

    /// Returns the tokens that are missing at the next request, faded; 0 where nothing is.
    #[inline]
    pub fn at_request(&mut self) -> f64 {
        if self.since == 0 && self.by_request.is_empty() {
            return 0.0;
        }
        self.advance()
    }

    fn advance(&mut self) -> f64 {
        // Each counts for one request less; what has counted to its end goes.
        self.weighed = self.weighed.saturating_sub(self.sum);
        if self.by_request.len() == self.window as usize {
            self.sum = self.sum.saturating_sub(self.by_request.pop_front().unwrap_or_default());
        }
        let new = std::mem::take(&mut self.since);
        self.by_request.push_back(new);
        self.sum = self.sum.saturating_add(new);
        self.weighed = self.weighed.saturating_add(new.saturating_mul(i64::from(self.window)));
        if self.by_request.iter().all(|it| *it == 0) {
            self.by_request.clear();
        }
        self.weighed.max(0) as f64 / f64::from(self.window)
    }
}

// Which results some request has shown whole: what was measured of recovery is measured of these.

/// What the requests so far have shown.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Results that their first request did not show whole, in order.
    cut: Vec<SlotIx>,
    /// Where the items begin that no request has shown yet.
    until: SlotIx,
}

impl Seen {
    /// Looks at what a request shows for the first time.
    #[inline]
    pub(crate) fn look(&mut self, prompt: &Prompt<'_>) {
        let is_cut = |it: &SlotIx| {
            let slot = prompt.slot(*it);
            prompt.item(*it).kind == Kind::ToolResult
                && !(slot.is_visible() && slot.rendition == ShownAs::Raw)
        };
        self.cut.extend((self.until..prompt.len()).filter(is_cut));
        self.until = prompt.len();
    }

    /// Returns whether some request has shown a result whole.
    pub(crate) fn has(&self, result: SlotIx) -> bool {
        result < self.until && self.cut.binary_search(&result).is_err()
    }
}
