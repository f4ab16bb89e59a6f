//! Why a type refuses a value, and where: said in words only when someone is told.

use std::fmt::{self, Display};

use serde::de::{self, Expected, Unexpected};

/// Why a type refuses a value, and the way to it.
#[derive(Debug)]
pub struct Unwanted(Box<Refusal>);

/// What a refusal holds, once someone is told of it.
#[derive(Debug)]
pub(in crate::text) struct Refusal {
    pub why: Why,
    /// The indices that lead to the value, from the inside to the root.
    pub way: Vec<usize>,
    /// Whether the key at the end of the way is refused, not its value.
    pub is_key: bool,
}

/// Names that a type knows.
pub(in crate::text) type KnownNames = &'static [&'static str];

/// Why a type refuses a value.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::text) enum Why {
    /// It is of another kind.
    Wanted(WantedType),
    /// It is of another kind than a type's own words expect.
    Type { found: String, expected: String },
    /// It is a number beyond a type, named as serde or a schema names it.
    Range { number: String, expected: String },
    /// It is no name of a choice.
    Choice(String, KnownNames),
    /// The key is no field.
    Field(String, KnownNames),
    /// A field is missing.
    Missing(&'static str),
    /// A field is set twice.
    Twice(&'static str),
    /// A choice needs a value.
    Bare(String),
    /// A choice takes no value.
    Full(String),
    /// One of several choices may be named.
    Several,
    /// There are more values than a type takes.
    Rest,
    /// Said by the type itself.
    Words(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::text) enum WantedType {
    Flag,
    Whole,
    Number,
    Text,
    Name,
    List,
    Map,
    Fields,
    Nothing,
}

impl Unwanted {
    pub(in crate::text) fn new(why: Why) -> Self {
        Self(Box::new(Refusal { why, way: Vec::new(), is_key: false }))
    }

    pub(super) fn wanted(wanted: WantedType) -> Self {
        Self::new(Why::Wanted(wanted))
    }

    /// Returns whether the value itself is refused, nothing within it.
    pub(super) fn is_here(&self) -> bool {
        self.0.way.is_empty()
    }

    /// Says that it is an entry of what holds it that is refused.
    pub(super) fn below(mut self, index: usize) -> Self {
        self.0.way.push(index);
        self
    }

    /// Says that it stands in the parentheses of a choice, if it does.
    pub(super) fn within(self, index: Option<usize>) -> Self {
        match index {
            Some(index) => self.below(index),
            None => self,
        }
    }

    /// Says that it is the key of an entry that is refused.
    pub(super) fn at_key(mut self, index: usize) -> Self {
        self.0.is_key = true;
        self.below(index)
    }

    /// Returns what is refused and why, with the way from the root on.
    pub(in crate::text) fn told(self) -> Refusal {
        let mut refusal = *self.0;
        refusal.way.reverse();
        refusal
    }
}

impl Why {
    /// Returns whether a name is unknown.
    pub(in crate::text) fn is_unknown(&self) -> bool {
        matches!(self, Self::Choice(..) | Self::Field(..))
    }

    /// Returns whether it is the value that is refused, wherever it stands.
    pub(in crate::text) fn is_of_value(&self) -> bool {
        match self {
            Self::Wanted(wanted) => !matches!(wanted, WantedType::Name | WantedType::Nothing),
            Self::Type { .. } | Self::Range { .. } | Self::Bare(_) => true,
            Self::Words(words) => words.starts_with("invalid"),
            _ => false,
        }
    }
}

impl Display for Unwanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.why)
    }
}

impl std::error::Error for Unwanted {}

impl de::Error for Unwanted {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(Why::Words(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Why::Type { found: found.to_string(), expected: expected.to_string() })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let number = match found {
            Unexpected::Unsigned(it) => it.to_string(),
            Unexpected::Signed(it) => it.to_string(),
            other => return Self::custom(format_args!("invalid value: {other}, expected {expected}")),
        };
        Self::new(Why::Range { number, expected: expected.to_string() })
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self::custom("values are missing: write all of them, as docs/reference shows")
    }

    fn unknown_variant(found: &str, known: KnownNames) -> Self {
        Self::new(Why::Choice(found.to_owned(), known))
    }

    fn unknown_field(found: &str, known: KnownNames) -> Self {
        Self::new(Why::Field(found.to_owned(), known))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Why::Missing(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Why::Twice(field))
    }
}
