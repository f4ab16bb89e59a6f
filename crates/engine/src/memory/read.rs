//! Recalls stored facts: all of them, the newest, or one by its key.

use super::is_oracle;
use super::store::BankStore;
use super::write::FactWriter;
use crate::ledger::Loss;
use ctxsim_base::quantity::{Tokens, saturated};
use ctxsim_input::policy::memory::{self, FactMemory as Rules, MemoryPart, State};
use ctxsim_timeline::facts::{FactPlane, Plant};

/// What can be read when probes are due.
#[derive(Debug)]
pub(super) struct ReadableFacts {
    read: memory::RecallRule,
    /// By fact, if only some are read.
    newest: Option<Vec<bool>>,
}

impl ReadableFacts {
    /// Opens a store for reading.
    pub(super) fn new(rules: &Rules, store: &BankStore<'_>, plane: &FactPlane) -> Self {
        let newest = match rules.read {
            memory::RecallRule::Last(count) if !is_oracle(rules, MemoryPart::Read) => {
                let mut is_read = vec![false; plane.facts.len()];
                for fact in store.newest(saturated(count)) {
                    is_read[fact as usize] = true;
                }
                Some(is_read)
            }
            _ => None,
        };
        Self { read: rules.read, newest }
    }

    /// Returns the state in which the memory knows a plant's fact, and which part lost it, if it does not
    /// know it.
    pub(super) fn state(
        &self,
        plant: &Plant,
        writer: &FactWriter<'_>,
        store: &BankStore<'_>,
    ) -> (State, Option<Loss>) {
        let fact = plant.fact;
        if !writer.has_written(plant) {
            return (State::Lost, Some(Loss::Write));
        }
        if !store.holds(fact) {
            return (State::Lost, Some(Loss::Store));
        }
        if self.newest.as_ref().is_some_and(|it| !it[fact as usize]) {
            return (State::Lost, Some(Loss::Read));
        }
        let state =
            if self.read == memory::RecallRule::ByKey { State::Recoverable } else { State::Summarised };
        (state, None)
    }
}

/// Returns a memory's size in the prompt: the facts it shows, or its index.
pub(super) fn tokens(rules: &Rules, store: &BankStore<'_>) -> Tokens {
    let held = store.n_held() as u64;
    let shown = match rules.read {
        memory::RecallRule::Last(count) => held.min(count),
        memory::RecallRule::All | memory::RecallRule::ByKey => held,
    };
    shown.saturating_mul(rules.store.tokens_per_fact())
}
