//! Verdicts of guards, as text and JSON.

use std::fmt;

use super::Report;
use super::sections::Detail;
use crate::prelude::*;
use ctxsim_base::diag::Place;

/// A guard that holds on more runs than this takes one line, unless details are requested.
const RUNS_SHOWN: usize = 3;

/// A guard's verdict on one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GuardVerdict {
    pub guard: String,
    /// The run: policy, scenario, profile.
    #[serde(skip)]
    pub run: [String; 3],
    /// The metric in the JSON report.
    pub metric: String,
    /// The policy by whose number it is divided.
    pub over: Option<String>,
    /// The number; `None` if there is no data.
    pub value: Option<f64>,
    /// The number's interval, if the bound must hold for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Whether the number is a relative change.
    #[serde(skip)]
    pub is_change: bool,
    /// Whether a higher number is better, by the side of the bound on which it must be; unknown of stages that must fire.
    #[serde(skip)]
    pub is_better_higher: Option<bool>,
    /// The requirement.
    pub bound: String,
    pub holds: bool,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Where the guard is in the suite's file.
    #[serde(skip)]
    pub place: Place,
    /// Its subject in the policy's file.
    #[serde(skip)]
    pub policy_place: Place,
}

impl fmt::Display for GuardVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [policy, scenario, profile] = &self.run;
        write!(f, "{} ({policy} on {scenario} under {profile})", self.told())
    }
}

impl GuardVerdict {
    /// Returns the guard's name and what was found, as one line: a name that asks or calls keeps its mark, any other has a colon.
    pub fn told(&self) -> String {
        let title = self.title();
        let colon = if title.ends_with(['?', '!', '…', ':']) { "" } else { ":" };
        format!("{title}{colon} {}", self.finding())
    }

    /// Returns the guard's name for a line that goes on: a name that is a sentence loses its period.
    pub fn title(&self) -> &str {
        self.guard.strip_suffix('.').unwrap_or(&self.guard)
    }

    /// Says what was found, without guard and run.
    pub fn finding(&self) -> String {
        let is = if self.holds { "is" } else { "is not" };
        let number = |it: f64| if self.is_change { numbers::signed(it) } else { short(it, &self.bound) };
        match (self.value, &self.reason) {
            (Some(value), None) => {
                let ends = |[low, high]: [f64; 2]| format!(" ({} to {})", number(low), number(high));
                let ends = self.interval.map_or_else(String::new, ends);
                format!("{}{ends} {is} {}", number(value), self.bound)
            }
            (_, Some(reason)) => {
                format!("`{}` has no value, so it cannot be {}: {reason}", self.metric, self.bound)
            }
            (None, None) => format!("`{}` has no value, so it cannot be {}", self.metric, self.bound),
        }
    }

    fn is_of(&self, run: &Run) -> bool {
        self.run == [&run.policy, &run.scenario, &run.profile].map(String::as_str)
    }
}

/// Returns a number with four decimals, or with all if its bound would look the same.
fn short(value: f64, bound: &str) -> String {
    let rounded = numbers::plain((value * 1e4).round() / 1e4);
    if rounded == "0" || bound.ends_with(&format!(" {rounded}")) { numbers::plain(value) } else { rounded }
}

impl Report {
    /// Returns the verdicts on a run, or nothing if the report has none at all.
    pub(super) fn verdicts_on(&self, run: &Run) -> Option<Vec<&GuardVerdict>> {
        let of_run = || self.guard_verdicts.iter().filter(|it| it.is_of(run)).listed();
        (!self.guard_verdicts.is_empty()).then(of_run)
    }

    /// Returns the verdicts on a run as one cell of a table.
    pub(super) fn verdicts_in_a_cell(&self, run: &Run) -> Option<String> {
        let word = |it: &GuardVerdict| match it.holds {
            true => format!("holds: {}", it.title()),
            false => format!("fails: {} ({})", it.title(), it.finding()),
        };
        Some(self.verdicts_on(run)?.into_iter().map(word).listed().join("; "))
    }

    /// Counts the verdicts that hold; `None` if there are none.
    pub fn guards_heading(&self) -> Option<String> {
        let (n_all, n_held) =
            (self.guard_verdicts.len(), self.guard_verdicts.iter().filter(|it| it.holds).count());
        (n_all > 0).then(|| format!("Guards ({n_held} of {n_all} hold)"))
    }

    /// Returns the verdicts in words, those that fail first.
    pub fn guard_lines(&self, detail: Detail) -> Vec<String> {
        let failed =
            self.guard_verdicts.iter().filter(|it| !it.holds).map(|failed| format!("fails: {failed}"));
        let mut held: IndexMap<&str, Vec<&GuardVerdict>> = IndexMap::new();
        for verdict in self.guard_verdicts.iter().filter(|it| it.holds) {
            held.entry(&verdict.guard).or_default().push(verdict);
        }
        let held = held.into_values().flat_map(|verdicts| {
            if detail == Detail::Groups && verdicts.len() > RUNS_SHOWN {
                return vec![format!("holds: {} (on {} runs)", verdicts[0].title(), verdicts.len())];
            }
            verdicts.into_iter().map(|it| format!("holds: {it}")).listed()
        });
        failed.chain(held).listed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_the_number_or_why_there_is_none() {
        let verdict = GuardVerdict {
            guard: "it is kept".to_owned(),
            run: ["p", "s", "m"].map(str::to_owned),
            metric: "retention.gap".to_owned(),
            over: None,
            value: None,
            interval: None,
            is_change: false,
            is_better_higher: Some(true),
            bound: "above 0.5".to_owned(),
            holds: false,
            reason: Some("no fact is said in passing".to_owned()),
            place: Place::default(),
            policy_place: Place::default(),
        };

        let told = "it is kept: `retention.gap` has no value, so it cannot be above 0.5: no fact is said in passing (p on s under m)";
        assert_eq!(verdict.to_string(), told);
        let low = GuardVerdict { value: Some(0.25), reason: None, ..verdict };
        assert_eq!(low.to_string(), "it is kept: 0.25 is not above 0.5 (p on s under m)");
        let high = GuardVerdict { value: Some(0.75), holds: true, ..low };
        assert_eq!(high.to_string(), "it is kept: 0.75 is above 0.5 (p on s under m)");
        let near = GuardVerdict { value: Some(0.500_01), ..high.clone() };
        assert_eq!(near.finding(), "0.50001 is above 0.5");
        assert_eq!(GuardVerdict { value: Some(0.712_345_6), ..high }.finding(), "0.7123 is above 0.5");
    }
}
