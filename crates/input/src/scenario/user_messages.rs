//! What an agent needs of what its users asked: declared in `assumptions/user_messages.toml`, with an interval for each number.

use crate::prelude::*;

use super::refetch::AssumedNumber;

/// The defaults, with their sources.
const DEFAULTS: &str = ctxsim_assumptions::USER_MESSAGES;

/// Whether users' messages are needed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UserMessages {
    /// They are not: only the needs that the load declares or reveals count.
    Ignored,
    /// They are needed by the turns that they begin, and by later ones as assumed.
    Needed(UserNeeds),
}

/// What is assumed of users' messages; defaults come from `assumptions/user_messages.toml`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UserNeeds {
    /// The probability, 0 to 1, that a turn needs one earlier message of the session.
    pub earlier: Option<AssumedNumber<Decimal>>,
    /// The share, 0 to 1, of a message that a summary in its place keeps.
    pub summarised: Option<AssumedNumber<Decimal>>,
}

/// The assumptions about users' messages, complete: each number, and the ends of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UserTerms {
    /// The probability that a turn needs one earlier message.
    pub earlier: [f64; 3],
    /// The share of a message that a summary keeps.
    pub summarised: [f64; 3],
}

/// The assumptions as their file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeclaredNumbers {
    earlier: AssumedNumber<Decimal>,
    summarised: AssumedNumber<Decimal>,
}

impl UserNeeds {
    /// Returns every number, as set or by default.
    pub fn terms(&self) -> UserTerms {
        static DEFAULT: LazyLock<DeclaredNumbers> = LazyLock::new(|| declared(DEFAULTS));
        let all = |it: AssumedNumber<Decimal>| [it.value, it.low, it.high].map(|it| it.to_f64().min(1.0));
        UserTerms {
            earlier: all(self.earlier.unwrap_or(DEFAULT.earlier)),
            summarised: all(self.summarised.unwrap_or(DEFAULT.summarised)),
        }
    }
}

impl UserTerms {
    /// Says what is assumed, in a sentence.
    pub fn words(&self) -> String {
        let of = |[value, low, high]: [f64; 3]| format!("{value} (from {low} to {high})");
        format!(
            "What users asked is needed: a message by each request of its turn, an earlier one by later turns with the probability {}; \
                a summary in its place keeps {} of it; no call fetches it again.",
            of(self.earlier),
            of(self.summarised)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_overrides_one_number_and_keeps_the_other() {
        let never = AssumedNumber::default();

        let own = UserNeeds { earlier: Some(never), ..UserNeeds::default() }.terms();

        assert_eq!((own.earlier, own.summarised), ([0.0; 3], UserNeeds::default().terms().summarised));
    }
}
