//! Amounts of money as harnesses write them: US dollars as numbers.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::content::{ignores_the_rest, skip_list, skip_map};
use ctxsim_base::quantity::Cost;

/// US dollars as a binary fraction; `None` for anything but a number from 0 up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dollars(pub(super) Option<Cost>);

/// The largest cost of a request that is believed, in US dollars.
const DOLLARS_MAX: f64 = 1e6;

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DollarsVisitor).map(Self)
    }
}

struct DollarsVisitor;

impl<'de> Visitor<'de> for DollarsVisitor {
    type Value = Option<Cost>;

    fn visit_f64<E: de::Error>(self, amount: f64) -> Result<Self::Value, E> {
        let is_amount = (0.0..=DOLLARS_MAX).contains(&amount);
        Ok(is_amount.then(|| Cost((amount * 1e12).round() as u128)))
    }

    fn visit_u64<E: de::Error>(self, amount: u64) -> Result<Self::Value, E> {
        self.visit_f64(amount as f64)
    }

    ignores_the_rest!(None; visit_i64: i64, visit_bool: bool, visit_str: &str, visit_unit, visit_seq, visit_map);
}
