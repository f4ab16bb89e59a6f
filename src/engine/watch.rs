//! A run that someone watches: it is played as any other, and what the policy does and the cache is asked can be seen.

use super::Run;
use crate::cache::CacheRule;
use crate::ledger::{Outcome, Sink};
use crate::memory::Keeper;
use crate::model::policy::Moment;
use crate::model::{CacheRules, Layout, Limits, Policy};
use crate::projection::num::Known;
use crate::projection::{Ambient, Editor, Program, Projector};
use crate::recovery::ReadyRecovery;
use crate::trace::Trace;

/// Sees a policy at work; it must not edit.
pub trait Watch {
    /// The policy is about to act.
    fn before(&mut self, moment: Moment, edit: &mut Editor<'_, '_>);
    /// The policy has acted.
    fn after(&mut self, moment: Moment, edit: &mut Editor<'_, '_>);
}

/// A policy that is watched.
struct Watched<'w, P, W> {
    policy: P,
    watch: &'w mut W,
}

impl<P: Projector, W: Watch> Projector for Watched<'_, P, W> {
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.watch.before(moment, edit);
        self.policy.project(moment, ambient, edit);
        self.watch.after(moment, edit);
    }
}

/// Plays a trace under any projector with a cache of the caller's own; the rules only tell policies how long entries live.
pub fn play_with_cache(
    trace: &Trace,
    projector: &mut impl Projector,
    layout: &Layout,
    recovery: ReadyRecovery,
    limits: &Limits,
    (rules, cache): (&CacheRules, Box<dyn CacheRule>),
    sink: &mut impl Sink,
) -> Outcome {
    let run = Run::new(trace, projector, layout, recovery, limits, rules, sink);
    Run { cache, ..run }.play()
}

/// Plays a trace as [`super::simulate`] does, before the eyes of someone who brings the cache that follows the rules.
pub fn simulate_watched(
    trace: &Trace,
    policy: &Policy,
    limits: &Limits,
    (rules, cache): (&CacheRules, Box<dyn CacheRule>),
    watch: &mut impl Watch,
    sink: &mut impl Sink,
) -> Outcome {
    let known = Known { limits: *limits, chars_per_token: trace.chars_per_token };
    let program = Program::new(policy, &trace.spine, &known);
    let recovery = ReadyRecovery::new(&policy.recovery, &known, trace.stable_tokens());
    let keeper = trace.facts.as_ref().map(|it| Keeper::new(it, policy.memory.as_ref()));
    let mut watched = Watched { policy: program, watch };
    let run = Run::new(trace, &mut watched, &policy.layout, recovery, limits, rules, sink);
    Run { keeper, cache, ..run }.play()
}
