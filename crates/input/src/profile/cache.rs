//! A provider's cache rules: all of them, as written and as checked; the fields and numbers of each stand here or in a file of their own.

mod breakpoints;
mod effects;
mod refuses;
mod times;
mod unmet;

use crate::prelude::*;

use crate::policy::OwnCode;

pub use self::breakpoints::{Automatic, Breakpoints, BreakpointsFields, Clock, LookbackUnit, Lookup};
use self::effects::qualified;
pub use self::effects::{
    Hits, HitsFields, Invalidates, InvalidatesFields, PromptLevel, Qualified, SETTINGS, Setting, Settings,
};
pub use self::refuses::Refusal;
pub use self::times::{Lifetimes, Readable, Renewal, TtlClass, Ttls};
pub use self::unmet::{UNMET, by_profile, first_few, unmet};

/// Cache rules as written: which, with their fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// No cache.
    #[default]
    None,
    /// The previous prompt, up to the place where the policy edited: a reference simulator's rule.
    PrefixCap(PrefixCapFields),
    /// The longest common prefix with an earlier prompt, in steps.
    PrefixInterval(PrefixIntervalFields),
    /// Fixed blocks in a store of limited size; the least recently used leave first.
    Blocks(BlocksFields),
    /// Entries at the breakpoints of a request, found by looking back from the breakpoints of a later one.
    Breakpoints(BreakpointsFields),
    /// Whole units left by earlier requests; a prompt reads the longest with which it begins.
    Units(UnitsFields),
    /// Contents that the harness stores for a time and pays for by the token-hour.
    Stored(StoredFields),
}

impl Cache {
    /// Checks the rules of a profile's cache.
    pub(crate) fn check(&self, problems: &mut Problems) -> CacheRules {
        match self {
            Self::None => CacheRules::None,
            Self::PrefixCap(it) => problems.within("prefix_cap", |problems| it.check(problems)),
            Self::PrefixInterval(it) => problems.within("prefix_interval", |problems| it.check(problems)),
            Self::Blocks(it) => problems.within("blocks", |problems| it.check(problems)),
            Self::Breakpoints(it) => problems.within("breakpoints", |problems| it.check(problems)),
            Self::Units(it) => problems.within("units", |problems| it.check(problems)),
            Self::Stored(it) => problems.within("stored", |problems| it.check(problems)),
        }
    }

    /// Returns the lifetimes, to be changed, if the rules have any.
    pub fn ttls_mut(&mut self) -> Option<&mut Ttls> {
        match self {
            Self::None | Self::PrefixCap(_) | Self::Blocks(_) => None,
            Self::PrefixInterval(it) => Some(&mut it.ttl),
            Self::Breakpoints(it) => Some(&mut it.ttl),
            Self::Units(it) => Some(&mut it.ttl),
            Self::Stored(it) => Some(&mut it.ttl),
        }
    }

    /// Returns the shortest cached prefix, to be changed, if the rules have one.
    pub fn min_tokens_mut(&mut self) -> Option<&mut Option<Tokens>> {
        match self {
            Self::None | Self::Blocks(_) => None,
            Self::PrefixCap(it) => Some(&mut it.min_tokens),
            Self::PrefixInterval(it) => Some(&mut it.min_tokens),
            Self::Breakpoints(it) => Some(&mut it.min_tokens),
            Self::Units(it) => Some(&mut it.min_tokens),
            Self::Stored(it) => Some(&mut it.min_tokens),
        }
    }
}

/// Reports a number that must not be 0.
fn not_zero<T: Default + PartialEq>(field: &str, given: Option<T>, message: &str, problems: &mut Problems) {
    if given == Some(T::default()) {
        problems.push_at(Code("step-zero"), field, message, "write 1 or more");
    }
}

/// Which cache rules, with their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CacheRules {
    /// No cache.
    None,
    /// The previous prompt, up to the place where the policy edited.
    PrefixCap(Steps),
    /// The longest common prefix with an earlier prompt.
    PrefixInterval {
        /// The cached prefix lengths.
        steps: Steps,
        /// How long an entry lives after its last use, in milliseconds.
        ttl_ms: Option<u64>,
        /// What logs of the client show beside.
        logged: LoggedCache,
    },
    /// Fixed blocks in a store.
    Blocks(Blocks),
    /// Entries at breakpoints.
    Breakpoints(Breakpoints),
    /// Whole units left by earlier requests.
    Units(UnitRules),
    /// Contents that the harness stores.
    ExplicitCache(ExplicitCache),
    /// Any other rules, plus effects that do not depend on a prompt's content.
    Qualified(Box<Qualified>),
    /// Code outside this crate, and how long an entry lives after its last use, in milliseconds.
    Own(OwnCode, Option<u64>),
}

impl CacheRules {
    /// Returns how long a prompt must be to be cached, where nothing is cached without marks in the request.
    pub fn needs_marks(&self) -> Option<Tokens> {
        match self.plain() {
            Self::Breakpoints(rules) if !rules.is_implicit => Some(rules.min_tokens),
            _ => None,
        }
    }

    /// Returns the rules of a cache that compares prefixes, as its provider documents them.
    pub const fn prefix_interval(steps: Steps, ttl_ms: Option<u64>) -> Self {
        Self::PrefixInterval { steps, ttl_ms, logged: LoggedCache::NONE }
    }

    /// Returns what matters of the rules, whichever they are.
    fn outline(&self) -> Outline {
        let prefixes = Outline { ttl_ms: None, min_tokens: 0, steps: None, reads: Reads::Prefixes };
        let in_steps = |steps: &Steps| Outline { min_tokens: steps.min, steps: Some(*steps), ..prefixes };
        match self.plain() {
            Self::None => Outline { reads: Reads::Nothing, ..prefixes },
            Self::PrefixCap(steps) => in_steps(steps),
            Self::PrefixInterval { steps, ttl_ms, .. } => Outline { ttl_ms: *ttl_ms, ..in_steps(steps) },
            Self::Breakpoints(rules) => {
                let ttl_ms = rules.ttl_ms[0].or(rules.ttl_ms[1]);
                Outline { ttl_ms, min_tokens: rules.min_tokens, ..prefixes }
            }
            Self::Units(rules) => Outline { ttl_ms: rules.ttl_ms, ..in_steps(&rules.steps) },
            Self::ExplicitCache(rules) => {
                let ttl_ms = Some(rules.ttl_ms);
                Outline { ttl_ms, min_tokens: rules.min_tokens, reads: Reads::Stored, ..prefixes }
            }
            Self::Own(_, ttl_ms) => Outline { ttl_ms: *ttl_ms, ..prefixes },
            Self::Blocks(_) | Self::Qualified(_) => prefixes,
        }
    }

    /// Returns its steps, where it differs from other rules in these alone and they decide how much is read of what is known, and nothing
    /// else.
    pub fn steps_beside(&self, other: &Self) -> Option<Steps> {
        match (self, other) {
            (
                Self::PrefixInterval { steps, ttl_ms, logged },
                Self::PrefixInterval { ttl_ms: same_ttl, logged: same, .. },
            ) => Some(*steps).filter(|_| (ttl_ms, logged) == (same_ttl, same)),
            (Self::Qualified(one), Self::Qualified(other)) => {
                let is_of_models = |it: &Qualified| !it.of_models.is_empty();
                let is_same = (&one.invalidates, one.hits) == (&other.invalidates, other.hits);
                let is_beside = is_same && ![one, other].into_iter().any(|it| is_of_models(it));
                one.rules.steps_beside(&other.rules).filter(|_| is_beside)
            }
            _ => None,
        }
    }

    /// Returns whether any of the rules are code outside this crate.
    pub fn has_code(&self) -> bool {
        match self {
            Self::Own(..) => true,
            Self::Qualified(it) => it.rules.has_code() || it.of_models.iter().any(Self::has_code),
            _ => false,
        }
    }

    /// Returns how long an entry lives after its last use, in milliseconds, if the rules have lifetimes.
    pub fn ttl_ms(&self) -> Option<u64> {
        self.outline().ttl_ms
    }

    /// Returns how long an entry of a class is readable after its last use, in milliseconds, if the rules have lifetimes.
    pub fn life_ms(&self, class: TtlClass) -> Option<u64> {
        match self.plain() {
            Self::Breakpoints(rules) => Some(rules.life_ms(rules.class(Some(class)))),
            other => other.ttl_ms(),
        }
    }

    /// Returns the names of the lifetimes for which entries are written, by class: those that the rules sell, else the usual ones.
    pub fn lifetimes(&self) -> Lifetimes {
        let ttl_ms = if let Self::Breakpoints(rules) = self.plain() { rules.ttl_ms } else { [None; 2] };
        Lifetimes(ttl_ms[0] == Some(1_800_000), ttl_ms[1] == Some(43_200_000))
    }

    /// Returns the shortest cached prefix in tokens, if the rules have a minimum above 0.
    pub fn min_tokens(&self) -> Option<Tokens> {
        Some(self.outline().min_tokens).filter(|it| *it > 0)
    }

    /// Returns how prefixes grow, if they come in whole steps.
    pub fn steps(&self) -> Option<Steps> {
        self.outline().steps
    }

    /// Returns how the rules bill resent and new tokens; entries live as long as the harness asks.
    pub fn billing(&self, ttl: Option<TtlClass>) -> Billing {
        let writes = match self.plain() {
            Self::Breakpoints(rules) => Some(rules.class(ttl) as usize),
            _ => None,
        };
        Billing { reads: self.outline().reads, writes }
    }

    /// Returns the rules without effects that do not depend on a prompt's content.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Qualified(qualified) => qualified.rules.plain(),
            rules => rules,
        }
    }

    /// Returns whether a change of a setting alone invalidates anything, as far as the rules say so.
    pub fn heeds(&self, setting: Setting) -> bool {
        let Self::Qualified(it) = self else { return false };
        it.invalidates.level(setting).is_some_and(|it| it != PromptLevel::Nothing)
            || it.rules.heeds(setting)
            || it.of_models.iter().any(|it| it.heeds(setting))
    }

    /// Returns the probability of a hit, if it is not certain.
    pub fn hits(&self) -> Option<Hits> {
        if let Self::Qualified(qualified) = self { qualified.hits } else { None }
    }
}

/// What matters of cache rules, whichever they are.
#[derive(Clone, Copy)]
struct Outline {
    /// How long an entry lives after its last use, in milliseconds.
    ttl_ms: Option<u64>,
    /// Shorter prefixes are not cached.
    min_tokens: Tokens,
    /// How prefixes grow, if they come in whole steps.
    steps: Option<Steps>,
    /// Which part of a resent prompt is read.
    reads: Reads,
}

/// How a cache bills what is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Billing {
    /// Which part of a resent prompt is read.
    pub reads: Reads,
    /// The lifetime class of new tokens, if writes are billed.
    pub writes: Option<usize>,
}

/// The part of an immediately resent prompt that a cache reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    Nothing,
    /// The part that the harness stored.
    Stored,
    /// All of it.
    Prefixes,
}

// Contents that the harness stores for a time and pays for by the token-hour.

/// The fields of these rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoredFields {
    /// Shorter contents cannot be stored.
    pub min_tokens: Option<Tokens>,
    /// How long a content is kept.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub ttl: Ttls,
    /// Whether the harness renews a content's lifetime whenever it uses the content. Default: never.
    pub renewal: Option<Renewal>,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
}

impl StoredFields {
    fn check(&self, problems: &mut Problems) -> CacheRules {
        let ttl_ms = self.ttl.only(problems).filter(|it| *it > 0);
        if ttl_ms.is_none() {
            let help = "add one, such as `ttl: \"1h\"`";
            problems.push_at(Code("ttl-missing"), "ttl", "explicitly stored content needs a lifetime", help);
        }
        let rules = ExplicitCache {
            min_tokens: self.min_tokens.unwrap_or(0),
            ttl_ms: ttl_ms.unwrap_or(1),
            renews: self.renewal == Some(Renewal::OnUse),
        };
        qualified(CacheRules::ExplicitCache(rules), self.invalidates.as_ref(), None, problems)
    }
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

// Fixed blocks in a store of limited size; the least recently used leave first.

/// The fields of these rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlocksFields {
    /// Tokens per block.
    pub block_tokens: Option<Tokens>,
    /// Blocks in the store. Default: unlimited.
    pub capacity_blocks: Option<u32>,
    /// Which end of a prompt counts as used first, and so leaves first. Default: its tail.
    pub touch: Option<Touch>,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
    /// How often a request is served by a machine that has the entries. Default: always.
    pub hits: Option<HitsFields>,
}

impl BlocksFields {
    fn check(&self, problems: &mut Problems) -> CacheRules {
        let block_tokens = self.block_tokens.unwrap_or(0);
        if block_tokens == 0 {
            let message = "`block_tokens` must be at least 1";
            let help = "write `block_tokens: 16`, or another number of at least 1";
            problems.push_at(Code("block-size-missing"), "block_tokens", message, help);
        }
        if self.capacity_blocks == Some(0) {
            let message = "a store of 0 blocks holds nothing";
            let help = "write `cache: none` for no cache";
            problems.push_at(Code("capacity-zero"), "capacity_blocks", message, help);
        }
        let touch = self.touch.unwrap_or_default();
        let rules = CacheRules::Blocks(Blocks { block_tokens, capacity_blocks: self.capacity_blocks, touch });
        qualified(rules, self.invalidates.as_ref(), self.hits.as_ref(), problems)
    }
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

/// The order in which the blocks of a prompt count as used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// From the head on, so that the head leaves first.
    HeadFirst,
    /// From the tail on, so that the tail leaves first.
    #[default]
    TailFirst,
}

// The longest common prefix with an earlier prompt, in steps.

/// The fields of rules that cap a prefix where the policy edited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PrefixCapFields {
    /// Shorter prefixes are not cached.
    pub min_tokens: Option<Tokens>,
    /// The step, in tokens, by which cached prefixes grow beyond the minimum.
    pub step_tokens: Option<Tokens>,
}

impl PrefixCapFields {
    fn check(&self, problems: &mut Problems) -> CacheRules {
        CacheRules::PrefixCap(Steps::of(self.min_tokens, self.step_tokens, problems))
    }
}

/// The fields of rules that compare prefixes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PrefixIntervalFields {
    /// Shorter prefixes are not cached.
    pub min_tokens: Option<Tokens>,
    /// The step, in tokens, by which cached prefixes grow beyond the minimum.
    pub step_tokens: Option<Tokens>,
    /// How long an entry lives after its last use.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub ttl: Ttls,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
    /// How often a request is served by a machine that has the entries. Default: always.
    pub hits: Option<HitsFields>,
}

impl PrefixIntervalFields {
    fn check(&self, problems: &mut Problems) -> CacheRules {
        let steps = Steps::of(self.min_tokens, self.step_tokens, problems);
        let rules = CacheRules::prefix_interval(steps, self.ttl.only(problems));
        qualified(rules, self.invalidates.as_ref(), self.hits.as_ref(), problems)
    }
}

/// What logs of a client show of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LoggedCache {
    /// Up to where a request is cached.
    pub end: CachedEnd,
    /// So many tokens at the front outlive the session's own entries, because other sessions send them.
    pub front: Tokens,
}

impl LoggedCache {
    /// Nothing that the provider does not document.
    pub const NONE: Self = Self { end: CachedEnd::Prompt, front: 0 };
}

/// Up to where a request is cached that a later one begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum CachedEnd {
    /// Its prompt.
    #[default]
    Prompt,
    /// Its prompt, but for the last tokens, as many as the client's log shows.
    BeforeEnd,
    /// Its prompt and the reply, but for the last tokens.
    #[serde(rename = "all")]
    BeforeReplyEnd,
    /// The same where the reply has no reasoning; its prompt, where it has.
    #[serde(rename = "without_reasoning")]
    BeforePlainReplyEnd,
}

impl CachedEnd {
    /// Returns whether any reply is cached with the prompt.
    pub fn has_reply(self) -> bool {
        matches!(self, Self::BeforeReplyEnd | Self::BeforePlainReplyEnd)
    }
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
    fn of(min: Option<Tokens>, step: Option<Tokens>, problems: &mut Problems) -> Self {
        not_zero("step_tokens", step, "a step of 0 tokens is not possible", problems);
        Self { min: min.unwrap_or(0), step: step.unwrap_or(1).max(1) }
    }

    /// Returns steps beyond an offset, of which none is shorter than a minimum.
    pub fn beyond(offset: Tokens, step: Tokens, min: Tokens) -> Self {
        let step = step.max(1);
        Self { min: offset + min.saturating_sub(offset).div_ceil(step) * step, step }
    }

    /// Returns the longest cached length within a common prefix.
    #[inline]
    pub fn floor(&self, common: Tokens) -> Tokens {
        common.checked_sub(self.min).map_or(0, |extra| self.min + extra / self.step * self.step)
    }
}

// Whole units left by earlier requests; a prompt reads the longest with which it begins.

/// The fields of these rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnitsFields {
    /// Shorter prefixes are not cached.
    pub min_tokens: Option<Tokens>,
    /// The step, in tokens, by which cached prefixes grow beyond the minimum.
    pub step_tokens: Option<Tokens>,
    /// The places at which a request leaves units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitEnd>,
    /// A request also leaves a unit at every multiple of this number of tokens.
    pub interval_tokens: Option<Tokens>,
    /// How long a unit lives after its last use.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub ttl: Ttls,
    /// From when a unit can be read.
    pub readable: Option<Readable>,
    /// How long after that, because a unit must be built first.
    pub readable_after: Option<Duration>,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
    /// How often a request is served by a machine that has the units. Default: always.
    pub hits: Option<HitsFields>,
}

impl UnitsFields {
    fn check(&self, problems: &mut Problems) -> CacheRules {
        let message = "an interval of 0 tokens is not possible";
        not_zero("interval_tokens", self.interval_tokens, message, problems);
        if self.units.is_empty() && self.interval_tokens.is_none() {
            let message = "without units there is nothing to read later";
            let help = "write `units: [input_end, output_end, common_prefix]`, or `interval_tokens`";
            problems.push_at(Code("units-nowhere"), "units", message, help);
        }
        let leaves = |at: UnitEnd| self.units.contains(&at);
        let rules = UnitRules {
            steps: Steps::of(self.min_tokens, self.step_tokens, problems),
            at_input_end: leaves(UnitEnd::InputEnd),
            at_output_end: leaves(UnitEnd::OutputEnd),
            at_common_prefix: leaves(UnitEnd::CommonPrefix),
            interval_tokens: self.interval_tokens.map(|it| it.max(1)),
            ttl_ms: self.ttl.only(problems),
            readable: self.readable.unwrap_or_default(),
            readable_after_ms: self.readable_after.map_or(0, |it| it.0),
        };
        qualified(CacheRules::Units(rules), self.invalidates.as_ref(), self.hits.as_ref(), problems)
    }
}

/// The numbers of a cache of whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnitRules {
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

/// A place at which a request leaves a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnitEnd {
    /// At the end of its prompt.
    InputEnd,
    /// At the end of the model's output.
    OutputEnd,
    /// At the end of the prefix that it shares with an earlier prompt.
    CommonPrefix,
}
