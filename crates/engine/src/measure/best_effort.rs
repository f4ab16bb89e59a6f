//! What a run owes to cache hits that its provider calls likely, not sure.

use crate::ledger::TokenUse;
use ctxsim_base::quantity::{Cost, Tokens, packed};
use ctxsim_input::Profile;

/// What reads from a best-effort cache come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitStake {
    /// Input tokens of the agent's requests that are read from such a cache.
    pub read: Tokens,
    /// What they would cost more as plain input, at the standard prices of short prompts.
    pub saved: Cost,
}

packed!(HitStake: [read, saved]);

impl HitStake {
    /// Returns what a run's reads save, if its provider promises no hit.
    pub(super) fn new(tokens: &TokenUse, profile: &Profile) -> Option<Self> {
        let rates = profile.prices.usual();
        let saved = rates.input.0.saturating_sub(rates.read().0);
        profile
            .is_best_effort
            .then(|| Self { read: tokens.read, saved: Cost(u128::from(tokens.read) * u128::from(saved)) })
    }

    /// Returns that of two runs together.
    pub fn sum(both: [Option<Self>; 2]) -> Option<Self> {
        both.into_iter()
            .flatten()
            .reduce(|one, other| Self { read: one.read + other.read, saved: one.saved + other.saved })
    }
}
