//! Sizes that change from turn to turn and from call to call, and the turns in which something happens.

use std::fmt;

use serde::de::{self, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::Tokens;

/// A number of tokens: `120`, or `(base: 120, per_turn: 32, modulo: 128)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Always the same.
    Fixed(Tokens),
    /// Grows and starts over.
    Cycle(Cycle),
}

/// A number that grows and starts over: `base + (turn × per_turn + call × per_call) mod modulo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cycle {
    /// Its least value.
    #[serde(default)]
    pub base: Tokens,
    /// What each turn of the pattern adds, the first one nothing; 0, when silent.
    #[serde(default)]
    pub per_turn: Tokens,
    /// What each call of the turn adds, the first one nothing; 0, when silent.
    #[serde(default)]
    pub per_call: Tokens,
    /// What is added starts over here.
    pub modulo: Tokens,
}

/// Some of the turns of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// Of so many turns each.
    pub every: u64,
    /// Those at these places, from 0.
    pub at: Vec<u64>,
}

impl Default for Amount {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(tokens) => tokens.serialize(serializer),
            Self::Cycle(cycle) => cycle.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

/// Takes a number, or the fields of a cycle.
struct AmountVisitor;

impl<'de> de::Visitor<'de> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 up, or `(base: 100, per_turn: 10, modulo: 50)`")
    }

    fn visit_u64<E: de::Error>(self, tokens: u64) -> Result<Amount, E> {
        Ok(Amount::Fixed(tokens))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Amount, E> {
        let tokens = u64::try_from(value);
        tokens.map(Amount::Fixed).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, fields: A) -> Result<Amount, A::Error> {
        Cycle::deserialize(MapAccessDeserializer::new(fields)).map(Amount::Cycle)
    }
}
