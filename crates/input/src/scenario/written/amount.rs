//! Numbers that change from turn to turn and from call to call, or are drawn,
//! and the turns to which something applies.

use crate::prelude::*;
use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{self, DeserializeSeed, IntoDeserializer};
use serde::{Deserializer, Serializer};

/// A number: `120`, `(base: 120, per_turn: 32, modulo: 128)`, `(first: 60, last: 140)`, or `(one_of: [1, 1, 2])`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A constant.
    Fixed(Tokens),
    /// Grows and starts over.
    Cycle(Cycle),
    /// Drawn from a range.
    Range(NumberRange),
    /// Drawn from a list.
    Choice(ListChoice),
}

/// A number that grows and starts over: `base + (turn × per_turn + call × per_call) mod modulo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cycle {
    /// Its smallest value.
    #[serde(default)]
    pub base: Tokens,
    /// What each turn of the pattern after the first adds. Default: 0.
    #[serde(default)]
    pub per_turn: Tokens,
    /// What each call of the turn after the first adds. Default: 0.
    #[serde(default)]
    pub per_call: Tokens,
    /// The number at which the addition starts over.
    pub modulo: Tokens,
}

/// A number from a range, with equal probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NumberRange {
    /// The smallest.
    pub first: u64,
    /// The largest.
    pub last: u64,
}

/// A number from a list, each position with equal probability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListChoice {
    /// The numbers; one that is listed twice is drawn twice as often.
    pub one_of: Vec<u64>,
}

/// Some of the turns of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PatternPlaces {
    /// The length of the repeating group of turns.
    pub every: u64,
    /// The indices within each group, from 0.
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
            Self::Range(range) => range.serialize(serializer),
            Self::Choice(choice) => choice.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

/// Parses a number, or the fields of a cycle, a range or a list; the first field decides.
struct AmountVisitor;

impl<'de> de::Visitor<'de> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a whole number from 0, or `(base: 100, per_turn: 10, modulo: 50)`, or `(first: 60, \
            last: 140)`",
        )
    }

    fn visit_u64<E: de::Error>(self, tokens: u64) -> Result<Amount, E> {
        Ok(Amount::Fixed(tokens))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Amount, E> {
        let tokens = u64::try_from(value);
        tokens.map(Amount::Fixed).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut fields: A) -> Result<Amount, A::Error> {
        let first: Option<String> = fields.next_key()?;
        let kind = first.clone().unwrap_or_default();
        let fields = MapAccessDeserializer::new(ReadFields { first, rest: fields });
        match kind.as_str() {
            "first" | "last" => NumberRange::deserialize(fields).map(Amount::Range),
            "one_of" => ListChoice::deserialize(fields).map(Amount::Choice),
            _ => Cycle::deserialize(fields).map(Amount::Cycle),
        }
    }
}

/// Fields whose first key has already been read.
struct ReadFields<A> {
    first: Option<String>,
    rest: A,
}

impl<'de, A: de::MapAccess<'de>> de::MapAccess<'de> for ReadFields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(first) = self.first.take() else { return self.rest.next_key_seed(seed) };
        let key: StringDeserializer<A::Error> = first.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}
