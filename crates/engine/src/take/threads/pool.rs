//! Threads of a pool that hand each other work.

use std::sync::OnceLock;

use rayon::ThreadPool;
use rayon::prelude::*;

use super::THREADS_MAX;

/// Runs some work within which [`in_order`](super::in_order) uses a number of threads; `None` uses all cores. Where no thread can be started, the caller's does
/// all.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let Some(n_threads) = threads else { return work() };
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads.min(THREADS_MAX)).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Calls something with each number below `n`, on whatever threads are free.
pub(super) fn side_by_side(n: usize, one: &(dyn Fn(usize) + Sync)) {
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
pub(super) fn on_each_thread(one: &(dyn Fn() + Sync)) {
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
