//! How a plan is watched while it runs, and what is found wrong meanwhile.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::prelude::*;

/// What is told, from any thread, while a plan runs, how much is done, of how much; `Break` stops the runs.
pub type PlanWatch<'a> = &'a (dyn Fn(usize, usize) -> ControlFlow<()> + Sync);

/// How a plan is watched while it runs. What has begun is finished: a stop takes effect before the next session.
pub(super) struct PlanWatcher<'a> {
    told: PlanWatch<'a>,
    is_stopped: AtomicBool,
}

impl<'a> PlanWatcher<'a> {
    pub(super) fn new(watch: PlanWatch<'a>) -> Self {
        Self { told: watch, is_stopped: AtomicBool::new(false) }
    }

    /// Tells how much is done, unless it was stopped.
    pub(super) fn report_progress(&self, done: usize, all: usize) {
        if !self.is_stopped() && (self.told)(done, all).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns an error if it was stopped.
    pub(super) fn check_not_stopped(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Makes a progress, which stops nothing, into what is told.
pub fn as_unstoppable_watch(progress: Progress<'_>) -> impl Fn(usize, usize) -> ControlFlow<()> + Sync {
    move |done, all| {
        progress(done, all);
        ControlFlow::Continue(())
    }
}

/// All problems so far.
#[derive(Default)]
pub(super) struct ProblemsFound {
    /// What is wrong with inputs.
    pub(super) problems: Vec<Diagnostic>,
    /// Errors without a place in a file; a single one is returned as it is.
    others: Vec<Error>,
}

impl ProblemsFound {
    /// Adds an error.
    pub(super) fn add_error(&mut self, error: Error) {
        match error {
            Error::Invalid(problems) => self.problems.extend(problems),
            other => self.others.push(other),
        }
    }

    /// Returns whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.problems.is_empty() && self.others.is_empty()
    }

    /// Stops when anything is wrong.
    pub(super) fn fail_if_any(&mut self) -> Result<()> {
        if self.problems.is_empty() && self.others.len() < 2 {
            return self.others.pop().map_or(Ok(()), Err);
        }
        let mut all = std::mem::take(&mut self.problems);
        all.extend(std::mem::take(&mut self.others).into_iter().map(Error::into_problem));
        let mut distinct: Vec<Diagnostic> = Vec::with_capacity(all.len());
        for problem in all {
            if !distinct.contains(&problem) {
                distinct.push(problem);
            }
        }
        Err(distinct.into())
    }
}
