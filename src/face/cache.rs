//! Cache rules of a profile that is built in code.

use std::time::Duration;

use crate::cache::own::{Make, OwnRule};
use crate::input::policy::OwnCode;
use crate::input::profile::written::{Cache, Rules, Ttls};
use crate::input::text::duration::Duration as Written;
use crate::quantity::saturated;

/// The rules of a provider's prompt cache.
///
/// Other kinds of rules (blocks, units, stored content) are declared in profile files; [`Profile::to_builder`](crate::Profile::to_builder)
/// starts from such a profile.
#[derive(Clone, Debug)]
pub struct CacheRules {
    pub(super) rules: Cache,
    pub(super) own: Option<OwnCode>,
}

impl CacheRules {
    fn of(rules: Rules) -> Self {
        Self { rules: Cache { rules, ..Cache::default() }, own: None }
    }

    /// Returns no cache: every token is plain input.
    #[must_use]
    pub fn none() -> Self {
        Self::of(Rules::None)
    }

    /// Returns a cache of the longest common prefix with an earlier prompt: at least `min` tokens, in steps of `step` tokens.
    #[must_use]
    pub fn prefixes(min: u64, step: u64) -> Self {
        let mut it = Self::of(Rules::PrefixInterval);
        (it.rules.min_tokens, it.rules.step_tokens) = (Some(min), Some(step));
        it
    }

    /// Returns a cache with entries at breakpoints, at most `max` per request, each of at least `min` tokens; each lookup goes
    /// up to `lookback` positions back.
    #[must_use]
    pub fn breakpoints(min: u64, max: u8, lookback: u16) -> Self {
        let mut it = Self::of(Rules::Breakpoints);
        it.rules.min_tokens = Some(min);
        it.rules.breakpoints_max = Some(max);
        it.rules.lookback_positions = Some(lookback);
        it
    }

    /// Returns a cache whose rules are code.
    #[must_use]
    pub fn custom<R: OwnRule + 'static>(make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        let own = Some(OwnCode::new(Make::new(make)));
        // What a policy is told of lifetimes is that of these rules.
        Self { own, ..Self::prefixes(0, 1) }
    }

    /// Sets how long an entry lives after its last use. For a cache in code, this is only what policies see as its lifetime.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        let ms = saturated(ttl.as_millis());
        self.rules.ttl = Ttls(vec![Written(ms)]);
        self
    }
}
