//! The value of a cell.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use super::csv::cell;
use ctxsim_input::text::Said;

/// Named values, in their order.
pub type Fields = Vec<(Cow<'static, str>, Value)>;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Unknown or undefined.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Count(u64),
    /// A whole number below 0.
    Below(i64),
    /// Any other number; null where it is not finite.
    Real(f64),
    /// Words.
    Text(Cow<'static, str>),
    /// Several values.
    List(Vec<Value>),
    /// Named values that are only null together.
    Fields(Fields),
}

impl Value {
    /// Returns the number that it is, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(*count as f64),
            Self::Below(number) => Some(*number as f64),
            Self::Real(number) => Some(*number).filter(|it| !it.is_nan()),
            _ => None,
        }
    }

    /// Adds the fields of another.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fields(own), Self::Fields(more)) => Self::Fields([own, more].concat()),
            (own, _) => own,
        }
    }

    /// Returns the value at a dotted path of names.
    pub fn at(&self, place: &str) -> Option<&Self> {
        place.split('.').try_fold(self, |at, step| match at {
            Self::Fields(fields) => fields.iter().find(|(name, _)| name == step).map(|(_, it)| it),
            _ => None,
        })
    }

    /// Returns what a thing serialises to, in the shapes of JSON; null if its type refuses, which none of ours does.
    pub fn serialised<T: Serialize + ?Sized>(thing: &T) -> Self {
        Said::by(thing).map_or(Self::Null, Self::from)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_none(),
            Self::Bool(it) => to.serialize_bool(*it),
            Self::Count(it) => to.serialize_u64(*it),
            Self::Below(it) => to.serialize_i64(*it),
            Self::Real(it) => to.serialize_f64(*it),
            Self::Text(it) => to.serialize_str(it),
            Self::List(all) => to.collect_seq(all),
            Self::Fields(all) => to.collect_map(all.iter().map(|(name, it)| (name, it))),
        }
    }
}

macro_rules! from {
    ($($of:ty = $value:expr;)*) => {
        $(impl From<$of> for Value {
            fn from(it: $of) -> Self {
                $value(it)
            }
        })*
    };
}

from! {
    bool = Value::Bool;
    u64 = Value::Count;
    u32 = |it: u32| Value::Count(it.into());
    usize = |it| Value::Count(it as u64);
    i64 = |it| u64::try_from(it).map_or(Value::Below(it), Value::Count);
    f64 = Value::Real;
    &'static str = |it: &'static str| Value::Text(it.into());
    String = |it: String| Value::Text(it.into());
    Fields = Value::Fields;
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(all: Vec<T>) -> Self {
        Self::List(all.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> FromIterator<(&'static str, T)> for Value {
    fn from_iter<I: IntoIterator<Item = (&'static str, T)>>(named: I) -> Self {
        Self::Fields(named.into_iter().map(|(name, it)| (name.into(), it.into())).collect())
    }
}

impl From<Said> for Value {
    fn from(said: Said) -> Self {
        match said {
            Said::None | Said::Unit => Self::Null,
            Said::Bool(it) => it.into(),
            Said::I64(it) => it.into(),
            Said::U64(it) => it.into(),
            Said::I128(it) => i64::try_from(it).map_or(Self::Real(it as f64), Self::from),
            Said::U128(it) => u64::try_from(it).map_or(Self::Real(it as f64), Self::from),
            Said::F64(it) => it.into(),
            Said::Text(it) => it.into(),
            Said::Some(it) | Said::NewtypeStruct(_, it) => (*it).into(),
            Said::Seq(all) | Said::Tuple(all) => all.into(),
            Said::Map(all) => {
                let named = |(name, it): (Said, Said)| (cell(&name.into()).into(), it.into());
                Self::Fields(all.into_iter().map(named).collect())
            }
            Said::Struct(_, all) => Self::from_iter(all),
            Said::UnitVariant((.., name)) => name.into(),
            Said::NewtypeVariant((.., name), it) => Self::from_iter([(name, *it)]),
            Said::TupleVariant((.., name), all) => Self::from_iter([(name, all)]),
            Said::StructVariant((.., name), all) => Self::from_iter([(name, Self::from_iter(all))]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    enum Choice {
        Bare,
        One(u8),
        Pair(u8, i8),
        Named { it: Option<f64> },
    }

    #[test]
    fn a_value_serialises_as_what_it_is_made_of() {
        let all = [Choice::Bare, Choice::One(1), Choice::Pair(1, -1), Choice::Named { it: None }];
        let by_number = BTreeMap::from([(500_u32, "a"), (2, "b")]);
        let made = (&all, &by_number, u128::from(u64::MAX), -1_i128);

        assert_eq!(
            serde_json::to_value(Value::serialised(&made)).unwrap(),
            serde_json::to_value(made).unwrap()
        );
    }
}
