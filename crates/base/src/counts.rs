//! How often costly work was done, so that tests can hold that nothing is done twice.

use std::cell::Cell;

/// How often each kind of costly work was done on one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Plays of a timeline by the engine.
    pub plays: u64,
    /// Policies compiled for a timeline and limits.
    pub compiled: u64,
    /// Recordings read for their sessions.
    pub imports: u64,
    /// Sessions laid out without some of their compactions.
    pub layouts: u64,
    /// Recordings glanced at for times and models, without their items.
    pub glances: u64,
    /// Recordings scanned for the index.
    pub scans: u64,
}

thread_local! {
    static DONE: Cell<Counts> = const { Cell::new(Counts { plays: 0, compiled: 0, imports: 0, layouts: 0, glances: 0, scans: 0 }) };
}

/// Counts some work.
pub fn count_one(which: impl FnOnce(&mut Counts) -> &mut u64) {
    let mut done = DONE.get();
    let one = which(&mut done);
    *one = one.saturating_add(1);
    DONE.set(done);
}

/// Does something, and returns what work that was on this thread.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, Counts) {
    let before = DONE.replace(Counts::default());
    let result = work();
    (result, DONE.replace(before))
}
