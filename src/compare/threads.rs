//! Pieces of work on as many threads as are asked for; the results are in order, whatever their number.

use rayon::prelude::*;

/// Does some work, within which [`in_order`] takes so many threads; none given takes all cores.
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
