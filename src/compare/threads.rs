//! Runs work on a number of threads; the results are in order and do not depend on it.

use rayon::prelude::*;

/// Runs some work within which [`in_order`] uses a number of threads; `None` uses all cores.
pub(super) fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let Some(n_threads) = threads else { return work() };
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Does so many pieces of work, which may be made of pieces themselves.
pub(super) fn in_order<T: Send>(n: usize, one: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if n < 2 {
        return (0..n).map(one).collect();
    }
    (0..n).into_par_iter().map(one).collect()
}
