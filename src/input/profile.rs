//! A well-formed model profile and its only constructor.

pub mod cache;
pub mod calendar;
mod check;
pub mod price;
mod rules;
pub mod written;

use self::price::Prices;
use crate::diag::{Diagnostic, Problems};
use crate::input::policy::wildcard;
use crate::quantity::{Cost, Tokens, UNLIMITED};

pub use self::cache::{
    Blocks, Breakpoints, CacheRules, ExplicitCache, Settings, Steps, Touch, TtlClass, Units,
};
pub use self::written::{Price, ProfileFile};

/// One model at one provider at one date.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The day on which its sources were read.
    pub as_of: String,
    /// The model ids that it stands for; `*` stands for anything.
    pub models: Vec<String>,
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
    /// How recovery is priced.
    pub recovery: written::RecoveryPrice,
    /// Tokens of a recovery call's prompt beside what it fetches.
    pub recovery_overhead_tokens: Tokens,
    /// Tokens that a recovery call writes.
    pub recovery_output_tokens: Tokens,
    /// What one failure is taken to cost.
    pub failure_penalty: Cost,
    /// What a call of a memory to its service costs.
    pub memory_call: Cost,
    /// Milliseconds of such a call.
    pub memory_latency_ms: f64,
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
    pub fn new(file: &ProfileFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let profile = check::profile(file, &mut problems);
        problems.into_result(profile)
    }

    /// Returns how well it fits a model's id: the letters of the longest pattern that matches; nothing where none does.
    ///
    /// An id may stand behind a provider's name, as in `anthropic/claude-opus-4.5`.
    #[must_use]
    pub fn fits(&self, model: &str) -> Option<usize> {
        let id = model.rsplit('/').next().unwrap_or(model);
        let is_match = |pattern: &&String| wildcard(pattern, model) || wildcard(pattern, id);
        let letters = |pattern: &String| pattern.chars().filter(|it| *it != '*').count();
        let own = (self.name == model).then_some(usize::MAX);
        own.or_else(|| self.models.iter().filter(is_match).map(letters).max())
    }
}
