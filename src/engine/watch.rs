//! A run that someone watches: it is played as any other, and what the policy does and the cache is asked can be seen.

use super::{CompiledPolicy, Run, RunError, erased, projector};
use crate::cache::CacheRule;
use crate::input::policy::Moment;
use crate::input::{CacheRules, Layout, Limits};
use crate::ledger::{Firing, Outcome, Sink};
use crate::projection::{Ambient, Editor, Projector};
use crate::recovery::CompiledRecovery;
use crate::timeline::Timeline;

/// Sees a policy at work; it must not edit.
pub trait Watch {
    /// The policy is about to act.
    fn before(&mut self, moment: Moment, edit: &mut Editor<'_, '_>);
    /// The policy has acted; it can still be asked for the words that it put in.
    fn after(&mut self, moment: Moment, policy: &dyn Projector, edit: &mut Editor<'_, '_>);
}

/// A policy that is watched.
struct Watched<'w, P, W> {
    policy: P,
    watch: &'w mut W,
}

impl<P: Projector, W: Watch> Projector for Watched<'_, P, W> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.watch.before(moment, edit);
        self.policy.project(moment, ambient, edit);
        self.watch.after(moment, &self.policy, edit);
    }

    fn next_pause(&self, idle_ms: u64) -> Option<u64> {
        self.policy.next_pause(idle_ms)
    }

    fn firings(&self) -> Vec<Firing> {
        self.policy.firings()
    }
}

/// Plays a timeline under any projector with a cache of the caller's own; the rules only tell policies how long entries live.
///
/// # Errors
/// The projector made an edit that cannot be made, or the cache divided a prompt into parts that are not the prompt.
pub fn play_with_cache(
    timeline: &Timeline,
    projector: &mut dyn Projector,
    layout: &Layout,
    recovery: CompiledRecovery,
    limits: &Limits,
    (rules, cache): (&CacheRules, Box<dyn CacheRule>),
    sink: &mut dyn Sink,
) -> Result<Outcome, RunError> {
    let (recoveries, sinks): (_, &mut [&mut dyn Sink]) = ([recovery], &mut [sink]);
    let run = Run::new(timeline, projector, layout, &recoveries, limits, rules, sinks);
    Run { cache, ..run }.play()
}

/// Plays a timeline as [`super::simulate_each`] does, before the eyes of someone who also stands between it and its cache.
pub fn simulate_watched<S: Sink>(
    timeline: &Timeline,
    compiled: &CompiledPolicy<'_>,
    recoveries: &[CompiledRecovery],
    limits: &Limits,
    rules: &CacheRules,
    (watch, look): (&mut impl Watch, impl FnOnce(Box<dyn CacheRule>) -> Box<dyn CacheRule>),
    sinks: &mut [S],
) -> Outcome {
    let policy: Box<dyn Projector + '_> = match &compiled.code {
        Some(code) => projector(timeline, compiled, code, recoveries, limits, rules, None),
        None => Box::new(compiled.program.clone()),
    };
    let watched: &mut dyn Projector = &mut Watched { policy, watch };
    let sinks = &mut erased(sinks);
    let run = Run::new(timeline, watched, compiled.layout, recoveries, limits, rules, sinks);
    let run = run.with(compiled.memory_run(timeline), None);
    Run { cache: look(run.cache), ..run }.play_declared()
}
