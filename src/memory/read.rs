//! Brings stored facts back: all of them, the newest, or one by its key.

use super::is_oracle;
use super::store::Store;
use super::write::Writer;
use crate::ledger::Loss;
use crate::model::memory::{Memory, Part, State};
use crate::quantity::Tokens;
use crate::spec::memory::ReadSpec;
use crate::timeline::facts::{FactIx, FactPlane};

/// What can be read when the probes come.
pub(super) struct Read<'s> {
    store: &'s Store<'s>,
    read: ReadSpec,
    /// By fact, where only some are read.
    newest: Option<Vec<bool>>,
}

impl<'s> Read<'s> {
    /// Opens a store for reading.
    pub(super) fn new(rules: &Memory, store: &'s Store<'s>, plane: &FactPlane) -> Self {
        let newest = match rules.read {
            ReadSpec::Last(count) if !is_oracle(rules, Part::Read) => {
                let mut is_read = vec![false; plane.facts.len()];
                for fact in store.newest(usize::try_from(count).unwrap_or(usize::MAX)) {
                    is_read[fact as usize] = true;
                }
                Some(is_read)
            }
            _ => None,
        };
        Self { store, read: rules.read, newest }
    }

    /// Returns how the memory knows a fact, and which part lost it, if it does not.
    pub(super) fn state(&self, fact: FactIx, writer: &Writer<'_>) -> (State, Option<Loss>) {
        if !writer.has_written(fact) {
            return (State::Lost, Some(Loss::Write));
        }
        if !self.store.holds(fact) {
            return (State::Lost, Some(Loss::Store));
        }
        if self.newest.as_ref().is_some_and(|it| !it[fact as usize]) {
            return (State::Lost, Some(Loss::Read));
        }
        let state = if self.read == ReadSpec::ByKey { State::Recoverable } else { State::Summarised };
        (state, None)
    }
}

/// Returns what a memory takes in the prompt: what is read, or its index.
pub(super) fn tokens(rules: &Memory, store: &Store<'_>) -> Tokens {
    let held = u64::try_from(store.n_held()).unwrap_or(u64::MAX);
    let shown = match rules.read {
        ReadSpec::Last(count) => held.min(count),
        ReadSpec::All | ReadSpec::ByKey => held,
    };
    shown.saturating_mul(rules.store.tokens_per_fact)
}
