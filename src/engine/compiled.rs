//! A declarative policy compiled for one timeline and one set of limits: two that are equal play alike, whatever their names.

use crate::model::memory::Memory;
use crate::model::{Layout, Limits, Policy};
use crate::projection::Program;
use crate::projection::num::Known;
use crate::recovery::CompiledRecovery;
use crate::spec::policy::CodeSpec;
use crate::timeline::Timeline;

/// A declarative policy compiled for one timeline and one set of limits.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledPolicy<'p> {
    pub(super) program: Program,
    pub(super) layout: &'p Layout,
    pub(super) memory: Option<&'p Memory>,
    pub(super) code: Option<CodeSpec>,
    recovery: CompiledRecovery,
}

impl<'p> CompiledPolicy<'p> {
    /// Prepares a policy.
    #[must_use]
    pub fn new(timeline: &Timeline, policy: &'p Policy, limits: &Limits) -> Self {
        let known = Known { limits: *limits, chars_per_token: timeline.chars_per_token };
        Self {
            program: Program::new(policy, timeline, &known),
            layout: &policy.layout,
            memory: policy.memory.as_ref(),
            code: policy.code,
            recovery: CompiledRecovery::new(&policy.recovery, &known, timeline.stable_tokens()),
        }
    }

    /// Returns whether the two differ in recovery at most: their prompts are the same, whatever they are called.
    #[must_use]
    pub fn shows_like(&self, other: &Self) -> bool {
        self.code == other.code
            && self.program == other.program
            && self.layout == other.layout
            && self.memory == other.memory
    }

    /// Returns how the agent gets back what it cannot see.
    #[must_use]
    pub fn recovery(&self) -> CompiledRecovery {
        self.recovery
    }
}
