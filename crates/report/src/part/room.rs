//! Whether the numbers of parts can be added up: none is out of all proportion, and all of them together have room in what holds sums.

use std::fmt;

use crate::prelude::*;
use ctxsim_input::Limits;
use ctxsim_input::text::Said;

/// The largest number that is not whole, in either direction: far above any cost, far below where sums and squares end.
const FLOAT_MAX: f64 = 1e30;

/// The largest signed number, in either direction: times are signed.
const SIGNED_MAX: u64 = 1 << 53;

/// Fields that are never added up, and may have any value.
const APART: [&str; 2] = ["seed", "threshold"];

/// The room that is left for whole numbers, all of which may be added up.
#[derive(Clone, Copy, Debug)]
pub struct SumHeadroom {
    /// For numbers of up to 64 bits.
    small: u64,
    /// For wider ones, with or without a sign.
    wide: u128,
}

impl Default for SumHeadroom {
    fn default() -> Self {
        Self { small: u64::MAX / 2, wide: u128::MAX / 4 }
    }
}

/// Says that a number cannot be added up.
fn too_large_to_sum_message(number: impl fmt::Display) -> String {
    format!("{number} is too large to be added up")
}

impl SumHeadroom {
    /// Takes the room of all numbers of a value.
    ///
    /// # Errors
    /// One of them is too large, or there is no room left.
    pub fn reserve_for(&mut self, value: &impl Serialize) -> Result<(), String> {
        self.reserve_for_said(&Said::by(value).map_err(|error| error.to_string())?)
    }

    /// Takes the room of what a value says of itself.
    fn reserve_for_said(&mut self, said: &Said) -> Result<(), String> {
        match said {
            Said::U64(number) => {
                self.small =
                    self.small.checked_sub(*number).ok_or_else(|| too_large_to_sum_message(number))?;
                Ok(())
            }
            // Of either sign: what is added up may be a difference as well.
            Said::I128(number) => self.reserve_u128(number.unsigned_abs()),
            Said::U128(number) => self.reserve_u128(*number),
            Said::I64(number) if number.unsigned_abs() > SIGNED_MAX => Err(too_large_to_sum_message(number)),
            // Not a number is what is unknown.
            Said::F64(number) if number.abs() > FLOAT_MAX => {
                Err(too_large_to_sum_message(format_args!("{number:e}")))
            }
            Said::NewtypeStruct(Limits::NAME, _) => Ok(()),
            Said::Some(it) | Said::NewtypeStruct(_, it) | Said::NewtypeVariant(_, it) => {
                self.reserve_for_said(it)
            }
            Said::Seq(all) | Said::Tuple(all) | Said::TupleVariant(_, all) => {
                all.iter().try_for_each(|it| self.reserve_for_said(it))
            }
            Said::Map(all) => all.iter().try_for_each(|(_, it)| self.reserve_for_said(it)),
            Said::Struct(_, all) | Said::StructVariant(_, all) => {
                let mut added = all.iter().filter(|(name, _)| !APART.contains(name));
                added.try_for_each(|(_, it)| self.reserve_for_said(it))
            }
            Said::Bool(_) | Said::Text(_) | Said::None | Said::Unit | Said::UnitVariant(_) => Ok(()),
            Said::I64(_) | Said::F64(_) => Ok(()),
        }
    }

    fn reserve_u128(&mut self, number: u128) -> Result<(), String> {
        self.wide = self.wide.checked_sub(number).ok_or_else(|| too_large_to_sum_message(number))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_base::quantity::{Amount, Expected};

    #[test]
    fn whole_numbers_share_the_room_and_others_stand_alone() {
        let mut room = SumHeadroom::default();

        assert!(room.reserve_for(&(1_u64 << 62, 3_u32, 1e29, -5_i64, "text", Limits::NONE)).is_ok());
        assert!(room.reserve_for(&[1_u64 << 62]).is_err(), "each has room, and both together have none");
        assert!(room.reserve_for(&Some(-1e308)).is_err());
        assert!(room.reserve_for(&f64::NAN).is_ok(), "it stands for what is unknown");
        assert!(room.reserve_for(&i64::MIN).is_err());
        assert!(room.reserve_for(&u128::MAX).is_err());
        let signed = (Amount(-1 << 125), Expected::from_f64(-1e28));
        assert!(room.reserve_for(&signed).is_ok(), "money and expected numbers have signs");
        assert!(room.reserve_for(&Amount(-1 << 125)).is_err(), "they share the room, whatever their signs");
        assert!(room.reserve_for(&Amount(i128::MIN)).is_err());
    }
}
