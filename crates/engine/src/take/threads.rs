//! Runs work on a number of threads; the results are in order and do not depend on it.
//!
//! What hands the work out is compiled once, not once for each kind of work. Without the feature `threads`, the caller's thread does all.

#[cfg(not(feature = "threads"))]
#[path = "threads/alone.rs"]
mod pool;
#[cfg(feature = "threads")]
mod pool;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Progress;
use pool::{on_each_thread, side_by_side};

pub use pool::with_threads;

/// The most threads that may be asked for.
pub const THREADS_MAX: usize = 1_024;

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
    let waiting = (0..n).map(|_| None).collect();
    let turn = Mutex::new(Turn { waiting, settled: Vec::with_capacity(n), settle });
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
    /// By their numbers; a map of those that wait would be compiled anew for each kind of work, 6,300 lines of IR each time.
    waiting: Vec<Option<Box<T>>>,
    settled: Vec<U>,
    settle: F,
}

impl<T, U, F: FnMut(T) -> U> Turn<T, U, F> {
    fn put(&mut self, nth: usize, done: T) {
        self.waiting[nth] = Some(Box::new(done));
        while let Some(next) = self.waiting.get_mut(self.settled.len()).and_then(Option::take) {
            let settled = (self.settle)(*next);
            self.settled.push(settled);
        }
    }
}
