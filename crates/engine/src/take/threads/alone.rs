//! The caller's thread does all, in a library built without threads.

/// Runs some work; a number of threads changes nothing.
pub fn with_threads<T: Send>(_: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    work()
}

/// Calls something with each number below `n`.
pub(super) fn side_by_side(n: usize, one: &(dyn Fn(usize) + Sync)) {
    (0..n).for_each(one);
}

/// Calls something once.
pub(super) fn on_each_thread(one: &(dyn Fn() + Sync)) {
    one();
}
