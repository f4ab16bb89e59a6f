//! How a change in cost varies over sessions: one session may save what another loses.

use indexmap::IndexMap;
use serde::Serialize;

use ctxsim_base::rng::{Seed, Stream};

/// The random stream of resampling.
const PURPOSE: &str = "resampled sessions";
const RESAMPLES: u64 = 1_000;
/// The share of resamples beyond each end of an interval: one in this many.
const TAIL: usize = 40;
/// Changes in cost below this count as the same.
pub const SAME: f64 = 0.000_5;

/// How the change in cost against another policy varies over sessions; shares are of 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The number of sessions compared: those in which both policies got equally far, at known costs.
    pub sessions: usize,
    /// The change in their total cost.
    pub change: f64,
    /// The change in the median session.
    pub median: f64,
    /// The share of sessions that are cheaper.
    pub cheaper: f64,
    /// The share of sessions with the same cost, within 0.05%.
    pub same: f64,
    /// The share of sessions that are more expensive.
    pub dearer: f64,
    /// The middle 95% of the change in total cost over resampled sessions; `None` for a single session.
    pub interval: Option<[f64; 2]>,
}

impl Spread {
    /// Compares costs with those of another policy on the same sessions, given as pairs.
    ///
    /// Every policy is resampled in the same way, so that intervals of one table are comparable; the order of
    /// the sessions does not matter.
    pub fn new(pairs: &[(f64, f64)]) -> Option<Self> {
        Self::of_all(&[pairs.to_vec()]).pop().flatten()
    }

    /// Does the same for several policies: those that are compared on equally many sessions share their draws.
    pub fn of_all(all: &[Vec<(f64, f64)>]) -> Vec<Option<Self>> {
        let sorted: Vec<Vec<(f64, f64)>> = all.iter().map(|it| sorted(it)).collect();
        let mut by_length: IndexMap<usize, Vec<usize>> = IndexMap::new();
        for (nth, pairs) in sorted.iter().enumerate().filter(|it| it.1.len() > 1) {
            by_length.entry(pairs.len()).or_default().push(nth);
        }
        let mut found = vec![None; all.len()];
        for alike in by_length.into_values() {
            let pairs: Vec<&[(f64, f64)]> = alike.iter().map(|it| sorted[*it].as_slice()).collect();
            alike.into_iter().zip(intervals(&pairs)).for_each(|(nth, interval)| found[nth] = Some(interval));
        }
        sorted.iter().zip(found).map(|(pairs, interval)| Self::of(pairs, interval)).collect()
    }

    /// Describes pairs without resampling them.
    pub fn described(pairs: &[(f64, f64)], interval: Option<[f64; 2]>) -> Option<Self> {
        Self::of(&sorted(pairs), interval)
    }

    /// Describes sorted pairs.
    fn of(pairs: &[(f64, f64)], interval: Option<[f64; 2]>) -> Option<Self> {
        let (cost, other) = pairs.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let mut changes: Vec<f64> = pairs.iter().map(|(cost, other)| cost / other - 1.0).collect();
        changes.sort_by(f64::total_cmp);
        let share = |is: &dyn Fn(f64) -> bool| {
            changes.iter().filter(|it| is(**it)).count() as f64 / changes.len() as f64
        };
        let (low, high) = (changes.get((changes.len().max(1) - 1) / 2)?, changes.get(changes.len() / 2)?);
        Some(Self {
            sessions: pairs.len(),
            change: cost / other - 1.0,
            median: (low + high) / 2.0,
            cheaper: share(&|it| it <= -SAME),
            same: share(&|it| it.abs() < SAME),
            dearer: share(&|it| it >= SAME),
            interval,
        })
    }
}

/// Returns the pairs that can be compared, in an order of their own.
fn sorted(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut pairs: Vec<(f64, f64)> = pairs.iter().copied().filter(|it| it.1 > 0.0).collect();
    pairs.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
    pairs
}

/// Returns the middle 95% of resampled totals of several lists of equal length.
fn intervals(all: &[&[(f64, f64)]]) -> Vec<[f64; 2]> {
    let n = all.first().map_or(0, |it| it.len());
    let changes = |sessions: Resample<'_>| {
        let mut sums = vec![(0.0, 0.0); all.len()];
        for session in sessions {
            for (sum, pairs) in sums.iter_mut().zip(all) {
                *sum = (sum.0 + pairs[session].0, sum.1 + pairs[session].1);
            }
        }
        sums.into_iter().map(|it| it.0 / it.1 - 1.0).collect::<Vec<f64>>()
    };
    let resampled = resampled(n, changes);
    (0..all.len()).map(|nth| middle(resampled.iter().map(|it| it[nth]).collect())).collect()
}

/// The sessions of a resample.
pub(super) type Resample<'a> = &'a mut dyn Iterator<Item = usize>;

/// Resamples a number of sessions, always in the same way, and returns a value for each resample.
pub(super) fn resampled<T>(n: usize, mut one: impl FnMut(Resample<'_>) -> T) -> Vec<T> {
    let stream: Stream = Seed(0).stream(PURPOSE, 0);
    let last = n.saturating_sub(1) as u64;
    let resample = |nth| {
        let mut draw = stream.nth(0, nth);
        one(&mut (0..n).map(|_| usize::try_from(draw.next_between(0, last)).unwrap_or(0)))
    };
    (0..RESAMPLES).map(resample).collect()
}

/// Returns the middle 95% of resampled values.
pub(super) fn middle(mut all: Vec<f64>) -> [f64; 2] {
    all.sort_by(f64::total_cmp);
    let beyond = all.len() / TAIL;
    [all[beyond], all[all.len() - 1 - beyond]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_counted_by_what_becomes_of_each() {
        let spread = Spread::new(&[(8.0, 10.0), (1.0, 1.0), (6.0, 5.0), (0.0, 0.0)]).unwrap();

        assert_eq!(spread.sessions, 3, "what costs nothing has no change");
        assert!((spread.change - (15.0 / 16.0 - 1.0)).abs() < 1e-12);
        assert_eq!(spread.median, 0.0);
        assert_eq!((spread.cheaper, spread.same, spread.dearer), (1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0));
        let [low, high] = spread.interval.unwrap();
        assert!(low < spread.change && spread.change < high && low >= -0.2 - 1e-12 && high <= 0.2 + 1e-12);
        assert_eq!(Spread::new(&[]), None);
        assert_eq!(Spread::new(&[(1.0, 2.0)]).unwrap().interval, None);
    }

    #[test]
    fn the_order_of_the_sessions_changes_nothing() {
        let pairs: Vec<(f64, f64)> = (1..40).map(|it| (f64::from(it * 7 % 11), f64::from(it))).collect();
        let turned: Vec<(f64, f64)> = pairs.iter().rev().copied().collect();

        assert_eq!(Spread::new(&pairs), Spread::new(&turned));
    }

    /// The standard error of a mean of equal shares is known: 1.96 of them lie on either side.
    #[test]
    fn an_interval_is_as_wide_as_the_standard_error_says() {
        let pairs: Vec<(f64, f64)> = (0..100).map(|it| (if it % 2 == 0 { 0.8 } else { 1.0 }, 1.0)).collect();

        let [low, high] = Spread::new(&pairs).unwrap().interval.unwrap();

        let reach = 1.96 * 0.1 / 10.0;
        assert!((low + 0.1 + reach).abs() < 0.003 && (high + 0.1 - reach).abs() < 0.003, "{low} {high}");
    }
}
