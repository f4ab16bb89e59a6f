//! Where a prompt asks the provider's cache for breakpoints.

use super::profile::TtlClass;
use crate::diag::Problems;
use crate::spec::layout::{LayoutSpec, LevelEndSpec, MemoryPlaceSpec, PlaceSpec};

/// A place in a prompt.
pub type Place = PlaceSpec;
/// Where what memory recalls stands.
pub type MemoryPlace = MemoryPlaceSpec;

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
            Place::EndOf(LevelEndSpec::Tools),
            Place::EndOf(LevelEndSpec::System),
            Place::LastMessages { n: 2, offset: 0 },
        ];
        let breakpoints = places.into_iter().map(|at| Breakpoint { at, ttl: None }).collect();
        Self { breakpoints, is_silent: true, memory: MemoryPlace::default() }
    }
}

impl Layout {
    /// Checks a layout.
    pub(super) fn new(spec: Option<&LayoutSpec>, problems: &mut Problems) -> Self {
        let memory = spec.map(|it| it.memory).unwrap_or_default();
        let Some(breakpoints) = spec.and_then(|it| it.breakpoints.as_ref()) else {
            return Self { memory, ..Self::default() };
        };
        let breakpoints = breakpoints.iter().enumerate().map(|(index, it)| {
            if matches!(it.at, PlaceSpec::LastMessages { n: 0, .. }) {
                problems.within(format_args!("breakpoints.{index}.at"), |problems| {
                    problems.push(
                        "breakpoint-nowhere",
                        "the last 0 messages have no end",
                        "write `n: 1` or more, or leave the breakpoint out",
                    );
                });
            }
            Breakpoint { at: it.at, ttl: it.ttl.map(|it| TtlClass::of(it.0)) }
        });
        Self { breakpoints: breakpoints.collect(), is_silent: false, memory }
    }
}
