//! Numbers as a policy writes them: sizes, conditions over sizes, and extents.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::quantity::{Decimal, Tokens};

/// An expression that stands wherever a policy needs a number of tokens. Products floor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SizeSpec {
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
    /// A parameter of the policy.
    Param(String),
    /// The sum of its parts.
    Sum(Vec<SizeSpec>),
    /// The first part less all the others, at least 0.
    Minus(Vec<SizeSpec>),
    /// The least of its parts.
    Min(Vec<SizeSpec>),
    /// The greatest of its parts.
    Max(Vec<SizeSpec>),
    /// A factor times a size.
    Times(Decimal, Box<SizeSpec>),
    /// One size below a prompt limit (or a window), another from there on.
    ByWindow {
        /// Limits below this many tokens are small.
        below: Tokens,
        /// What `below` is compared with.
        #[serde(default)]
        of: WindowSpec,
        /// The size below.
        then: Box<SizeSpec>,
        /// The size from there on.
        otherwise: Box<SizeSpec>,
    },
}

/// What a `by_window` looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WindowSpec {
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
pub struct BoundSpec {
    /// Strictly more than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<SizeSpec>,
    /// That much or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<SizeSpec>,
    /// Strictly less than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<SizeSpec>,
    /// That much or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<SizeSpec>,
}

/// What `count` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnitSpec {
    /// Items.
    Items,
    /// Tool results.
    ToolUses,
    /// User messages, replies, and result messages.
    Messages,
    /// Steps: one model request, its reply and the results.
    Steps,
    /// Turns.
    Turns,
}

/// A condition on numbers: the trigger of `when`, the goal of `until`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CondSpec {
    /// Holds.
    Always,
    /// Tokens of the request about to go out.
    Prompt(BoundSpec),
    /// The same without the stable prefix.
    Body(BoundSpec),
    /// Tokens shown in the stage's own scope.
    Scope(BoundSpec),
    /// Tokens that this stage would free; only for actions without a budget.
    Reclaimable(BoundSpec),
    /// Tokens freed by this activation so far.
    Freed(BoundSpec),
    /// Units taken by this activation so far.
    Taken(ExtentSpec),
    /// The session's running count has passed a multiple since the stage was last considered.
    Every(ExtentSpec),
    /// How many units stand in the scope.
    Count {
        /// The unit.
        of: UnitSpec,
        /// Strictly more than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<CountSpec>,
        /// That many or more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_least: Option<CountSpec>,
        /// Strictly fewer than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<CountSpec>,
        /// That many or fewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<CountSpec>,
    },
    /// The pause since the last request began is longer than this.
    Idle {
        /// A duration: `"90s"`, `"5m"`, `"1h"`.
        longer_than: DurationSpec,
    },
    /// The pause since the last request began is longer than the profile's cache lifetime.
    CacheCold,
    /// Every part holds.
    All(Vec<CondSpec>),
    /// Some part holds.
    Any(Vec<CondSpec>),
    /// The part does not hold.
    Not(Box<CondSpec>),
}

/// How far a keep, a protection or a progress reaches. Whole units, while they fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExtentSpec {
    /// So many items.
    Items(CountSpec),
    /// So many tool results.
    ToolUses(CountSpec),
    /// So many messages of the timeline.
    Messages(CountSpec),
    /// So many steps of the timeline.
    Steps(CountSpec),
    /// So many turns of the timeline.
    Turns(CountSpec),
    /// So many tokens.
    Tokens(CountSpec),
    /// So many tokens, as an expression.
    Size(SizeSpec),
    /// A share of the items, 0 to 1, rounded down.
    Fraction(Decimal),
    /// Everything.
    All,
}

/// A whole number, or a parameter that holds one: `2`, `param("recent")`.
#[derive(Clone, Debug, PartialEq)]
pub enum CountSpec {
    /// The number.
    Fixed(u64),
    /// The parameter's name.
    Param(String),
}

impl Serialize for CountSpec {
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

impl<'de> Deserialize<'de> for CountSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

/// Takes a number, or what each format makes of `param("name")`.
struct CountVisitor;

impl<'de> de::Visitor<'de> for CountVisitor {
    type Value = CountSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 up, or `param(\"name\")`")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<CountSpec, E> {
        Ok(CountSpec::Fixed(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<CountSpec, E> {
        u64::try_from(value)
            .map(CountSpec::Fixed)
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut access: A) -> Result<CountSpec, A::Error> {
        let name = access.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        Ok(CountSpec::Param(name))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut access: A) -> Result<CountSpec, A::Error> {
        match access.next_entry::<String, String>()? {
            Some((key, name)) if key == "param" => Ok(CountSpec::Param(name)),
            Some((key, _)) => Err(de::Error::unknown_variant(&key, &["param"])),
            None => Err(de::Error::invalid_length(0, &self)),
        }
    }
}

/// A duration in milliseconds, written with its unit: `"90s"`, `"5m"`, `"1h"`, `"250ms"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DurationSpec(pub u64);

impl DurationSpec {
    /// The units, longest first so that a whole number of them is found.
    const UNITS: [(&'static str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

    /// Reads `"5m"`; `None` when the number or its unit is missing or unknown.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let split = text.find(|it: char| !it.is_ascii_digit())?;
        let (number, unit) = text.split_at(split);
        let (_, ms) = Self::UNITS.iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(*ms).map(Self)
    }
}

impl fmt::Display for DurationSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, ms) = Self::UNITS.iter().find(|(_, ms)| self.0.is_multiple_of(*ms)).unwrap_or(&("ms", 1));
        write!(f, "{}{unit}", self.0 / ms)
    }
}

impl Serialize for DurationSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DurationSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is not a duration: write a whole number and ms, s, m, h or d, as in \"5m\""
            ))
        })
    }
}
