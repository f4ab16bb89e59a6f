//! Cache rules of a profile that is built in code.

use std::time::Duration;

use ctxsim_base::quantity::saturated;
use ctxsim_engine::cache::own::{Make, OwnRule};
use ctxsim_input::policy::OwnCode;
use ctxsim_input::profile::cache::{BreakpointsFields, Cache, PrefixIntervalFields, Ttls};
use ctxsim_input::text::duration::Duration as Written;

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
    fn of(rules: Cache) -> Self {
        Self { rules, own: None }
    }

    /// Returns no cache: every token is plain input.
    #[must_use]
    pub fn none() -> Self {
        Self::of(Cache::None)
    }

    /// Returns a cache of the longest common prefix with an earlier prompt: at least `min` tokens, in steps of `step` tokens.
    #[must_use]
    pub fn prefixes(min: u64, step: u64) -> Self {
        let (min_tokens, step_tokens) = (Some(min), Some(step));
        Self::of(Cache::PrefixInterval(PrefixIntervalFields {
            min_tokens,
            step_tokens,
            ..Default::default()
        }))
    }

    /// Returns a cache with entries at breakpoints, at most `max` per request, each of at least `min` tokens; each lookup goes
    /// up to `lookback` positions back.
    #[must_use]
    pub fn breakpoints(min: u64, max: u8, lookback: u16) -> Self {
        Self::of(Cache::Breakpoints(BreakpointsFields {
            min_tokens: Some(min),
            breakpoints_max: Some(max),
            lookback_positions: Some(lookback),
            ..Default::default()
        }))
    }

    /// Returns a cache whose rules are code.
    #[must_use]
    pub fn custom<R: OwnRule + 'static>(make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        let own = Some(OwnCode::new(Make::new(make)));
        // What a policy is told of lifetimes is that of these rules.
        Self { own, ..Self::prefixes(0, 1) }
    }

    /// Sets how long an entry lives after its last use, where there are entries. For a cache in code, this is only what policies see as its
    /// lifetime.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        let ms = saturated(ttl.as_millis());
        if let Some(ttls) = self.rules.ttls_mut() {
            *ttls = Ttls(vec![Written(ms)]);
        }
        self
    }
}
