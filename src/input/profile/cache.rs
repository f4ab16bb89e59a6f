//! The checked numbers of a provider's cache rules.

pub use super::rules::{Billing, CacheRules, Reads};
pub use super::written::{Automatic, Level, LookbackUnit, Lookup, Readable, Setting, Touch};
use crate::quantity::Tokens;

/// Cache rules plus effects that do not depend on a prompt's content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Qualified {
    /// The rules.
    pub rules: CacheRules,
    /// What a change of a setting invalidates.
    pub invalidates: Invalidates,
    /// The probability that a request reaches the cached entries; always, if `None`.
    pub hits: Option<Hits>,
    /// In a session that several models answered: the rules of each, by [`Setting::Model`], in the place of all others.
    pub of_models: Vec<CacheRules>,
}

/// The probability that a request is served by a machine that has the entries.
///
/// The n-th request of a run uses the n-th number, from 1 to 10⁹, of the seed's stream `cache hit`, whatever
/// the policy. It hits if that number is at most the probability, so raising the probability never turns a
/// hit into a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hits {
    /// The probability in parts of 10⁹.
    pub parts: u64,
    /// The seed of the draws.
    pub seed: u64,
}

impl Hits {
    /// The number of parts that means certainty.
    pub const CERTAIN: u64 = 1_000_000_000;
}

/// A request's settings beside its content. Equal numbers mean equal settings; 0 is the initial setting of a
/// timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings([u32; 9]);

impl Settings {
    /// Changes a setting.
    pub fn set(&mut self, setting: Setting, value: u32) {
        self.0[setting as usize] = value;
    }

    /// Returns a setting's value.
    pub fn get(&self, setting: Setting) -> u32 {
        self.0[setting as usize]
    }
}

/// All settings.
pub const SETTINGS: [Setting; 9] = [
    Setting::Model,
    Setting::Tools,
    Setting::System,
    Setting::Features,
    Setting::ToolChoice,
    Setting::Images,
    Setting::Thinking,
    Setting::Effort,
    Setting::Preamble,
];

/// For each setting: the first level of the prompt that a change invalidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Invalidates(pub [Level; 9]);

impl Default for Invalidates {
    /// The default effect of changes: everything after the place where the change appears.
    fn default() -> Self {
        use Level::{Messages, System, Tools};
        Self([Tools, Tools, System, System, Messages, Messages, Messages, Messages, Messages])
    }
}

impl Invalidates {
    /// Returns the settings that matter for a prefix that ends on some level; all others have their initial
    /// values.
    pub fn of(&self, settings: Settings, level: Level) -> Settings {
        let mut counted = Settings::default();
        for setting in SETTINGS.into_iter().filter(|it| self.0[*it as usize] <= level) {
            counted.set(setting, settings.get(setting));
        }
        counted
    }
}

/// The numbers of a cache with breakpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Breakpoints {
    /// Breakpoints after fewer tokens are ignored.
    pub min_tokens: Tokens,
    /// The most breakpoints at which a request may write; the latest count.
    pub breakpoints_max: u8,
    /// How many positions are looked up, going back from a breakpoint and including it.
    pub lookback_positions: u16,
    /// What counts as a position.
    pub lookback_unit: LookbackUnit,
    /// The places at which entries are looked up, if not by lookback.
    pub lookup: Option<Lookup>,
    /// The place of an automatic breakpoint.
    pub automatic: Automatic,
    /// Whether a policy without breakpoints gets only the automatic one.
    pub is_implicit: bool,
    /// Whether it also gets one before all messages.
    pub marks_lead: bool,
    /// Whether the automatic breakpoint of an aligned request comes after the request's own instructions.
    pub marks_instruction: bool,
    /// How long entries live after their last use, by class, in milliseconds.
    pub ttl_ms: [Option<u64>; 2],
    /// How much longer they were observed to live, in milliseconds.
    pub grace_ms: u64,
    /// The longest life of an entry, in milliseconds.
    pub max_age_ms: Option<u64>,
    /// Whether a use restarts an entry's lifetime.
    pub renews: bool,
    /// From when an entry can be read.
    pub readable: Readable,
    /// How long after that, in milliseconds.
    pub readable_after_ms: u64,
}

impl Default for Breakpoints {
    /// The defaults of these rules.
    fn default() -> Self {
        Self {
            min_tokens: 0,
            breakpoints_max: 4,
            lookback_positions: 20,
            lookback_unit: LookbackUnit::default(),
            lookup: None,
            automatic: Automatic::default(),
            is_implicit: false,
            marks_lead: false,
            marks_instruction: false,
            ttl_ms: [Some(300_000), None],
            grace_ms: 0,
            max_age_ms: None,
            renews: true,
            readable: Readable::default(),
            readable_after_ms: 0,
        }
    }
}

impl Breakpoints {
    /// Returns the class of an entry: the requested one if the provider offers it.
    pub fn class(&self, asked: Option<TtlClass>) -> TtlClass {
        let other = if self.ttl_ms[0].is_some() { TtlClass::Short } else { TtlClass::Long };
        asked.filter(|it| self.ttl_ms[*it as usize].is_some()).unwrap_or(other)
    }

    /// Returns how long an entry of a class is readable after its last use, in milliseconds.
    pub fn life_ms(&self, class: TtlClass) -> u64 {
        self.ttl_ms[class as usize].unwrap_or(0).saturating_add(self.grace_ms)
    }
}

/// A class of lifetimes; each has its price. Providers sell 5 or 30 minutes, and 1 or 12 hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TtlClass {
    /// Below an hour.
    #[default]
    Short,
    /// An hour or more.
    Long,
}

impl TtlClass {
    /// Returns the class of a lifetime in milliseconds.
    pub fn of(ttl_ms: u64) -> Self {
        if ttl_ms < 3_600_000 { Self::Short } else { Self::Long }
    }
}

/// The numbers of a cache of whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Units {
    /// The lengths that units have.
    pub steps: Steps,
    /// Whether a request leaves a unit at the end of its prompt.
    pub at_input_end: bool,
    /// Whether it leaves a unit at the end of the model's output.
    pub at_output_end: bool,
    /// Whether it leaves a unit at the end of the prefix that it shares with an earlier prompt.
    pub at_common_prefix: bool,
    /// A request also leaves a unit at every multiple of this number of tokens, at least 1.
    pub interval_tokens: Option<Tokens>,
    /// How long a unit lives after its last use, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// From when a unit can be read.
    pub readable: Readable,
    /// How long after that, in milliseconds.
    pub readable_after_ms: u64,
}

/// The numbers of explicitly stored contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExplicitCache {
    /// Shorter contents cannot be stored.
    pub min_tokens: Tokens,
    /// How long a content is kept, in milliseconds.
    pub ttl_ms: u64,
    /// Whether the harness renews a content's lifetime whenever it uses the content.
    pub renews: bool,
}

/// A store of fixed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// Tokens per block, at least 1.
    pub block_tokens: Tokens,
    /// Blocks in the store, at least 1; unlimited if `None`.
    pub capacity_blocks: Option<u32>,
    /// The order in which the blocks of a prompt count as used.
    pub touch: Touch,
}

/// The prefix lengths that a cache keeps: a minimum, then whole steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps {
    /// Shorter prefixes are not cached.
    pub min: Tokens,
    /// The step by which prefixes grow beyond the minimum, at least 1.
    pub step: Tokens,
}

impl Steps {
    /// Returns the longest cached length within a common prefix.
    #[inline]
    pub fn floor(&self, common: Tokens) -> Tokens {
        match common.checked_sub(self.min) {
            None => 0,
            Some(extra) => self.min + extra / self.step * self.step,
        }
    }
}
