//! What a user's own earlier sessions tell of odds that are declared for everybody.

use std::ops::AddAssign;

use crate::prelude::*;

use super::odds::Odds;
use super::shared::Chance;

/// How often something happened, and in how many cases it could have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeenCases {
    pub happened: u32,
    pub of: u32,
}

/// What was counted in a user's own sessions of what no log tells beforehand, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnCounts {
    /// First requests that found tools and system prompt in the cache, though no known session had left them.
    pub front: SeenCases,
    /// First requests of turns that fell.
    pub turn: SeenCases,
    /// Pauses between five minutes and an hour that entries of an hour did not outlive.
    pub hour_missed: SeenCases,
    /// Requests that read only what the one before did, by how soon they started after it, as the odds are declared.
    pub behind: Vec<SeenCases>,
    /// With fewer cases of a kind than this, they change nothing.
    pub fewest: u32,
}

impl SeenCases {
    /// Counts a case.
    pub(super) fn count(&mut self, has_happened: bool) {
        self.happened += u32::from(has_happened);
        self.of += 1;
    }
}

impl AddAssign for SeenCases {
    fn add_assign(&mut self, other: Self) {
        self.happened += other.happened;
        self.of += other.of;
    }
}

impl fmt::Display for SeenCases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.happened, self.of)
    }
}

impl AddAssign<&Self> for OwnCounts {
    fn add_assign(&mut self, other: &Self) {
        self.front += other.front;
        self.turn += other.turn;
        self.hour_missed += other.hour_missed;
        self.behind_at(other.behind.len());
        for (nth, seen) in other.behind.iter().enumerate() {
            self.behind[nth] += *seen;
        }
    }
}

impl OwnCounts {
    /// Returns whether nothing was counted.
    pub fn is_silent(&self) -> bool {
        let mut all = [&self.front, &self.turn, &self.hour_missed].into_iter().chain(&self.behind);
        all.all(|it| it.of == 0)
    }

    /// Makes room for so many classes of requests that follow shortly.
    pub(super) fn behind_at(&mut self, n: usize) {
        self.behind.resize(self.behind.len().max(n), SeenCases::default());
    }

    /// Narrows a declared chance by one kind of cases, if there are enough; says so in a sentence.
    pub(super) fn narrow(
        &self,
        chance: Option<Chance>,
        seen: SeenCases,
        what: &str,
        said: &mut Vec<String>,
    ) -> Option<Chance> {
        let narrowed = chance.filter(|_| seen.of >= self.fewest.max(1)).and_then(|it| it.narrowed(seen));
        if let (Some(declared), Some(own)) = (chance, narrowed) {
            let ends = |it: Chance| format!("{:.3} to {:.3}", it.interval[0], it.interval[1]);
            said.push(format!(
                "The probability that {what}: declared {:.3} ({}), of this user {:.3} ({}; {seen} in earlier sessions).",
                declared.value,
                ends(declared),
                own.value,
                ends(own)
            ));
        }
        narrowed.or(chance)
    }

    /// Narrows what is declared of a session; returns what that changed, in sentences.
    pub(super) fn narrow_all(&self, odds: &mut Odds) -> Vec<String> {
        let mut said = Vec::new();
        odds.turn =
            self.narrow(odds.turn, self.turn, "the first request of a turn misses the cache", &mut said);
        let hours = "cache entries of an hour miss within the hour";
        odds.hour_missed = self.narrow(odds.hour_missed, self.hour_missed, hours, &mut said);
        for ((within_ms, chance), seen) in odds.behind.iter_mut().zip(&self.behind) {
            let what =
                format!("what a request wrote cannot be read yet by one that starts within {within_ms} ms");
            *chance = self.narrow(Some(*chance), *seen, &what, &mut said).unwrap_or(*chance);
        }
        said
    }
}

/// Half the width of a 95% interval, in standard errors.
const Z: f64 = 1.96;

impl Chance {
    /// Returns the same for a user of whom cases were counted; nothing where the interval does not say how much the declared value is worth.
    ///
    /// The declared value and its interval are taken as those of a Beta distribution over users, which is worth as many cases as make its
    /// standard error; a user's own cases are added to these (parametric empirical Bayes: Morris, Journal of the American Statistical
    /// Association 78 (1983), 47–55; the pair of Beta and binomial: Gelman and others, Bayesian Data Analysis, 3rd ed., 2.4). A declared 0
    /// or 1 is worth the cases that give Wilson's interval its width. The new interval lies between the 2.5% and the 97.5% quantile.
    pub fn narrowed(self, SeenCases { happened, of }: SeenCases) -> Option<Self> {
        let Self { value, interval: [low, high], .. } = self;
        // Where an end was cut off at 0 or 1, the other one shows the error.
        let half = (high - value).max(value - low);
        let is_certain = value <= 0.0 || value >= 1.0;
        let worth = if is_certain {
            Z * Z * (1.0 / half - 1.0)
        } else {
            value * (1.0 - value) / (half / Z).powi(2) - 1.0
        };
        if half <= 0.0 || worth <= 0.0 || of == 0 {
            return None;
        }
        let (happened, of) = (f64::from(happened), f64::from(of));
        let [a, b] = [value * worth + happened, (1.0 - value) * worth + of - happened];
        let interval = match (a > 0.0, b > 0.0) {
            (true, true) => beta_interval(a, b),
            (false, _) => [0.0, Z * Z / (b + Z * Z)],
            (true, false) => [a / (a + Z * Z), 1.0],
        };
        Some(Self { value: a / (a + b), interval, ..self })
    }
}

/// Returns the quantiles of 2.5% and 97.5% of a Beta distribution.
///
/// Over the angle whose squared sine is the probability, the distribution is nearly normal with a variance of one in four times `a + b`
/// (Anscombe, Biometrika 35 (1948), 246–254), so that steps of a fraction of that suffice.
fn beta_interval(a: f64, b: f64) -> [f64; 2] {
    const STEPS: u32 = 400;
    // Sines and logarithms differ between machines in their last digit; bytes must not.
    const UNITS: f64 = 1e9;
    let middle = (a / (a + b)).sqrt().asin();
    let reach = 4.0 / (a + b).sqrt();
    let from = (middle - reach).max(0.0);
    let step = ((middle + reach).min(std::f64::consts::FRAC_PI_2) - from) / f64::from(STEPS);
    let angle = |nth: u32| from + (f64::from(nth) + 0.5) * step;
    let log = |at: f64| (2.0 * a - 1.0) * at.sin().ln() + (2.0 * b - 1.0) * at.cos().ln();
    let top = (0..STEPS).map(|it| log(angle(it))).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = (0..STEPS).map(|it| (log(angle(it)) - top).exp()).collect();
    let all: f64 = weights.iter().sum();
    [0.025, 0.975].map(|share| {
        let mut left = share * all;
        let mut at = from;
        for weight in &weights {
            at += step * (left / weight).clamp(0.0, 1.0);
            left -= weight;
            if left <= 0.0 {
                break;
            }
        }
        (at.sin().powi(2) * UNITS).round() / UNITS
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_base::rng::{Seed, Stream};

    fn chance(value: f64, low: f64, high: f64) -> Chance {
        Chance { interval: [low, high], ..Chance::certain(value) }
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        // The 2.5% and 97.5% quantiles of Beta(1, 1), Beta(3, 1) (cube roots) and Beta(1, 60) in closed form.
        let [first, second, third] = [(1.0, 1.0), (3.0, 1.0), (1.0, 60.0)].map(|(a, b)| beta_interval(a, b));
        let near = |found: [f64; 2], is: [f64; 2]| {
            assert!((0..2).all(|it| (found[it] - is[it]).abs() < 0.002), "{found:?} for {is:?}");
        };
        near(first, [0.025, 0.975]);
        near(second, [0.025_f64.cbrt(), 0.975_f64.cbrt()]);
        near(third, [1.0 - 0.975_f64.powf(1.0 / 60.0), 1.0 - 0.025_f64.powf(1.0 / 60.0)]);
    }

    #[test]
    fn a_declared_nought_stays_one_until_something_happens() {
        // 0 of 159, with Wilson's upper end.
        let nought = chance(0.0, 0.0, 0.0236);

        let still = nought.narrowed(SeenCases { happened: 0, of: 159 }).unwrap();
        let once = nought.narrowed(SeenCases { happened: 1, of: 159 }).unwrap();

        assert!(still.value <= 0.0 && (still.interval[1] - 0.0119).abs() < 0.0001, "{still:?}");
        assert!((once.value - 1.0 / 318.0).abs() < 0.0001 && once.interval[0] > 0.0, "{once:?}");
    }

    /// Draws from a Beta distribution of whole numbers: of so many uniform numbers, the one of a rank (Gelman and others, 2.4).
    fn drawn(stream: &mut Stream, a: usize, b: usize) -> f64 {
        let mut all: Vec<f64> = (1..a + b).map(|_| stream.unit()).collect();
        all.sort_by(f64::total_cmp);
        all[a - 1]
    }

    #[test]
    fn the_interval_holds_the_share_of_19_of_20_users_who_differ_as_declared() {
        let mut stream = Seed(56).stream("users", 0);
        for (a, b) in [(3_usize, 57_usize), (2, 7), (16, 29), (7, 3)] {
            let (all, value) = ((a + b) as f64, a as f64 / (a + b) as f64);
            let half = Z * (value * (1.0 - value) / (all + 1.0)).sqrt();
            let declared = chance(value, (value - half).max(0.0), (value + half).min(1.0));
            let mut off = [0.0; 2];
            for of in [10, 30, 140, 600] {
                let n = 1_000;
                let mut held = 0;
                for _ in 0..n {
                    let truth = drawn(&mut stream, a, b);
                    let happened = (0..of).map(|_| u32::from(stream.chance(truth))).sum();
                    let found = declared.narrowed(SeenCases { happened, of }).unwrap();
                    held += u32::from(found.interval[0] <= truth && truth <= found.interval[1]);
                    off[0] += (found.value - truth).powi(2);
                    off[1] += (value - truth).powi(2);
                }
                assert!((930..=970).contains(&held), "{a} {b}, {of} cases: {held} of {n}");
            }
            assert!(off[0] < off[1], "narrowed {} off, declared {}", off[0], off[1]);
        }
    }
}
