//! Anything that serde can serialise, as a value.

use serde::Serialize;

use super::Value;
use super::csv::cell;
use ctxsim_input::text::Said;

impl Value {
    /// Returns what a thing serialises to, in the shapes of JSON; null if its type refuses, which none of ours does.
    pub fn of<T: Serialize + ?Sized>(it: &T) -> Self {
        Said::by(it).map_or(Self::Null, Self::from)
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
            Said::Seq(_, all) | Said::Tuple(all) => all.into(),
            Said::Map(_, all) => {
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

        assert_eq!(serde_json::to_value(Value::of(&made)).unwrap(), serde_json::to_value(made).unwrap());
    }
}
