//! A declarative policy compiled for one timeline and one set of limits: two that are equal play alike, whatever their names.

use crate::memory::{AnyMemory, MemoryRun};
use crate::own::{CodeInputs, Own};
use crate::prelude::*;
use crate::projection::{Known, Program};
use crate::recovery::{CompiledRecovery, End, Terms};
use ctxsim_base::counts::count_one;
use ctxsim_input::policy::memory::FactMemory;
use ctxsim_input::{Builtin, LayoutSpec};

/// A declarative policy compiled for one timeline and one set of limits.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledPolicy<'p> {
    pub(super) program: Program,
    pub(super) layout: &'p LayoutSpec,
    pub(super) memory: Option<&'p FactMemory>,
    pub(super) code: Option<Builtin>,
    pub(super) limits: Limits,
    recovery: CompiledRecovery,
}

impl<'p> CompiledPolicy<'p> {
    /// Prepares a policy.
    pub fn new(timeline: &Timeline, policy: &'p Policy, limits: &Limits) -> Self {
        Self::recovering(timeline, policy, limits, timeline.refetch.terms(End::Value))
    }

    /// The same, where the timeline's terms of recovery are at hand: many policies of one load share them.
    pub fn recovering(timeline: &Timeline, policy: &'p Policy, limits: &Limits, terms: Terms) -> Self {
        count_one(|it| &mut it.compiled);
        let known = Known::of(timeline, *limits);
        Self {
            program: Program::new(policy, timeline, &known),
            layout: policy.layout(),
            memory: policy.fact_memory(),
            code: policy.code.clone(),
            limits: *limits,
            recovery: CompiledRecovery::new(policy.recovery(), &known, timeline.stable_tokens(), Some(terms))
                // Who knows what will be needed removes nothing that anyone would look for.
                .exploring(!policy.code.as_ref().is_some_and(Builtin::looks_ahead)),
        }
    }

    /// Puts other code in the place of the policy's, or none.
    #[must_use]
    pub fn with_code(self, code: Option<Builtin>) -> Self {
        Self { code, ..self }
    }

    /// Puts other limits in the place of its own, of which its stages make the same.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns whether the two differ in recovery at most: their prompts are the same, whatever they are called.
    pub fn shows_like(&self, other: &Self) -> bool {
        self.code == other.code
            && self.program == other.program
            && self.layout == other.layout
            && self.memory == other.memory
    }

    /// Returns whether its prompts are the same whichever of these caches answers, of a timeline without facts and drawn needs.
    pub fn plays_alike_under(&self, one: &CacheRules, other: &CacheRules) -> bool {
        self.code.is_none()
            && !one.has_code()
            && !other.has_code()
            && (one.ttl_ms() == other.ttl_ms() || !self.program.asks_lifetime())
    }

    /// Returns the code outside this crate that it runs, if it does.
    pub(super) fn own(&self) -> Option<&Own> {
        match &self.code {
            Some(Builtin::Own(code)) => Own::of(code),
            _ => None,
        }
    }

    /// Returns what code is made for, in the n-th play of a timeline.
    pub(super) fn made<'t>(&self, timeline: &'t Timeline, play: u8) -> CodeInputs<'t> {
        CodeInputs { timeline, limits: self.limits, play }
    }

    /// Begins to remember what a timeline says, and to answer what it asks.
    pub(super) fn memory_run<'t>(&self, timeline: &'t Timeline) -> MemoryRun<'t>
    where
        'p: 't,
    {
        let plane = timeline.facts.as_ref();
        if let Some(memory) = self.own().and_then(|it| it.memory(self.made(timeline, 0))) {
            return MemoryRun::new(plane, Some(AnyMemory::Code(memory)));
        }
        MemoryRun::new(plane, plane.zip(self.memory).map(|(plane, rules)| AnyMemory::declared(rules, plane)))
    }

    /// Returns how the agent gets back what it cannot see.
    pub fn recovery(&self) -> CompiledRecovery {
        self.recovery
    }
}
