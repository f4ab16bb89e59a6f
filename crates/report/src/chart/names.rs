//! What policies are called in charts, and which place among all of them gives them their colour.

use indexmap::IndexMap;
use serde::Serialize;

use crate::names::short_names;
use crate::{Brief, Report};
use ctxsim_base::list::Listed as _;

/// A policy as charts show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyLabel {
    pub name: String,
    /// The name without its folder, where no other policy has the same.
    pub label: String,
    /// Its place among the policies of the report: the same colour and shape in every chart.
    pub nth: usize,
    /// Whether it knows what will be needed, as no real policy does.
    pub looks_ahead: bool,
}

impl PolicyLabel {
    /// Makes one that no other is called like.
    pub fn new(name: &str, nth: usize) -> Self {
        Self { name: name.to_owned(), label: name.to_owned(), nth, looks_ahead: false }
    }

    /// Returns what its row in a table may be called.
    pub(super) fn keys(&self) -> Vec<String> {
        vec![self.name.clone(), self.label.clone()]
    }
}

/// The policies of a report.
#[derive(Clone, Debug, Default)]
pub struct PolicyLabels(IndexMap<String, PolicyLabel>);

impl PolicyLabels {
    /// Collects the policies of a report.
    pub fn new(report: &Report) -> Self {
        let mut first: IndexMap<&str, Brief<'_>> = IndexMap::new();
        report.briefs().for_each(|it| {
            first.entry(it.policy).or_insert(it);
        });
        let names: Vec<&str> = first.keys().copied().listed();
        let policies =
            first.values().zip(short_names(&names)).enumerate().map(|(nth, (run, label))| PolicyLabel {
                name: run.policy.to_owned(),
                label: label.to_owned(),
                nth,
                looks_ahead: run.figures.looks_ahead,
            });
        Self(policies.map(|it| (it.name.clone(), it)).collect())
    }

    /// Labels policies that are in no report.
    pub fn named(names: &[&str]) -> Self {
        let label = |(nth, (name, label)): (usize, (&&str, &str))| {
            let it = PolicyLabel { label: label.to_owned(), ..PolicyLabel::new(name, nth) };
            ((*name).to_owned(), it)
        };
        Self(names.iter().zip(short_names(names)).enumerate().map(label).collect())
    }

    /// Returns a policy; one that the report does not have is called by its name.
    pub fn of(&self, name: &str) -> PolicyLabel {
        self.0.get(name).cloned().unwrap_or_else(|| PolicyLabel::new(name, self.0.len()))
    }
}
