//! Answers a probe from what the prompt shows and what was read.

use super::is_oracle;
use crate::projection::{self, Prompt};
use ctxsim_input::policy::memory::{FactMemory as Rules, MemoryPart, State};
use ctxsim_timeline::ItemIx;

/// Returns how the prompt shows what an item says; an item that never came is lost.
pub(super) fn standing(prompt: &Prompt<'_>, item: ItemIx) -> State {
    let Some(at) = prompt.history().slot_of(item) else { return State::Lost };
    let slot = prompt.slot(at);
    match slot.state {
        projection::State::Dropped | projection::State::Past => State::Lost,
        // What a model's summary says of a fact is not known; it is neither shown nor found again.
        projection::State::Absorbed | projection::State::Host => State::Lost,
        projection::State::Shown if slot.tokens >= prompt.item(at).raw => State::Exact,
        projection::State::Shown | projection::State::Folded | projection::State::FoldHost => {
            slot.rendition.state()
        }
    }
}

/// Returns the state from which a fact is easier to have.
pub(super) fn nearer(left: State, right: State) -> State {
    let order = [State::Exact, State::Summarised, State::Recoverable, State::Preview, State::Lost];
    let rank = |state| order.iter().position(|it| *it == state);
    if rank(right) < rank(left) { right } else { left }
}

/// Returns whether a fact in this state answers; without a memory's own rule, what is whole or can be fetched does.
pub(super) fn answers(rules: Option<&Rules>, state: State) -> bool {
    match rules {
        Some(rules) if is_oracle(rules, MemoryPart::Use) => state != State::Lost,
        Some(rules) => rules.answers(state),
        None => matches!(state, State::Exact | State::Summarised | State::Recoverable),
    }
}
