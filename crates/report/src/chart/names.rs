//! What policies are called in charts, and which place among all of them gives them their colour.

use super::scene::{shorten_middle, text_width};
use crate::distinct;
use crate::names::names_without_folders;
use crate::prelude::*;

/// What stands between the parts of a name: of the values of a variant, else of the words of a policy.
const BETWEEN: [&[char]; 2] = [&[',', '/', ' ', '@'], &['_', '-', '.', '=']];

/// Shortens names to a width so that those that differ still do: where some would look alike, the parts in which they differ are kept
/// of all that do not fit; those whose parts do not fit either are numbered.
pub(super) fn shorten_names(names: &[String], max_width: f64) -> Vec<String> {
    let mut labels = names.iter().map(|name| shorten_middle(name, max_width)).listed();
    for (nth, between) in BETWEEN.into_iter().enumerate() {
        let mut groups = indices_sharing_label(names, &labels);
        if nth == 0 && !groups.is_empty() {
            groups = vec![(0..names.len()).filter(|at| labels[*at] != names[*at]).listed()];
        }
        for group in groups {
            let parts = group.iter().map(|at| names[*at].split_inclusive(between).listed()).listed();
            let fewest = parts.iter().map(Vec::len).min().unwrap_or(0);
            let is_same = |place: &dyn Fn(&[&str]) -> usize| {
                parts.iter().all(|name| name[place(name)] == parts[0][place(&parts[0])])
            };
            let mut before = (0..fewest).take_while(|nth| is_same(&|_| *nth)).count();
            let most = fewest - before;
            let mut after = (0..most).take_while(|nth| is_same(&|name| name.len() - 1 - nth)).count();
            let without = |name: &[&str], before: usize, after: usize| {
                let [head, tail] = [before, after].map(|n_left_out| if n_left_out > 0 { "…" } else { "" });
                let kept = name[before..name.len() - after].concat();
                format!("{head}{}{tail}", kept.trim_start().trim_end_matches(between))
            };
            // Of what all have, as much stays as fits.
            let width = |name: &Vec<&str>, before, after| text_width(&without(name, before, after));
            let fits = |before, after| parts.iter().all(|it| width(it, before, after) <= max_width);
            while before > 0 && fits(before - 1, after) {
                before -= 1;
            }
            while after > 0 && fits(before, after - 1) {
                after -= 1;
            }
            for (at, name) in group.into_iter().zip(&parts) {
                labels[at] = shorten_middle(&without(name, before, after), max_width);
            }
        }
    }
    for at in indices_sharing_label(names, &labels).concat() {
        let number = format!("{}: ", at + 1);
        labels[at] = format!("{number}{}", shorten_middle(&names[at], max_width - text_width(&number)));
    }
    labels
}

/// Returns the places of names that differ but have one label, label by label.
fn indices_sharing_label(names: &[String], labels: &[String]) -> Vec<Vec<usize>> {
    let differs = |group: &Vec<usize>| group.iter().any(|at| names[*at] != names[group[0]]);
    grouped(labels.iter().zip(0..)).into_values().filter(differs).listed()
}

/// A policy as charts show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
    pub(super) fn table_row_keys(&self) -> Vec<String> {
        vec![self.name.clone(), self.label.clone()]
    }
}

/// The policies of a report.
#[derive(Clone, Debug, Default)]
pub struct PolicyLabels(IndexMap<String, PolicyLabel>);

impl PolicyLabels {
    /// Collects the policies of a report.
    pub fn new(report: &Report) -> Self {
        let mut policies = Self::from_names(&distinct(report.run_briefs().map(|it| it.policy)));
        for run in report.run_briefs() {
            policies.0[run.policy].looks_ahead = run.figures.looks_ahead;
        }
        policies
    }

    /// Labels policies that are in no report.
    pub fn from_names(names: &[&str]) -> Self {
        let label = |(nth, (name, label)): (usize, (&&str, &str))| {
            let policy = PolicyLabel { label: label.to_owned(), ..PolicyLabel::new(name, nth) };
            ((*name).to_owned(), policy)
        };
        Self(names.iter().zip(names_without_folders(names)).enumerate().map(label).collect())
    }

    /// Returns a policy; one that the report does not have is called by its name.
    pub fn label_of(&self, name: &str) -> PolicyLabel {
        self.0.get(name).cloned().unwrap_or_else(|| PolicyLabel::new(name, self.0.len()))
    }
}
