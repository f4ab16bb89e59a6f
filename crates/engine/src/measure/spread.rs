//! How a change in cost varies over sessions: one session may save what another loses.

use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
