//! What is assumed of levers that are worked out from bills: the numbers of `assumptions/levers.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

use ctxsim_input::scenario::refetch::AssumedNumber;
use ctxsim_input::text::decode::{Format, decode_table};

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
        static READ: OnceLock<LeverTerms> = OnceLock::new();
        *READ.get_or_init(|| {
            decode_table(ctxsim_assumptions::current(ctxsim_assumptions::LEVERS), Format::Toml)
                .unwrap_or_default()
        })
    }
}
