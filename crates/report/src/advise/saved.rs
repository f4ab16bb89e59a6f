//! Advice as it is written down, so that later sessions can be held against it.

use serde::{Deserialize, Serialize};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.forecast/1";

/// Of the normal distribution: 95% are within so many standard errors.
pub(crate) const Z: f64 = 1.96;
/// A difference that stands beyond the interval by so many standard errors more is found in nine of ten cases.
pub(crate) const POWER: f64 = 1.2816;
/// With fewer sessions, their variance is not known well enough to say anything.
pub(crate) const SESSIONS_MIN: u64 = 5;

/// Settings that were advised, and what they were expected to save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The schema.
    pub schema: String,
    /// The agent.
    pub agent: String,
    /// The settings: `key=value`.
    pub set: Vec<String>,
    /// When the last session ended that it was made of, in milliseconds since 1970; later sessions can be held against it.
    pub until_ms: Option<i64>,
    /// The agent's versions in these sessions.
    pub versions: Vec<String>,
    /// The relative change in cost that was forecast.
    pub change: f64,
    /// Its 95% interval over sessions and projects.
    pub interval: [f64; 2],
    /// The settings that were in force, where later sessions can be played with them again: `key=value`. The size of a session is then
    /// what it costs with them, as simulated; else the number of its requests.
    pub before: Vec<String>,
    /// What sessions were billed, by kind.
    pub kinds: Vec<SessionKind>,
}

/// Sessions of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionKind {
    /// Lane, model and length.
    pub name: String,
    /// What they were billed.
    pub bills: Bills,
    /// The relative change in cost that was forecast for them.
    pub change: f64,
}

/// What sessions were billed by their size, and how much that varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bills {
    /// The number of sessions.
    pub sessions: u64,
    /// Their sizes in sum.
    pub size: f64,
    /// US dollars.
    pub usd: f64,
    /// The sum of the squared differences between a session's bill and its size at the common rate, in squared US dollars.
    pub residual: f64,
}

impl Bills {
    /// Adds up sessions: size and US dollars of each.
    pub fn new(all: &[(f64, f64)]) -> Self {
        let (size, usd) = all.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let rate = if size > 0.0 { usd / size } else { 0.0 };
        let residual = all.iter().map(|it| (it.1 - rate * it.0).powi(2)).sum();
        Self { sessions: all.len() as u64, size, usd, residual }
    }

    /// Returns after about how many later sessions a change can be told from half of it, by what sessions of all kinds were billed; none if
    /// no number would do.
    pub fn sessions_to_know(kinds: &[Self], change: f64) -> Option<u64> {
        let n: u64 = kinds.iter().map(|it| it.sessions).sum();
        let usd: f64 = kinds.iter().map(|it| it.usd).sum();
        let squares: f64 =
            kinds.iter().filter(|it| it.sessions > 0).map(|it| it.variance() * it.size.powi(2)).sum();
        let each = squares * n as f64 / usd.powi(2);
        later_sessions(change.abs() / 2.0, each, each / n as f64)
    }

    /// Returns US dollars by size.
    pub fn rate(&self) -> f64 {
        self.usd / self.size
    }

    /// Returns the variance of the rate over sessions; that of a single session is taken to be its square.
    pub fn variance(&self) -> f64 {
        let n = self.sessions as f64;
        if n < 2.0 { self.rate().powi(2) } else { self.residual * n / (n - 1.0) / self.size.powi(2) }
    }
}

/// Returns the number of later sessions after which a difference is found in nine of ten cases, where each adds a variance and the earlier
/// rates have one that more sessions do not lessen; none if no number would do.
pub(crate) fn later_sessions(difference: f64, each: f64, rates: f64) -> Option<u64> {
    let allowed = (difference / (Z + POWER)).powi(2) - rates;
    let needed = (each / allowed).ceil();
    (allowed > 0.0 && needed.is_finite()).then_some((needed as u64).max(SESSIONS_MIN))
}
