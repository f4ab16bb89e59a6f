//! Which memory keeps more when one declared number after the other lies at the ends of its interval: conclusions that hang on a number.

use crate::aging::Aging;
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Load, Progress, in_order_telling};
use ctxsim_timeline::row::{Rows, Value, columns};

/// What memories are compared by, and whether more of it is better.
const COMPARED: [(&str, bool); 2] = [("final", true), ("accumulator_error", false)];

/// Which of two memories does better where one number has one value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AgedOrdering {
    /// The load.
    pub(super) scenario: String,
    /// The number.
    pub(super) number: String,
    /// Its declared value.
    pub(super) declared: f64,
    /// The value that it has here.
    pub(super) value: f64,
    /// What the memories are compared by.
    pub(super) compared: &'static str,
    pub(super) policy: String,
    /// The first policy, which it is compared with.
    pub(super) against: String,
    /// How much more of it the policy has, stream by stream.
    pub(super) difference: Statistic,
    /// Whether it is better, or worse, if that is certain.
    pub(super) verdict: &'static str,
    /// Whether that is another verdict than under the declared numbers.
    pub(super) flips: bool,
}

columns! { AgedOrdering;
    /// The load.
    "scenario": Text = |it| it.scenario.clone(),
    /// The number that is changed.
    "number": Text = |it| it.number.clone(),
    /// Its declared value.
    "declared": Number = |it| it.declared,
    /// The value that it has here: an end of its interval.
    "value": Number = |it| it.value,
    /// What the memories are compared by: `final` or `accumulator_error`.
    "compared": Text = |it| it.compared,
    /// The policy.
    "policy": Text = |it| it.policy.clone(),
    /// The first policy of the run, with which it is compared.
    "against": Text = |it| it.against.clone(),
    /// How much more of it the policy has, stream by stream.
    "difference": Group(Vec::new) = |it| Value::of(&it.difference),
    /// `better`, `worse`, or `open` if neither for certain.
    "verdict": Text = |it| it.verdict,
    /// Whether that is another verdict than under the declared numbers.
    "flips": Flag = |it| it.flips,
}

/// Reads a verdict off a difference.
fn verdict(difference: &Statistic, more_is_better: bool) -> &'static str {
    let is_more = match difference.ci95 {
        Some([low, _]) if low > 0.0 => true,
        Some([_, high]) if high < 0.0 => false,
        _ => return "open",
    };
    if is_more == more_is_better { "better" } else { "worse" }
}

impl Aging {
    /// Plays a load with each number at both ends of its interval; the policies are compared with the first.
    pub(super) fn orderings(&self, load: &Load, progress: Progress<'_>) -> Vec<AgedOrdering> {
        if load.policies.len() < 2 {
            return Vec::new();
        }
        let base = self.compared(load, ("", 0.0));
        let ends: Vec<(&str, f64)> = self
            .numbers
            .intervals
            .iter()
            .flat_map(|(name, ends)| ends.iter().map(|end| (name.as_str(), *end)))
            .collect();
        let all = in_order_telling(ends.len(), progress, |at| self.compared(load, ends[at]));
        let judged = |one: AgedOrdering| {
            let is_same = |it: &&AgedOrdering| it.policy == one.policy && it.compared == one.compared;
            let flips = base.iter().find(is_same).is_some_and(|it| it.verdict != one.verdict);
            AgedOrdering { flips, ..one }
        };
        all.into_iter().flatten().map(judged).collect()
    }

    /// Plays a load with a number at a value, and compares its policies with the first.
    fn compared(&self, load: &Load, (number, value): (&str, f64)) -> Vec<AgedOrdering> {
        let observed = self.with(number, value).observed(load, &|_, _| {}).policies;
        let Some((first, others)) = observed.split_first() else { return Vec::new() };
        let declared = match number {
            "" => 0.0,
            _ => self.numbers.get(number).or(self.model.own(number)).unwrap_or_default(),
        };
        let mut found = Vec::new();
        for (own, policy) in others.iter().zip(&load.policies[1..]) {
            let more = own.less(first);
            for (compared, more_is_better) in COMPARED {
                let Some(difference) = more.get(compared).copied() else { continue };
                found.push(AgedOrdering {
                    scenario: self.name.clone(),
                    number: number.to_owned(),
                    declared,
                    value,
                    compared,
                    policy: policy.name.clone(),
                    against: load.policies[0].name.clone(),
                    verdict: verdict(&difference, more_is_better),
                    difference,
                    flips: false,
                });
            }
        }
        found
    }
}

/// Returns them as rows.
pub(super) fn rows(all: Vec<AgedOrdering>) -> Rows {
    Rows::new::<AgedOrdering>(Vec::new(), all)
}
