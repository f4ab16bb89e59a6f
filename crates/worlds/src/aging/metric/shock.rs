//! The effect of an event on a curve, in the paper's three measures, and how long it lasts.

use super::mean;

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
pub fn window(scores: &[Option<f64>], event: usize) -> Option<f64> {
    let over = |from: usize, to: usize| mean(scores.get(from..to)?.iter().copied().flatten());
    let after = over(event, (event + WINDOW).min(scores.len()))?;
    Some(after - over(event.saturating_sub(WINDOW), event)?)
}

/// Returns after how many sessions from an event on the score is back, or none if it never is.
pub fn recovery(after: &[f64], before: f64) -> Option<usize> {
    after.iter().position(|it| *it >= RECOVERED * before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shock_is_seen_in_the_window_and_in_the_recovery() {
        let scores = [0.9, 0.8, 0.6, 0.2, 0.4, 0.7].map(Some);

        assert!((window(&scores, 3).unwrap() - (0.3 - 0.7)).abs() < 1e-12);
        assert_eq!(window(&scores, 0), None, "there is nothing before");
        assert_eq!(recovery(&[0.2, 0.4, 0.7], 0.7), Some(2));
        assert_eq!(recovery(&[0.2, 0.4], 0.7), None);
        assert_eq!(against_control(Some(0.25), Some(0.5)), Some(-0.25));
        assert_eq!(against_control(Some(0.25), None), None);
    }
}
