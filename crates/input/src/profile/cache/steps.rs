//! The longest common prefix with an earlier prompt, in steps.

use crate::prelude::*;

use super::{CacheRules, HitsFields, InvalidatesFields, Ttls, not_zero, qualified};

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
    pub(super) fn check(&self, problems: &mut Problems) -> CacheRules {
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
    pub(super) fn check(&self, problems: &mut Problems) -> CacheRules {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CachedEnd {
    /// Its prompt.
    #[default]
    Prompt,
    /// Its prompt, but for the last tokens, as many as the client's log shows.
    BeforeEnd,
    /// Its prompt and the reply, but for the last tokens.
    BeforeReplyEnd,
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
    pub(super) fn of(min: Option<Tokens>, step: Option<Tokens>, problems: &mut Problems) -> Self {
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
        match common.checked_sub(self.min) {
            None => 0,
            Some(extra) => self.min + extra / self.step * self.step,
        }
    }
}
