//! What a row of a family does over all sessions: its change in cost, what it keeps, and how far each may be off.
//!
//! Two errors are told apart. That of the change *over these sessions* says whether it saves at all (`cost`): sessions are drawn anew, and
//! each weighs by its cost. What *as many later sessions* come to is off by that and by their own draw, so its variance is twice as large (`later`,
//! `kept`). There residuals are jackknifed, which counts a session that holds much of the sum for what it would be without it (MacKinnon and White
//! 1985); sessions of one person (of one project, where there is one person) or of one week may go together, and their covariance is added
//! where it is positive (two-way clusters: Cameron, Gelbach and Miller 2011); the degrees of freedom are those of the residuals' squares
//! (Satterthwaite 1946), so that a few sessions that decide count as few. `examples/advice_rates` measures how often both hold.

use super::joint::RowChances;
use super::{FamilySession, SessionEffect, TriedFamily};
use crate::prelude::*;
use ctxsim_engine::ledger::is_as_much;
use ctxsim_engine::measure::assumed::{Assumed, AssumedCost, AssumedReach};
use ctxsim_engine::measure::limits::{Over, RatioError, RatioSample, ratio_error, sum_of_pairs};
use ctxsim_engine::measure::student;

/// A ratio over sessions that may be off, and by how much each session has it so.
#[derive(Clone, Debug, Default)]
pub(super) struct UncertainRatio {
    /// The ratio; of costs less 1.
    pub(super) value: f64,
    /// Its standard error by which sessions were sampled.
    pub(super) error: f64,
    pub(super) freedom: u64,
    /// Each session's part in that error, to a factor that all have in common.
    pub(super) residuals: Vec<f64>,
}

/// What a row does.
#[derive(Clone, Debug, Default)]
pub(super) struct RowEffect {
    /// The change in cost of these sessions; `None` where one of them cannot be compared.
    pub(super) change: Option<f64>,
    /// The same with how far it may be off; `None` for a single session, too.
    pub(super) cost: Option<UncertainRatio>,
    /// How far the change of as many later sessions may be from it for itself at 95%, below and above.
    pub(super) later: f64,
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
    /// What is kept, as as many later sessions show it; `None` where nothing says what is needed.
    pub(super) kept: Option<UncertainRatio>,
    /// By how much less is kept at the worse end of what is assumed of needs.
    pub(super) kept_assumed: f64,
    /// The share of requests that show what the user asked; `None` where all do.
    pub(super) task: Option<f64>,
    pub(super) is_edited: bool,
    /// What as many turns again would cost, as a share of what the base costs.
    pub(super) again: Option<f64>,
    /// How probable joint draws of all rows make what it does.
    pub(super) chances: RowChances,
}

impl UncertainRatio {
    /// Returns a ratio over these sessions.
    fn over_these(pairs: &[(f64, f64)], sessions: &[FamilySession<'_>], found: RatioError) -> Self {
        let (own, base) = sum_of_pairs(pairs.iter().copied());
        let residuals = pairs.iter().map(|pair| (pair.0 - own / base * pair.1) / base).listed();
        let error = found.error.max(clustered_variance(sessions, &residuals).max(0.0).sqrt());
        Self { value: found.change, error, freedom: found.freedom, residuals }
    }

    /// Returns a ratio as as many later sessions show it; `None` where fewer than two have a base.
    fn over_later(pairs: &[(f64, f64)], sessions: &[FamilySession<'_>]) -> Option<Self> {
        /// Few residuals do not tell how few they are.
        const FREEDOM_MIN: u64 = 2;
        let n = pairs.iter().filter(|pair| pair.1 > 0.0).count() as u64;
        if n < 2 {
            return None;
        }
        let (own, base) = sum_of_pairs(pairs.iter().copied());
        let ratio = own / base;
        let leverage = ((n - 1) as f64 / n as f64).sqrt();
        let residual = |pair: &(f64, f64)| {
            let left = base - pair.1;
            if left > 0.0 { leverage * (pair.0 - ratio * pair.1) / left } else { 0.0 }
        };
        let residuals = pairs.iter().map(residual).listed();
        let squares = sum_of_squares(residuals.iter());
        let fourths: f64 = residuals.iter().map(|residual| residual.powi(4)).sum();
        let most = FREEDOM_MIN.max(n - 1);
        let freedom = if fourths > 0.0 { (squares * squares / fourths).round() as u64 } else { most };
        // Once for these sessions, and once for as many later ones.
        let error = (2.0 * clustered_variance(sessions, &residuals).max(squares)).sqrt();
        Some(Self { value: ratio, error, freedom: freedom.clamp(FREEDOM_MIN, most), residuals })
    }

    /// Returns how far it reaches for itself at 97.5%.
    pub(super) fn half_width(&self) -> f64 {
        student(self.freedom) * self.error
    }
}

/// Returns the variance of a sum of residuals where those of one person (one project, where there is one person) or of one week may go together.
fn clustered_variance(sessions: &[FamilySession<'_>], residuals: &[f64]) -> f64 {
    const WEEK_MS: i64 = 7 * 86_400_000;
    let are_several = sessions.iter().any(|session| session.person != sessions[0].person);
    let (mut by_group, mut by_week, mut by_both) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (nth, (session, residual)) in sessions.iter().zip(residuals).enumerate() {
        // What is unknown is a block of its own.
        let name = if are_several { session.person } else { session.project };
        let group = (name, if name.is_empty() { nth } else { 0 });
        let week = session.last_ms.map_or((0, nth), |at_ms| (at_ms.div_euclid(WEEK_MS), usize::MAX));
        *by_group.entry(group).or_default() += residual;
        *by_week.entry(week).or_default() += residual;
        *by_both.entry((group, week)).or_default() += residual;
    }
    sum_of_squares(by_group.values()) + sum_of_squares(by_week.values()) - sum_of_squares(by_both.values())
}

fn sum_of_squares<'a>(numbers: impl Iterator<Item = &'a f64>) -> f64 {
    numbers.map(|number| number * number).sum()
}

/// Returns what a session costs under a row, and as it is; `None` if one of the two stops earlier, or a price is unknown.
fn changed_and_base_cost(changed: &SessionEffect, base: &SessionEffect) -> Option<[AssumedCost; 2]> {
    is_as_much([changed.ended, base.ended]).then_some([changed.cost?, base.cost?])
}

impl RowEffect {
    /// Sums up what a row does to the sessions of its family.
    pub(super) fn new(family: &TriedFamily<'_>, row_ix: usize) -> Self {
        let own = family.sessions.iter().map(|session| session.rows[row_ix]);
        let (shown, running) = sum_of_pairs(own.clone().map(|effect| effect.task));
        // Sessions in which nothing is needed add nothing.
        let kept = own.clone().map(|effect| effect.kept.unwrap_or_default()).listed();
        let assumed: f64 = own.clone().map(|effect| effect.kept_assumed).sum();
        let kept_only = Self {
            kept: UncertainRatio::over_later(&kept, &family.sessions),
            kept_assumed: assumed / sum_of_pairs(kept.iter().copied()).1.max(f64::MIN_POSITIVE),
            task: (shown < running).then(|| shown / running),
            is_edited: own.clone().any(|effect| effect.is_edited),
            ..Self::default()
        };
        let pairs = own.zip(&family.sessions).map(|(own, session)| changed_and_base_cost(own, session.base));
        match pairs.collect::<Option<Vec<_>>>().filter(|all| all.iter().any(|[_, base]| base.usd > 0.0)) {
            Some(pairs) => kept_only.with_costs(family, row_ix, &pairs),
            None => kept_only,
        }
    }

    /// Adds what the costs of all sessions come to.
    fn with_costs(self, family: &TriedFamily<'_>, row_ix: usize, costs: &[[AssumedCost; 2]]) -> Self {
        let [mut changed, mut base] = [AssumedCost::default(); 2];
        for [own, own_base] in costs {
            changed += *own;
            base += *own_base;
        }
        let pairs = costs.iter().map(|[own, own_base]| (own.usd, own_base.usd)).listed();
        let samples = pairs.iter().map(|pair| RatioSample { pair: *pair, project: "", at_ms: None }).listed();
        let over_these = ratio_error(&samples, Over::Sessions);
        let touches = |session: &FamilySession<'_>| family.levers[row_ix].lanes.include(session.is_of_agent);
        let touched = family.sessions.iter().zip(&pairs).filter(|(session, _)| touches(session));
        let again: Option<f64> = family.sessions.iter().map(|session| session.rows[row_ix].again).sum();
        let change = changed.change_from(&base);
        let moved = Assumed::ALL.map(|assumed| changed.change_at(&base, assumed).map(|end| end - change));
        Self {
            change: Some(change),
            cost: over_these.map(|found| UncertainRatio::over_these(&pairs, &family.sessions, found)),
            later: UncertainRatio::over_later(&pairs, &family.sessions)
                .map_or(0.0, |later| later.half_width()),
            is_same: pairs.iter().all(|pair| pair.0 == pair.1),
            moved: moved.to_vec(),
            reach: changed.reach_from(&base),
            concerned: touched.map(|(_, pair)| pair.1).sum::<f64>() / base.usd,
            without_best: cost_change_without_best(&pairs, (changed.usd, base.usd)),
            again: again.map(|usd| usd / base.usd),
            ..self
        }
    }

    /// Returns the standard error of its change above, by sampling and by what is assumed.
    pub(super) fn cost_standard_error(&self) -> Option<f64> {
        Some(self.cost_high_reach()? / student(self.cost.as_ref()?.freedom))
    }

    /// Returns how far above its change in cost these sessions reach at 95%: by sampling and by what is assumed together.
    pub(super) fn cost_high_reach(&self) -> Option<f64> {
        Some(self.reach.0[1].hypot(self.cost.as_ref()?.half_width()))
    }

    /// Returns the assumption that reaches furthest in it.
    pub(super) fn largest_assumption(&self) -> Option<Assumed> {
        let reach = |nth: usize| self.moved[nth][0].abs().max(self.moved[nth][1].abs());
        let moving = (0..self.moved.len()).filter(|nth| reach(*nth) > 0.0);
        Some(Assumed::ALL[moving.max_by(|one, other| reach(*one).total_cmp(&reach(*other)))?])
    }
}

/// Returns the change without the session that saves most, of the sums of all.
fn cost_change_without_best(pairs: &[(f64, f64)], (changed, base): (f64, f64)) -> f64 {
    let saved = |pair: &(f64, f64)| pair.0 - pair.1;
    let best = pairs.iter().min_by(|one, other| saved(one).total_cmp(&saved(other)));
    let (own, own_base) = best.copied().unwrap_or_default();
    if base - own_base > 0.0 { (changed - own) / (base - own_base) - 1.0 } else { 0.0 }
}
