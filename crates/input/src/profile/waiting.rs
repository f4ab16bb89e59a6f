//! How long requests take, by model: declared in `assumptions/waiting.toml`. A model without data has nothing, and borrows none.

use crate::prelude::*;

use super::ProfileFile;
use crate::scenario::refetch::AssumedNumber;

/// The models, with sources.
const FILE: &str = ctxsim_assumptions::WAITING;
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// How long the requests of one model take.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub struct WaitModel {
    pub name: String,
    /// The ids under which logs name it; `*` matches anything.
    models: Vec<String>,
    /// The profiles that cover it and no other model.
    profiles: Vec<String>,
    /// Seconds of a request apart from its tokens.
    per_request: AssumedNumber<f64>,
    per_10k_new: AssumedNumber<f64>,
    per_100k_cached: AssumedNumber<f64>,
    per_1k_output: AssumedNumber<f64>,
    /// Where 90% of the requests lie, as shares of what is predicted.
    pub request_ratio: [f64; 2],
    /// The same of the totals of sessions.
    pub session_ratio: [f64; 2],
    /// What it was fitted on.
    pub fitted: WaitHalf,
    #[serde(skip)]
    rates: WaitRates,
}

/// Half of the timed sessions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct WaitHalf {
    pub requests: u64,
    pub sessions: u64,
}

/// Nanoseconds: whole, so that sums depend on no order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitRates {
    pub request: u64,
    /// Of a token of a prompt that was not read from the cache.
    pub new: u64,
    pub cached: u64,
    pub output: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WaitFile {
    models: Vec<WaitModel>,
}

impl WaitModel {
    /// Returns every model with data.
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<WaitModel>> = LazyLock::new(|| {
            let mut file: WaitFile = declared(FILE);
            file.models.iter_mut().for_each(|it| it.rates = it.read_rates());
            file.models
        });
        &ALL
    }

    /// Returns the model of an id as a log of its own provider names it: elsewhere it may take another time.
    pub fn of_model(id: &str) -> Option<&'static Self> {
        let id = id.to_ascii_lowercase();
        Self::all().iter().find(|it| it.models.iter().any(|pattern| wildcard(pattern, &id)))
    }

    /// Returns the model that a profile covers, if it covers no other.
    pub(super) fn of_profile(profile: &ProfileFile) -> Option<&'static Self> {
        Self::all().iter().find(|it| it.profiles.contains(&profile.name))
    }

    /// Returns what each part of a request takes.
    pub fn rates(&self) -> WaitRates {
        self.rates
    }

    fn read_rates(&self) -> WaitRates {
        let rate = |it: &AssumedNumber<f64>, tokens: f64| (it.value / tokens * SECOND).round() as u64;
        WaitRates {
            request: rate(&self.per_request, 1.0),
            new: rate(&self.per_10k_new, 1e4),
            cached: rate(&self.per_100k_cached, 1e5),
            output: rate(&self.per_1k_output, 1e3),
        }
    }
}

impl WaitRates {
    /// Returns the nanoseconds of requests with so many tokens.
    pub fn ns(self, requests: u64, [new, cached, output]: [Tokens; 3]) -> i128 {
        let parts = [(requests, self.request), (new, self.new), (cached, self.cached), (output, self.output)];
        parts.into_iter().map(|(number, ns)| i128::from(number) * i128::from(ns)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_with_data_is_found_by_its_own_id_alone() {
        for it in WaitModel::all() {
            assert_eq!(WaitModel::of_model(&it.name), Some(it), "{}", it.name);
            assert!(it.rates.output > 0 && it.session_ratio[0] < 1.0 && it.session_ratio[1] > 1.0);
        }
        assert!(WaitModel::all().len() >= 4);
        for other in ["claude-opus-4-7", "bedrock/anthropic.claude-opus-4-5", "gpt-5.5", ""] {
            assert_eq!(WaitModel::of_model(other), None, "{other}");
        }
    }

    #[test]
    fn a_request_takes_the_sum_of_what_its_parts_take() {
        let rates = WaitRates { request: 2_000, new: 30, cached: 4, output: 500 };

        assert_eq!(rates.ns(3, [10, 20, 30]), 6_000 + 300 + 80 + 15_000);
    }
}
