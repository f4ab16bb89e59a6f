//! Measures of an aging curve: half-life, slope, hazard, end and mean.

use super::{mean, slope};

/// The share of the first score at which a memory counts as failed.
pub const HALF: f64 = 0.5;

/// Scores by session, in order; sessions without coverage are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreCurve(pub Vec<(f64, f64)>);

impl ScoreCurve {
    /// Collects scores by their place, as far as there are any.
    pub fn of(scores: &[Option<f64>]) -> Self {
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
        mean(at_risk.map(|it| f64::from(u8::from(it[1].1 <= target)))).unwrap_or(0.0)
    }

    /// Returns the share of sessions that score below half of the first, as the paper words the hazard.
    pub fn hazard_of_paper(&self) -> f64 {
        let target = HALF * self.first().unwrap_or(0.0);
        mean(self.0.iter().map(|it| f64::from(u8::from(it.1 < target)))).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(scores: &[f64]) -> ScoreCurve {
        ScoreCurve::of(&scores.iter().map(|it| Some(*it)).collect::<Vec<_>>())
    }

    #[test]
    fn a_half_life_lies_between_two_points_and_is_infinite_where_the_score_never_halves() {
        assert_eq!(curve(&[1.0, 0.8, 0.4, 0.3]).half_life(), 1.75);
        assert_eq!(curve(&[1.0, 0.5]).half_life(), 1.0);
        assert_eq!(curve(&[1.0, 0.6, 0.51]).half_life(), f64::INFINITY);
        assert_eq!(curve(&[0.0, 0.0]).half_life(), 0.0, "nothing is half of nothing");
        assert_eq!(
            curve(&[0.0, 0.1, 0.3]).half_life(),
            0.0,
            "a score that rises from nought had nothing to lose"
        );
        assert_eq!(curve(&[]).half_life(), f64::INFINITY);
    }

    #[test]
    fn a_slope_is_by_least_squares_and_sessions_without_a_score_are_left_out() {
        assert_eq!(curve(&[1.0, 0.5, 0.0]).slope(), -0.5);
        let holes = ScoreCurve::of(&[None, Some(1.0), None, Some(0.0)]);
        assert_eq!((holes.slope(), holes.first(), holes.0.len()), (-0.5, Some(1.0), 2));
        assert_eq!(curve(&[0.3]).slope(), 0.0);
    }

    #[test]
    fn the_two_hazards_count_crossings_and_sessions() {
        let falls = curve(&[1.0, 0.9, 0.4, 0.6, 0.3]);

        assert_eq!(falls.hazard(), 2.0 / 3.0, "three sessions begin above half, two end below");
        assert_eq!(falls.hazard_of_paper(), 0.4);
        assert!((falls.mean().unwrap() - 3.2 / 5.0).abs() < 1e-12);
        assert_eq!(falls.last(), Some(0.3));
    }
}
