//! A memory that is code outside this crate.

use super::view::{Entry, ItemId};
use super::{BoxError, CodeInputs, Guarded, Text, guard};
use crate::ledger::Loss;
use crate::memory::{MemoryView, PolicyMemory as Engine, Recalled};
use crate::prelude::*;
use ctxsim_input::policy::memory::State;
use ctxsim_timeline::facts::Plant;

/// What an agent remembers beside its window, in code: made anew for each run.
///
/// What it recalls stands where the policy's layout places memory: at the front of the prompt, behind the system prompt, or at the end.
pub trait Memory: Send {
    /// Takes what has come since it was last asked.
    fn observe(&mut self, _new: &[Entry<'_>]) {}

    /// Returns what stands of it in the next request; `None` where it has nothing to say.
    ///
    /// # Errors
    /// Any error ends the run with a message that names the policy and the request; so does a panic, where panics unwind.
    fn recall(&mut self) -> Result<Option<Text>, BoxError>;

    /// Returns how it knows what an entry says, where a scenario asks for planted facts.
    fn knows(&mut self, _entry: ItemId) -> Knows {
        Knows::Nothing
    }
}

/// How a memory knows what an entry says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Knows {
    /// It does not know it.
    #[default]
    Nothing,
    /// It can be fetched by something that the memory recalls.
    Handle,
    /// In its own words.
    Summary,
    /// Word for word.
    Exact,
}

/// A memory at work.
pub(super) struct Remembers<'t, M> {
    made: CodeInputs<'t>,
    code: Guarded<M>,
    /// How many items have been handed on.
    n_seen: ItemIx,
    fault: Option<String>,
}

impl<'t, M: Memory> Remembers<'t, M> {
    pub(super) fn new(made: CodeInputs<'t>, code: Guarded<M>) -> Self {
        Self { made, code, n_seen: 0, fault: None }
    }

    /// Calls the code, unless it has failed.
    fn call<T>(&mut self, call: impl FnOnce(&mut M) -> Result<T, BoxError>) -> Option<T> {
        let called = match &mut self.code {
            Ok(code) => guard("the memory", || call(code)),
            Err(why) => Err(why.clone()),
        };
        match called {
            Ok(value) => Some(value),
            Err(why) => {
                self.code = Err(why.clone());
                self.fault.get_or_insert(why);
                None
            }
        }
    }
}

impl<M: Memory> Engine for Remembers<'_, M> {
    fn observe(&mut self, view: &dyn MemoryView) {
        let (from, until) = (self.n_seen, view.n_items());
        if from < until {
            self.n_seen = until;
            let timeline = self.made.timeline;
            let new: Vec<Entry<'_>> = (from..until).filter_map(|it| Entry::of(timeline, it)).collect();
            self.call(|it| {
                it.observe(&new);
                Ok(())
            });
        }
    }

    fn recall(&mut self) -> Option<Recalled> {
        let text = self.call(Memory::recall).flatten()?.counted(self.made.timeline);
        Some(Recalled { tokens: text.tokens, digest: text.content.digest() })
    }

    fn answer(&mut self, plant: &Plant) -> (State, Option<Loss>) {
        let id = ItemId(plant.item);
        match self.call(|it| Ok(it.knows(id))) {
            Some(Knows::Exact) => (State::Exact, None),
            Some(Knows::Summary) => (State::Summarised, None),
            Some(Knows::Handle) => (State::Recoverable, None),
            Some(Knows::Nothing) | None => (State::Lost, Some(Loss::Write)),
        }
    }

    fn fault(&mut self) -> Option<String> {
        self.fault.take()
    }
}
