//! What policies are called in charts, and which place among all of them gives them their colour.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use crate::report::Report;
use crate::report::names::short_name;

/// A policy as charts show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// The name without its folder, where no other policy has the same.
    pub label: String,
    /// Its place among the policies of the report: the same colour and shape in every chart.
    pub nth: usize,
    /// Whether it knows what will be needed, as no real policy does.
    pub looks_ahead: bool,
}

/// The policies of a report.
#[derive(Clone, Debug, Default)]
pub struct Names(IndexMap<String, Policy>);

impl Names {
    /// Collects the policies of a report.
    #[must_use]
    pub fn new(report: &Report) -> Self {
        let mut policies: IndexMap<String, Policy> = IndexMap::new();
        for run in &report.runs {
            let nth = policies.len();
            let entry = || Policy {
                name: run.policy.clone(),
                label: short_name(&run.policy).to_owned(),
                nth,
                looks_ahead: run.looks_ahead,
            };
            policies.entry(run.policy.clone()).or_insert_with(entry);
        }
        let (mut once, mut twice) = (IndexSet::new(), IndexSet::new());
        for name in policies.keys() {
            if !once.insert(short_name(name).to_owned()) {
                twice.insert(short_name(name).to_owned());
            }
        }
        for policy in policies.values_mut().filter(|it| twice.contains(&it.label)) {
            policy.label.clone_from(&policy.name);
        }
        Self(policies)
    }

    /// Returns a policy; one that the report does not have is called by its name.
    #[must_use]
    pub fn of(&self, name: &str) -> Policy {
        let unknown = || Policy {
            name: name.to_owned(),
            label: name.to_owned(),
            nth: self.0.len(),
            looks_ahead: false,
        };
        self.0.get(name).cloned().unwrap_or_else(unknown)
    }
}
