//! Policies that are code outside this crate: a library user's views, and programs in any language.
//!
//! [`Own`] is the factory that a checked policy carries ([`ctxsim_input::policy::OwnCode`]): for each run it makes a [`Projector`], and
//! a memory where it has one. A view answers each request with [`Part`]s; `place` turns them into slots, `viewed` into edits.
//!
//! ```text
//! View: Entry… → Part… → own/viewed.rs (every rule that a view must keep) → Target per slot → own/viewed.rs → edits of the prompt
//! Process: the same View, its answers read from a program's standard output (own/process/)
//! CacheRule of the face: Request → Division, which must sum to the prompt (engine/send.rs checks every answer)
//! ```
//!
//! Identity is content: a part is known to caches by its role, size and words (or the digest that was given), in whichever slot it stands,
//! so a pure function that says the same view twice breaks nothing. Slots never move. Words of a policy's own stand in spare slots that
//! `own/book.rs` adds between messages; rows count slots without them, so a view and its twin in stages give the same rows.
//!
//! Nothing that code does can turn into a number. A panic, an error or a view that cannot be sent sets `Outcome::fault`; a tally keeps the
//! first fault of its trials, `Report::new` moves such runs from `runs` to `failures`, leaves their policy out of sums, and every other
//! command refuses to compare. `play_twice` plays each run of code once more beforehand and holds the digest of every request against the
//! first play (`PlayDigests`).
//!
//! **Code as a policy.** `code: clairvoyant` takes the place of stages; `builtin.rs` makes the projector. Clairvoyant keeps what a later
//! need or probe of positive weight asks for: an upper bound on what better selection could keep, but no lower bound on cost, because its
//! edits break cached prefixes.
//!
//! **Programs as policies.** `process` names a program that is asked for a view before each request (`own/process.rs`;
//! `docs/reference/processes.md`). `own/process/child.rs` alone starts programs or reads a clock, and only plans that allow it reach it
//! (`app/check.rs`).
//!
//! **Code may be wrong.** A view that cannot be sent (`own/viewed.rs`: an entry that has not come or has no place there, a call without its
//! result, entries out of order; `own/viewed.rs`: a prompt beyond 2^32 tokens) and cache answers that do not add up to the prompt end a run
//! with a fault (`Outcome::fault`) that names policy, turn and request; the run gives no numbers. The editor checks nothing: neither stages
//! nor what a view has become can make invalid edits.

mod book;
pub mod process;
mod view;
mod viewed;

use crate::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ledger::Loss;
use crate::memory;
use crate::memory::{MemoryView, PolicyMemory as Engine, Recalled};
use crate::projection::Watch;
use ctxsim_input::OwnCode;
use ctxsim_input::policy::memory::State;
use ctxsim_timeline::facts::Plant;

pub use view::{Cx, Entry, ItemId, Kind, Lasts, ModelCall, Part, Text, View};

/// An error of code outside this crate.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a run gives to code that is made for it.
#[derive(Clone, Copy, Debug)]
pub struct CodeInputs<'t> {
    /// What is played.
    pub timeline: &'t Timeline,
    /// How large prompts and answers may be.
    pub limits: Limits,
    /// 0 the first time that a run is played, 1 the second time, where it is played twice.
    pub play: u8,
}

type MakePolicy = dyn for<'t> Fn(CodeInputs<'t>) -> Box<dyn Projector + 't> + Send + Sync;
type MakeMemory = dyn for<'t> Fn(CodeInputs<'t>) -> Box<dyn memory::PolicyMemory + 't> + Send + Sync;

/// Makes code anew for each run.
#[derive(Clone)]
pub struct Own {
    name: Arc<str>,
    policy: Arc<MakePolicy>,
    memory: Option<Arc<MakeMemory>>,
    /// Whether each run is played twice, and ends where the second play differs.
    pub plays_twice: bool,
}

impl fmt::Debug for Own {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Own").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Own {
    /// Creates a policy of a name from views.
    pub fn view<V: View + 'static>(
        name: &str,
        make: impl Fn(CodeInputs<'_>) -> Result<V, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let called: Arc<str> = name.into();
        let policy: Arc<MakePolicy> =
            Arc::new(move |it| Box::new(viewed::Viewed::new(&called, it, guard_maker(|| make(it)))));
        Self { name: name.into(), policy, memory: None, plays_twice: false }
    }

    /// Adds a memory in code.
    pub fn with_memory<M: Memory + 'static>(
        self,
        make: impl Fn(CodeInputs<'_>) -> M + Send + Sync + 'static,
    ) -> Self {
        let make: Arc<MakeMemory> =
            Arc::new(move |it| Box::new(Remembers::new(it, guard_maker(|| Ok(make(it))))));
        Self { memory: Some(make), ..self }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the policy, made for a run.
    pub fn projector<'t>(&self, made: CodeInputs<'t>) -> Box<dyn Projector + 't> {
        (self.policy)(made)
    }

    /// Returns the memory, made for a run.
    pub fn memory<'t>(&self, made: CodeInputs<'t>) -> Option<Box<dyn memory::PolicyMemory + 't>> {
        self.memory.as_ref().map(|make| make(made))
    }

    /// Returns the factory that a policy carries.
    pub fn from_code(code: &OwnCode) -> Option<&Self> {
        code.factory()
    }
}

// Code that may panic: a panic becomes an error, where panics unwind.

/// Code that was made, or why it could not be.
pub type Guarded<T> = Result<T, String>;

/// Makes code.
pub fn guard_maker<T>(make: impl FnOnce() -> Result<T, BoxError>) -> Guarded<T> {
    guard("the policy constructor", make)
}

/// Calls code; what it returns or panics with becomes words. After a panic the code is not called again.
pub fn guard<T>(what: &str, code: impl FnOnce() -> Result<T, BoxError>) -> Guarded<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(format!("{what} panicked: {}", words(panic.as_ref()))),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let spoken = panic.downcast_ref::<&str>().copied();
    spoken.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

// A run that is played twice: the second play must send what the first sent.

/// What the requests of a play showed, each as a digest: noted in a first play, and held against by a second.
#[derive(Default)]
pub struct PlayDigests {
    noted: Vec<u128>,
    /// How many requests have been compared; none in the first play.
    pub n_compared: Option<usize>,
}

impl Watch for PlayDigests {
    fn after(&mut self, moment: Moment, _: &dyn Projector, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let digest = edit.chain().links().last().map_or(0, |it| it.digest);
        let Some(n) = &mut self.n_compared else { return self.noted.push(digest) };
        *n += 1;
        // A first play that ended early differs, too.
        if self.noted.get(*n - 1) != Some(&digest) {
            edit.fail(format!(
                "request {n} differed when the run was repeated, so the policy is not deterministic"
            ));
        }
    }
}

// A memory that is code outside this crate.

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
struct Remembers<'t, M> {
    made: CodeInputs<'t>,
    code: Guarded<M>,
    /// How many items have been handed on.
    n_seen: ItemIx,
    fault: Option<String>,
}

impl<'t, M: Memory> Remembers<'t, M> {
    fn new(made: CodeInputs<'t>, code: Guarded<M>) -> Self {
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
