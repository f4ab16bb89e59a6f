//! Advice as it is written down, so that later sessions can be held against it.

use crate::prelude::*;
use ctxsim_engine::measure::assumed::AssumedReach;
use ctxsim_engine::measure::limits::{Over, RatioSample, ratio_limits, sample_blocks, unit_of_blocks};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.forecast/2";
/// The schema before it, which is still read: it has no word, and nothing that was applied or planned.
pub const SCHEMA_BEFORE: &str = "ctxsim.forecast/1";

/// Of the normal distribution: 95% are within so many standard errors.
pub(crate) const Z: f64 = 1.96;
/// A difference that stands beyond the interval by so many standard errors more is found in nine of ten cases.
pub(crate) const POWER: f64 = 1.2816;
/// With fewer sessions, their variance is not known well enough to say anything.
pub(crate) const SESSIONS_MIN: u64 = 5;

/// Settings that were advised, and what they were expected to save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavingsForecast {
    /// The schema.
    pub schema: String,
    /// The agent.
    pub agent: String,
    /// The settings: `key=value`.
    pub set: Vec<String>,
    /// The word that the rule gave them; empty where there was none.
    #[serde(default)]
    pub word: String,
    /// When the last session ended that it was made of, in milliseconds since 1970; later sessions can be held against it.
    pub until_ms: Option<i64>,
    /// The agent's versions in these sessions.
    pub versions: Vec<String>,
    /// The relative change in cost that was forecast.
    pub change: f64,
    /// Its 95% interval over sessions and projects.
    pub interval: [f64; 2],
    /// The settings that were in force, where later sessions can be played with them again: `key=value`, with `default` where nobody had set
    /// it. The size of a session is then what it costs with them, as simulated; else the number of its requests.
    pub before: Vec<String>,
    /// What sessions were billed, by kind. Where sizes are simulated, it is what their input was billed, and as simulated what logs do not
    /// show whole: outputs, the requests that compact, and what is looked up again.
    pub kinds: Vec<SessionKind>,
    /// The same of all kinds together, where sizes are simulated: such a size needs no kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<BillsBySize>,
    /// How much the rate of bills moves from one block of time to the next, relatively, where times are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<RateDrift>,
    /// What a settings file said before `advise --apply` changed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerValue>,
    /// The days on which the settings are in force and those on which they are not, where a trial was planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trial: Vec<TrialDay>,
}

/// The schema of a file of several forecasts.
pub const SCHEMA_OF_SEVERAL: &str = "ctxsim.forecasts/1";

/// Forecasts as they are written down, each of another agent; one alone is written as itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ForecastFile(pub Vec<SavingsForecast>);

impl Serialize for ForecastFile {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [alone] => alone.serialize(to),
            all => group! { "schema": SCHEMA_OF_SEVERAL, "forecasts": Value::serialised(all) }.serialize(to),
        }
    }
}

/// How much the rate of bills moves from one block of time to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateDrift {
    /// The relative standard deviation of what a block adds.
    pub deviation: f64,
    /// How many blocks the earlier sessions are of.
    pub blocks: u64,
    /// What a block is: `month`, `week` or `day`.
    pub per: String,
}

impl RateDrift {
    /// Finds it in earlier sessions whose bills are measured by their kind, or together.
    fn new(sessions: &[EarlierSession], kinds: &[SessionKind], pooled: Option<BillsBySize>) -> Option<Self> {
        let sample = |session: &EarlierSession| {
            let own = || kinds.iter().find(|kind| kind.name == session.kind).map(|it| it.bills);
            let rate = pooled.or_else(own)?.usd_per_size_unit();
            let pair = (session.billed_usd?, rate * session.size?);
            Some(RatioSample { pair, project: "", at_ms: session.at_ms })
        };
        let samples = sessions.iter().filter_map(sample).listed();
        let unit = unit_of_blocks(&samples)?;
        let limits = ratio_limits(&samples, AssumedReach::default());
        let found = limits.iter().find(|it| it.over == unit)?;
        let per = unit.one().to_owned();
        Some(Self { deviation: found.deviation, blocks: found.blocks as u64, per })
    }

    /// Returns the relative variance of later sessions, which ended at some times, against the earlier ones.
    pub(crate) fn relative_variance(&self, times_ms: impl Iterator<Item = i64>) -> f64 {
        let sample = |at_ms| RatioSample { pair: (1.0, 1.0), project: "", at_ms: Some(at_ms) };
        let samples = times_ms.map(sample).listed();
        let unit = [Over::Months, Over::Weeks, Over::Days].into_iter().find(|it| it.one() == self.per);
        let n_later_blocks = unit.map_or(1, |it| sample_blocks(it, &samples).len());
        self.deviation.powi(2) * (1.0 / self.blocks.max(1) as f64 + 1.0 / n_later_blocks.max(1) as f64)
    }
}

/// A value that a settings file had, and what was written in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormerValue {
    /// The key; dots part the levels of a file.
    pub key: String,
    /// What was written, as text of the file.
    pub written: String,
    /// What stood there, as text of the file; none where the key was not there.
    pub before: Option<String>,
    /// The part of the key that was not there; empty where all of it was.
    pub made: String,
}

/// A day of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialDay {
    /// The day: YYYY-MM-DD.
    pub day: String,
    /// Whether the settings are in force.
    pub is_on: bool,
}

/// Sessions of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionKind {
    /// Lane, model and length.
    pub name: String,
    /// What they were billed.
    pub bills: BillsBySize,
    /// The relative change in cost that was forecast for them.
    pub change: f64,
}

/// What sessions were billed by their size, and how much that varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BillsBySize {
    /// The number of sessions.
    pub sessions: u64,
    /// Their sizes in sum.
    pub size: f64,
    /// US dollars.
    pub usd: f64,
    /// The sum of the squared differences between a session's bill and its size at the common rate, in squared US dollars.
    pub residual: f64,
}

impl BillsBySize {
    /// Adds up sessions: size and US dollars of each.
    pub fn new(sizes_and_usd: &[(f64, f64)]) -> Self {
        let (size, usd) = sizes_and_usd.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let rate = if size > 0.0 { usd / size } else { 0.0 };
        let residual = sizes_and_usd.iter().map(|it| (it.1 - rate * it.0).powi(2)).sum();
        Self { sessions: sizes_and_usd.len() as u64, size, usd, residual }
    }

    /// Returns US dollars by size.
    pub fn usd_per_size_unit(&self) -> f64 {
        self.usd / self.size
    }

    /// Returns the variance of the rate over sessions; that of a single session is taken to be its square.
    pub fn rate_variance(&self) -> f64 {
        let n = self.sessions as f64;
        if n < 2.0 {
            return self.usd_per_size_unit().powi(2);
        }
        self.residual * n / (n - 1.0) / self.size.powi(2)
    }
}

impl SavingsForecast {
    /// Returns whether sessions are measured by what they cost with the earlier settings, as simulated.
    pub fn is_sized_by_cost(&self) -> bool {
        !self.before.is_empty()
    }

    /// Returns what sessions of a kind were billed, by which later ones of it are measured.
    pub fn base_bills(&self, kind: &str) -> Option<&BillsBySize> {
        let own = || self.kinds.iter().find(|it| it.name == kind).map(|it| &it.bills);
        self.pooled.as_ref().or_else(own).filter(|it| it.usd > 0.0 && it.size > 0.0)
    }

    /// Returns after about how many later sessions it can be told what became of the forecast; none if no number would do. It follows from
    /// the forecast alone, so it does not change however often it is asked.
    pub fn n_later_sessions_needed(&self) -> Option<u64> {
        self.count_sessions_needed(!self.trial.is_empty())
    }

    /// Returns the same, or that of a trial by days, which needs no earlier sessions.
    pub(crate) fn count_sessions_needed(&self, is_trial: bool) -> Option<u64> {
        let bills = (self.pooled, &*self.kinds);
        n_sessions_to_detect_change(bills, self.change, self.drift.as_ref(), is_trial)
    }
}

/// A session that a forecast is made of, in US dollars; each is unknown where a price is.
#[derive(Clone, Debug, Default)]
pub struct EarlierSession {
    /// Lane, model and length.
    pub kind: String,
    /// When its last request was, in milliseconds since 1970, if that is known.
    pub at_ms: Option<i64>,
    /// What it costs with what is in force, as simulated, or its requests.
    pub size: Option<f64>,
    /// What it was billed, as the forecast counts it.
    pub billed_usd: Option<f64>,
    /// As simulated with what is in force.
    pub usd: Option<f64>,
    /// The same with the change.
    pub changed_usd: Option<f64>,
}

/// What earlier sessions were billed, by which later ones are measured.
#[derive(Clone, Debug, Default)]
pub struct EarlierBills {
    pub kinds: Vec<SessionKind>,
    pub pooled: Option<BillsBySize>,
    pub drift: Option<RateDrift>,
}

impl EarlierBills {
    /// Adds up sessions whose sizes are simulated, or numbers of requests.
    pub fn new(sessions: &[EarlierSession], is_sized_by_cost: bool) -> Self {
        let bills = || sessions.iter().filter_map(|it| it.size.zip(it.billed_usd)).collect::<Vec<_>>();
        let kinds = SessionKind::sum_by_kind(sessions);
        let pooled = is_sized_by_cost.then(|| BillsBySize::new(&bills()));
        Self { drift: RateDrift::new(sessions, &kinds, pooled), kinds, pooled }
    }

    /// Returns after about how many later sessions a change can be told; none if no number would do.
    pub fn n_later_sessions_needed(&self, change: f64) -> Option<u64> {
        n_sessions_to_detect_change((self.pooled, &self.kinds), change, self.drift.as_ref(), false)
    }
}

impl SessionKind {
    /// Adds up sessions by kind.
    fn sum_by_kind(sessions: &[EarlierSession]) -> Vec<Self> {
        let by_kind = grouped(sessions.iter().map(|it| (it.kind.as_str(), it)));
        let kind = |(name, members): (&str, Vec<&EarlierSession>)| {
            let sum = |usd: fn(&EarlierSession) -> Option<f64>| -> f64 {
                members.iter().copied().filter_map(usd).sum()
            };
            let bills: Vec<(f64, f64)> = members.iter().filter_map(|it| it.size.zip(it.billed_usd)).collect();
            let change = sum(|it| it.changed_usd) / sum(|it| it.usd) - 1.0;
            Self { name: name.to_owned(), bills: BillsBySize::new(&bills), change }
        };
        by_kind.into_iter().map(kind).collect()
    }
}

/// Returns after about how many later sessions a change can be told from half of it, by what sessions of all kinds were billed; none if no
/// number would do. In a trial, half of them are without the change, and the earlier ones are not needed.
fn n_sessions_to_detect_change(
    (pooled, kinds): (Option<BillsBySize>, &[SessionKind]),
    change: f64,
    drift: Option<&RateDrift>,
    is_trial: bool,
) -> Option<u64> {
    let bills = pooled.map_or_else(|| kinds.iter().map(|it| it.bills).collect(), |it| vec![it]);
    let all = || bills.iter().filter(|it| it.sessions > 0);
    let n: u64 = all().map(|it| it.sessions).sum();
    let usd: f64 = all().map(|it| it.usd).sum();
    let squares: f64 = all().map(|it| it.rate_variance() * it.size.powi(2)).sum();
    let each = squares * n as f64 / usd.powi(2);
    if is_trial {
        return n_sessions_to_tell(change.abs() / 2.0, 4.0 * each, 0.0);
    }
    // Later blocks of time have as many sessions as the earlier ones.
    let drift = drift.map_or(0.0, |it| it.deviation.powi(2) / it.blocks.max(1) as f64);
    n_sessions_to_tell(change.abs() / 2.0, each + drift * n as f64, each / n as f64 + drift)
}

/// Returns the number of later sessions after which a difference is found in nine of ten cases, where each adds a variance and the earlier
/// rates have one that more sessions do not lessen; none if no number would do.
pub(crate) fn n_sessions_to_tell(difference: f64, session_variance: f64, rate_variance: f64) -> Option<u64> {
    let allowed = (difference / (Z + POWER)).powi(2) - rate_variance;
    let needed = (session_variance / allowed).ceil();
    (allowed > 0.0 && needed.is_finite()).then_some((needed as u64).max(SESSIONS_MIN))
}
