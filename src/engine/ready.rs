//! A declarative policy made ready for one trace and one set of limits: two that are equal play alike, whatever their names.

use crate::input::policy::Code;
use crate::input::policy::memory::Memory;
use crate::input::{Layout, Limits, Policy};
use crate::memory::{AnyMemory, Keeper};
use crate::projection::Program;
use crate::projection::num::Known;
use crate::recovery::{Bound, ReadyRecovery};
use crate::trace::Trace;

/// A declarative policy made ready for one trace and one set of limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Ready<'p> {
    pub(super) program: Program,
    pub(super) layout: &'p Layout,
    pub(super) memory: Option<&'p Memory>,
    pub(super) code: Option<Code>,
    recovery: ReadyRecovery,
}

impl<'p> Ready<'p> {
    /// Prepares a policy.
    #[must_use]
    pub fn new(trace: &Trace, policy: &'p Policy, limits: &Limits) -> Self {
        let known = Known { limits: *limits, chars_per_token: trace.chars_per_token };
        Self {
            program: Program::new(policy, trace, &known),
            layout: policy.layout(),
            memory: policy.memory(),
            code: policy.code,
            recovery: ReadyRecovery::new(
                policy.recovery(),
                &known,
                trace.stable_tokens(),
                Some(trace.refetch.terms(Bound::Value)),
            ),
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

    /// Begins to remember what a trace says, and to answer what it asks.
    pub(super) fn keeper<'t>(&self, trace: &'t Trace) -> Keeper<'t>
    where
        'p: 't,
    {
        let plane = trace.facts.as_ref();
        Keeper::new(plane, plane.zip(self.memory).map(|(plane, rules)| AnyMemory::declared(rules, plane)))
    }

    /// Returns how the agent gets back what it cannot see.
    #[must_use]
    pub fn recovery(&self) -> ReadyRecovery {
        self.recovery
    }
}
