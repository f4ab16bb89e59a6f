//! A load played into sinks that the caller makes, row by row.

use std::cell::RefCell;

use super::{Cell, FailedRun, FailedRuns, Load};
use crate::ledger::Sink;
use ctxsim_base::error::Error;

impl Load {
    /// Plays it into a sink for each run; loads without requests of their own have none.
    ///
    /// # Errors
    /// The runs that failed.
    pub fn stream<S: Sink + Send>(&self, sink: impl Fn(Cell) -> S + Sync) -> Result<Vec<(Cell, S)>, Error> {
        if self.timeline().is_none() {
            return Ok(Vec::new());
        }
        let failed = RefCell::new(Vec::new());
        let all = self.lives().each(&|load: &Load, policies: &[usize]| {
            let of_load = |cell: Cell| Cell { policy: policies[cell.policy], ..cell };
            let (all, faults) = load.streamed(|cell| sink(of_load(cell)));
            failed.borrow_mut().extend(faults);
            all
        });
        let failed = failed.into_inner();
        if failed.is_empty() { Ok(all) } else { Err(Error::Run(Box::new(FailedRuns(failed)))) }
    }

    /// The same as it is laid out, with the runs that failed.
    fn streamed<S: Sink + Send>(&self, sink: impl Fn(Cell) -> S + Sync) -> (Vec<(Cell, S)>, Vec<FailedRun>) {
        let cells: Vec<Cell> = self.own_cells().collect();
        // Runs that share a simulation receive the same rows.
        let sinks = |cells: &[Cell]| cells.iter().copied().map(&sink).collect::<Vec<S>>();
        let played = self.simulations().run_into(&cells, sinks);
        let failed = played.iter().flat_map(|(cells, _, outcome)| {
            let fault = outcome.fault.as_deref();
            cells.iter().filter_map(move |it| Some((it, fault?)))
        });
        let failed: Vec<FailedRun> = failed.map(|(cell, fault)| self.failed(*cell, fault)).collect();
        let mut all: Vec<(Cell, S)> =
            played.into_iter().flat_map(|(cells, sinks, _)| cells.into_iter().zip(sinks)).collect();
        all.sort_by_key(|(cell, _)| cells.iter().position(|it| it == cell));
        (all, failed)
    }
}
