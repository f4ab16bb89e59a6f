//! The declared memory services: what their calls take and cost.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::FILES;
use crate::numbers::named;
use ctxsim_base::diag::{Diagnostic, Problems};
use ctxsim_base::quantity::{Cost, Decimal};
use ctxsim_input::policy::memory::{ServiceCall, ServiceMemory};
use ctxsim_input::text::decode::{Format, decode_table};

/// The folder of the services.
const SERVICES: &str = "assumptions/memory_runners/services/";

/// A memory service: what its calls take and cost.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// What its file is called.
    #[serde(default)]
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Whether its numbers are measured or assumed.
    pub kind: String,
    /// Milliseconds from a write to the moment at which a search finds it.
    pub indexing_ms: u64,
    /// Milliseconds of the indexer's work for a write; there is one for all users.
    pub indexing_ms_per_write: u64,
    /// By call: what it takes.
    pub calls: BTreeMap<ServiceCall, CallCost>,
}

/// What a call takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCost {
    /// Milliseconds.
    pub latency_ms: u64,
    /// Dollars.
    pub usd: Decimal,
}

impl ServiceSpec {
    /// Returns every declared service.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<ServiceSpec>> = OnceLock::new();
        ALL.get_or_init(|| {
            let files = FILES.iter().filter_map(|(path, text)| {
                let name = path.strip_prefix(SERVICES)?.strip_suffix(".toml")?.to_owned();
                Some(Self { name, ..decode_table(ctxsim_assumptions::current(text), Format::Toml).ok()? })
            });
            files.collect()
        })
    }

    /// Returns a service by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|it| it.name == name)
    }

    /// Returns the milliseconds that a call takes, beside what it waits for.
    pub fn latency_ms(&self, call: ServiceCall) -> u64 {
        self.calls.get(&call).map_or(0, |it| it.latency_ms)
    }

    /// Returns what a call costs.
    pub fn cost(&self, call: ServiceCall) -> Cost {
        self.calls.get(&call).and_then(|it| Cost::from_usd(it.usd)).unwrap_or_default()
    }
}

/// Reports a service of a policy that nothing declares.
pub fn check_policy(spec: &ServiceMemory) -> Vec<Diagnostic> {
    let known: Vec<&str> = ServiceSpec::all().iter().map(|it| it.name.as_str()).collect();
    let mut problems = Problems::default();
    problems.within("memory.service.service", |to| named("service", &spec.service, &known, to));
    problems.into_result(()).err().unwrap_or_default()
}
