//! A run that someone watches: it is played as any other, and what the policy does and the cache is asked can be seen.
//!
//! Explaining costs ordinary runs nothing: the simulation runs again with an observed policy and cache (`Watch` sees the journal of edits at each
//! moment, `CacheRule::look` reports what a cache knows of a prompt before it takes it), and `explain.rs` describes one request from these
//! notes. A law in `tests/suite/explain.rs` checks that the row, the cost and every item's tokens are those of the run.

use crate::engine::Simulation;
use crate::prelude::*;
use crate::projection::Firing;

/// Sees a policy at work; it must not edit.
pub trait Watch {
    /// The policy is about to act.
    fn before(&mut self, moment: Moment, edit: &mut Editor<'_, '_>);
    /// The policy has acted; it can still be asked for the words that it put in.
    fn after(&mut self, moment: Moment, policy: &dyn Projector, edit: &mut Editor<'_, '_>);
}

/// A policy that is watched.
struct Watched<'p, 'w> {
    policy: Box<dyn Projector + 'p>,
    watch: &'w mut dyn Watch,
}

impl Projector for Watched<'_, '_> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.watch.before(moment, edit);
        self.policy.project(moment, ambient, edit);
        self.watch.after(moment, &*self.policy, edit);
    }

    fn next_pause(&self, idle_ms: u64) -> Option<u64> {
        self.policy.next_pause(idle_ms)
    }

    fn firings(&self) -> Vec<Firing> {
        self.policy.firings()
    }
}

impl Simulation<'_> {
    /// Plays it before the eyes of someone, into a sink for each way to recover.
    pub fn run_watched(self, watch: &mut dyn Watch, sinks: &mut [&mut dyn Sink]) -> Outcome {
        self.run_inside(|policy| Watched { policy, watch }, sinks).0
    }
}
