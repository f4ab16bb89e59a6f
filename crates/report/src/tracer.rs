//! Keeps the requests of runs while they are played, for the charts of a page.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::chart::requests::RunRequests;
use super::html::Traces;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::take::{Load, Take};

/// The most runs whose requests are charted: each takes a part of the page.
const MOST_RUNS: usize = 24;

/// Keeps the requests of a comparison's runs while it is played, as long as they are few.
#[derive(Debug, Default)]
pub struct Tracer {
    n_runs: AtomicUsize,
    is_on: bool,
}

impl Tracer {
    /// Keeps requests if something shows them.
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Returns whether the requests of a load are still shown; conversations have none of their own.
    pub fn wants(&self, load: &Load) -> bool {
        let has_requests = load.world.lengths().is_empty();
        let n_own = if has_requests { load.policies.len() * load.profiles.len() } else { 0 };
        self.is_on && self.n_runs.fetch_add(n_own, Ordering::Relaxed) + n_own <= MOST_RUNS
    }

    /// Returns the requests of a load's runs.
    pub fn of_load(load: &Load, takes: &[Take]) -> Vec<RunRequests> {
        let trial = if load.trials > 1 { " (first trial)" } else { "" };
        let scenario = format!("{}{trial}", load.name);
        let rows = takes.iter().filter_map(|it| Some((it.cell, it.rows.as_ref()?)));
        let trace = rows.filter(|(_, it)| it.fault.is_none()).map(|(cell, rows)| {
            let profile = &load.profiles[cell.profile].name;
            RunRequests::new(&load.policies[cell.policy], &scenario, profile, rows)
        });
        trace.listed()
    }

    /// Returns them all, or why there are none.
    pub fn traces(self, of_loads: Vec<Vec<RunRequests>>) -> Traces {
        let n_runs = self.n_runs.into_inner();
        if n_runs <= MOST_RUNS {
            return Traces { runs: of_loads.concat(), left_out: None };
        }
        Self::of_none(n_runs)
    }

    /// Returns the requests of so many runs that have none, or too many of them.
    pub fn of_none(n_runs: usize) -> Traces {
        if n_runs <= MOST_RUNS {
            return Traces::default();
        }
        let sentence = format!(
            "Request charts cover at most {MOST_RUNS} runs, and this comparison has {n_runs}: name fewer \
                scenarios, profiles or policies."
        );
        Traces { runs: Vec::new(), left_out: Some(sentence) }
    }
}
