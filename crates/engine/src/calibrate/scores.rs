//! How well predicted counts and probabilities match what followed.

/// Scores of predictions of events with several chances each: compactions and the files that they hid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForecastScores {
    /// The number of predicted events.
    pub events: usize,
    pub chances: usize,
    /// The predicted total over all events.
    pub predicted: f64,
    /// The actual total.
    pub actual: usize,
    /// The mean Poisson deviance of an event's count: 0 where every prediction equals its count; lower is better.
    pub deviance: f64,
    /// The mean squared error of a chance's probability: 0 where all were certain and right; lower is better.
    pub brier: f64,
    /// The standard deviation of the count if every probability is right and each chance is independent.
    pub scatter: f64,
}

impl ForecastScores {
    /// Scores events by the probability of each chance, and whether it happened.
    pub fn new(events: &[Vec<(f64, bool)>]) -> Self {
        let chances = || events.iter().flatten();
        let n = |count: usize| count.max(1) as f64;
        let deviance = |event: &Vec<(f64, bool)>| {
            deviance(event.iter().map(|it| it.0).sum(), event.iter().filter(|it| it.1).count())
        };
        let variance: f64 = chances().map(|(probability, _)| probability * (1.0 - probability)).sum();
        let squared =
            |(probability, is_true): &(f64, bool)| (probability - f64::from(u8::from(*is_true))).powi(2);
        Self {
            events: events.len(),
            chances: chances().count(),
            predicted: chances().map(|it| it.0).sum(),
            actual: chances().filter(|it| it.1).count(),
            deviance: events.iter().map(deviance).sum::<f64>() / n(events.len()),
            brier: chances().map(squared).sum::<f64>() / n(chances().count()),
            scatter: variance.sqrt(),
        }
    }

    /// Returns what was predicted over what happened, or nothing if nothing did.
    pub fn ratio(&self) -> Option<f64> {
        (self.actual > 0).then(|| self.predicted / self.actual as f64)
    }

    /// Returns between which ratios chance alone leaves nineteen samples of twenty if every probability is right: the upper one
    /// is missing where nothing at all may happen.
    pub fn ratios_by_chance(&self) -> (f64, Option<f64>) {
        let (most, least) = (self.predicted + 1.96 * self.scatter, self.predicted - 1.96 * self.scatter);
        let low = if most > 0.0 { self.predicted / most } else { 0.0 };
        (low, (least > 0.0).then(|| self.predicted / least))
    }
}

/// Returns the Poisson deviance of one count.
fn deviance(expected: f64, count: usize) -> f64 {
    let count = count as f64;
    let surprise = if count > 0.0 { count * (count / expected).ln() } else { 0.0 };
    2.0 * (surprise - (count - expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn scores_are_those_computed_by_hand() {
        // Expected 0.5 and 1.5; two and none happened.
        let events = [vec![(0.25, true), (0.25, true)], vec![(0.5, false), (1.0, false)]];

        let scores = ForecastScores::new(&events);

        assert_eq!((scores.events, scores.chances, scores.actual), (2, 4, 2));
        assert_near(scores.predicted, 2.0);
        assert_eq!(scores.ratio(), Some(1.0));
        // 2 × (2 ln 4 − 1.5) and 2 × 1.5, halved.
        assert_near(scores.deviance, 2.0 * 4.0_f64.ln());
        // (0.75² + 0.75² + 0.5² + 1²) / 4
        assert_near(scores.brier, 2.375 / 4.0);
        // 2 × 0.25 × 0.75 + 0.5 × 0.5
        assert_near(scores.scatter, 0.625_f64.sqrt());
    }

    #[test]
    fn a_certain_and_right_prediction_scores_nothing() {
        let scores = ForecastScores::new(&[vec![(1.0, true), (0.0, false), (1.0, true)]]);

        assert_eq!([scores.deviance, scores.brier, scores.scatter], [0.0; 3]);
        assert_eq!(scores.ratios_by_chance(), (1.0, Some(1.0)));
    }

    #[test]
    fn where_nothing_happened_there_is_no_ratio() {
        let scores = ForecastScores::new(&[vec![(0.5, false)]]);

        assert_eq!(scores.ratio(), None);
        assert_near(scores.deviance, 1.0);
        assert_eq!(scores.ratios_by_chance().1, None, "one file may well be left alone");
        assert_eq!(ForecastScores::new(&[]), ForecastScores::default());
    }
}
