//! What a memory's curve and answers say: each metric is a small function of plain numbers, as the paper or its code defines it.

use super::{AgingStream, Answer};
use crate::graph::FactRelation;

/// Returns the mean of numbers; none of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), it| (n + 1, sum + it));
    (n > 0).then(|| sum / f64::from(n))
}

/// Returns 1 for what holds, 0 for what does not.
pub fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Returns the share of what holds; none of nothing.
pub fn share(all: impl Iterator<Item = bool>) -> Option<f64> {
    mean(all.map(flag))
}

/// Returns the slope of the line that lies nearest to points by least squares, or none if it has no
/// direction.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let x = points.iter().map(|it| it.0).sum::<f64>() / n;
    let y = points.iter().map(|it| it.1).sum::<f64>() / n;
    let along = points.iter().map(|it| (it.0 - x) * (it.1 - y)).sum::<f64>();
    let square = points.iter().map(|it| (it.0 - x) * (it.0 - x)).sum::<f64>();
    (square > 0.0).then(|| along / square)
}

/// A question over several facts, and which of them were stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chained<'a> {
    /// What it does with them.
    pub relation: FactRelation,
    /// The longest chain of versions among them.
    pub depth: u16,
    /// From the first session that said one to the last.
    pub span: u32,
    /// Whether each was stated.
    pub hops: &'a [bool],
    /// Whether some version after the first was needed.
    pub needs_version: bool,
    /// Whether an old version was stated.
    pub is_stale: bool,
}

impl Chained<'_> {
    /// Returns the share of its facts that were stated, as the code scores it.
    pub fn share(&self) -> f64 {
        share(self.hops.iter().copied()).unwrap_or(0.0)
    }

    /// Returns whether all were stated, as the paper scores it.
    pub fn is_whole(&self) -> bool {
        self.hops.iter().all(|it| *it)
    }
}

/// Returns of questions about a changed fact the share that states the current version and no old one, or
/// none if nothing asks.
pub fn version_accuracy(all: &[Chained<'_>]) -> Option<f64> {
    let tests = all.iter().filter(|it| it.relation == FactRelation::Trend && it.needs_version);
    let is_right = |it: &Chained<'_>| it.hops.last() == Some(&true) && !it.is_stale;
    share(tests.map(is_right))
}

/// The share of the first score at which a memory counts as failed.
pub const HALF: f64 = 0.5;

/// Scores by session, in order; sessions without coverage are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreCurve(pub Vec<(f64, f64)>);

impl ScoreCurve {
    /// Collects scores by their place, as far as there are any.
    pub fn new(scores: &[Option<f64>]) -> Self {
        Self(scores.iter().enumerate().filter_map(|(at, it)| Some((at as f64, (*it)?))).collect())
    }

    /// Returns the first score.
    pub fn first(&self) -> Option<f64> {
        self.0.first().map(|it| it.1)
    }

    /// Returns the last score.
    pub fn last(&self) -> Option<f64> {
        self.0.last().map(|it| it.1)
    }

    /// Returns the mean of the scores.
    pub fn mean(&self) -> Option<f64> {
        mean(self.0.iter().map(|it| it.1))
    }

    /// Returns the session at which the score has fallen to half of the first, between two points on the line through them;
    /// 0 where the first is nought and there is nothing to lose, infinite where it never falls so far.
    pub fn half_life(&self) -> f64 {
        let Some(first) = self.first() else { return f64::INFINITY };
        if first <= 0.0 {
            return 0.0;
        }
        let target = HALF * first;
        let crossing = self.0.windows(2).find(|it| it[1].1 <= target);
        crossing.map_or(f64::INFINITY, |it| {
            let [(from, before), (to, after)] = [it[0], it[1]];
            if after == before { to } else { from + (target - before) / (after - before) * (to - from) }
        })
    }

    /// Returns how much the score changes with a session, by least squares; 0 for a single point.
    pub fn slope(&self) -> f64 {
        slope(&self.0).unwrap_or(0.0)
    }

    /// Returns how many of the sessions that begin above half of the first score end at or below it, as a share.
    pub fn hazard(&self) -> f64 {
        let Some(first) = self.first().filter(|it| *it != 0.0) else { return 0.0 };
        let target = HALF * first;
        let at_risk = self.0.windows(2).filter(|it| it[0].1 > target);
        share(at_risk.map(|it| it[1].1 <= target)).unwrap_or(0.0)
    }

    /// Returns the share of sessions that score below half of the first, as the paper words the hazard.
    pub fn hazard_of_paper(&self) -> f64 {
        let target = HALF * self.first().unwrap_or(0.0);
        share(self.0.iter().map(|it| it.1 < target)).unwrap_or(0.0)
    }
}

/// How a question for one of two such facts was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// By the right one.
    Correct,
    /// By the other.
    Confused,
    Both,
    /// By neither.
    Miss,
}

/// Returns the share of answers of one kind, or none if nothing was asked.
pub fn rate(all: &[Binding], kind: Binding) -> Option<f64> {
    share(all.iter().map(|it| *it == kind))
}

/// Returns the code's interference resistance: a session's questions about such facts count as right where the session's own
/// score is above a half. None where nothing asks; the paper prints 1 there.
pub fn resistance(scores_of_asking_sessions: &[f64]) -> Option<f64> {
    share(scores_of_asking_sessions.iter().map(|it| *it > 0.5))
}

/// Sessions on either side of an event.
const WINDOW: usize = 2;
/// The share of the score before that counts as recovered.
const RECOVERED: f64 = 0.9;
/// A curve that ends below this is at its floor, where a difference says nothing.
pub const FLOOR: f64 = 0.05;

/// Returns how far the end of a run lies from that of its control run.
pub fn against_control(run: Option<f64>, control: Option<f64>) -> Option<f64> {
    Some(run? - control?)
}

/// Returns the mean of the two sessions from an event on, less the mean of the two before.
pub fn shock_window(scores: &[Option<f64>], event: usize) -> Option<f64> {
    let over = |from: usize, to: usize| mean(scores.get(from..to)?.iter().copied().flatten());
    let after = over(event, (event + WINDOW).min(scores.len()))?;
    Some(after - over(event.saturating_sub(WINDOW), event)?)
}

/// Returns after how many sessions from an event on the score is back, or none if it never is.
pub fn recovery(after: &[f64], before: f64) -> Option<usize> {
    after.iter().position(|it| *it >= RECOVERED * before)
}

/// A total as it was stated, and as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedTotal {
    /// The session that was asked about.
    pub session: f64,
    /// What is true.
    pub gold: f64,
    /// What was stated, or none if there was no number.
    pub stated: Option<f64>,
}

impl StatedTotal {
    /// Takes what was answered for a total as it was at the end of a session.
    pub(super) fn new(stream: &AgingStream, accumulator: u32, at: u32, answer: &Answer) -> Self {
        let gold = stream.graph.total(accumulator as usize, at) as f64;
        Self { session: at.into(), gold, stated: answer.total }
    }

    /// Returns how far it is off; without a number, by all of it.
    pub fn error(&self) -> f64 {
        self.stated.map_or(self.gold.abs(), |it| (it - self.gold).abs())
    }
}

/// Returns the mean error.
pub fn total_error(all: &[StatedTotal]) -> Option<f64> {
    mean(all.iter().map(StatedTotal::error))
}

/// Returns the mean of errors as shares of what is true.
pub fn relative_total_error(all: &[StatedTotal]) -> Option<f64> {
    mean(all.iter().map(|it| it.error() / it.gold.abs().max(1.0)))
}

/// Returns whether the error never falls, over three questions or more: as the code has it, over all of them.
pub fn compounds(all: &[StatedTotal]) -> Option<bool> {
    (all.len() >= 3).then(|| all.windows(2).all(|it| it[0].error() <= it[1].error()))
}

/// Returns whether the error does not fall over some three questions in a row, as the paper has it.
pub fn compounds_of_paper(all: &[StatedTotal]) -> Option<bool> {
    let rises = |it: &[StatedTotal]| it[0].error() <= it[1].error() && it[1].error() <= it[2].error();
    (all.len() >= 3).then(|| all.windows(3).any(rises))
}

/// Returns by how much the error grows with a session.
pub fn error_growth(all: &[StatedTotal]) -> f64 {
    let points: Vec<(f64, f64)> = all.iter().map(|it| (it.session, it.error())).collect();
    if points.len() < 3 { 0.0 } else { slope(&points).unwrap_or(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(scores: &[f64]) -> ScoreCurve {
        ScoreCurve::new(&scores.iter().map(|it| Some(*it)).collect::<Vec<_>>())
    }

    #[test]
    fn sessions_without_a_score_are_left_out_of_curves() {
        assert_eq!(curve(&[]).half_life(), f64::INFINITY);
        let holes = ScoreCurve::new(&[None, Some(1.0), None, Some(0.0)]);
        assert_eq!((holes.slope(), holes.first(), holes.0.len()), (-0.5, Some(1.0), 2));
        assert_eq!(curve(&[1.0, 0.9, 0.4, 0.6, 0.3]).hazard_of_paper(), 0.4);
    }

    #[test]
    fn a_shock_is_seen_in_the_window_around_it() {
        let scores = [0.9, 0.8, 0.6, 0.2, 0.4, 0.7].map(Some);

        assert!((shock_window(&scores, 3).unwrap() - (0.3 - 0.7)).abs() < 1e-12);
        assert_eq!(shock_window(&scores, 0), None, "there is nothing before");
        assert_eq!(recovery(&[0.2, 0.4], 0.7), None);
        assert_eq!((rate(&[], Binding::Correct), resistance(&[])), (None, None), "without any answers");
        assert_eq!(against_control(Some(0.25), Some(0.5)), Some(-0.25));
        assert_eq!(against_control(Some(0.25), None), None);
    }

    fn totals(errors: &[f64]) -> Vec<StatedTotal> {
        let one = |(at, error): (usize, &f64)| StatedTotal {
            session: at as f64,
            gold: 200.0,
            stated: Some(200.0 - error),
        };
        errors.iter().enumerate().map(one).collect()
    }

    #[test]
    fn compounding_is_over_all_questions_in_the_code_and_over_any_three_in_the_paper() {
        let small = StatedTotal { gold: 0.5, stated: Some(1.5), session: 0.0 };
        assert_eq!((total_error(&[]), relative_total_error(&[small])), (None, Some(1.0)));
        assert_eq!(compounds(&totals(&[3.0, 1.0, 1.0, 2.0])), Some(false));
        assert_eq!(compounds_of_paper(&totals(&[3.0, 1.0, 1.0, 2.0])), Some(true));
        assert_eq!(compounds_of_paper(&totals(&[3.0, 1.0])), None);
    }
}
