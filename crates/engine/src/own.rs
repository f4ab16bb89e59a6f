//! Policies that are code outside this crate: a library user's views, and programs in any language.
//!
//! [`Own`] is the factory that a checked policy carries ([`ctxsim_input::policy::OwnCode`]): for each run it makes a [`Projector`], and
//! a memory where it has one. A view answers each request with [`Part`]s; `place` turns them into slots, `viewed` into edits.
//!
//! ```text
//! View: Entry… → Part… → own/place.rs (every rule that a view must keep) → Target per slot → own/viewed.rs → edits of the prompt
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
//! first play (`own/twice.rs`).
//!
//! **Code as a policy.** `code: clairvoyant` takes the place of stages; `builtin.rs` makes the projector. Clairvoyant keeps what a later
//! need or probe of positive weight asks for: an upper bound on what better selection could keep, but no lower bound on cost, because its
//! edits break cached prefixes.
//!
//! **Programs as policies.** `process` names a program that is asked for a view before each request (`own/process.rs`;
//! `docs/reference/processes.md`). `own/process/child.rs` alone starts programs or reads a clock, and only plans that allow it reach it
//! (`app/check.rs`).
//!
//! **Code may be wrong.** A view that cannot be sent (`own/place.rs`: an entry that has not come or has no place there, a call without its
//! result, entries out of order; `own/viewed.rs`: a prompt beyond 2^32 tokens) and cache answers that do not add up to the prompt end a run
//! with a fault (`Outcome::fault`) that names policy, turn and request; the run gives no numbers. The editor checks nothing: neither stages
//! nor what a view has become can make invalid edits.

mod book;
mod place;
pub mod process;
mod remembers;
mod twice;
mod view;
mod viewed;

use crate::prelude::*;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::memory;
use ctxsim_input::OwnCode;

pub use remembers::{Knows, Memory};
pub use twice::PlayDigests;
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
        Self::new(
            name,
            Arc::new(move |it| Box::new(viewed::Viewed::new(&called, it, guard_maker(|| make(it))))),
        )
    }

    fn new(name: &str, policy: Arc<MakePolicy>) -> Self {
        Self { name: name.into(), policy, memory: None, plays_twice: false }
    }

    /// Adds a memory in code.
    pub fn with_memory<M: Memory + 'static>(
        self,
        make: impl Fn(CodeInputs<'_>) -> M + Send + Sync + 'static,
    ) -> Self {
        let make: Arc<MakeMemory> =
            Arc::new(move |it| Box::new(remembers::Remembers::new(it, guard_maker(|| Ok(make(it))))));
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
    pub fn of(code: &OwnCode) -> Option<&Self> {
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
