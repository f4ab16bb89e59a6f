//! Whether the numbers of parts can be added up: none is out of all proportion, and all of them together have room in what holds sums.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};

use ctxsim_input::Limits;

/// The largest number that is not whole, in either direction: far above any cost, far below where sums and squares end.
const FLOAT_MAX: f64 = 1e30;

/// The largest signed number, in either direction: times are signed.
const SIGNED_MAX: u64 = 1 << 53;

/// Fields that are never added up, and may have any value.
const APART: [&str; 2] = ["seed", "threshold"];

/// The room that is left for whole numbers, all of which may be added up.
#[derive(Clone, Copy, Debug)]
pub struct SumRoom {
    /// For numbers of up to 64 bits.
    small: u64,
    /// For wider ones, with or without a sign.
    wide: u128,
}

impl Default for SumRoom {
    fn default() -> Self {
        Self { small: u64::MAX / 2, wide: u128::MAX / 4 }
    }
}

impl SumRoom {
    /// Takes the room of all numbers of a value.
    ///
    /// # Errors
    /// One of them is too large, or there is no room left.
    pub fn take(&mut self, value: &impl Serialize) -> Result<(), TooLarge> {
        value.serialize(self)
    }
}

/// A number that cannot be added up, as it is written.
#[derive(Debug)]
pub struct TooLarge(String);

impl TooLarge {
    fn of(number: impl fmt::Display) -> Self {
        Self(format!("{number} is too large to be added up"))
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooLarge {}

impl ser::Error for TooLarge {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Takes the room of what stands in lists, maps and structs.
macro_rules! inner {
    ($($trait:ident: $method:ident),+) => {
        $(impl ser::$trait for &mut SumRoom {
            type Ok = ();
            type Error = TooLarge;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TooLarge> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), TooLarge> {
                Ok(())
            }
        })+
    };
}

inner!(SerializeSeq: serialize_element, SerializeTuple: serialize_element);
inner!(SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field);

impl ser::SerializeMap for &mut SumRoom {
    type Ok = ();
    type Error = TooLarge;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), TooLarge> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TooLarge> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), TooLarge> {
        Ok(())
    }
}

/// Takes the room of named fields.
macro_rules! named {
    ($($trait:ident),+) => {
        $(impl ser::$trait for &mut SumRoom {
            type Ok = ();
            type Error = TooLarge;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), TooLarge> {
                if APART.contains(&name) { Ok(()) } else { value.serialize(&mut **self) }
            }

            fn end(self) -> Result<(), TooLarge> {
                Ok(())
            }
        })+
    };
}

named!(SerializeStruct, SerializeStructVariant);

/// Numbers that take the room of whole ones.
macro_rules! whole {
    ($($method:ident: $type:ty),+) => {
        $(fn $method(self, number: $type) -> Result<(), TooLarge> {
            let left = self.small.checked_sub(number.into());
            self.small = left.ok_or_else(|| TooLarge::of(number))?;
            Ok(())
        })+
    };
}

/// Numbers that stand alone.
macro_rules! signed {
    ($($method:ident: $type:ty),+) => {
        $(fn $method(self, number: $type) -> Result<(), TooLarge> {
            let fits = i64::from(number).unsigned_abs() <= SIGNED_MAX;
            if fits { Ok(()) } else { Err(TooLarge::of(number)) }
        })+
    };
}

/// What has no number.
macro_rules! plain {
    ($($method:ident($($type:ty),*)),+) => {
        $(fn $method(self $(, _: $type)*) -> Result<(), TooLarge> {
            Ok(())
        })+
    };
}

/// Groups, whose values follow.
macro_rules! group {
    ($($method:ident -> $group:ident($($type:ty),*)),+) => {
        $(fn $method(self $(, _: $type)*) -> Result<Self::$group, TooLarge> {
            Ok(self)
        })+
    };
}

impl Serializer for &mut SumRoom {
    type Ok = ();
    type Error = TooLarge;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    whole!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);
    signed!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64);
    plain!(serialize_bool(bool), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]));
    plain!(serialize_none(), serialize_unit(), serialize_unit_struct(&'static str));
    plain!(serialize_unit_variant(&'static str, u32, &'static str));
    group!(serialize_seq -> SerializeSeq(Option<usize>), serialize_tuple -> SerializeTuple(usize));
    group!(serialize_tuple_struct -> SerializeTupleStruct(&'static str, usize));
    group!(serialize_tuple_variant -> SerializeTupleVariant(&'static str, u32, &'static str, usize));
    group!(serialize_map -> SerializeMap(Option<usize>));
    group!(serialize_struct -> SerializeStruct(&'static str, usize));
    group!(serialize_struct_variant -> SerializeStructVariant(&'static str, u32, &'static str, usize));

    fn serialize_u128(self, number: u128) -> Result<(), TooLarge> {
        self.wide = self.wide.checked_sub(number).ok_or_else(|| TooLarge::of(number))?;
        Ok(())
    }

    fn serialize_i128(self, number: i128) -> Result<(), TooLarge> {
        // Of either sign: what is added up may be a difference as well.
        self.serialize_u128(number.unsigned_abs())
    }

    fn serialize_f32(self, number: f32) -> Result<(), TooLarge> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), TooLarge> {
        // Not a number is what is unknown.
        if number.abs() > FLOAT_MAX { Err(TooLarge::of(format_args!("{number:e}"))) } else { Ok(()) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), TooLarge> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), TooLarge> {
        if name == Limits::NAME { Ok(()) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), TooLarge> {
        value.serialize(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_base::quantity::{Amount, Expected};

    #[test]
    fn whole_numbers_share_the_room_and_others_stand_alone() {
        let mut room = SumRoom::default();

        assert!(room.take(&(1_u64 << 62, 3_u32, 1e29, -5_i64, "text", Limits::NONE)).is_ok());
        assert!(room.take(&[1_u64 << 62]).is_err(), "each has room, and both together have none");
        assert!(room.take(&Some(-1e308)).is_err());
        assert!(room.take(&f64::NAN).is_ok(), "it stands for what is unknown");
        assert!(room.take(&i64::MIN).is_err());
        assert!(room.take(&u128::MAX).is_err());
        assert!(
            room.take(&(Amount(-1 << 125), Expected::of(-1e28))).is_ok(),
            "money and expected numbers have signs"
        );
        assert!(room.take(&Amount(-1 << 125)).is_err(), "they share the room, whatever their signs");
        assert!(room.take(&Amount(i128::MIN)).is_err());
    }
}
