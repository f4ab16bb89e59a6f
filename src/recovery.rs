//! What a need costs when the prompt does not meet it.
//!
//! The rules are those of selfonomy/duckagent @06550f4, `benchmark/context_policy_benchmark.py`, as expected values: a
//! need of probability `p` of which the prompt meets the share `m` makes `p × (1 − m)` recovery calls.

use crate::ledger::NeedRow;
use crate::model::{Recovery, Size};
use crate::projection::num::{Env, Known, Num};
use crate::projection::prompt::{Shown, Slot, TurnState};
use crate::projection::{Prompt, State};
use crate::quantity::Tokens;
use crate::timeline::{ItemIx, Level, Need, TurnEvidence, TurnIx};

/// How the agent recovers, made ready for one set of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompiledRecovery {
    /// One call that fetches what the need asks for.
    OneShot,
    /// One call; raw file content is met by its smallest exact range.
    Pinned,
    /// Whole files; those that do not fit beside the stable prefix are read this often.
    NaiveReread {
        /// How often at most.
        limit: u64,
        /// The largest file that stays.
        fits: Tokens,
    },
}

impl CompiledRecovery {
    /// Prepares a policy's recovery.
    #[must_use]
    pub fn new(recovery: &Recovery, known: &Known, stable: Tokens) -> Self {
        let eval = |size: &Size| Num::new(size, known).eval(&Env::default());
        match recovery {
            Recovery::OneShot => Self::OneShot,
            Recovery::Pinned => Self::Pinned,
            Recovery::NaiveReread { limit, fits } => {
                Self::NaiveReread { limit: *limit, fits: eval(fits).saturating_sub(stable) }
            }
        }
    }

    /// Returns how a need is met by what stands of its source.
    #[inline]
    #[must_use]
    pub fn meet(&self, due_in: TurnIx, need: &Need, evidence: &TurnEvidence, stands: &TurnState) -> NeedRow {
        let met = met(need.level, evidence, stands);
        let mut row = NeedRow {
            turn_ix: due_in,
            level: need.level,
            weight: need.weight,
            met,
            calls: 0.0,
            repeats: 0.0,
            fetched: 0,
            failed: 0.0,
            inferred: None,
            is_sent: false,
        };
        let unmet = need.weight * (1.0 - met);
        if unmet > 0.0 {
            self.recover(&mut row, unmet, need, evidence, stands);
        }
        row
    }

    fn recover(
        &self,
        row: &mut NeedRow,
        unmet: f64,
        need: &Need,
        evidence: &TurnEvidence,
        stands: &TurnState,
    ) {
        let by_numbers = need.recover_tokens.unwrap_or_else(|| evidence.recover_tokens(need.level));
        let is_lost = evidence.has_handle && stands.n_handles == 0;
        let (fetched, attempts) = match self {
            Self::Pinned if need.level == Level::RawContent => (evidence.file_range.unwrap_or(by_numbers), 1),
            Self::NaiveReread { limit, fits } if evidence.file > 0 && need.level >= Level::LocalDetail => {
                (evidence.file, if Tokens::from(evidence.file) <= *fits { 1 } else { *limit })
            }
            _ => (by_numbers, 1),
        };
        if need.level == Level::ContinuationHandle || fetched == 0 || is_lost {
            row.failed = unmet;
            return;
        }
        row.calls = unmet * attempts as f64;
        row.repeats = unmet * (attempts - 1) as f64;
        row.fetched = Tokens::from(fetched);
    }
}

/// Returns what stands of one result, as of a turn that holds nothing else; an item that names what the result was fetched
/// by is as good as a handle.
#[must_use]
pub fn item_state(prompt: &Prompt<'_>, result: ItemIx, mentions: &[ItemIx]) -> TurnState {
    if result >= prompt.len() {
        return TurnState::default();
    }
    let (slot, item) = (prompt.slot(result), prompt.item(result));
    // What a fold tells of stands as it was when it was folded.
    let is_told = |slot: &Slot| matches!(slot.state, State::Shown | State::Folded | State::FoldHost);
    let is_whole = |it: ItemIx| is_told(prompt.slot(it)) && prompt.slot(it).rendition == Shown::Raw;
    let is_shown = is_told(slot);
    let has_handle = slot.state != State::Dropped && item.handle > 0;
    let is_named = || mentions.iter().any(|it| *it < prompt.len() && is_whole(*it));
    TurnState {
        tokens: Tokens::from(slot.tokens),
        n_exact: u32::from(is_shown && (slot.exact || matches!(slot.rendition, Shown::Raw | Shown::Exact))),
        n_full: u32::from(is_whole(result) || slot.state == State::Shown && slot.tokens >= item.raw),
        n_raw: u32::from(is_whole(result)),
        n_handles: u32::from(has_handle || is_whole(result) || is_named()),
        n_absorbed: u32::from(matches!(slot.state, State::Absorbed | State::Host)),
    }
}

/// Returns the share of a need that what stands of its source meets, 0 to 1.
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
