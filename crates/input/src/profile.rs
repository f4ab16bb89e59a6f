//! A checked model profile, and its only constructor.

pub mod cache;
pub mod calendar;
mod check;
mod family;
mod images;
pub mod models;
pub mod price;
mod waiting;
pub mod written;

use self::price::Prices;
use crate::prelude::*;
use serde::{Deserializer, Serializer};

use ctxsim_base::quantity::{Cost, UNLIMITED};

pub use self::cache::{
    Blocks, Breakpoints, CacheRules, ExplicitCache, Lifetimes, Refusal, Settings, Steps, Touch, TtlClass,
    UnitRules,
};
pub use self::family::{Counting, Factor, Family};
pub use self::images::{ImageRule, ImageSize, UnknownImage};
pub use self::waiting::{WaitModel, WaitRates};
pub use self::written::{PriceSpec, ProfileFile};

/// One model at one provider at one date.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub name: String,
    /// What it is.
    pub about: String,
    /// The day on which its sources were read.
    pub as_of: String,
    /// The model ids it covers, in lower case, as patterns (`profile::models`).
    pub models: Vec<String>,
    /// How its models count tokens, if that is known.
    pub family: Option<&'static Family>,
    /// How its models count images.
    pub images: &'static ImageRule,
    /// The model's token limits.
    pub limits: Limits,
    /// The provider's cache.
    pub cache: CacheRules,
    /// Whether the provider calls its cache best effort: hits are likely, not sure.
    pub is_best_effort: bool,
    /// What its API refuses of a request's breakpoints.
    pub refuses: Vec<Refusal>,
    pub prices: Prices,
    /// How long the requests of its model take, if that was measured.
    pub waiting: Option<&'static WaitModel>,
    /// What is assumed rather than known.
    pub assumptions: Assumptions,
}

/// A model's token limits; [`UNLIMITED`] where a profile has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The longest prompt.
    pub prompt: Tokens,
    /// The context window.
    pub window: Tokens,
    /// The longest output.
    pub output: Tokens,
}

// As other packed values, under a name that tells them from numbers that are added up.
impl Serialize for Limits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_newtype_struct(Self::NAME, &((self.prompt, self.window, self.output),))
    }
}

impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let ((prompt, window, output),) = Deserialize::deserialize(from)?;
        Ok(Self { prompt, window, output })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::NONE
    }
}

impl Limits {
    /// The name under which they are written in parts.
    pub const NAME: &str = "Limits";
    /// No limits.
    pub const NONE: Self = Self { prompt: UNLIMITED, window: UNLIMITED, output: UNLIMITED };
}

/// Assumptions of a report about the agent and the provider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumptions {
    /// How recovery is priced.
    pub recovery: written::RecoveryPrice,
    /// Tokens of a recovery call's prompt, in addition to what it fetches.
    pub recovery_overhead_tokens: Tokens,
    /// Tokens that a recovery call writes.
    pub recovery_output_tokens: Tokens,
    /// The assumed cost of one failure.
    pub failure_penalty: Cost,
    /// The cost of one call from a memory to its service.
    pub memory_call: Cost,
    /// Milliseconds of one such call.
    pub memory_latency_ms: f64,
    /// Milliseconds from a request to its first token.
    pub request_latency_ms: f64,
    /// Milliseconds of a recovery call.
    pub recovery_latency_ms: f64,
    /// Milliseconds per input token not read from the cache.
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

    /// Returns how well it matches a model's id: the length of the longest matching pattern, or `None`.
    ///
    /// An id may have a provider's name before it, as in `anthropic/claude-opus-4.5`.
    pub fn fits(&self, model: &str) -> Option<usize> {
        self.covers(model).max(self.covers(model.rsplit('/').next()?))
    }

    /// Returns the same of an id as it is, with what stands before it. Providers and routers do not agree on the case of a name, so it does
    /// not matter.
    pub fn covers(&self, model: &str) -> Option<usize> {
        let lower = model.bytes().any(|it| it.is_ascii_uppercase()).then(|| model.to_ascii_lowercase());
        let model = lower.as_deref().unwrap_or(model);
        let letters =
            |pattern: &String| models::without_mark(pattern).chars().filter(|it| *it != '*').count();
        let own = self.name.eq_ignore_ascii_case(model).then_some(usize::MAX);
        let covering = self.models.iter().filter(|pattern| models::named_part(pattern, model).is_some());
        own.or_else(|| covering.map(letters).max())
    }
}
