//! What goes wrong while a value is read, until the format's own error takes it over.

use std::fmt::{self, Display};

use serde::de::{self, Expected, Unexpected};

/// A fault that a type finds, or one that its format has found and holds.
#[derive(Debug)]
pub(in crate::floors::input::text) enum Fault {
    /// The format holds its own error.
    Held,
    Custom(String),
    Type(Found, String),
    Value(Found, String),
    Length(usize, String),
    Variant(String, &'static [&'static str]),
    Field(String, &'static [&'static str]),
    Missing(&'static str),
    Twice(&'static str),
}

/// What was found where something else belongs.
#[derive(Debug)]
pub(in crate::floors::input::text) enum Found {
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Char(char),
    Str(String),
    Bytes(Vec<u8>),
    Unit,
    Option,
    NewtypeStruct,
    Seq,
    Map,
    Enum,
    UnitVariant,
    NewtypeVariant,
    TupleVariant,
    StructVariant,
    Other(String),
}

/// What was expected, in words.
struct Words(String);

impl Expected for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Fault {
    /// Returns the fault as the format says it: its own error, where it holds one.
    pub(super) fn said_by<E: de::Error>(self, held: &mut Option<E>) -> E {
        match self {
            Self::Held => held.take().unwrap_or_else(|| E::custom("nothing is said of this error")),
            Self::Custom(message) => E::custom(message),
            Self::Type(found, expected) => E::invalid_type(found.unexpected(), &Words(expected)),
            Self::Value(found, expected) => E::invalid_value(found.unexpected(), &Words(expected)),
            Self::Length(length, expected) => E::invalid_length(length, &Words(expected)),
            Self::Variant(found, known) => E::unknown_variant(&found, known),
            Self::Field(found, known) => E::unknown_field(&found, known),
            Self::Missing(field) => E::missing_field(field),
            Self::Twice(field) => E::duplicate_field(field),
        }
    }
}

impl Found {
    fn of(found: Unexpected<'_>) -> Self {
        match found {
            Unexpected::Bool(it) => Self::Bool(it),
            Unexpected::Unsigned(it) => Self::Unsigned(it),
            Unexpected::Signed(it) => Self::Signed(it),
            Unexpected::Float(it) => Self::Float(it),
            Unexpected::Char(it) => Self::Char(it),
            Unexpected::Str(it) => Self::Str(it.to_owned()),
            Unexpected::Bytes(it) => Self::Bytes(it.to_owned()),
            Unexpected::Unit => Self::Unit,
            Unexpected::Option => Self::Option,
            Unexpected::NewtypeStruct => Self::NewtypeStruct,
            Unexpected::Seq => Self::Seq,
            Unexpected::Map => Self::Map,
            Unexpected::Enum => Self::Enum,
            Unexpected::UnitVariant => Self::UnitVariant,
            Unexpected::NewtypeVariant => Self::NewtypeVariant,
            Unexpected::TupleVariant => Self::TupleVariant,
            Unexpected::StructVariant => Self::StructVariant,
            Unexpected::Other(it) => Self::Other(it.to_owned()),
        }
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Bool(it) => Unexpected::Bool(*it),
            Self::Unsigned(it) => Unexpected::Unsigned(*it),
            Self::Signed(it) => Unexpected::Signed(*it),
            Self::Float(it) => Unexpected::Float(*it),
            Self::Char(it) => Unexpected::Char(*it),
            Self::Str(it) => Unexpected::Str(it),
            Self::Bytes(it) => Unexpected::Bytes(it),
            Self::Unit => Unexpected::Unit,
            Self::Option => Unexpected::Option,
            Self::NewtypeStruct => Unexpected::NewtypeStruct,
            Self::Seq => Unexpected::Seq,
            Self::Map => Unexpected::Map,
            Self::Enum => Unexpected::Enum,
            Self::UnitVariant => Unexpected::UnitVariant,
            Self::NewtypeVariant => Unexpected::NewtypeVariant,
            Self::TupleVariant => Unexpected::TupleVariant,
            Self::StructVariant => Unexpected::StructVariant,
            Self::Other(it) => Unexpected::Other(it),
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::Custom(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Type(Found::of(found), expected.to_string())
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Value(Found::of(found), expected.to_string())
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::Length(length, expected.to_string())
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::Variant(found.to_owned(), known)
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        Self::Field(found.to_owned(), known)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::Twice(field)
    }
}
