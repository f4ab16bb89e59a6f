//! Policies that are code.

use std::fmt;

use crate::face::{Layout, Recovery, Trace};
use crate::input::policy::OwnCode;
use crate::input::text::decode::encode;
use crate::input::{Format, PolicyFile};
use crate::own::edits::Projector;
use crate::own::{Memory, Own, View};

/// A policy that is code: made anew for each run, on the run's thread.
///
/// It goes wherever a declared policy goes: comparisons, guards, sensitivity, explanations, drawn recovery, streaming. A run whose code
/// returns an error, panics or answers with a view that cannot be sent ends with an error that names policy and request.
#[derive(Clone)]
pub struct Code {
    own: Own,
    about: String,
    layout: Option<Layout>,
    recovery: Recovery,
}

impl fmt::Debug for Code {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Code").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Code {
    fn new(own: Own) -> Self {
        Self { own, about: "A policy in code.".to_owned(), layout: None, recovery: Recovery::default() }
    }

    /// Creates a policy from a function that makes a [`View`]: history in, view out, before each request.
    #[must_use]
    pub fn view<V: View + 'static>(
        name: impl AsRef<str>,
        make: impl Fn(Trace<'_>) -> V + Send + Sync + 'static,
    ) -> Self {
        Self::new(Own::view(name.as_ref(), move |it| Ok(make(Trace::of(it)))))
    }

    /// Creates a policy from a function that makes a [`Projector`], which edits slot by slot at every moment.
    #[must_use]
    pub fn edit<P: Projector + 'static>(
        name: impl AsRef<str>,
        make: impl Fn(Trace<'_>) -> P + Send + Sync + 'static,
    ) -> Self {
        Self::new(Own::edits(name.as_ref(), move |it| make(Trace::of(it))))
    }

    /// Adds a memory, which recalls something in each request.
    #[must_use]
    pub fn memory<M: Memory + 'static>(
        mut self,
        make: impl Fn(Trace<'_>) -> M + Send + Sync + 'static,
    ) -> Self {
        self.own = self.own.with_memory(move |it| make(Trace::of(it)));
        self
    }

    /// Sets where prompts have cache breakpoints, memory and dynamic content.
    #[must_use]
    pub fn layout(self, layout: Layout) -> Self {
        Self { layout: Some(layout), ..self }
    }

    /// Sets how the agent gets back what it cannot see; one call by default.
    #[must_use]
    pub fn recovery(self, recovery: Recovery) -> Self {
        Self { recovery, ..self }
    }

    /// Sets what reports say of it, in a sentence.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.own.name()
    }

    /// Returns the code, to be played twice or once.
    pub(super) fn handle(&self, plays_twice: bool) -> OwnCode {
        OwnCode::new(self.own.clone().playing_twice(plays_twice))
    }

    /// Returns what it declares beside its code, as a policy file in RON.
    pub(super) fn file(&self) -> Result<String, crate::error::Error> {
        let file = PolicyFile {
            about: self.about.clone(),
            layout: self.layout.as_ref().map(|it| it.0.clone()),
            recovery: Some(self.recovery.inner()),
            ..PolicyFile::named(self.name())
        };
        encode(&file, Format::Ron).map_err(|it| vec![*it].into())
    }
}
