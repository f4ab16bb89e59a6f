//! Comparison of a number of two policies on the same sessions and draws.

use serde::Serialize;

use super::Tally;
use super::spread::SAME;
use ctxsim_base::rng::{Seed, Stream};

/// The random stream of resampling.
const PURPOSE: &str = "resampled sessions";
const RESAMPLES: u64 = 1_000;
/// The share of resamples beyond each end of an interval: one in this many.
const TAIL: usize = 40;

/// The better direction of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Lower is better.
    Lower,
    /// Higher is better.
    Higher,
    /// Neither is better.
    Neither,
}

/// How a candidate compares with its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Better,
    Worse,
    /// The numbers are equal.
    Same,
    /// They differ, but the interval of the difference contains 0.
    WithinNoise,
    /// They differ, but neither direction is better.
    Differs,
}

/// A number of two policies, and how they differ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delta {
    /// The base's.
    pub base: f64,
    /// The candidate's.
    pub candidate: f64,
    /// The candidate's minus the baseline's.
    pub difference: f64,
    /// The difference as a share of the base's number, or none if that is 0.
    pub relative: Option<f64>,
    /// The 95% interval of the difference: of a cost for later sessions (`limits`), of other numbers the middle of resampled sessions or trials,
    /// or bounds by Student's distribution; `None` for a single one.
    pub interval: Option<[f64; 2]>,
    /// How the candidate stands.
    pub standing: Standing,
}

impl Delta {
    /// Compares two numbers, given the interval of their difference, if known.
    pub fn new([base, candidate]: [f64; 2], interval: Option<[f64; 2]>, better: Better) -> Self {
        let difference = candidate - base;
        let relative = (base.abs() > 0.0).then(|| difference / base.abs());
        let standing = standing(difference, relative, interval, better);
        Self { base, candidate, difference, relative, interval, standing }
    }
}

/// Returns how a candidate stands.
fn standing(difference: f64, relative: Option<f64>, interval: Option<[f64; 2]>, better: Better) -> Standing {
    let is_same = relative.map_or(difference == 0.0, |it| it.abs() < SAME);
    let is_noise = interval.is_some_and(|[low, high]| low <= 0.0 && high >= 0.0);
    match better {
        _ if is_same => Standing::Same,
        _ if is_noise => Standing::WithinNoise,
        Better::Neither => Standing::Differs,
        Better::Lower if difference < 0.0 => Standing::Better,
        Better::Higher if difference > 0.0 => Standing::Better,
        _ => Standing::Worse,
    }
}

/// Paired runs of two policies: one pair for each session, or for each trial of one, the base's first.
#[derive(Debug)]
pub struct Pairs {
    /// The sum of all pairs.
    sums: Option<[Tally; 2]>,
    /// The sums of resampled pairs; `None` for a single pair.
    resampled: Vec<[Tally; 2]>,
}

impl Pairs {
    /// Adds pairs and, if there are several, resamples them; their order does not matter.
    pub fn new(pairs: &[[Tally; 2]]) -> Self {
        let mut pairs: Vec<[Tally; 2]> = pairs.to_vec();
        // What stages did is no number that is compared, and takes long to add up.
        pairs.iter_mut().flatten().for_each(|it| it.outcome.firings.clear());
        let cost = |it: &Tally| it.costs.exact().unwrap_or_default();
        pairs.sort_by_key(|it| it.each_ref().map(cost));
        let sum = |places: &mut dyn Iterator<Item = usize>| {
            let mut sum: Option<[Tally; 2]> = None;
            for place in places {
                match &mut sum {
                    Some([base, candidate]) => {
                        base.add(&pairs[place][0]);
                        candidate.add(&pairs[place][1]);
                    }
                    None => sum = Some(pairs[place].clone()),
                }
            }
            sum
        };
        let sums = sum(&mut (0..pairs.len()));
        let resampled = if pairs.len() > 1 { resampled(pairs.len(), sum) } else { Vec::new() };
        Self { sums, resampled: resampled.into_iter().flatten().collect() }
    }

    /// Returns the sums of the base and of the candidate, or nothing if there are no pairs.
    pub fn sums(&self) -> Option<&[Tally; 2]> {
        self.sums.as_ref()
    }

    /// Compares a number, or nothing if either is unknown.
    pub fn delta(&self, better: Better, number: impl Fn(&Tally) -> Option<f64>) -> Option<Delta> {
        let both = |[base, candidate]: &[Tally; 2]| Some([number(base)?, number(candidate)?]);
        let [base, candidate] = both(self.sums.as_ref()?)?;
        let differences: Vec<f64> =
            self.resampled.iter().filter_map(both).map(|[base, candidate]| candidate - base).collect();
        let interval = (!differences.is_empty()).then(|| middle(differences));
        Some(Delta::new([base, candidate], interval, better))
    }
}

/// The sessions of a resample.
type Resample<'a> = &'a mut dyn Iterator<Item = usize>;

/// Resamples a number of sessions, always in the same way, and returns a value for each resample.
fn resampled<T>(n: usize, mut one: impl FnMut(Resample<'_>) -> T) -> Vec<T> {
    let stream: Stream = Seed(0).stream(PURPOSE, 0);
    let last = n.saturating_sub(1) as u64;
    let resample = |nth| {
        let mut draw = stream.nth(0, nth);
        one(&mut (0..n).map(|_| usize::try_from(draw.next_between(0, last)).unwrap_or(0)))
    };
    (0..RESAMPLES).map(resample).collect()
}

/// Returns the middle 95% of resampled values.
fn middle(mut all: Vec<f64>) -> [f64; 2] {
    all.sort_by(f64::total_cmp);
    let beyond = all.len() / TAIL;
    [all[beyond], all[all.len() - 1 - beyond]]
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_difference_is_better_or_worse_only_where_its_interval_leaves_out_0() {
        let standing = |numbers, interval, better| Delta::new(numbers, interval, better).standing;

        assert_eq!(standing([10.0, 9.0], None, Better::Lower), Standing::Better);
        assert_eq!(standing([10.0, 9.0], None, Better::Higher), Standing::Worse);
        assert_eq!(standing([10.0, 9.0], None, Better::Neither), Standing::Differs);
        assert_eq!(standing([10.0, 9.0], Some([-2.0, 0.1]), Better::Lower), Standing::WithinNoise);
        assert_eq!(standing([10.0, 9.999], Some([-2.0, -0.1]), Better::Lower), Standing::Same);
        assert_eq!(standing([0.0, 0.0], None, Better::Lower), Standing::Same);
        assert_eq!(Delta::new([0.0, 2.0], None, Better::Lower).relative, None);
    }
}
