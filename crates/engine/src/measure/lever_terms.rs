//! What is assumed of levers that are worked out from bills: the numbers of `assumptions/levers.toml`.

use std::sync::LazyLock;

use crate::prelude::*;

use ctxsim_input::AssumedNumber;
use ctxsim_input::text::decode::declared;

/// What habits would cost that nobody recorded.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LeverTerms {
    /// The tokens of a summary that a user asks for.
    pub summary_tokens: AssumedNumber<f64>,
}

impl LeverTerms {
    /// Returns what is declared.
    pub fn declared() -> Self {
        static READ: LazyLock<LeverTerms> = LazyLock::new(|| declared(ctxsim_assumptions::LEVERS));
        *READ
    }
}
