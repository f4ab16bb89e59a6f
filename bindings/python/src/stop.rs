//! Ctrl-C and other reasons to stop: work runs on a thread of its own, while the caller's thread looks for signals.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The time between two looks for signals.
const BEAT: Duration = Duration::from_millis(50);

/// Why work stops: the exception that the caller gets.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<Stopped>);

#[derive(Default)]
struct Stopped {
    is_set: AtomicBool,
    why: Mutex<Option<PyErr>>,
}

impl Stop {
    /// Stops the work; the first reason counts.
    pub(crate) fn set(&self, why: PyErr) {
        self.0.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed)
    }

    fn why(&self) -> Option<PyErr> {
        self.0.why.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Tells a Python function how much is done; returns whether to go on. What it raises stops the work.
    pub(crate) fn told(&self, progress: Option<&Py<PyAny>>, it: ctxsim::Progress) -> ControlFlow<()> {
        if let Some(progress) = progress.filter(|_| !self.is_set()) {
            let told = Python::attach(|py| progress.call1(py, (it.done, it.all)).map(drop));
            if let Err(raised) = told {
                self.set(raised);
            }
        }
        if self.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Does something without the interpreter's lock, which policies and progress take when they are called, and returns what it came to; a signal
/// stops it.
pub(crate) fn watched<T: Send>(py: Python<'_>, stop: &Stop, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let result = py.detach(|| {
        thread::scope(|scope| {
            let (done, is_done) = channel();
            let worker = scope.spawn(move || {
                let result = work();
                // Nobody waits any more only where the caller's thread has failed.
                let _ = done.send(());
                result
            });
            while is_done.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    stop.set(signal);
                }
            }
            worker.join()
        })
    });
    match (stop.why(), result) {
        (Some(why), _) => Err(why),
        (None, Ok(result)) => Ok(result),
        (None, Err(_)) => Err(PyRuntimeError::new_err("ctxsim failed: this is a bug, please report it")),
    }
}
