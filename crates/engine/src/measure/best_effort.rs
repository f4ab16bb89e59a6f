//! What a run owes to cache hits that its provider calls likely, not sure.

use crate::ledger::TokenUse;
use ctxsim_base::quantity::{Cost, packed};
use ctxsim_input::Profile;

/// What reads from a best-effort cache save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitStake {
    /// What they would cost more as plain input, at the standard prices of short prompts.
    pub saved: Cost,
}

packed!(HitStake: [saved]);

impl HitStake {
    /// Returns what a run's reads save, if its provider promises no hit.
    pub(super) fn new(tokens: &TokenUse, profile: &Profile) -> Option<Self> {
        let rates = profile.prices.usual();
        let saved = rates.input.0.saturating_sub(rates.read().0);
        let saved = Cost(u128::from(tokens.read) * u128::from(saved));
        profile.is_best_effort.then_some(Self { saved })
    }

    /// Returns that of two runs together.
    pub fn sum(both: [Option<Self>; 2]) -> Option<Self> {
        both.into_iter().flatten().reduce(|one, other| Self { saved: one.saved + other.saved })
    }
}
