//! What the verbs answer, as values with fields: the numbers that the command line writes with `--format json`.
//!
//! Each verb returns an [`Answer`], which gives its values by `.field`, its text by `Display`, and the command line's JSON by [`Answer::json`].
//! Values are what that JSON is written from, or are read from it, so all three have the same numbers, and every key of the JSON is a field or in
//! `more`. Costs are US dollars, sizes are tokens, shares and relative changes are fractions (−0.1 is a tenth less), and an unknown number is
//! `None`.
//!
//! | verb | method | values |
//! |---|---|---|
//! | `ctxsim sensitivity` | [`Plan::sensitivity`](crate::Plan::sensitivity) | [`Sensitivity`] |
//! | `ctxsim explain` | [`Plan::explain`](crate::Plan::explain) | [`Explanation`] |
//! | `ctxsim sweep` | [`Comparison::sweep`](crate::Comparison::sweep) | [`SweptGrid`] |
//! | `ctxsim tune` | [`Comparison::tune`](crate::Comparison::tune) | [`Tuned`] |
//! | `ctxsim check` | `Comparison::check`, with the feature `cli` | `Check` |
//! | `ctxsim advise` | [`Comparison::advise`](crate::Comparison::advise) | [`Advice`] |
//! | `ctxsim realised` | [`Comparison::realised`](crate::Comparison::realised) | [`Realised`] |
//! | `ctxsim SESSIONS` | [`Comparison::bill`](crate::Comparison::bill) | [`FirstScreen`] |

mod read;

use std::fmt;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

pub use self::read::{
    CacheReads, CheapestPolicy, CheapestUntil, ExplainedItem, ExplainedRequest, Explanation, ItemChange,
    PrefixCheck, PricedPolicy, PricedProfile, PricedScenario, RankFlip, RateChange, Sensitivity, StageEffect,
    SweptGrid, SweptPoint,
};
#[cfg(feature = "cli")]
pub use self::read::{Check, GuardCheck, SuiteCheck};
use crate::face::Error;
pub use ctxsim_engine::measure::{BreakEven, Spread};
pub use ctxsim_report::advise::{Advice, AgentAdvice, Paste};
#[cfg(feature = "cli")]
pub use ctxsim_report::checkup::{SnapshotCheck, SnapshotState};
pub use ctxsim_report::lever::{Lever, Word};
pub use ctxsim_report::realised::Realised;
pub use ctxsim_report::screen::FirstScreen;
pub use ctxsim_report::session::BillCheck;
#[cfg(feature = "cli")]
pub use ctxsim_report::shot::ChangedNumber;
pub use ctxsim_report::tune::{TunePart, Tuned, TunedPoint};

/// What a verb answers: its values (`answer.field`), the text that a person reads (`Display`), and the command line's JSON.
///
/// ```
/// # fn main() -> Result<(), ctxsim::Error> {
/// let plan = ctxsim::Comparison::new()
///     .policy("identity")
///     .policy("clear_tool_results")
///     .scenario("recorded/claude-code")
///     .profile("anthropic/claude-sonnet-4.5")
///     .plan()?;
/// let found = plan.sensitivity()?;
/// let cheapest = &found.loads[0].cheapest[0];
/// assert_eq!(cheapest.policy.as_deref(), Some("identity"));
/// // Reads that cost 2.8% more would make another policy the cheapest.
/// let until = cheapest.until.as_ref().unwrap();
/// assert_eq!((until.rate.as_str(), until.then.as_str()), ("cache_read", "clear_tool_results"));
/// assert!(found.json().contains("ctxsim.sensitivity/1"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    /// The JSON need not have all of them.
    pub(crate) values: T,
    text: String,
    json: String,
}

impl<T> Answer<T> {
    /// Returns the JSON that the command line writes, byte for byte.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns its values alone.
    #[must_use]
    pub fn into_values(self) -> T {
        self.values
    }

    /// Takes values with what the command line writes of them: the JSON, and a text for people.
    pub(crate) fn from_values(
        values: T,
        json: Result<String, serde_json::Error>,
        text: String,
    ) -> Result<Self, Error> {
        Ok(Self { values, text, json: json.map_err(Error::unwritable)? })
    }
}

impl<T: DeserializeOwned> Answer<T> {
    /// Takes what the command line writes, and reads the values from the JSON.
    pub(crate) fn from_json(json: Result<String, serde_json::Error>, text: String) -> Result<Self, Error> {
        let read = json.and_then(|json| Ok((serde_json::from_str(&json)?, json)));
        let (values, json) = read.map_err(Error::unwritable)?;
        Ok(Self { values, text, json })
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.values
    }
}

impl<T> fmt::Display for Answer<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

/// As the command line's JSON.
impl<T> Serialize for Answer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: serde_json::Value = serde_json::from_str(&self.json).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}
