//! Mean, standard deviation and confidence interval of randomly drawn numbers.

use crate::prelude::*;

/// Statistics of a number over trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistic {
    /// The number of trials.
    pub n: u64,
    pub mean: f64,
    /// Their standard deviation, over n.
    pub sd: f64,
    /// The standard error of the mean, from the deviation over n − 1; null for a single trial.
    pub se: Option<f64>,
    /// The 95% confidence interval of the mean, by Student's distribution; null for a single trial.
    pub ci95: Option<[f64; 2]>,
}

/// What a share can be.
pub const SHARE: [f64; 2] = [0.0, 1.0];

/// What the difference of two shares can be.
pub const DIFFERENCE: [f64; 2] = [-1.0, 1.0];

/// Student's quantile at 97.5%, by degrees of freedom from 1.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

impl Statistic {
    /// Computes statistics of numbers, in their order; `None` if there are none.
    pub fn new(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let n = u64::try_from(values.clone().count()).ok().filter(|it| *it > 0)?;
        let count = n as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares = values.map(|it| (it - mean) * (it - mean)).sum::<f64>();
        let se = (n > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        let ci95 = se.map(|se| {
            let reach = student(n - 1) * se;
            [mean - reach, mean + reach]
        });
        Some(Self { n, mean, sd: (squares / count).sqrt(), se, ci95 })
    }

    /// Cuts the confidence interval to what the number can be: with few trials, Student's distribution reaches beyond.
    pub fn within(self, [least, most]: [f64; 2]) -> Self {
        Self { ci95: self.ci95.map(|it| it.map(|end| end.clamp(least, most))), ..self }
    }

    /// Returns the statistics of these trials and others, of which only theirs are known.
    pub fn pooled(&self, other: &Self) -> Self {
        let n = self.n + other.n;
        let [own, more] = [self, other].map(|it| it.n as f64 / n.max(1) as f64);
        let mean = own * self.mean + more * other.mean;
        let around = |it: &Self| it.sd * it.sd + (it.mean - mean) * (it.mean - mean);
        // Loads differ by more than chance: the error of a pooled mean is that of its parts, not of their distance.
        let se = self.se.zip(other.se).map(|(one, two)| (own * one).hypot(more * two));
        let ci95 = se.map(|se| {
            let reach = student(n.saturating_sub(2)) * se;
            [mean - reach, mean + reach]
        });
        Self { n, mean, sd: (own * around(self) + more * around(other)).sqrt(), se, ci95 }
    }

    /// Returns how far the confidence interval reaches from the mean, on its longer side.
    pub fn reach(&self) -> Option<f64> {
        self.ci95.map(|[low, high]| (high - self.mean).max(self.mean - low))
    }
}

/// Returns Student's quantile at 97.5%; beyond the table by an expansion that is accurate to four digits.
pub fn student(freedom: u64) -> f64 {
    let index: usize = saturated(freedom.saturating_sub(1));
    STUDENT.get(index).copied().unwrap_or_else(|| {
        let (normal, freedom) = (1.959_964_f64, freedom as f64);
        normal + (normal.powi(3) + normal) / (4.0 * freedom)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_spread_and_its_confidence() {
        let values = [0.0, 1.0, 2.0, 5.0];
        let all = Statistic::new(values.iter().copied()).unwrap();

        assert_eq!((all.n, all.mean, all.sd), (4, 2.0, 3.5_f64.sqrt()));
        let se = (14.0_f64 / 3.0 / 4.0).sqrt();
        assert_eq!(all.se, Some(se));
        assert!((all.reach().unwrap() - 3.182 * se).abs() < 1e-12);
        assert!((student(100) - 1.984).abs() < 5e-4);
    }

    #[test]
    fn the_interval_of_a_share_ends_at_0_and_1() {
        let share = Statistic::new([0.0, 0.0, 1.0].into_iter()).unwrap();
        assert!(share.ci95.unwrap()[1] > 1.7);

        let share = share.within([0.0, 1.0]);

        assert_eq!(share.ci95, Some([0.0, 1.0]));
        assert!((share.reach().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn trials_of_two_loads_count_once_each() {
        let of = |values: &[f64]| Statistic::new(values.iter().copied()).unwrap();
        let both = of(&[0.0, 1.0]).pooled(&of(&[4.0, 5.0, 6.0, 4.0]));

        let all = of(&[0.0, 1.0, 4.0, 5.0, 6.0, 4.0]);
        assert_eq!(both.n, all.n);
        assert!((both.mean - all.mean).abs() < 1e-12);
        assert!((both.sd - all.sd).abs() < 1e-12);
        assert!(both.reach().unwrap() < all.reach().unwrap(), "the distance of the loads is not chance");
    }

    #[test]
    fn one_trial_says_nothing_of_spread_and_none_says_nothing() {
        assert_eq!(Statistic::new([3.0].into_iter()).unwrap().ci95, None);
        assert_eq!(Statistic::new(std::iter::empty()), None);
    }
}
