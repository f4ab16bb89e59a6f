//! Where a prompt asks the provider's cache for breakpoints.

pub use super::written::MemoryPlace;
use super::{LevelEnd, Place};
use crate::input::TtlClass;

/// The breakpoints that a prompt asks for, in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The breakpoints.
    pub breakpoints: Vec<Breakpoint>,
    /// Whether the policy says nothing of them.
    pub is_silent: bool,
    /// Where what memory recalls stands.
    pub memory: MemoryPlace,
}

/// A breakpoint that a prompt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Where it stands.
    pub at: Place,
    /// How long its entry lives; the harness's choice, when silent.
    pub ttl: Option<TtlClass>,
}

impl Default for Layout {
    /// What Claude Code asks for: behind the tools, behind the system prompt, behind the last two messages.
    fn default() -> Self {
        let places = [
            Place::EndOf(LevelEnd::Tools),
            Place::EndOf(LevelEnd::System),
            Place::LastMessages { n: 2, offset: 0 },
        ];
        let breakpoints = places.into_iter().map(|at| Breakpoint { at, ttl: None }).collect();
        Self { breakpoints, is_silent: true, memory: MemoryPlace::default() }
    }
}
