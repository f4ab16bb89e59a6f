//! Numbers in a policy: sizes, conditions on sizes, and extents.

use crate::prelude::*;
use serde::{Deserializer, Serializer, de};

pub use crate::text::duration::Duration;

/// An expression for a number of tokens. Products are rounded down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Size {
    /// A number of tokens.
    Tokens(Tokens),
    /// A number of characters, converted to tokens with the timeline's characters per token, rounded up.
    Chars(u64),
    /// A plain number, for parameters used in extents.
    Count(u64),
    /// A share of the prompt limit, 0 to 1. Write more than the limit as `times(1.5, limit)`, so that 80 is
    /// not taken for 80%.
    Ratio(Decimal),
    /// The prompt limit: `limits.input_tokens`, else `limits.context_tokens`.
    Limit,
    /// The context window: `limits.context_tokens`.
    Window,
    /// The longest output of the model: `limits.output_tokens`.
    OutputLimit,
    /// A number of the harness that recorded the session, by its version and model (`assumptions/harnesses.toml`).
    Harness {
        /// Which number.
        number: HarnessNumber,
        /// The size where it is not known, as in every load that is not recorded.
        or: Box<Size>,
    },
    /// The prompt's size when the stage fired.
    Start,
    /// The size of what a summary replaces, without verbatim copies.
    Input,
    /// The size from the first item that the stage would change to the prompt's end.
    Behind,
    /// A size divided by the index of an item's result in the session, from 1; rounded down.
    PerRank(Box<Size>),
    /// A parameter of the policy.
    Param(String),
    /// The sum of its parts.
    Sum(Vec<Size>),
    /// The first part minus all others, at least 0.
    Minus(Vec<Size>),
    /// The smallest of its parts.
    Min(Vec<Size>),
    /// The largest of its parts.
    Max(Vec<Size>),
    /// A factor times a size.
    Times(Decimal, Box<Size>),
    /// One size below a prompt limit (or window), another from that limit on.
    ByWindow {
        /// Limits below this number of tokens are small.
        below: Tokens,
        /// What `below` is compared with.
        #[serde(default)]
        of: WindowKind,
        /// The size for small limits.
        then: Box<Size>,
        /// The size for other limits.
        otherwise: Box<Size>,
    },
}

impl Size {
    /// Returns the field of its number, and the number; a size that is computed during a run has the field that would replace it, and no number.
    pub fn number(&self) -> (&'static str, Option<f64>) {
        match self {
            Self::Tokens(it) => ("tokens", Some(*it as f64)),
            Self::Chars(it) => ("chars", Some(*it as f64)),
            Self::Count(it) => ("count", Some(*it as f64)),
            Self::Ratio(it) => ("ratio", Some(it.to_f64())),
            _ => ("tokens", None),
        }
    }
}

/// A number of a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HarnessNumber {
    /// The window that it keeps to, if it is not the model's.
    Window,
    /// What it leaves of its window for the longest output.
    OutputReserve,
    /// The smallest prompt at which the log shows that it compacted the session.
    Trigger,
}

/// What `by_window` compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// The prompt limit.
    #[default]
    Limit,
    /// The context window.
    Window,
}

/// A comparison with a size; set exactly one field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SizeBound {
    /// More than.
    pub above: Option<Size>,
    /// At least.
    pub at_least: Option<Size>,
    /// Less than.
    pub below: Option<Size>,
    /// At most.
    pub at_most: Option<Size>,
}

impl SizeBound {
    /// Returns the bound: exactly one relation, in a checked policy.
    pub fn given(&self) -> Option<(Relation, &Size)> {
        given([&self.above, &self.at_least, &self.below, &self.at_most])
    }
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// More than.
    Above,
    /// At least.
    AtLeast,
    /// Less than.
    Below,
    /// At most.
    AtMost,
}

impl Relation {
    /// Returns whether the relation holds between a value and its bound.
    #[inline]
    pub fn holds(self, value: u64, bound: u64) -> bool {
        match self {
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }
}

/// Returns the relation given in four fields, in this order.
pub fn given<T>(fields: [&Option<T>; 4]) -> Option<(Relation, &T)> {
    let comparisons = [Relation::Above, Relation::AtLeast, Relation::Below, Relation::AtMost];
    comparisons.into_iter().zip(fields).find_map(|(relation, it)| Some((relation, it.as_ref()?)))
}

/// What `count` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Items.
    Items,
    /// Tool results.
    ToolUses,
    /// User messages, replies, and result messages.
    Messages,
    /// Messages, with a call and its results as one.
    Groups,
    /// Steps: one model request with its reply and results.
    Steps,
    /// Turns.
    Turns,
}

/// A condition on numbers: the trigger of `when`, the goal of `until`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Cond {
    /// Always true.
    Always,
    /// Tokens of the request about to be sent.
    Prompt(SizeBound),
    /// The same without the stable prefix.
    Body(SizeBound),
    /// Tokens of that request if no stage had ever edited anything: what a client sends if its provider does
    /// the editing.
    Raw(SizeBound),
    /// Tokens by which the prompt has grown since a stage last changed anything in this session. Before its
    /// first change: everything after the stable prefix.
    Grown {
        /// Which stage. Default: this one.
        stage: Option<String>,
        /// More than.
        above: Option<Size>,
        /// At least.
        at_least: Option<Size>,
        /// Less than.
        below: Option<Size>,
        /// At most.
        at_most: Option<Size>,
    },
    /// Units that have entered since a stage last changed anything in this session. Before its first change:
    /// more than any number.
    Since {
        /// Which stage. Default: this one.
        stage: Option<String>,
        /// The unit.
        of: Unit,
        /// More than.
        above: Option<Count>,
        /// At least.
        at_least: Option<Count>,
        /// Fewer than.
        below: Option<Count>,
        /// At most.
        at_most: Option<Count>,
    },
    /// The same, as the harness's own `counter` counts it.
    Counted(SizeBound),
    /// Tokens shown in the stage's own scope.
    Scope(SizeBound),
    /// Tokens that this stage would free; only for actions without a budget.
    Reclaimable(SizeBound),
    /// Tokens freed by this firing so far.
    Freed(SizeBound),
    /// Units taken by this firing so far.
    Taken(Extent),
    /// The session's running count has passed a multiple of this since the stage was last checked.
    Every(Extent),
    /// The number of units in the scope.
    Count {
        /// The unit.
        of: Unit,
        /// More than.
        above: Option<Count>,
        /// At least.
        at_least: Option<Count>,
        /// Fewer than.
        below: Option<Count>,
        /// At most.
        at_most: Option<Count>,
    },
    /// The pause since the last request began is longer than this.
    Idle {
        /// A duration: `"90s"`, `"5m"`, `"1h"`.
        longer_than: Duration,
    },
    /// The pause since the last request began is longer than the profile's cache lifetime.
    CacheCold,
    /// All parts are true.
    All(Vec<Cond>),
    /// At least one part is true.
    Any(Vec<Cond>),
    /// The part is false.
    Not(Box<Cond>),
}

impl Cond {
    /// Calls a function with this condition and each of its parts.
    pub fn each<'c>(&'c self, visit: &mut impl FnMut(&'c Self)) {
        visit(self);
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|it| it.each(visit)),
            Self::Not(part) => part.each(visit),
            _ => {}
        }
    }
}

/// The reach of a keep, a protection or a progress, in whole units that fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Extent {
    /// A number of items.
    Items(Count),
    /// A number of tool results.
    ToolUses(Count),
    /// A number of the timeline's messages.
    Messages(Count),
    /// A number of the timeline's groups: messages, with a call and its results as one.
    Groups(Count),
    /// A number of the timeline's steps.
    Steps(Count),
    /// A number of the timeline's turns.
    Turns(Count),
    /// A number of tokens.
    Tokens(Count),
    /// A number of tokens, as an expression.
    Size(Size),
    /// A share of the items, 0 to 1, rounded down.
    Fraction(Decimal),
    /// Everything.
    #[default]
    All,
}

impl Unit {
    /// The units into which items are grouped, from the smallest up.
    pub const GATHERED: [Self; 4] = [Self::Messages, Self::Groups, Self::Steps, Self::Turns];
}

impl Extent {
    /// Returns the number and the unit, if it is a number of units.
    pub fn units(&self) -> Option<(Unit, u64)> {
        let (unit, count) = match self {
            Self::Items(count) => (Unit::Items, count),
            Self::ToolUses(count) => (Unit::ToolUses, count),
            Self::Messages(count) => (Unit::Messages, count),
            Self::Groups(count) => (Unit::Groups, count),
            Self::Steps(count) => (Unit::Steps, count),
            Self::Turns(count) => (Unit::Turns, count),
            Self::Tokens(_) | Self::Size(_) | Self::Fraction(_) | Self::All => return None,
        };
        Some((unit, count.get()))
    }
}

/// A whole number, or a parameter that holds one: `2`, `param("recent")`.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    /// The number.
    Fixed(u64),
    /// The parameter's name.
    Param(String),
}

impl Count {
    /// Returns the number; a checked policy has no parameters left here.
    pub fn get(&self) -> u64 {
        match self {
            Self::Fixed(count) => *count,
            Self::Param(_) => 0,
        }
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case")]
        enum Named<'a> {
            Param(&'a str),
        }
        match self {
            Self::Fixed(count) => serializer.serialize_u64(*count),
            Self::Param(name) => Named::Param(name).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

/// Parses a number, or `param("name")` in either format.
struct CountVisitor;

impl<'de> de::Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of at least 0, or `param(\"name\")`")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Count, E> {
        Ok(Count::Fixed(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Count, E> {
        let count = u64::try_from(value).map(Count::Fixed);
        count.map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut access: A) -> Result<Count, A::Error> {
        let name = access.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        Ok(Count::Param(name))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut access: A) -> Result<Count, A::Error> {
        match access.next_entry::<String, String>()? {
            Some((key, name)) if key == "param" => Ok(Count::Param(name)),
            Some((key, _)) => Err(de::Error::unknown_variant(&key, &["param"])),
            None => Err(de::Error::invalid_length(0, &self)),
        }
    }
}
