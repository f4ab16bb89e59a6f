//! Policies that are code outside this crate: a library user's views, and programs in any language.
//!
//! [`Own`] is the factory that a checked policy carries ([`ctxsim_input::policy::OwnCode`]): for each run it makes a [`Projector`], and
//! a memory where it has one. A view answers each request with [`Part`]s; `place` turns them into slots, `viewed` into edits.

mod book;
mod place;
pub mod process;
mod remembers;
mod twice;
mod view;
mod viewed;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::memory;
use crate::projection::Projector;
use ctxsim_input::{Limits, OwnCode};
use ctxsim_timeline::Timeline;

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
