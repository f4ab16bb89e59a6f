//! Joint draws of what all rows of a family may be off by, and the step-down correction over them.
//!
//! Sessions are drawn anew as multipliers of their residuals, the same for every row, and each assumption as one number under which all rows
//! stand; so rows that go together are off together, and what is tried in many variants costs little. A draw divides by the root of a
//! chi-squared number over its freedom, as Student's distribution does. The step-down over the smallest probability of those left is that of
//! Westfall and Young (1993), algorithm 2.8: it holds the chance of any false rejection, whatever is true, and rows of few sessions, whose tails
//! are long, keep no others from being found.

use super::TriedFamily;
use super::effects::{RowEffect, UncertainRatio};
use super::words::PROBABLY;
use crate::lever::Lever;
use crate::prelude::*;
use ctxsim_base::rng::{Draw, Seed};
use ctxsim_engine::measure::assumed::Assumed;
use std::sync::{Arc, Mutex, PoisonError};

/// How many draws. A probability of 5% is then off by a third of a point.
const DRAWS: usize = 4_000;

/// As many numbers as draws, and more, in whole bits.
const PLACES: u64 = DRAWS.next_power_of_two() as u64;

/// The chance of any false saving in a family that is allowed.
pub(super) const LEVEL: f64 = 0.05;

/// An assumption's 95% interval reaches so many standard deviations.
const ENDS: f64 = 1.96;

/// A single end that holds with 95% is so many away.
const ONE_END: f64 = 1.645;

/// What joint draws say of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowChances {
    /// That it costs more than what is in force, or as much.
    pub(super) costs: f64,
    /// That it keeps less than the floor.
    pub(super) breaks: f64,
    /// What as many later sessions keep with 95%.
    pub(super) kept_low: f64,
    /// Of a false saving anywhere in the family, if it is said to save.
    pub(super) adjusted: f64,
    /// The place of a setting of a combination that may cost more than it saves beside the others.
    pub(super) part_may_cost: Option<usize>,
}

/// A statement: how many standard errors speak for it, and by how many each draw is off against it.
struct RowTest {
    error: f64,
    stands: f64,
    off: Vec<f64>,
}

/// Gives each row its chances, and returns by how many of its standard errors the best row is expected to look better than it is.
pub(super) fn set_chances_and_overestimate(family: &TriedFamily<'_>, effects: &mut [RowEffect]) -> f64 {
    let drawn = JointDraws::new(family, effects);
    let costs = effects.iter().map(|row| drawn.test_of_saving(row)).listed();
    let kept_tests = effects.iter().map(|row| drawn.test_of_keeping(row, family.floor)).listed();
    let parts = (0..costs.len()).map(|nth| part_that_may_cost(family, &costs, nth)).listed();
    let adjusted = correct_step_down(&costs);
    let shrinkage = expected_overestimate_in_se(effects, &costs);
    for (nth, adjusted) in adjusted.into_iter().enumerate() {
        // What is assumed of needs may be wrong beside what sampling is off by.
        let low = |row: &RowEffect| {
            let kept = row.kept.as_ref()?;
            let sampled = kept.error * kept_tests[nth].error_quantile(LEVEL);
            Some(kept.value - sampled.hypot(row.kept_assumed * ONE_END / ENDS))
        };
        effects[nth].chances = RowChances {
            costs: costs[nth].p_value(),
            breaks: kept_tests[nth].p_value(),
            kept_low: low(&effects[nth]).unwrap_or_default().max(0.0),
            adjusted,
            part_may_cost: parts[nth],
        };
    }
    shrinkage
}

/// Rows of draws that were made before: every family has the same ones.
type KnownNormals = Mutex<Vec<Arc<[f64]>>>;

static SESSIONS: KnownNormals = Mutex::new(Vec::new());
static ASSUMPTIONS: KnownNormals = Mutex::new(Vec::new());

/// Returns rows of normal numbers, by draw, each with a stream of its own.
fn normal_draw_rows(row_cache: &KnownNormals, purpose: &str, n_rows: usize) -> Vec<Arc<[f64]>> {
    let mut rows = row_cache.lock().unwrap_or_else(PoisonError::into_inner);
    for nth in rows.len()..n_rows {
        let mut draw = Seed(0).stream(purpose, 0).nth(nth as u64, 0);
        rows.push((0..DRAWS).map(|_| draw_normal(&mut draw)).collect());
    }
    rows.iter().take(n_rows).cloned().listed()
}

/// What is drawn for all rows alike.
struct JointDraws {
    /// By session, then by draw.
    sessions: Vec<Arc<[f64]>>,
    /// By assumption, then by draw.
    assumed: Vec<Arc<[f64]>>,
    /// One over Student's divisor, by freedom, then by draw.
    scale: IndexMap<u64, Vec<f64>>,
}

impl JointDraws {
    fn new(family: &TriedFamily<'_>, effects: &[RowEffect]) -> Self {
        let mut scale: IndexMap<u64, Vec<f64>> = IndexMap::new();
        // The same numbers for every freedom, so that all rows are off together.
        let stream = Seed(0).stream("freedom of a family", 0);
        let draws = |freedom: u64| {
            let mean = |nth: usize| draw_chi_squared_mean(freedom, &mut stream.nth(nth as u64, 0));
            (0..DRAWS).map(|nth| (1.0 / mean(nth)).sqrt()).listed()
        };
        for uncertain in effects.iter().flat_map(|row| row.cost.iter().chain(&row.kept)) {
            scale.entry(uncertain.freedom).or_insert_with(|| draws(uncertain.freedom));
        }
        Self {
            sessions: normal_draw_rows(&SESSIONS, "sessions of a family", family.sessions.len()),
            assumed: normal_draw_rows(&ASSUMPTIONS, "assumptions of a family", Assumed::N),
            scale,
        }
    }

    /// Returns what sampling is off by, by draw.
    fn sampling_errors(&self, ratio: &UncertainRatio) -> Vec<f64> {
        let length: f64 = ratio.residuals.iter().map(|residual| residual * residual).sum::<f64>().sqrt();
        let mut off = vec![0.0; DRAWS];
        if length <= 0.0 {
            return off;
        }
        let moving = ratio.residuals.iter().zip(&self.sessions).filter(|(residual, _)| **residual != 0.0);
        for (residual, drawn) in moving {
            let weight = residual * ratio.error / length;
            off.iter_mut().zip(drawn.iter()).for_each(|(off, drawn)| *off += weight * drawn);
        }
        let scale = self.scale.get(&ratio.freedom).map_or(&[][..], Vec::as_slice);
        off.iter_mut().zip(scale).for_each(|(off, scale)| *off *= scale);
        off
    }

    /// Returns the statement that a row saves.
    fn test_of_saving(&self, row: &RowEffect) -> RowTest {
        let both = row.cost.as_ref().zip(row.cost_standard_error());
        let Some((cost, error)) = both else { return RowTest::NEVER_TRUE };
        let mut off = self.sampling_errors(cost);
        for (moved, drawn) in row.moved.iter().zip(&self.assumed).filter(|(moved, _)| **moved != [0.0; 2]) {
            let at = |drawn: f64| drawn.abs() / ENDS * moved[usize::from(drawn > 0.0)];
            off.iter_mut().zip(drawn.iter()).for_each(|(off, drawn)| *off += at(*drawn));
        }
        RowTest::new(-cost.value, error, off)
    }

    /// Returns the statement that a row keeps the floor; it always holds where nothing says what is needed.
    fn test_of_keeping(&self, row: &RowEffect, floor: f64) -> RowTest {
        let Some(kept) = &row.kept else { return RowTest::ALWAYS_TRUE };
        let mut off = self.sampling_errors(kept);
        off.iter_mut().for_each(|it| *it = -*it);
        RowTest::new(kept.value - floor, kept.error, off)
    }
}

impl RowTest {
    fn new(estimate: f64, error: f64, mut draw_errors: Vec<f64>) -> Self {
        /// Sums of weights round by less.
        const ROUNDING: f64 = 1e-9;
        if error <= ROUNDING {
            return if estimate >= -ROUNDING { Self::ALWAYS_TRUE } else { Self::NEVER_TRUE };
        }
        draw_errors.iter_mut().for_each(|it| *it /= error);
        Self { error, stands: estimate / error, off: draw_errors }
    }

    /// One that is not in doubt.
    const ALWAYS_TRUE: Self = Self { error: 0.0, stands: f64::INFINITY, off: Vec::new() };
    /// One that cannot be made.
    const NEVER_TRUE: Self = Self { error: 0.0, stands: f64::NEG_INFINITY, off: Vec::new() };

    /// Returns what a draw saves that is off by so much against it.
    fn saved_in(&self, off: f64) -> f64 {
        self.error * (self.stands - off)
    }

    /// Returns the share of draws that are off by as much as it stands, or more.
    fn p_value(&self) -> f64 {
        match self.stands {
            f64::NEG_INFINITY => 1.0,
            stands => self.off.iter().filter(|it| **it >= stands).count() as f64 / DRAWS as f64,
        }
    }

    /// Returns by draw the share of draws that are off by as much, or more.
    fn p_values_of_draws(&self) -> Vec<f64> {
        // A draw's number stands in the last bits of what is sorted, which is faster than to sort numbers by what they stand for.
        let key = |(nth, off): (usize, &f64)| (descending_sort_key(*off) & !(PLACES - 1)) | nth as u64;
        let mut order: Vec<u64> = self.off.iter().enumerate().map(key).listed();
        order.sort_unstable();
        let mut all = vec![1.0; self.off.len()];
        let places = order.iter().map(|it| (it & (PLACES - 1)) as usize);
        places.zip(1..).for_each(|(draw, nth)| all[draw] = f64::from(nth) / DRAWS as f64);
        all
    }

    /// Returns how many standard errors all but a share of the draws are off by at most.
    fn error_quantile(&self, tail_share: f64) -> f64 {
        let mut sorted = self.off.clone();
        let place = ((1.0 - tail_share) * DRAWS as f64) as usize;
        if place >= sorted.len() {
            return 0.0;
        }
        *sorted.select_nth_unstable_by(place, f64::total_cmp).1
    }
}

/// Returns a number whose order is the opposite one.
fn descending_sort_key(number: f64) -> u64 {
    let bits = number.to_bits();
    // Of floats, as `f64::total_cmp` has it.
    let ascending = if bits >> 63 == 1 { !bits } else { bits | (1 << 63) };
    !ascending
}

/// Steps down from the best founded statement: each is held against the most extreme of all that are not better founded. Returns for each the
/// chance of an error among all statements, if it is made.
fn correct_step_down(tests: &[RowTest]) -> Vec<f64> {
    let alone = tests.iter().map(RowTest::p_value).listed();
    let mut order: Vec<usize> = (0..tests.len()).listed();
    order.order_by(|one, other| {
        alone[*one].total_cmp(&alone[*other]).then(tests[*other].stands.total_cmp(&tests[*one].stands))
    });
    let mut least = vec![1.0; DRAWS];
    let mut adjusted = vec![0.0; tests.len()];
    for nth in order.iter().rev() {
        least.iter_mut().zip(tests[*nth].p_values_of_draws()).for_each(|(least, p)| *least = p.min(*least));
        adjusted[*nth] = least.iter().filter(|it| **it <= alone[*nth]).count() as f64 / DRAWS as f64;
    }
    let mut most = 0.0_f64;
    for nth in order {
        most = most.max(adjusted[nth]);
        adjusted[nth] = most;
    }
    adjusted
}

/// Returns the place of a setting of a combination that saves beside the others with a smaller probability than what is worth a try; none where
/// that is not known.
fn part_that_may_cost(family: &TriedFamily<'_>, tests: &[RowTest], nth: usize) -> Option<usize> {
    let set = &family.levers[nth].set;
    let saves_more_than = |rest: usize| {
        let [with, without] = [&tests[nth], &tests[rest]];
        let draws = with.off.iter().zip(&without.off);
        let more = draws.filter(|(own, other)| with.saved_in(**own) > without.saved_in(**other));
        more.count() as f64 / DRAWS as f64
    };
    (0..set.len()).find(|part| {
        let rest = index_without_part(&family.levers, nth, *part);
        rest.is_some_and(|rest| saves_more_than(rest) < PROBABLY)
    })
}

/// Returns the place of the lever that is another one without one of its settings.
pub(super) fn index_without_part(levers: &[Lever], nth: usize, part: usize) -> Option<usize> {
    let rest = levers[nth].set.iter().enumerate().filter(|(own, _)| *own != part).map(|(_, set)| set);
    let rest = rest.listed();
    levers.iter().position(|lever| !rest.is_empty() && lever.set.iter().eq(rest.iter().copied()))
}

/// Returns a chi-squared number over its degrees of freedom; of many, by the cube of a normal one (Wilson and Hilferty 1931).
fn draw_chi_squared_mean(freedom: u64, draw: &mut Draw) -> f64 {
    const FEW: u64 = 8;
    if freedom <= FEW {
        return (0..freedom).map(|_| draw_normal(draw).powi(2)).sum::<f64>() / freedom as f64;
    }
    let variance = 2.0 / (9.0 * freedom as f64);
    (1.0 - variance + draw_normal(draw) * variance.sqrt()).powi(3)
}

/// Returns a normal number, by twelve uniform ones of 16 bits: sums are the same on any machine, logarithms are not.
fn draw_normal(draw: &mut Draw) -> f64 {
    const HALF: f64 = 32_767.5;
    // The sum of twelve has a variance of 1 in units of their range.
    const RANGE: f64 = 65_536.0;
    let two = |bits: u64| (bits & 0xffff_0000_ffff) + (bits >> 16 & 0xffff_0000_ffff);
    let sums = two(draw.next_bits()) + two(draw.next_bits()) + two(draw.next_bits());
    (((sums & 0xffff_ffff) + (sums >> 32)) as f64 - 12.0 * HALF) / RANGE
}

/// Returns by how many of its standard errors the best row is expected to look better than it is: were what was found the truth, and all rows
/// measured once more, the row that then looks best would be off by so much on average. The more rows are about as good, the more it is. What
/// does not look sure is not promised, so only what stands by more errors than any row is off by in 95% of the draws counts.
fn expected_overestimate_in_se(effects: &[RowEffect], tests: &[RowTest]) -> f64 {
    let drawn = effects.iter().zip(tests).filter(|(row, test)| !row.is_same && test.off.len() == DRAWS);
    let known = |row: &RowEffect| Some((row.cost.as_ref()?.value, row.cost_standard_error()?));
    let rows = drawn.filter_map(|(row, test)| known(row).map(|(cost, error)| (cost, error, &test.off)));
    let rows = rows.listed();
    let furthest = |draw: usize| rows.iter().map(|(.., off)| off[draw]).fold(f64::NEG_INFINITY, f64::max);
    let sure =
        RowTest { error: 1.0, stands: 0.0, off: (0..DRAWS).map(furthest).listed() }.error_quantile(LEVEL);
    let luck = |draw: usize| {
        let seen = rows.iter().map(|(found, error, off)| (found + error * off[draw], error, off[draw]));
        let best = seen.min_by(|one, other| one.0.total_cmp(&other.0));
        best.filter(|(seen, error, _)| -seen >= sure * **error).map(|(.., off)| -off)
    };
    let lucky = (0..DRAWS).filter_map(luck).listed();
    (lucky.iter().sum::<f64>() / lucky.len().max(1) as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_and_chi_squared_ones_have_their_means_and_variances() {
        let mut draw = Seed(1).stream("tests of draws", 0).nth(0, 0);
        let moments = |number: &mut dyn FnMut() -> f64| {
            let all: Vec<f64> = (0..20_000).map(|_| number()).collect();
            let mean = all.iter().sum::<f64>() / 20_000.0;
            (mean, all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 20_000.0)
        };
        let (mean, variance) = moments(&mut || draw_normal(&mut draw));
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "{mean}, {variance}");
        for freedom in [1, 3, 8, 9, 40] {
            let (mean, variance) = moments(&mut || draw_chi_squared_mean(freedom, &mut draw));
            let expected = 2.0 / freedom as f64;
            let is_near = (mean - 1.0).abs() < 0.04 && (variance / expected - 1.0).abs() < 0.08;
            assert!(is_near, "{freedom}: {mean}, {variance}");
        }
    }

    #[test]
    fn a_step_down_holds_each_statement_against_those_that_are_left() {
        let off = |shift: f64| (0..DRAWS).map(|nth| nth as f64 / DRAWS as f64 + shift).listed();
        let all = [
            RowTest { error: 1.0, stands: 2.0, off: off(0.0) },
            RowTest { error: 1.0, stands: 0.97, off: off(0.0) },
            RowTest { error: 1.0, stands: 0.5, off: off(-0.2) },
            RowTest::ALWAYS_TRUE,
            RowTest::NEVER_TRUE,
        ];
        let found = correct_step_down(&all);

        assert_eq!(found[0], 0.0, "no draw is off by so much");
        assert!((found[1] - 0.03).abs() < 1e-3, "{found:?}");
        assert!((found[2] - 0.3).abs() < 1e-3, "the better founded are no longer in its way: {found:?}");
        assert_eq!((found[3], found[4]), (0.0, 1.0));
    }
}
