//! How often the rule was right: what it captured and harmed on sessions that it did not read.

use ctxsim::rng::Seed;

/// The share of the needed evidence that must be kept.
pub(crate) const FLOOR: f64 = 0.9;

/// How sessions are parted into those that the rule reads and those that it is judged on.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Parting {
    /// Halves at random.
    Halves,
    /// The older half, and the newer one.
    Time,
    /// Halves at random, of one person's sessions.
    OnePerson,
}

impl Parting {
    /// Returns the places of the sessions that are read, and of the others.
    pub(crate) fn parts(self, seed: u64, n: usize, last_ms: impl Fn(usize) -> i64) -> [Vec<usize>; 2] {
        let stream = Seed(seed).stream("halves", 0);
        let mut order: Vec<usize> = (0..n).collect();
        match self {
            Self::Time => order.sort_by_key(|it| last_ms(*it)),
            _ => order.sort_by_key(|it| stream.nth(*it as u64, 0).bits()),
        }
        let mut parts = [order[..n / 2].to_vec(), order[n / 2..n / 2 * 2].to_vec()];
        parts.iter_mut().for_each(|it| it.sort_unstable());
        parts
    }
}

/// What was advised, as it came out on the other sessions.
pub(crate) struct Advised {
    pub(crate) saving: f64,
    pub(crate) kept: f64,
    /// The saving that was forecast.
    pub(crate) promised: f64,
}

/// What was found on parted sessions.
#[derive(Default)]
pub(crate) struct Rates {
    parted: usize,
    advised: usize,
    saved: f64,
    best: f64,
    harmed: usize,
    broken: usize,
    promised: f64,
}

impl Rates {
    /// Adds what was advised on one part, beside what the best setting saves on the other.
    pub(crate) fn add(&mut self, best: f64, advised: Option<Advised>) {
        self.parted += 1;
        self.best += best.max(0.0);
        let Some(it) = advised else { return };
        self.advised += 1;
        self.saved += it.saving;
        self.promised += it.promised;
        self.harmed += usize::from(it.saving < -0.005);
        self.broken += usize::from(it.kept < FLOOR);
    }

    /// Writes it as a row of a table, after what it is of.
    pub(crate) fn row(&self, of: &str, n: usize) -> String {
        let share = |n: usize| 100.0 * n as f64 / self.parted.max(1) as f64;
        let each = |sum: f64| 100.0 * sum / self.advised.max(1) as f64;
        let captured = if self.best > 0.0 {
            format!("{:.0}%", 100.0 * self.saved / self.best)
        } else {
            "–".to_owned()
        };
        format!(
            "| {of} | {n} | {:.1}% | {captured} | {:.1}% | {:.1}% | {:.1}% → {:.1}% |",
            share(self.advised),
            share(self.harmed),
            share(self.broken),
            each(self.promised),
            each(self.saved)
        )
    }
}
