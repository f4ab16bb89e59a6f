//! Comparison of a number of two policies on the same sessions and draws.

use crate::prelude::*;

use super::{Statistic, Tally};
use ctxsim_base::rng::Stream;

/// The random stream of resampling.
const PURPOSE: &str = "resampled sessions";
const RESAMPLES: u64 = 1_000;
/// The share of resamples beyond each end of an interval: one in this many.
const TAIL: usize = 40;

/// The better direction of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
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

// How a change in cost varies over sessions: one session may save what another loses.

/// Changes in cost below this count as the same.
pub const SAME: f64 = 0.000_5;

/// How the change in cost against another policy varies over sessions; shares are of 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The 95% interval of the change in total cost for later sessions (`limits`); `None` for a single session.
    pub interval: Option<[f64; 2]>,
}

impl Spread {
    /// Describes costs beside those of another policy on the same sessions, given as pairs; `None` without any. What costs nothing has no
    /// change.
    pub fn new(pairs: &[(f64, f64)], interval: Option<[f64; 2]>) -> Option<Self> {
        let mut pairs: Vec<(f64, f64)> = pairs.iter().copied().filter(|it| it.1 > 0.0).collect();
        // Sums do not depend on the order of the sessions, to their last digit.
        pairs.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
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

// How a run compares with the first policy of its group: a lower cost alone is not a win.

/// A label of a run relative to its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// It is the baseline.
    Baseline,
    /// Cheaper, with no more recovery tokens and no more recovery calls.
    Dominates,
    /// At least half a percent cheaper, with at most two percent more of either.
    SafeCostWin,
    /// Cheaper, but evidence is lost.
    CostOnly,
    /// The same cost and the same recovery: it changed nothing that is paid for.
    Same,
    /// Not cheaper.
    Loses,
}

/// The smallest saving of a safe win.
const COST_SHARE: f64 = 0.995;
/// The largest increase in recovery of a safe win.
const RECOVERY_SHARE: f64 = 1.02;

impl Label {
    /// Compares a run with the baseline; `None` if they cannot be compared.
    ///
    /// Runs without needs do not show lost evidence, a run that stopped early has done less work, and an
    /// unknown cost cannot be compared.
    pub fn new(run: &Tally, baseline: &Tally) -> Option<Self> {
        let is_same_work = run.outcome.did_as_much_as(&baseline.outcome);
        if !run.has_needs || !baseline.has_needs || !is_same_work {
            return None;
        }
        let (cost, cost_then) = (run.costs.exact()?, baseline.costs.exact()?);
        let (tokens, tokens_then) = (recovery_tokens(run), recovery_tokens(baseline));
        let (calls, calls_then) = (run.sums.needs.calls, baseline.sums.needs.calls);
        let is_safe = cost.usd() <= cost_then.usd() * COST_SHARE
            && tokens.to_f64() <= tokens_then.to_f64() * RECOVERY_SHARE
            && calls.to_f64() <= calls_then.to_f64() * RECOVERY_SHARE;
        Some(if cost < cost_then && tokens <= tokens_then && calls <= calls_then {
            Self::Dominates
        } else if is_safe {
            Self::SafeCostWin
        } else if cost < cost_then {
            Self::CostOnly
        } else if cost == cost_then && tokens == tokens_then && calls == calls_then {
            Self::Same
        } else {
            Self::Loses
        })
    }
}

/// Returns the expected tokens of recovery, input and output.
fn recovery_tokens(run: &Tally) -> Expected {
    run.recovery_input + run.recovery_output
}

// A number of what is still known at the end, which stands beside the cost.

/// What a run, or the sum of several, remembers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remembered {
    /// Its metric in the JSON report.
    pub place: String,
    #[serde(skip)]
    pub heading: &'static str,
    /// Its better direction.
    #[serde(skip)]
    pub better: Better,
    #[serde(skip)]
    pub is_share: bool,
    /// The number over all trials.
    #[serde(flatten)]
    pub number: Statistic,
}

impl Remembered {
    /// Adds another load's numbers to those of a load: each trial counts once.
    pub fn add(all: &mut Vec<Self>, more: &[Self]) {
        for one in more {
            match all.iter_mut().find(|it| it.place == one.place) {
                Some(sum) => sum.number = sum.number.pooled(&one.number),
                None => all.push(one.clone()),
            }
        }
    }

    /// The same for a single number; nothing if the other is another number.
    pub fn and(self, other: &Self) -> Option<Self> {
        let is_same = self.place == other.place;
        is_same.then(|| Self { number: self.number.pooled(&other.number), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{NeedSums, Sums};
    use crate::price::Costs;
    use ctxsim_base::quantity::Amount;

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

    #[test]
    fn sessions_are_counted_by_what_becomes_of_each() {
        let spread = Spread::new(&[(8.0, 10.0), (1.0, 1.0), (6.0, 5.0), (0.0, 0.0)], None).unwrap();

        assert_eq!(spread.sessions, 3, "what costs nothing has no change");
        assert!((spread.change - (15.0 / 16.0 - 1.0)).abs() < 1e-12);
        assert_eq!(spread.median, 0.0);
        assert_eq!((spread.cheaper, spread.same, spread.dearer), (1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0));
        assert_eq!(Spread::new(&[], None), None);
    }

    #[test]
    fn the_order_of_the_sessions_changes_nothing() {
        let pairs: Vec<(f64, f64)> = (1..40).map(|it| (f64::from(it * 7 % 11), f64::from(it))).collect();
        let turned: Vec<(f64, f64)> = pairs.iter().rev().copied().collect();

        assert_eq!(Spread::new(&pairs, None), Spread::new(&turned, None));
    }

    fn run(cost: f64, tokens: f64, calls: f64) -> Tally {
        Tally {
            sums: Sums {
                needs: NeedSums { calls: Expected::from_f64(calls), ..NeedSums::default() },
                ..Sums::default()
            },
            costs: Costs { recovery: Amount::of_usd(cost), ..Costs::default() },
            recovery_input: Expected::from_f64(tokens),
            ..Tally::empty()
        }
    }

    #[test]
    fn a_run_is_named_by_cost_and_by_what_recovery_takes() {
        let baseline = run(100.0, 1_000.0, 10.0);
        let label = |cost, tokens, calls| Label::new(&run(cost, tokens, calls), &baseline);

        assert_eq!(label(99.9, 1_000.0, 10.0), Some(Label::Dominates));
        assert_eq!(label(99.5, 1_020.0, 10.2), Some(Label::SafeCostWin));
        assert_eq!(label(99.6, 1_020.0, 10.0), Some(Label::CostOnly), "less than half a percent");
        assert_eq!(label(50.0, 1_021.0, 10.0), Some(Label::CostOnly), "more than two percent");
        assert_eq!(label(100.0, 0.0, 0.0), Some(Label::Loses), "an equal cost is no win");
        assert_eq!(label(100.0, 1_000.0, 10.0), Some(Label::Same), "nor is it a loss if nothing differs");
    }

    #[test]
    fn a_run_that_did_less_or_knows_no_needs_is_not_compared() {
        let baseline = run(100.0, 0.0, 0.0);
        let mut stopped = run(1.0, 0.0, 0.0);
        (stopped.outcome.turns_requested, stopped.outcome.turns_completed) = (8, 7);
        let mut unknown = run(1.0, 0.0, 0.0);
        unknown.has_needs = false;

        assert_eq!(Label::new(&stopped, &baseline), None);
        assert_eq!(Label::new(&unknown, &baseline), None);
    }
}
