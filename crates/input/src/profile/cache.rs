//! A provider's cache rules: all of them, as written and as checked; the fields and numbers of each stand in the file of its kind.

mod blocks;
mod breakpoints;
mod effects;
mod refuses;
mod steps;
mod stored;
mod times;
mod units;

use crate::prelude::*;

use crate::policy::OwnCode;

pub use self::blocks::{Blocks, BlocksFields, Touch};
pub use self::breakpoints::{Automatic, Breakpoints, BreakpointsFields, Clock, LookbackUnit, Lookup};
use self::effects::qualified;
pub use self::effects::{
    Hits, HitsFields, Invalidates, InvalidatesFields, PromptLevel, Qualified, SETTINGS, Setting, Settings,
};
pub use self::refuses::Refusal;
pub use self::steps::{CachedEnd, LoggedCache, PrefixCapFields, PrefixIntervalFields, Steps};
pub use self::stored::{ExplicitCache, StoredFields};
pub use self::times::{Lifetimes, Readable, Renewal, TtlClass, Ttls};
pub use self::units::{UnitEnd, UnitRules, UnitsFields};

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
        let ttl_ms = match self.plain() {
            Self::Breakpoints(rules) => rules.ttl_ms,
            _ => [None; 2],
        };
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
        match self {
            Self::Qualified(it) => {
                it.invalidates.0[setting as usize] != PromptLevel::Nothing
                    || it.rules.heeds(setting)
                    || it.of_models.iter().any(|it| it.heeds(setting))
            }
            _ => false,
        }
    }

    /// Returns the probability of a hit, if it is not certain.
    pub fn hits(&self) -> Option<Hits> {
        match self {
            Self::Qualified(qualified) => qualified.hits,
            _ => None,
        }
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
