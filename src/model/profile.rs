//! A well-formed model profile and its only constructor.

use super::cache::cache;
use super::price::{self, Prices};
use crate::diag::{Diagnostic, Problems};
use crate::quantity::{Cost, Tokens, UNLIMITED};
use crate::spec::ProfileSpec;
use crate::spec::profile::{AssumptionsSpec, LimitsSpec};

pub use super::cache::{Blocks, Breakpoints, CacheRules, ExplicitCache, Steps, Touch, TtlClass, Units};

/// One model at one provider at one date.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The day on which its sources were read.
    pub as_of: String,
    /// How much the model takes and gives.
    pub limits: Limits,
    /// The provider's cache.
    pub cache: CacheRules,
    /// What a token costs.
    pub prices: Prices,
    /// What is assumed rather than known.
    pub assumptions: Assumptions,
}

/// How much a model takes and gives, in tokens; [`UNLIMITED`] where it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The longest prompt.
    pub prompt: Tokens,
    /// The context window.
    pub window: Tokens,
    /// The longest output.
    pub output: Tokens,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self { prompt: UNLIMITED, window: UNLIMITED, output: UNLIMITED };
}

/// What a report assumes about the agent and the provider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumptions {
    /// Tokens of a recovery call's prompt beside what it fetches.
    pub recovery_overhead_tokens: Tokens,
    /// Tokens that a recovery call writes.
    pub recovery_output_tokens: Tokens,
    /// What one failure is taken to cost.
    pub failure_penalty: Cost,
    /// Milliseconds of a request before the first token.
    pub request_latency_ms: f64,
    /// Milliseconds of a recovery call.
    pub recovery_latency_ms: f64,
    /// Milliseconds per input token that is not read from the cache.
    pub latency_ms_per_uncached_token: f64,
    /// Milliseconds per output token.
    pub latency_ms_per_output_token: f64,
}

impl Profile {
    /// Checks a profile.
    ///
    /// # Errors
    /// Every problem of the profile, each with its field path.
    pub fn new(spec: &ProfileSpec) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        if spec.sources.is_empty() {
            problems.within("sources", |it| {
                it.push(
                    "profile-unsourced",
                    "a profile names its sources",
                    "write where its numbers were read",
                );
            });
        }
        let assumed = &spec.assumptions;
        let start_ms = price::start(assumed.starts_at.as_deref(), &spec.as_of, &mut problems);
        let profile = Self {
            name: spec.name.clone(),
            about: spec.about.clone(),
            as_of: spec.as_of.clone(),
            limits: problems.within("limits", |problems| limits(&spec.limits, problems)),
            cache: problems.within("cache", |problems| cache(&spec.cache, problems)),
            prices: problems.within("prices", |problems| {
                price::prices(&spec.prices, start_ms, &assumed.services, problems)
            }),
            assumptions: problems.within("assumptions", |problems| assumptions(&spec.assumptions, problems)),
        };
        problems.into_result(profile)
    }
}

fn limits(spec: &LimitsSpec, problems: &mut Problems) -> Limits {
    let given = [
        ("context_tokens", spec.context_tokens),
        ("input_tokens", spec.input_tokens),
        ("output_tokens", spec.output_tokens),
    ];
    for (field, tokens) in given {
        if tokens == Some(0) {
            problems.within(field, |it| {
                it.push(
                    "limit-zero",
                    "a limit of 0 tokens lets nothing through",
                    "leave it out for no limit",
                );
            });
        }
    }
    let window = spec.context_tokens.unwrap_or(UNLIMITED);
    Limits {
        prompt: spec.input_tokens.unwrap_or(window),
        window,
        output: spec.output_tokens.unwrap_or(UNLIMITED),
    }
}

fn assumptions(spec: &AssumptionsSpec, problems: &mut Problems) -> Assumptions {
    let failure_penalty = Cost::from_usd(spec.failure_penalty_usd).unwrap_or_else(|| {
        problems.within("failure_penalty_usd", |it| {
            it.push("price-too-fine", "more than twelve decimals of a dollar", "round it");
        });
        Cost::default()
    });
    Assumptions {
        recovery_overhead_tokens: spec.recovery_overhead_tokens,
        recovery_output_tokens: spec.recovery_output_tokens,
        failure_penalty,
        request_latency_ms: spec.request_latency_ms.to_f64(),
        recovery_latency_ms: spec.recovery_latency_ms.to_f64(),
        latency_ms_per_uncached_token: spec.latency_ms_per_uncached_token.to_f64(),
        latency_ms_per_output_token: spec.latency_ms_per_output_token.to_f64(),
    }
}
