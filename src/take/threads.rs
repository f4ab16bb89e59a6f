//! Runs work on a number of threads; the results are in order and do not depend on it.
//!
//! What hands the work out is compiled once, not once for each kind of work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use super::Progress;

/// Runs some work within which [`in_order`] uses a number of threads; `None` uses all cores.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let Some(n_threads) = threads else { return work() };
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() {
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

/// Calls something with each number below `n`, on whatever threads are free.
fn side_by_side(n: usize, one: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(one);
}
