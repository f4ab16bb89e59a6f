//! Details of a plan's runs: their rows, and each of their trials.

use std::sync::Arc;

use super::Plan;
use crate::error::Error;
use crate::ledger::Rows;
use crate::measure::Tally;
use crate::take::{Cell, Load, Progress};

impl Plan {
    /// Runs every scenario with sampled needs and returns the results of each trial, run by run; others have
    /// none.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn drawn(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Result<Vec<(Cell, Vec<Tally>)>, Error> {
        self.each(threads, progress, Load::drawn).map(numbered)
    }

    /// Runs everything and keeps the rows, run by run; runs that share a simulation share its rows.
    /// Conversations have none, and scenarios with sampled needs have those of their first trial.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn rows(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Result<Vec<(Cell, Arc<Rows>)>, Error> {
        self.each(threads, progress, Load::rows).map(numbered)
    }
}

/// Collects the results of all loads, each cell with its load.
fn numbered<T>(of_loads: Vec<Vec<(Cell, T)>>) -> Vec<(Cell, T)> {
    let with_load = |(scenario, of_load): (usize, Vec<(Cell, T)>)| {
        of_load.into_iter().map(move |(cell, it)| (Cell { scenario, ..cell }, it))
    };
    of_loads.into_iter().enumerate().flat_map(with_load).collect()
}
