//! A run that someone watches: it is played as any other, and what the policy does and the cache is asked can be seen.

use super::{Ready, Run, RunError};
use crate::cache::CacheRule;
use crate::coded;
use crate::input::policy::Moment;
use crate::input::{CacheRules, Layout, Limits, Policy};
use crate::ledger::{Outcome, Sink};
use crate::projection::{Ambient, Editor, Projector};
use crate::recovery::ReadyRecovery;
use crate::trace::Trace;

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
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.watch.before(moment, edit);
        self.policy.project(moment, ambient, edit);
        self.watch.after(moment, &self.policy, edit);
    }
}

/// Plays a trace under any projector with a cache of the caller's own; the rules only tell policies how long entries live.
///
/// # Errors
/// The projector made an edit that cannot be made, or the cache divided a prompt into parts that are not the prompt.
pub fn play_with_cache(
    trace: &Trace,
    projector: &mut impl Projector,
    layout: &Layout,
    recovery: ReadyRecovery,
    limits: &Limits,
    (rules, cache): (&CacheRules, Box<dyn CacheRule>),
    sink: &mut impl Sink,
) -> Result<Outcome, RunError> {
    let recoveries = [recovery];
    let sinks = std::slice::from_mut(sink);
    Run { cache, ..Run::new(trace, projector, layout, &recoveries, limits, rules, sinks) }.play()
}

/// Plays a trace as [`super::simulate`] does, before the eyes of someone who also stands between it and its cache.
pub fn simulate_watched(
    trace: &Trace,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    (watch, look): (&mut impl Watch, impl FnOnce(Box<dyn CacheRule>) -> Box<dyn CacheRule>),
    sink: &mut impl Sink,
) -> Outcome {
    let ready = Ready::new(trace, policy, limits);
    let recoveries = [ready.recovery()];
    let keeper = ready.keeper(trace);
    let policy: Box<dyn Projector> = match ready.code {
        Some(code) => coded::projector(code, trace),
        None => Box::new(ready.program.clone()),
    };
    let mut watched = Watched { policy, watch };
    let sinks = std::slice::from_mut(sink);
    let run = Run::new(trace, &mut watched, ready.layout, &recoveries, limits, rules, sinks);
    Run { keeper, cache: look(run.cache), ..run }.play_declared()
}
