//! The numbers of a provider's cache rules, well formed.

pub use super::rules::{Billing, CacheRules, Reads};
pub use super::written::{Automatic, Level, LookbackUnit, Lookup, Readable, Setting, Touch};
use crate::quantity::Tokens;

/// Rules with what holds beside the content of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Qualified {
    /// The rules.
    pub rules: CacheRules,
    /// What a change beside the content invalidates.
    pub invalidates: Invalidates,
    /// How probably a request is served; always, without.
    pub hits: Option<Hits>,
}

/// How probable it is that a request is served by a machine that has the entries.
///
/// The n-th request of a run takes the n-th draw of the stream `cache hit` of the seed, whatever the policy, and is
/// served where the draw, from 1 to 10⁹, is no more than the probability: what a smaller one serves, a larger one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hits {
    /// The probability in parts of 10⁹.
    pub parts: u64,
    /// The seed of the draws.
    pub seed: u64,
}

impl Hits {
    /// How many parts make certainty.
    pub const CERTAIN: u64 = 1_000_000_000;
}

/// What a request says beside its content; equal values, equal settings, and 0 is how a timeline begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings([u32; 9]);

impl Settings {
    /// Gives a setting another value.
    pub fn set(&mut self, setting: Setting, value: u32) {
        self.0[setting as usize] = value;
    }

    /// Returns a setting's value.
    #[must_use]
    pub fn get(&self, setting: Setting) -> u32 {
        self.0[setting as usize]
    }
}

/// The settings there are.
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

/// From which level on a change of each setting makes a prompt another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Invalidates(pub [Level; 9]);

impl Default for Invalidates {
    /// What a change takes with it where nobody says otherwise: everything behind the place where it shows.
    fn default() -> Self {
        use Level::{Messages, System, Tools};
        Self([Tools, Tools, System, System, Messages, Messages, Messages, Messages, Messages])
    }
}

impl Invalidates {
    /// Returns the settings that count for a prefix that ends on some level; the others are as at the beginning.
    #[must_use]
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
    /// A breakpoint with less in front of it is ignored.
    pub min_tokens: Tokens,
    /// How many a request may write at; the latest count.
    pub breakpoints_max: u8,
    /// How many positions are looked at, back from a breakpoint and with it.
    pub lookback_positions: u16,
    /// What counts as a position.
    pub lookback_unit: LookbackUnit,
    /// At which places entries are looked for, where that is not the lookback.
    pub lookup: Option<Lookup>,
    /// Where an automatic breakpoint falls.
    pub automatic: Automatic,
    /// Whether a silent policy gets the automatic breakpoint alone.
    pub is_implicit: bool,
    /// Whether it gets one at the end of what stands before all messages, too.
    pub marks_lead: bool,
    /// Whether the automatic breakpoint of an aligned request falls behind what is asked there.
    pub marks_instruction: bool,
    /// How long entries live after their last use, by class, in milliseconds.
    pub ttl_ms: [Option<u64>; 2],
    /// How much longer they were seen to live, in milliseconds.
    pub grace_ms: u64,
    /// How long they live at most, in milliseconds.
    pub max_age_ms: Option<u64>,
    /// Whether a use makes them young again.
    pub renews: bool,
    /// From when on an entry can be read.
    pub readable: Readable,
    /// How long after that, in milliseconds.
    pub readable_after_ms: u64,
}

impl Default for Breakpoints {
    /// What a profile gets that names these rules and says no number.
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
    /// Returns the class that an entry gets: the one asked for where the provider offers it.
    #[must_use]
    pub fn class(&self, asked: Option<TtlClass>) -> TtlClass {
        let other = if self.ttl_ms[0].is_some() { TtlClass::Short } else { TtlClass::Long };
        asked.filter(|it| self.ttl_ms[*it as usize].is_some()).unwrap_or(other)
    }

    /// Returns how long an entry of a class is readable after its last use, in milliseconds.
    #[must_use]
    pub fn life_ms(&self, class: TtlClass) -> u64 {
        self.ttl_ms[class as usize].unwrap_or(0).saturating_add(self.grace_ms)
    }
}

/// A class of lifetimes; each has its price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TtlClass {
    /// Below an hour.
    #[default]
    Short,
    /// From an hour on.
    Long,
}

impl TtlClass {
    /// Returns the class of a lifetime in milliseconds.
    #[must_use]
    pub fn of(ttl_ms: u64) -> Self {
        if ttl_ms < 3_600_000 { Self::Short } else { Self::Long }
    }
}

/// The numbers of a cache of whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Units {
    /// The lengths that units have.
    pub steps: Steps,
    /// Whether a request leaves one at the end of its prompt.
    pub at_input_end: bool,
    /// Whether it leaves one at the end of what the model writes.
    pub at_output_end: bool,
    /// Whether it leaves one at the end of what its prompt shares with an earlier one.
    pub at_common_prefix: bool,
    /// A request also leaves a unit at every multiple of this many tokens; 1 and up.
    pub interval_tokens: Option<Tokens>,
    /// How long a unit lives after its last use, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// From when on a unit can be read.
    pub readable: Readable,
    /// How long after that, in milliseconds.
    pub readable_after_ms: u64,
}

/// The numbers of contents that the harness stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExplicitCache {
    /// Shorter contents cannot be stored.
    pub min_tokens: Tokens,
    /// How long a content is kept, in milliseconds.
    pub ttl_ms: u64,
    /// Whether the harness sets its clock back whenever it uses the content.
    pub renews: bool,
}

/// A store of fixed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// How many tokens a block holds; 1 and up.
    pub block_tokens: Tokens,
    /// How many blocks the store holds, 1 and up; any number without a capacity.
    pub capacity_blocks: Option<u32>,
    /// In which order the blocks of a prompt count as used.
    pub touch: Touch,
}

/// The prefix lengths that a cache keeps: a minimum, then whole steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps {
    /// Shorter prefixes are not cached.
    pub min: Tokens,
    /// How prefixes grow beyond the minimum; 1 and up.
    pub step: Tokens,
}

impl Steps {
    /// Returns the longest cached length within a common prefix.
    #[inline]
    #[must_use]
    pub fn floor(&self, common: Tokens) -> Tokens {
        match common.checked_sub(self.min) {
            None => 0,
            Some(extra) => self.min + extra / self.step * self.step,
        }
    }
}
