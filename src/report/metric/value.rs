//! The value of a metric, in JSON.

use indexmap::IndexMap;
use serde::Serialize;

/// A value of a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Unknown or undefined for the run.
    None,
    /// A whole number.
    Count(u64),
    /// Any other number, or none if a price is unknown.
    Real(f64),
    /// A word.
    Text(String),
    /// Several values that are only null together.
    Fields(IndexMap<&'static str, Value>),
}

impl Value {
    /// Returns the number that it is, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(*count as f64),
            Self::Real(number) => Some(*number).filter(|it| !it.is_nan()),
            _ => None,
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
