//! How often the rule was right: what it captured and harmed on sessions that it did not read.

use ctxsim::report::lever::Lever;
use ctxsim::rng::Seed;

/// Differences of shares round by less.
const ROUNDING: f64 = 1e-9;

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

/// What a lever does on the other sessions.
#[derive(Clone, Copy)]
pub(crate) struct CameTo {
    pub(crate) saving: f64,
    pub(crate) kept: f64,
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
    /// Of how many rows that change what is kept the lower end of that, and the interval of the saving, held.
    rows: usize,
    held: [usize; 2],
}

impl Rates {
    /// Adds what was judged on one part and pasted, beside what each row comes to on the other and what the best setting saves there.
    pub(crate) fn add(&mut self, best: f64, judged: &[(Lever, CameTo)], pasted: Option<usize>) {
        self.parted += 1;
        self.best += best.max(0.0);
        let changes_kept = |lever: &Lever| lever.evidence_kept.is_some_and(|kept| kept < 1.0);
        for (lever, came) in judged.iter().filter(|(lever, _)| changes_kept(lever)) {
            let [low, high] = lever.interval.unwrap_or_default();
            let kept = lever.evidence_low.unwrap_or_default() - ROUNDING..;
            self.rows += 1;
            self.held[0] += usize::from(kept.contains(&came.kept));
            self.held[1] += usize::from((low - ROUNDING..=high + ROUNDING).contains(&-came.saving));
        }
        let Some((lever, came)) = pasted.map(|nth| &judged[nth]) else { return };
        self.advised += 1;
        self.saved += came.saving;
        self.promised -= lever.expected.unwrap_or_default();
        self.harmed += usize::from(came.saving < -0.005);
        self.broken += usize::from(came.kept < FLOOR);
    }

    /// Writes it as a row of a table, after what it is of.
    pub(crate) fn row(&self, of: &str, n: usize) -> String {
        let share = |n: usize| 100.0 * n as f64 / self.parted.max(1) as f64;
        let each = |sum: f64| 100.0 * sum / self.advised.max(1) as f64;
        let held = |nth: usize| 100.0 * self.held[nth] as f64 / self.rows.max(1) as f64;
        let captured = if self.best > 0.0 {
            format!("{:.0}%", 100.0 * self.saved / self.best)
        } else {
            "–".to_owned()
        };
        format!(
            "| {of} | {n} | {:.1}% | {captured} | {:.1}% | {:.1}% | {:.1}% → {:.1}% | {:.0}%, {:.0}% |",
            share(self.advised),
            share(self.harmed),
            share(self.broken),
            each(self.promised),
            each(self.saved),
            held(0),
            held(1)
        )
    }
}
