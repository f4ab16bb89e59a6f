//! What a provider billed for a request: a number that is not a count refuses the recording, a missing one leaves the request unbilled.

use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::content::{ignores_the_rest, skip_list};
use super::losses::Losses;
use super::values::Count;
use crate::Usage;
use ctxsim_base::quantity::Tokens;

/// The most tokens of one request that are believed: a hundred times the largest window of any model.
pub(super) const TOKENS_MAX: Tokens = 100_000_000;

/// The most tokens of a whole session.
pub(super) const SESSION_TOKENS_MAX: Tokens = 1_000 * TOKENS_MAX;

const TOO_LARGE: &str = "more than 100,000,000 tokens";

/// An object, or something else where one is expected.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Shaped<T> {
    /// Nothing, or null.
    #[default]
    Absent,
    /// An object.
    Object(T),
    /// A value of another type.
    Other,
}

impl<T> Shaped<T> {
    /// Returns the object, if it is one.
    pub(super) fn object(self) -> Option<T> {
        if let Self::Object(it) = self { Some(it) } else { None }
    }
}

/// A bill, and how much of its output was reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Billed {
    /// The numbers; nothing where all of them are zero.
    pub(super) usage: Option<Usage>,
    /// The reasoning.
    pub(super) reasoning: Tokens,
    /// Whether there are numbers at all.
    pub(super) is_there: bool,
}

/// What was billed, by the names of several harnesses.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct UsageTokens {
    pub(super) input_tokens: Option<Count>,
    pub(super) output_tokens: Count,
    pub(super) cache_read_tokens: Count,
    pub(super) cache_write_tokens: Count,
    pub(super) reasoning_tokens: Count,
}

/// Reads the numbers of one bill, and reports those that are not counts.
#[derive(Debug)]
pub(super) struct BillReader<'l> {
    line: usize,
    /// The field that holds the numbers; empty for columns.
    within: &'static str,
    losses: &'l mut Losses,
    max: Tokens,
    is_complete: bool,
}

impl<'l> BillReader<'l> {
    /// Begins to read the numbers in a field of a line.
    pub(super) fn new(line: usize, within: &'static str, losses: &'l mut Losses) -> Self {
        Self { line, within, losses, max: TOKENS_MAX, is_complete: true }
    }

    /// The same for the sum of a session.
    pub(super) fn of_session(line: usize, within: &'static str, losses: &'l mut Losses) -> Self {
        Self { max: SESSION_TOKENS_MAX, ..Self::new(line, within, losses) }
    }

    /// Returns the numbers' record, or a default one without a bill.
    pub(super) fn record<T: Default>(&mut self, shaped: Shaped<T>) -> T {
        match shaped {
            Shaped::Object(record) => return record,
            Shaped::Absent => self.is_complete = false,
            Shaped::Other => self.refuse("", "not an object"),
        }
        T::default()
    }

    /// Returns a count that is 0 where it is missing.
    pub(super) fn count(&mut self, field: &str, count: Count) -> Tokens {
        match count.0 {
            Ok(tokens) if tokens <= self.max => return tokens,
            Ok(_) => self.refuse(field, TOO_LARGE),
            Err(why) => self.refuse(field, why),
        }
        0
    }

    /// Returns a count without which nothing is known.
    pub(super) fn required(&mut self, field: &str, count: Option<Count>) -> Tokens {
        self.is_complete &= count.is_some();
        count.map_or(0, |it| self.count(field, it))
    }

    /// Returns a whole without one of its parts.
    pub(super) fn less(&mut self, whole: Tokens, field: &str, part: Tokens) -> Tokens {
        whole.checked_sub(part).unwrap_or_else(|| {
            self.refuse(field, "more than the whole prompt");
            0
        })
    }

    /// Reports a field.
    pub(super) fn refuse(&mut self, field: &str, why: &'static str) {
        let dot = if self.within.is_empty() || field.is_empty() { "" } else { "." };
        self.losses.refuse(self.line, format!("{}{dot}{field}", self.within), why);
        self.is_complete = false;
    }

    /// Returns an output with its reasoning, which is a part of it only if the total of the bill says so.
    pub(super) fn output(
        &mut self,
        prompt: Tokens,
        output: Tokens,
        reasoning: Tokens,
        field: &str,
        total: Option<Count>,
    ) -> Tokens {
        let sum = self.count(field, total.unwrap_or_default());
        let is_inside = total.is_some() && sum == prompt + output && reasoning <= output;
        if is_inside { output } else { output + reasoning }
    }

    /// Returns whether all numbers are known.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the bill whose input is without what was read and written.
    pub(super) fn apart(
        self,
        uncached: Tokens,
        cache_read: Tokens,
        cache_write: Tokens,
        output: Tokens,
    ) -> Option<Usage> {
        let prompt = uncached + cache_read + cache_write;
        self.finish(Usage { prompt, cache_read, cache_write, cache_write_long: None, uncached, output })
    }

    /// Returns the bill, if it is complete and for something.
    pub(super) fn finish(mut self, usage: Usage) -> Option<Usage> {
        if usage.prompt > self.max {
            self.refuse("", TOO_LARGE);
        }
        Some(usage).filter(|it| self.is_complete && it.prompt > 0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shaped<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapedVisitor(PhantomData))
    }
}

struct ShapedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ShapedVisitor<T> {
    type Value = Shaped<T>;

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Shaped::Object)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Shaped::Absent)
    }

    ignores_the_rest!(Shaped::Other; visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_seq);
}
