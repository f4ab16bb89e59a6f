//! A run that someone watches: it is played as any other, and what the policy does and the cache is asked can be seen.
//!
//! **Explaining** costs ordinary runs nothing. `engine/watch.rs` runs the simulation again with an observed policy and cache (`Watch` sees
//! the journal of edits at each moment, `CacheRule::look` reports what a cache knows of a prompt before it takes it), and `explain.rs`
//! describes one request from these notes. A law in `tests/suite/explain.rs` checks that the row, the cost and every item's tokens are
//! those of the run.

use crate::ledger::Firing;
use crate::projection::{Ambient, Editor, Projector};
use ctxsim_input::policy::Moment;

/// Sees a policy at work; it must not edit.
pub trait Watch {
    /// The policy is about to act.
    fn before(&mut self, moment: Moment, edit: &mut Editor<'_, '_>);
    /// The policy has acted; it can still be asked for the words that it put in.
    fn after(&mut self, moment: Moment, policy: &dyn Projector, edit: &mut Editor<'_, '_>);
}

/// A policy that is watched.
pub(super) struct Watched<'p, 'w> {
    pub(super) policy: Box<dyn Projector + 'p>,
    pub(super) watch: &'w mut dyn Watch,
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
