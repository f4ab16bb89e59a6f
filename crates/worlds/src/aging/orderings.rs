//! Which memory keeps more when one declared number after the other lies at the ends of its interval: conclusions that hang on a number.

use crate::aging::Aging;
use crate::trial::{Ordering, certain};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Load, Progress, in_order_telling};
use ctxsim_timeline::row::{Rows, Value, columns};

/// What memories are compared by, and whether more of it is better.
const COMPARED: [(&str, bool); 2] = [("final", true), ("accumulator_error", false)];

/// Which of two memories does better where one number has one value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AgedOrdering {
    /// The difference to the first policy, stream by stream.
    ordering: Ordering,
    policy: String,
    /// Whether it is better, or worse, if that is certain.
    verdict: &'static str,
    /// Whether that is another verdict than under the declared numbers.
    flips: bool,
}

columns! { AgedOrdering;
    /// The load.
    "scenario": Text = |it| it.ordering.scenario.clone(),
    /// The number that is changed.
    "number": Text = |it| it.ordering.number.clone(),
    /// Its declared value.
    "declared": Number = |it| it.ordering.declared,
    /// The value that it has here: an end of its interval.
    "value": Number = |it| it.ordering.value,
    /// What the memories are compared by: `final` or `accumulator_error`.
    "compared": Text = |it| it.ordering.compared.clone(),
    /// The policy.
    "policy": Text = |it| it.policy.clone(),
    /// The first policy of the run, with which it is compared.
    "against": Text = |it| it.ordering.against.clone(),
    /// How much more of it the policy has, stream by stream.
    "difference": Group(Vec::new) = |it| Value::serialised(&it.ordering.difference),
    /// `better`, `worse`, or `open` if neither for certain.
    "verdict": Text = |it| it.verdict,
    /// Whether that is another verdict than under the declared numbers.
    "flips": Flag = |it| it.flips,
}

/// Reads a verdict off a difference.
fn verdict(difference: &Statistic, more_is_better: bool) -> &'static str {
    match certain(difference) {
        None => "open",
        Some(is_more) if is_more == more_is_better => "better",
        Some(_) => "worse",
    }
}

impl Aging {
    /// Plays a load with each number at both ends of its interval; the policies are compared with the first.
    pub(super) fn orderings(&self, load: &Load, progress: Progress<'_>) -> Rows {
        let base = self.compared(load, ("", 0.0));
        let ends =
            self.numbers.intervals.iter().flat_map(|(name, ends)| ends.map(|end| (name.as_str(), end)));
        let ends: Vec<(&str, f64)> = ends.filter(|_| load.policies.len() > 1).collect();
        let all = in_order_telling(ends.len(), progress, |at| self.compared(load, ends[at])).concat();
        let judged = |one: AgedOrdering| {
            let is_same =
                |it: &&AgedOrdering| it.policy == one.policy && it.ordering.compared == one.ordering.compared;
            let flips = base.iter().find(is_same).is_some_and(|it| it.verdict != one.verdict);
            AgedOrdering { flips, ..one }
        };
        Rows::new::<AgedOrdering>(Vec::new(), all.into_iter().map(judged))
    }

    /// Plays a load with a number at a value, and compares its policies with the first.
    fn compared(&self, load: &Load, (number, value): (&str, f64)) -> Vec<AgedOrdering> {
        let observed = self.with(number, value).observed(load, &|_, _| {}).policies;
        let Some((first, others)) = observed.split_first() else { return Vec::new() };
        let declared = self.numbers.get(number).or(self.model.own(number)).unwrap_or_default();
        let mut found = Vec::new();
        for (own, policy) in others.iter().zip(&load.policies[1..]) {
            let more = own.less(first);
            for (compared, more_is_better) in COMPARED {
                let Some(difference) = more.get(compared).copied() else { continue };
                let ordering = Ordering {
                    scenario: self.name.clone(),
                    number: number.to_owned(),
                    declared,
                    value,
                    compared: compared.to_owned(),
                    against: load.policies[0].name.clone(),
                    difference,
                };
                let verdict = verdict(&difference, more_is_better);
                found.push(AgedOrdering { ordering, policy: policy.name.clone(), verdict, flips: false });
            }
        }
        found
    }
}
