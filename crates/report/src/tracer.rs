//! Keeps the requests of runs while they are played, for the charts of a page: of a few runs all, of many those of the dearest session.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::chart::requests::RunRequests;
use super::html::Traces;
use ctxsim_engine::take::{Load, Take};

/// The most runs whose requests are charted: each takes a part of the page.
const MOST_RUNS: usize = 24;

/// Keeps the requests of a comparison's runs while it is played.
#[derive(Debug, Default)]
pub struct Tracer {
    n_runs: AtomicUsize,
    is_on: bool,
    /// What the dearest load so far costs under its first policy.
    highest: Mutex<f64>,
}

impl Tracer {
    /// Keeps requests if something shows them.
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Returns whether the requests of a load may be shown; conversations have none of their own.
    pub fn admit_load(&self, load: &Load) -> bool {
        let has_requests = self.is_on && load.world.lengths().is_empty();
        let n_own = if has_requests { load.policies.len() * load.profiles.len() } else { 0 };
        self.n_runs.fetch_add(n_own, Ordering::Relaxed);
        has_requests
    }

    /// Returns the requests of a load's runs; of many runs, nothing where a dearer load was played before.
    pub fn kept_requests_of_load(&self, load: &Load, takes: &[Take]) -> Vec<RunRequests> {
        // Rows may be there for other reasons: a bill is compared with them.
        if !self.is_on {
            return Vec::new();
        }
        let usd = takes.first().and_then(|it| it.run.tally.costs.total()).unwrap_or_default();
        let is_few = self.n_runs.load(Ordering::Relaxed) <= MOST_RUNS;
        let is_dearest = self.highest.lock().is_ok_and(|mut highest| {
            *highest = highest.max(usd);
            usd >= *highest
        });
        let scenario = load.name.to_string() + if load.trials > 1 { " (first trial)" } else { "" };
        if is_few || is_dearest { RunRequests::from_takes(load, takes, &scenario) } else { Vec::new() }
    }

    /// Returns them all, or those of the dearest load where they are too many.
    pub fn into_traces(self, of_loads: Vec<Vec<RunRequests>>) -> Traces {
        if self.n_runs.into_inner() <= MOST_RUNS {
            return Traces { runs: of_loads.concat(), left_out: None };
        }
        let traced = of_loads.iter().map(Vec::as_slice).filter(|it| !it.is_empty());
        let mut runs = RunRequests::of_dearest_load(traced, of_loads.len());
        // Of several price lists that under which the first policy costs most.
        let first = runs.first().map(|it| it.policy.clone()).unwrap_or_default();
        let firsts = runs.iter().filter(|it| it.policy == first);
        let profile = firsts.reduce(|one, it| if it.usd > one.usd { it } else { one });
        let profile = profile.map(|it| it.profile.clone()).unwrap_or_default();
        runs.retain(|it| it.profile == profile);
        Traces { runs, left_out: None }
    }
}
