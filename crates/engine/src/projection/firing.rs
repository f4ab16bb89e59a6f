//! How often stages fire, and which prompt lengths they need.

use super::num::{Known, Num};
use super::test::{Context, Measure, Test};
use ctxsim_base::quantity::Tokens;
use ctxsim_input::policy::{Cond, Relation};

/// How often a stage fired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firing {
    /// How often its trigger was true when it was checked.
    pub fired: u64,
    /// Of these, how often it edited anything.
    pub acted: u64,
}

ctxsim_base::quantity::packed!(Firing: [fired, acted]);

impl Firing {
    /// Counts another time.
    pub fn count(&mut self, has_acted: bool) {
        self.fired += 1;
        self.acted += u64::from(has_acted);
    }
}

/// A length of the prompt without which a stage does not fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Threshold {
    /// The length.
    pub tokens: Tokens,
    /// Whether that length itself is long enough.
    pub is_inclusive: bool,
    /// Whether the stable prefix is not counted.
    pub is_of_body: bool,
}

impl Threshold {
    /// Reads a trigger: a length that is known beforehand, by itself or as a part that must hold.
    pub fn new(cond: &Cond, known: &Known) -> Option<Self> {
        Self::of(&Test::new(cond, &Context::alone(known)))
    }

    fn of(test: &Test) -> Option<Self> {
        let (relation, tokens, is_of_body) = match test {
            Test::Tokens(Measure::Prompt, relation, Num::Const(tokens)) => (relation, *tokens, false),
            Test::Tokens(Measure::Body, relation, Num::Const(tokens)) => (relation, *tokens, true),
            Test::All(parts) => return parts.iter().find_map(Self::of),
            _ => return None,
        };
        match relation {
            Relation::Above => Some(Self { tokens, is_inclusive: false, is_of_body }),
            Relation::AtLeast => Some(Self { tokens, is_inclusive: true, is_of_body }),
            Relation::Below | Relation::AtMost => None,
        }
    }
}
