//! What a row of a family does over all sessions: its change in cost, what it keeps, and how far each may be off.

use super::joint::RowChances;
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
pub(super) struct UncertainRatio {
    /// The ratio; of costs less 1.
    pub(super) value: f64,
    /// Its standard error by which sessions were sampled.
    pub(super) error: f64,
    pub(super) freedom: u64,
    /// Each session's distance from the pooled ratio.
    pub(super) residuals: Vec<f64>,
}

/// What a row does.
#[derive(Clone, Debug, Default)]
pub(super) struct RowEffect {
    /// The change in cost of these sessions; `None` where one of them cannot be compared.
    pub(super) change: Option<f64>,
    /// The same with how far it may be off; `None` for a single session, too.
    pub(super) cost: Option<UncertainRatio>,
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
    pub(super) kept: Option<UncertainRatio>,
    /// The share of requests that show what the user asked; `None` where all do.
    pub(super) task: Option<f64>,
    pub(super) is_edited: bool,
    /// What as many turns again would cost, as a share of what the base costs.
    pub(super) again: Option<f64>,
    /// How probable joint draws of all rows make what it does.
    pub(super) chances: RowChances,
}

impl UncertainRatio {
    /// Returns a ratio with what each session adds to its error.
    fn new(samples: &[RatioSample<'_>], found: RatioError) -> Self {
        let (own, base) = sum_of_pairs(samples.iter().map(|sample| sample.pair));
        let ratio = own / base;
        let residual = |sample: &RatioSample<'_>| (sample.pair.0 - ratio * sample.pair.1) / base;
        let RatioError { change, error, freedom } = found;
        Self { value: change, error, freedom, residuals: samples.iter().map(residual).listed() }
    }

    /// Returns how far it reaches for itself at 97.5%.
    pub(super) fn half_width(&self) -> f64 {
        student(self.freedom) * self.error
    }
}

/// What a session costs under a row, and as it is.
struct CostPair {
    changed: AssumedCost,
    base: AssumedCost,
}

impl CostPair {
    /// Returns the costs of one session; `None` if one of the two stops earlier, or a price is unknown.
    fn from_effects(changed: &SessionEffect, base: &SessionEffect) -> Option<Self> {
        is_as_much([changed.ended, base.ended]).then_some(())?;
        Some(Self { changed: changed.cost?, base: base.cost? })
    }
}

impl RowEffect {
    /// Sums up what a row does to the sessions of its family.
    pub(super) fn new(family: &TriedFamily<'_>, row_ix: usize) -> Self {
        let own = family.sessions.iter().map(|session| session.rows[row_ix]);
        let (shown, running) = sum_of_pairs(own.clone().map(|effect| effect.task));
        let kept_only = Self {
            kept: kept_evidence_share(family, row_ix),
            task: (shown < running).then(|| shown / running),
            is_edited: own.clone().any(|effect| effect.is_edited),
            ..Self::default()
        };
        let pairs = own.zip(&family.sessions).map(|(own, session)| CostPair::from_effects(own, session.base));
        match pairs.collect::<Option<Vec<_>>>().filter(|all| all.iter().any(|pair| pair.base.usd > 0.0)) {
            Some(pairs) => kept_only.with_costs(family, row_ix, &pairs),
            None => kept_only,
        }
    }

    /// Adds what the costs of all sessions come to.
    fn with_costs(self, family: &TriedFamily<'_>, row_ix: usize, pairs: &[CostPair]) -> Self {
        let mut samples = Vec::with_capacity(pairs.len());
        let [mut changed, mut base] = [AssumedCost::default(); 2];
        for (session, pair) in family.sessions.iter().zip(pairs) {
            samples.push(session.ratio_sample((pair.changed.usd, pair.base.usd)));
            changed += pair.changed;
            base += pair.base;
        }
        let touches = |session: &FamilySession<'_>| family.levers[row_ix].lanes.include(session.is_of_agent);
        let touched = family.sessions.iter().zip(pairs).filter(|(session, _)| touches(session)).listed();
        let mut strata = vec![0; pairs.len()];
        if family.levers[row_ix].is_lifetime {
            // How much of all a lane has may change: what is not touched belongs to those whose effect weighs most.
            let weight = |lifetimes: usize| {
                let alike = touched.iter().filter(|(session, _)| session.lifetimes == lifetimes);
                alike.map(|(_, pair)| pair.base.usd).sum::<f64>()
            };
            let all = touched.iter().map(|(session, _)| session.lifetimes);
            let most = all.max_by(|one, other| weight(*one).total_cmp(&weight(*other))).unwrap_or_default();
            for (stratum, session) in strata.iter_mut().zip(&family.sessions) {
                *stratum = if touches(session) { session.lifetimes } else { most };
            }
        }
        let (level, n_strata) = within_strata(&samples, &strata);
        let change = changed.change_from(&base);
        let cost = ratio_error(&level, Over::Sessions).map(|alone| {
            // What blocks add widens the error; how well it is known is in the freedom of all sessions.
            let of_time = unit_of_blocks(&samples).and_then(|unit| ratio_error(&level, unit));
            let error = of_time.map_or(alone.error, |blocks| blocks.error.max(alone.error));
            let freedom = alone.freedom.saturating_sub(n_strata as u64 - 1).max(1);
            UncertainRatio::new(&level, RatioError { change, error, freedom })
        });
        let again: Option<f64> = family.sessions.iter().map(|session| session.rows[row_ix].again).sum();
        let moved = Assumed::ALL.map(|assumed| changed.change_at(&base, assumed).map(|end| end - change));
        Self {
            change: Some(change),
            cost,
            is_same: samples.iter().all(|sample| sample.pair.0 == sample.pair.1),
            moved: moved.to_vec(),
            reach: changed.reach_from(&base),
            concerned: touched.iter().map(|(_, pair)| pair.base.usd).sum::<f64>() / base.usd,
            without_best: cost_change_without_best(&samples, (changed.usd, base.usd)),
            again: again.map(|usd| usd / base.usd),
            ..self
        }
    }

    /// Returns its standard error above, by sampling and by what is assumed.
    pub(super) fn cost_standard_error(&self) -> Option<f64> {
        Some(self.cost_half_widths()?[1] / student(self.cost.as_ref()?.freedom))
    }

    /// Returns the 95% half-widths of its change in cost, below and above: those of sampling and of what is assumed together.
    pub(super) fn cost_half_widths(&self) -> Option<[f64; 2]> {
        let sampled = self.cost.as_ref()?.half_width();
        Some(self.reach.0.map(|end| end.hypot(sampled)))
    }

    /// Returns the assumption that reaches furthest in it.
    pub(super) fn largest_assumption(&self) -> Option<Assumed> {
        let reach = |nth: usize| self.moved[nth][0].abs().max(self.moved[nth][1].abs());
        let moving = (0..self.moved.len()).filter(|nth| reach(*nth) > 0.0);
        Some(Assumed::ALL[moving.max_by(|one, other| reach(*one).total_cmp(&reach(*other)))?])
    }
}

impl<'s> FamilySession<'s> {
    fn ratio_sample(&self, pair: (f64, f64)) -> RatioSample<'s> {
        RatioSample { pair, project: self.project, at_ms: self.last_ms }
    }
}

/// Returns the change without the session that saves most, of the sums of all.
fn cost_change_without_best(samples: &[RatioSample<'_>], (changed, base): (f64, f64)) -> f64 {
    let saved = |sample: &&RatioSample<'_>| sample.pair.0 - sample.pair.1;
    let best = samples.iter().min_by(|one, other| saved(one).total_cmp(&saved(other)));
    let (own, own_base) = best.map(|sample| sample.pair).unwrap_or_default();
    if base - own_base > 0.0 { (changed - own) / (base - own_base) - 1.0 } else { 0.0 }
}

/// Returns what is kept. Over time it falls first, and whole projects or people may differ: the error is the largest over any of these blocks.
fn kept_evidence_share(family: &TriedFamily<'_>, row_ix: usize) -> Option<UncertainRatio> {
    let (mut samples, mut by_person) = (Vec::new(), Vec::new());
    for session in &family.sessions {
        if let Some(kept) = session.rows[row_ix].kept {
            samples.push(session.ratio_sample(kept));
            by_person.push(RatioSample { project: session.person, ..session.ratio_sample(kept) });
        }
    }
    let of_time = unit_of_blocks(&samples).map(|unit| [unit, Over::Weeks]);
    let over = of_time.into_iter().flatten().chain([Over::Sessions, Over::Projects]);
    let reach = |error: &RatioError| student(error.freedom) * error.error;
    let errors = over.filter_map(|unit| ratio_error(&samples, unit));
    let errors = errors.chain(ratio_error(&by_person, Over::Projects));
    let worst = errors.max_by(|one, other| reach(one).total_cmp(&reach(other)))?;
    let mut kept = UncertainRatio::new(&samples, worst);
    kept.value += 1.0;
    // Sessions in which nothing is needed add nothing.
    let mut own = kept.residuals.into_iter();
    let is_known = family.sessions.iter().map(|session| session.rows[row_ix].kept.is_some());
    let residual = |is_known: bool| if is_known { own.next().unwrap_or(0.0) } else { 0.0 };
    kept.residuals = is_known.map(residual).listed();
    Some(kept)
}
