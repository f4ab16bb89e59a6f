//! A load played into sinks that the caller makes, row by row.

use std::cell::RefCell;

use super::{Cell, FailedRun, FailedRuns, Load};
use crate::error::Error;
use crate::ledger::{
    Expected, ExplicitCacheRow, ExploredRow, KeptRow, MemoryRow, NeedRow, ProbeRow, RequestRow, Sink,
};

/// Hands each row to the sinks of all runs that share a simulation.
struct Fan<S>(Vec<S>);

impl<S: Sink> Sink for Fan<S> {
    fn request(&mut self, row: &RequestRow) {
        self.0.iter_mut().for_each(|it| it.request(row));
    }

    fn expected(&mut self, row: &RequestRow, beside: &Expected) {
        self.0.iter_mut().for_each(|it| it.expected(row, beside));
    }

    fn explored(&mut self, row: &ExploredRow) {
        self.0.iter_mut().for_each(|it| it.explored(row));
    }

    fn need(&mut self, row: &NeedRow) {
        self.0.iter_mut().for_each(|it| it.need(row));
    }

    fn is_done(&self) -> bool {
        self.0.iter().all(Sink::is_done)
    }

    fn probe(&mut self, row: &ProbeRow) {
        self.0.iter_mut().for_each(|it| it.probe(row));
    }

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.0.iter_mut().for_each(|it| it.stored(row));
    }

    fn memory(&mut self, row: &MemoryRow<'_>) {
        self.0.iter_mut().for_each(|it| it.memory(row));
    }

    fn kept(&mut self, row: &KeptRow<'_>) {
        self.0.iter_mut().for_each(|it| it.kept(row));
    }
}

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
        let fan = |cells: &[Cell]| Fan(cells.iter().copied().map(&sink).collect());
        let played = self.simulations().run_into(&cells, fan);
        let failed = played.iter().flat_map(|(cells, _, outcome)| {
            let fault = outcome.fault.as_deref();
            cells.iter().filter_map(move |it| Some((it, fault?)))
        });
        let failed: Vec<FailedRun> = failed.map(|(cell, fault)| self.failed(*cell, fault)).collect();
        let mut all: Vec<(Cell, S)> =
            played.into_iter().flat_map(|(cells, sinks, _)| cells.into_iter().zip(sinks.0)).collect();
        all.sort_by_key(|(cell, _)| cells.iter().position(|it| it == cell));
        (all, failed)
    }
}
