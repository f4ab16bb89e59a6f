//! What a row of a family does over all sessions: its change in cost, what it keeps, and how far each may be off.

use super::{FamilySession, SessionEffect, TriedFamily};
use crate::prelude::*;
use ctxsim_engine::ledger::is_as_much;
use ctxsim_engine::measure::assumed::{Assumed, AssumedCost, AssumedReach};
use ctxsim_engine::measure::limits::{
    Over, RatioError, RatioSample, ratio_error, sum_of_pairs, unit_of_blocks, within_strata,
};
use ctxsim_engine::measure::student;

/// A ratio over sessions that may be off, and by how much each session has it so.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncertain {
    /// The ratio; of costs less 1.
    pub(super) value: f64,
    /// Its standard error by which sessions were sampled.
    pub(super) error: f64,
    pub(super) freedom: u64,
    /// By how much what each session has differs from the ratio, of all together.
    pub(super) residuals: Vec<f64>,
}

/// What a row does.
#[derive(Clone, Debug, Default)]
pub(super) struct RowEffect {
    /// The change in cost; `None` where a session cannot be compared, or there is a single one.
    pub(super) cost: Option<Uncertain>,
    /// Whether no session costs anything else.
    pub(super) is_same: bool,
    /// By how much each assumption moves the change at its lower and at its upper end.
    pub(super) moved: Vec<[f64; 2]>,
    /// How far below and above the change all of them reach together.
    pub(super) reach: AssumedReach,
    /// The share of the cost that the row's settings concern.
    pub(super) concerned: f64,
    /// The change without the session that saves most.
    pub(super) without_best: f64,
    /// What is kept; `None` where nothing says what is needed.
    pub(super) kept: Option<Uncertain>,
    /// The share of requests that show what the user asked; `None` where all do.
    pub(super) task: Option<f64>,
    pub(super) is_edited: bool,
    /// What as many turns again would cost, as a share of what the base costs.
    pub(super) again: Option<f64>,
}

impl Uncertain {
    /// Returns how far it reaches for itself at 97.5%.
    pub(super) fn half_width(&self) -> f64 {
        student(self.freedom) * self.error
    }
}

impl RowEffect {
    pub(super) fn new(family: &TriedFamily<'_>, nth: usize) -> Self {
        let pairs: Option<Vec<[AssumedCost; 2]>> =
            family.sessions.iter().map(|it| costs(it.rows[nth], it.base)).collect();
        let kept = kept(family, nth);
        let all = family.sessions.iter().map(|it| it.rows[nth]);
        let is_edited = all.clone().any(|it| it.is_edited);
        let task = sum_of_pairs(all.map(|it| it.task));
        let task = (task.0 < task.1).then(|| task.0 / task.1);
        let rest = Self { kept, task, is_edited, ..Self::default() };
        let Some(pairs) = pairs.filter(|it| it.iter().any(|it| it[1].usd > 0.0)) else { return rest };
        let samples = |of: &[[AssumedCost; 2]]| -> Vec<RatioSample<'_>> {
            let pair = of.iter().map(|it| (it[0].usd, it[1].usd));
            family.sessions.iter().zip(pair).map(|(it, pair)| it.sample(pair)).listed()
        };
        let samples = samples(&pairs);
        let row = &family.rows[nth];
        let touches = |it: &FamilySession<'_>| row.lanes.iter().any(|on| on[usize::from(it.is_of_agent)]);
        let touched = family.sessions.iter().zip(&samples).filter(|it| touches(it.0)).listed();
        let concerned: f64 = touched.iter().map(|it| it.1.pair.1).sum();
        let strata = if row.is_lifetime {
            // How much of all a lane has may change: what is not touched belongs to those whose effect weighs most.
            let weight = |of: usize| {
                touched.iter().filter(|it| it.0.lifetimes == of).map(|it| it.1.pair.1).sum::<f64>()
            };
            let most =
                touched.iter().map(|it| it.0.lifetimes).max_by(|a, b| weight(*a).total_cmp(&weight(*b)));
            let most = most.unwrap_or_default();
            family.sessions.iter().map(|it| if touches(it) { it.lifetimes } else { most }).listed()
        } else {
            vec![0; family.sessions.len()]
        };
        let (level, n_strata) = within_strata(&samples, &strata);
        let [mut own, mut base] = [AssumedCost::default(); 2];
        pairs.iter().for_each(|it| {
            own += &it[0];
            base += &it[1];
        });
        let change = own.change_from(&base);
        let moved = Assumed::ALL.map(|it| own.change_at(&base, it).map(|it| it - change));
        let cost = ratio_error(&level, Over::Sessions).map(|alone| {
            // What blocks add widens the error; how well it is known is in the freedom of all sessions.
            let of_time = unit_of_blocks(&samples).and_then(|it| ratio_error(&level, it));
            let error = of_time.map_or(alone.error, |it| it.error.max(alone.error));
            let freedom = alone.freedom.saturating_sub(n_strata as u64 - 1).max(1);
            uncertain(&level, RatioError { change, error, freedom })
        });
        let again: Option<f64> = family.sessions.iter().map(|it| it.rows[nth].again).sum();
        Self {
            cost,
            is_same: samples.iter().all(|it| it.pair.0 == it.pair.1),
            moved: moved.to_vec(),
            reach: own.reach_from(&base),
            concerned: concerned / base.usd,
            without_best: without_best(&samples, (own.usd, base.usd)),
            again: again.map(|usd| usd / base.usd),
            ..rest
        }
    }

    /// Returns its standard error above, by sampling and by what is assumed.
    pub(super) fn error(&self) -> Option<f64> {
        Some(self.half_widths()?[1] / student(self.cost.as_ref()?.freedom))
    }

    /// Returns the 95% half-widths of its change in cost, below and above: those of sampling and of what is assumed together.
    pub(super) fn half_widths(&self) -> Option<[f64; 2]> {
        let beside = self.cost.as_ref()?.half_width();
        Some(self.reach.0.map(|it| it.hypot(beside)))
    }
}

impl<'s> FamilySession<'s> {
    fn sample(&self, pair: (f64, f64)) -> RatioSample<'s> {
        RatioSample { pair, project: self.project, at_ms: self.last_ms }
    }
}

/// Returns the costs of a row and of what is in force in one session; `None` if one of them stops earlier, or a price is unknown.
fn costs(own: &SessionEffect, base: &SessionEffect) -> Option<[AssumedCost; 2]> {
    let (own_cost, base_cost) = own.cost.zip(base.cost)?;
    is_as_much([own.ended, base.ended]).then_some([own_cost, base_cost])
}

/// Returns a ratio with what each session adds to its error.
fn uncertain(samples: &[RatioSample<'_>], found: RatioError) -> Uncertain {
    let (own, base) = sum_of_pairs(samples.iter().map(|it| it.pair));
    let ratio = own / base;
    let residual = |it: &RatioSample<'_>| (it.pair.0 - ratio * it.pair.1) / base;
    Uncertain {
        value: found.change,
        error: found.error,
        freedom: found.freedom,
        residuals: samples.iter().map(residual).listed(),
    }
}

/// Returns the change without the session that saves most.
fn without_best(samples: &[RatioSample<'_>], all: (f64, f64)) -> f64 {
    let best = samples.iter().map(|it| it.pair).min_by(|one, other| {
        let saved = |it: &(f64, f64)| it.0 - it.1;
        saved(one).total_cmp(&saved(other))
    });
    let (own, base) = best.unwrap_or_default();
    if all.1 - base > 0.0 { (all.0 - own) / (all.1 - base) - 1.0 } else { 0.0 }
}

/// Returns what is kept. Over time it falls first, and whole projects or people may differ: the error is the largest over any of these blocks.
fn kept(family: &TriedFamily<'_>, nth: usize) -> Option<Uncertain> {
    let known = || family.sessions.iter().filter_map(|it| Some((it, it.rows[nth].kept?)));
    let samples: Vec<RatioSample<'_>> = known().map(|(it, pair)| it.sample(pair)).listed();
    let by_person: Vec<RatioSample<'_>> =
        samples.iter().zip(known()).map(|(it, of)| RatioSample { project: of.0.person, ..*it }).listed();
    let of_time = unit_of_blocks(&samples).map(|it| [it, Over::Weeks]);
    let over = of_time.into_iter().flatten().chain([Over::Sessions, Over::Projects]);
    let errors = over.filter_map(|it| ratio_error(&samples, it));
    let worst = errors
        .chain(ratio_error(&by_person, Over::Projects))
        .max_by(|one, other| reach(one).total_cmp(&reach(other)))?;
    let mut kept = uncertain(&samples, worst);
    kept.value += 1.0;
    // Sessions in which nothing is needed add nothing.
    let mut own = kept.residuals.into_iter();
    let residual = |it: &FamilySession<'_>| it.rows[nth].kept.and_then(|_| own.next()).unwrap_or(0.0);
    kept.residuals = family.sessions.iter().map(residual).listed();
    Some(kept)
}

/// Returns how far an error reaches.
fn reach(it: &RatioError) -> f64 {
    student(it.freedom) * it.error
}
