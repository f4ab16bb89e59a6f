//! All cache rules: their names in files, the fields they use, and their properties.

use serde::{Deserialize, Serialize};

use super::cache::{Blocks, Breakpoints, ExplicitCache, Hits, Qualified, Steps, TtlClass, Units};
use super::check::cache as check;
use super::written::Cache;
use crate::diag::Problems;
use crate::input::policy::OwnCode;
use crate::quantity::Tokens;

/// All cache rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// No cache.
    #[default]
    None,
    /// The previous prompt, up to the place where the policy edited: a reference simulator's rule.
    PrefixCap,
    /// The longest common prefix with an earlier prompt, in steps.
    PrefixInterval,
    /// Fixed blocks in a store of limited size; the least recently used leave first.
    Blocks,
    /// Entries at the breakpoints of a request, found by looking back from the breakpoints of a later one.
    Breakpoints,
    /// Whole units left by earlier requests; a prompt reads the longest with which it begins.
    Units,
    /// Contents that the harness stores for a time and pays for by the token-hour.
    #[serde(rename = "stored")]
    ExplicitCache,
}

impl Rules {
    /// Returns the fields that the rules use.
    pub(super) fn looks_at(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::PrefixCap => &["min_tokens", "step_tokens"],
            Self::PrefixInterval => {
                &["min_tokens", "step_tokens", "ttl", "invalidates", "hit_probability", "hit_seed"]
            }
            Self::Blocks => {
                &["block_tokens", "capacity_blocks", "touch", "invalidates", "hit_probability", "hit_seed"]
            }
            Self::Breakpoints => &[
                "min_tokens",
                "ttl",
                "ttl_grace",
                "breakpoints_max",
                "lookback_positions",
                "lookback_unit",
                "lookup",
                "automatic",
                "implicit",
                "implicit_lead",
                "marks_instruction",
                "clock",
                "renewal",
                "max_age",
                "readable",
                "readable_after",
                "invalidates",
                "hit_probability",
                "hit_seed",
            ],
            Self::Units => &[
                "min_tokens",
                "step_tokens",
                "interval_tokens",
                "units",
                "ttl",
                "readable",
                "readable_after",
                "invalidates",
                "hit_probability",
                "hit_seed",
            ],
            Self::ExplicitCache => &["min_tokens", "ttl", "renewal", "invalidates"],
        }
    }

    /// Makes checked rules from the fields of a file.
    pub(super) fn checked(self, spec: &Cache, steps: Steps, problems: &mut Problems) -> CacheRules {
        match self {
            Self::None => CacheRules::None,
            Self::PrefixCap => CacheRules::PrefixCap(steps),
            Self::PrefixInterval => {
                CacheRules::PrefixInterval { steps, ttl_ms: check::one_ttl(spec, problems) }
            }
            Self::Blocks => CacheRules::Blocks(check::blocks(spec, problems)),
            Self::Breakpoints => CacheRules::Breakpoints(check::breakpoints(spec, problems)),
            Self::Units => CacheRules::Units(check::units(spec, steps, problems)),
            Self::ExplicitCache => CacheRules::ExplicitCache(check::explicit_cache(spec, problems)),
        }
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
    },
    /// Fixed blocks in a store.
    Blocks(Blocks),
    /// Entries at breakpoints.
    Breakpoints(Breakpoints),
    /// Whole units left by earlier requests.
    Units(Units),
    /// Contents that the harness stores.
    ExplicitCache(ExplicitCache),
    /// Any other rules, plus effects that do not depend on a prompt's content.
    Qualified(Box<Qualified>),
    /// Code outside this crate, and how long an entry lives after its last use, in milliseconds.
    Own(OwnCode, Option<u64>),
}

impl CacheRules {
    /// Returns how long an entry lives after its last use, in milliseconds, if the rules have lifetimes.
    pub fn ttl_ms(&self) -> Option<u64> {
        match self {
            Self::None | Self::PrefixCap(_) | Self::Blocks(_) => None,
            Self::PrefixInterval { ttl_ms, .. } => *ttl_ms,
            Self::Breakpoints(rules) => rules.ttl_ms[0].or(rules.ttl_ms[1]),
            Self::Units(rules) => rules.ttl_ms,
            Self::ExplicitCache(rules) => Some(rules.ttl_ms),
            Self::Qualified(qualified) => qualified.rules.ttl_ms(),
            Self::Own(_, ttl_ms) => *ttl_ms,
        }
    }

    /// Returns how long an entry of a class is readable after its last use, in milliseconds, if the rules have lifetimes.
    pub fn life_ms(&self, class: TtlClass) -> Option<u64> {
        match self {
            Self::Breakpoints(rules) => Some(rules.life_ms(rules.class(Some(class)))),
            Self::Qualified(qualified) => qualified.rules.life_ms(class),
            other => other.ttl_ms(),
        }
    }

    /// Returns the shortest cached prefix in tokens, if the rules have a minimum above 0.
    pub fn min_tokens(&self) -> Option<Tokens> {
        let min = match self {
            Self::None | Self::Blocks(_) | Self::Own(..) => 0,
            Self::PrefixCap(steps) | Self::PrefixInterval { steps, .. } => steps.min,
            Self::Breakpoints(rules) => rules.min_tokens,
            Self::Units(rules) => rules.steps.min,
            Self::ExplicitCache(rules) => rules.min_tokens,
            Self::Qualified(qualified) => return qualified.rules.min_tokens(),
        };
        (min > 0).then_some(min)
    }

    /// Returns how prefixes grow, if they come in whole steps.
    pub fn steps(&self) -> Option<Steps> {
        match self {
            Self::PrefixCap(steps) | Self::PrefixInterval { steps, .. } => Some(*steps),
            Self::Units(rules) => Some(rules.steps),
            Self::None | Self::Blocks(_) | Self::Breakpoints(_) | Self::ExplicitCache(_) | Self::Own(..) => {
                None
            }
            Self::Qualified(qualified) => qualified.rules.steps(),
        }
    }

    /// Returns how the rules bill resent and new tokens; entries live as long as the harness asks.
    pub fn billing(&self, ttl: Option<TtlClass>) -> Billing {
        match self {
            Self::None => Billing { reads: Reads::Nothing, writes: None },
            Self::ExplicitCache(_) => Billing { reads: Reads::Stored, writes: None },
            Self::Breakpoints(rules) => {
                Billing { reads: Reads::Prefixes, writes: Some(rules.class(ttl) as usize) }
            }
            Self::PrefixCap(_)
            | Self::PrefixInterval { .. }
            | Self::Blocks(_)
            | Self::Units(_)
            | Self::Own(..) => Billing { reads: Reads::Prefixes, writes: None },
            Self::Qualified(qualified) => qualified.rules.billing(ttl),
        }
    }

    /// Returns the rules without effects that do not depend on a prompt's content.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Qualified(qualified) => qualified.rules.plain(),
            rules => rules,
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
    /// Nothing.
    Nothing,
    /// The part that the harness stored.
    Stored,
    /// All of it.
    Prefixes,
}
