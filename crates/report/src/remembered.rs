//! What two policies remember, number by number.

use crate::prelude::*;
use ctxsim_engine::measure::{Remembered, Statistic};
use ctxsim_engine::take::Number;

/// A number of two runs, and how much more the second has.
pub(super) struct RememberedPair {
    /// The base's and the candidate's.
    pub(super) numbers: [Remembered; 2],
    /// The differences trial by trial, where both have the number in every trial.
    pub(super) difference: Option<Statistic>,
    /// How many trials there are; a number that fewer have is a mean of these alone.
    pub(super) n_trials: u64,
}

/// Returns the numbers that sweeps optimise: the first of each kind of findings.
pub(super) fn main_number_per_finding() -> impl Iterator<Item = &'static Number> {
    ctxsim_worlds::findings().filter_map(|it| it.numbers.first())
}

/// Compares what two policies remember, number by number over pairs of runs on the same loads.
pub(super) fn remembered_pairs<'r>(pairs: impl Iterator<Item = &'r [Run; 2]> + Clone) -> Vec<RememberedPair> {
    let statistic = |it: &Run, number: &Number| it.findings.as_ref()?.number(number.name);
    let is_of = |run: &Run, number: &Number| {
        run.findings.as_ref().is_some_and(|it| it.kind().numbers.iter().any(|own| own.place == number.place))
    };
    let both = |number: &'static Number| {
        let pairs = pairs.clone().filter(|it| it.iter().all(|run| is_of(run, number)));
        let known = pairs.filter_map(|it| Some((it, statistic(&it[0], number)?, statistic(&it[1], number)?)));
        let sum = |all: Vec<Statistic>| all.into_iter().reduce(|sum, it| sum.pooled(&it));
        let base = sum(known.clone().map(|it| it.1).listed())?;
        let numbers = [base, sum(known.clone().map(|it| it.2).listed())?];
        let n_trials = known.clone().map(|(it, ..)| it[0].trials).sum();
        let differences = known.map(|(it, ..)| it[1].findings.as_ref()?.more(number.name, &it[0].policy));
        let difference = differences.collect::<Option<Vec<_>>>().and_then(sum);
        Some(RememberedPair { numbers: numbers.map(|it| number.with(it)), difference, n_trials })
    };
    ctxsim_worlds::findings().flat_map(|it| it.numbers).filter_map(both).listed()
}
