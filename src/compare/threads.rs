//! Pieces of work on as many threads as are asked for; the results are in order, whatever their number.

use rayon::prelude::*;

/// Does so many pieces of work; one thread stays on the caller's, none given takes all cores.
pub(super) fn on_threads<T: Send>(
    threads: Option<usize>,
    n: usize,
    one: impl Fn(usize) -> T + Sync + Send,
) -> Vec<T> {
    let here = || (0..n).map(&one).collect();
    if threads == Some(1) || n < 2 {
        return here();
    }
    let everywhere = || (0..n).into_par_iter().map(&one).collect();
    match threads {
        None => everywhere(),
        Some(n_threads) => match rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() {
            Ok(pool) => pool.install(everywhere),
            Err(_) => here(),
        },
    }
}
