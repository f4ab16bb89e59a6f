//! Runs work on a number of threads; the results are in order and do not depend on it.
//!
//! What hands the work out is compiled once, not once for each kind of work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use rayon::ThreadPool;
use rayon::prelude::*;

use super::Progress;

/// The most threads that may be asked for.
pub const THREADS_MAX: usize = 1_024;

/// Runs some work within which [`in_order`] uses a number of threads; `None` uses all cores. Where no thread can be started, the caller's does
/// all.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let Some(n_threads) = threads else { return work() };
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads.min(THREADS_MAX)).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Does so many pieces of work, which may be made of pieces themselves.
pub fn in_order<T: Send>(n: usize, one: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if n < 2 {
        return (0..n).map(one).collect();
    }
    let done: Vec<Mutex<Option<T>>> = (0..n).map(|_| Mutex::new(None)).collect();
    side_by_side(n, &|nth| {
        let result = one(nth);
        if let Ok(mut place) = done[nth].lock() {
            *place = Some(result);
        }
    });
    done.into_iter().filter_map(|it| it.into_inner().ok().flatten()).collect()
}

/// The same, telling how many of them are done.
pub fn in_order_telling<T: Send>(
    n: usize,
    progress: Progress<'_>,
    one: impl Fn(usize) -> T + Sync + Send,
) -> Vec<T> {
    let n_done = AtomicUsize::new(0);
    in_order(n, |nth| {
        let done = one(nth);
        progress(n_done.fetch_add(1, Relaxed) + 1, n);
        done
    })
}

/// Does pieces of work that are begun in order, and settles what they come to in order, so that few of them wait for their turn.
pub fn in_turn<T: Send, U: Send>(
    n: usize,
    one: impl Fn(usize) -> T + Sync + Send,
    settle: impl FnMut(T) -> U + Send,
) -> Vec<U> {
    let turn = Mutex::new(Turn { waiting: BTreeMap::new(), settled: Vec::with_capacity(n), settle });
    let n_begun = AtomicUsize::new(0);
    on_each_thread(&|| {
        loop {
            let nth = n_begun.fetch_add(1, Relaxed);
            if nth >= n {
                break;
            }
            let done = one(nth);
            if let Ok(mut turn) = turn.lock() {
                turn.put(nth, done);
            }
        }
    });
    turn.into_inner().map_or_else(|_| Vec::new(), |it| it.settled)
}

/// What is done, in the order of its numbers.
struct Turn<T, U, F> {
    waiting: BTreeMap<usize, T>,
    settled: Vec<U>,
    settle: F,
}

impl<T, U, F: FnMut(T) -> U> Turn<T, U, F> {
    fn put(&mut self, nth: usize, done: T) {
        self.waiting.insert(nth, done);
        while let Some(next) = self.waiting.remove(&self.settled.len()) {
            let settled = (self.settle)(next);
            self.settled.push(settled);
        }
    }
}

/// Calls something with each number below `n`, on whatever threads are free.
fn side_by_side(n: usize, one: &(dyn Fn(usize) + Sync)) {
    let all = || (0..n).into_par_iter().for_each(one);
    if rayon::current_thread_index().is_some() {
        return all();
    }
    match all_cores() {
        Some(pool) => pool.install(all),
        None => (0..n).for_each(one),
    }
}

/// Calls something once on each thread.
fn on_each_thread(one: &(dyn Fn() + Sync)) {
    if rayon::current_thread_index().is_some() {
        rayon::broadcast(|_| one());
        return;
    }
    match all_cores() {
        Some(pool) => drop(pool.broadcast(|_| one())),
        None => one(),
    }
}

/// Returns the threads of a process that asks for no number of them; none where no thread can be started.
fn all_cores() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    POOL.get_or_init(|| rayon::ThreadPoolBuilder::new().build().ok()).as_ref()
}
