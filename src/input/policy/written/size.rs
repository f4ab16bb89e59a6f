//! Numbers as a policy writes them: sizes, conditions over sizes, and extents.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use crate::input::text::duration::Duration;
use crate::quantity::{Decimal, Tokens};

/// An expression that stands wherever a policy needs a number of tokens. Products floor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Size {
    /// So many tokens.
    Tokens(Tokens),
    /// So many characters, turned into tokens by the timeline's characters per token, rounded up.
    Chars(u64),
    /// A plain number, for parameters that stand in extents.
    Count(u64),
    /// A share of the prompt limit, 0 to 1; more than the limit is `times(1.5, limit)`, so that 80 is not taken for 80%.
    Ratio(Decimal),
    /// The prompt limit: `limits.input_tokens` where given, else `limits.context_tokens`.
    Limit,
    /// The context window: `limits.context_tokens`.
    Window,
    /// The longest output that the model gives: `limits.output_tokens`.
    OutputLimit,
    /// The prompt when the stage fired.
    Start,
    /// What a summary replaces, verbatim copies excluded.
    Input,
    /// What stands from the first item on that the stage would change, to the prompt's end.
    Behind,
    /// A size divided by the place of an item's result among the session's, from 1; rounded down.
    PerRank(Box<Size>),
    /// A parameter of the policy.
    Param(String),
    /// The sum of its parts.
    Sum(Vec<Size>),
    /// The first part less all the others, at least 0.
    Minus(Vec<Size>),
    /// The least of its parts.
    Min(Vec<Size>),
    /// The greatest of its parts.
    Max(Vec<Size>),
    /// A factor times a size.
    Times(Decimal, Box<Size>),
    /// One size below a prompt limit (or a window), another from there on.
    ByWindow {
        /// Limits below this many tokens are small.
        below: Tokens,
        /// What `below` is compared with.
        #[serde(default)]
        of: WindowKind,
        /// The size below.
        then: Box<Size>,
        /// The size from there on.
        otherwise: Box<Size>,
    },
}

/// What a `by_window` looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// The prompt limit.
    #[default]
    Limit,
    /// The context window.
    Window,
}

/// A comparison with a size; exactly one field is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// Strictly more than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<Size>,
    /// That much or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Size>,
    /// Strictly less than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<Size>,
    /// That much or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Size>,
}

impl Bound {
    /// Returns what is given: exactly one relation, in a checked policy.
    pub fn given(&self) -> Option<(Relation, &Size)> {
        given([&self.above, &self.at_least, &self.below, &self.at_most])
    }
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// More.
    Above,
    /// As much or more.
    AtLeast,
    /// Less.
    Below,
    /// As much or less.
    AtMost,
}

impl Relation {
    /// Returns whether the relation holds between a value and its bound.
    #[inline]
    #[must_use]
    pub fn holds(self, value: u64, bound: u64) -> bool {
        match self {
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }
}

/// Returns the relation that is given, of four fields in this order.
pub fn given<T>(fields: [&Option<T>; 4]) -> Option<(Relation, &T)> {
    let comparisons = [Relation::Above, Relation::AtLeast, Relation::Below, Relation::AtMost];
    comparisons.into_iter().zip(fields).find_map(|(relation, it)| Some((relation, it.as_ref()?)))
}

/// What `count` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Items.
    Items,
    /// Tool results.
    ToolUses,
    /// User messages, replies, and result messages.
    Messages,
    /// Messages, a call and its results being one.
    Groups,
    /// Steps: one model request, its reply and the results.
    Steps,
    /// Turns.
    Turns,
}

/// A condition on numbers: the trigger of `when`, the goal of `until`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Cond {
    /// Holds.
    Always,
    /// Tokens of the request about to go out.
    Prompt(Bound),
    /// The same without the stable prefix.
    Body(Bound),
    /// Tokens of that request as it would be if no stage had ever edited anything: what a client sends whose provider edits.
    Raw(Bound),
    /// Tokens by which the prompt has grown since a stage last changed anything in this session; where it never has, all that
    /// stands behind the stable prefix.
    Grown {
        /// Which stage; this one, when silent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
        /// Strictly more than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<Size>,
        /// That much or more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_least: Option<Size>,
        /// Strictly less than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<Size>,
        /// That much or less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<Size>,
    },
    /// How many units have come since a stage last changed anything in this session; more than any number, where it never has.
    Since {
        /// Which stage; this one, when silent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
        /// The unit.
        of: Unit,
        /// Strictly more than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<Count>,
        /// That many or more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_least: Option<Count>,
        /// Strictly fewer than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<Count>,
        /// That many or fewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<Count>,
    },
    /// The same as the harness's own `counter` counts it.
    Counted(Bound),
    /// Tokens shown in the stage's own scope.
    Scope(Bound),
    /// Tokens that this stage would free; only for actions without a budget.
    Reclaimable(Bound),
    /// Tokens freed by this activation so far.
    Freed(Bound),
    /// Units taken by this activation so far.
    Taken(Extent),
    /// The session's running count has passed a multiple since the stage was last considered.
    Every(Extent),
    /// How many units stand in the scope.
    Count {
        /// The unit.
        of: Unit,
        /// Strictly more than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<Count>,
        /// That many or more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_least: Option<Count>,
        /// Strictly fewer than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<Count>,
        /// That many or fewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<Count>,
    },
    /// The pause since the last request began is longer than this.
    Idle {
        /// A duration: `"90s"`, `"5m"`, `"1h"`.
        longer_than: Duration,
    },
    /// The pause since the last request began is longer than the profile's cache lifetime.
    CacheCold,
    /// Every part holds.
    All(Vec<Cond>),
    /// Some part holds.
    Any(Vec<Cond>),
    /// The part does not hold.
    Not(Box<Cond>),
}

impl Cond {
    /// Calls a function with this condition and every part of it.
    pub fn each<'c>(&'c self, visit: &mut impl FnMut(&'c Self)) {
        visit(self);
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|it| it.each(visit)),
            Self::Not(part) => part.each(visit),
            _ => {}
        }
    }
}

/// How far a keep, a protection or a progress reaches. Whole units, while they fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Extent {
    /// So many items.
    Items(Count),
    /// So many tool results.
    ToolUses(Count),
    /// So many messages of the timeline.
    Messages(Count),
    /// So many groups of the timeline: messages, a call and its results being one.
    Groups(Count),
    /// So many steps of the timeline.
    Steps(Count),
    /// So many turns of the timeline.
    Turns(Count),
    /// So many tokens.
    Tokens(Count),
    /// So many tokens, as an expression.
    Size(Size),
    /// A share of the items, 0 to 1, rounded down.
    Fraction(Decimal),
    /// Everything.
    All,
}

impl Unit {
    /// The units that items are gathered in, from the smallest up.
    pub const GATHERED: [Self; 4] = [Self::Messages, Self::Groups, Self::Steps, Self::Turns];
}

impl Extent {
    /// Returns how many of which units it is, where it is a number of units.
    #[must_use]
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
    /// Returns the number; a checked policy has no parameter here any more.
    #[must_use]
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

/// Takes a number, or what each format makes of `param("name")`.
struct CountVisitor;

impl<'de> de::Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 up, or `param(\"name\")`")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Count, E> {
        Ok(Count::Fixed(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Count, E> {
        u64::try_from(value)
            .map(Count::Fixed)
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
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
