//! Anything that serde can serialise, as a value.

use std::borrow::Cow;
use std::mem;

use serde::de::value::Error;
use serde::ser::{self, Error as _, Impossible, Serialize, Serializer};

use super::{Fields, Value};

impl Value {
    /// Returns what a thing serialises to; null if it cannot be a value.
    pub fn of<T: Serialize + ?Sized>(it: &T) -> Self {
        it.serialize(Maker).unwrap_or_default()
    }
}

/// Makes values.
struct Maker;

/// A list or a group that is being made.
#[derive(Default)]
struct Parts {
    list: Vec<Value>,
    fields: Fields,
    /// The name of the next field.
    name: Cow<'static, str>,
}

/// Implements the methods of a serializer that need no more than an expression.
macro_rules! methods {
    ($($method:ident $(<$T:ident>)? ($it:ident, $($name:tt: $of:ty),*) -> $made:ty = $value:expr;)*) => {
        $(fn $method $(<$T: Serialize + ?Sized>)? ($it, $($name: $of),*) -> Result<$made, Error> {
            $value
        })*
    };
}

impl Serializer for Maker {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Parts;
    type SerializeTuple = Parts;
    type SerializeTupleStruct = Parts;
    type SerializeTupleVariant = Impossible<Value, Error>;
    type SerializeMap = Parts;
    type SerializeStruct = Parts;
    type SerializeStructVariant = Impossible<Value, Error>;

    methods! {
        serialize_bool(self, it: bool) -> Value = Ok(Value::Bool(it));
        serialize_i8(self, it: i8) -> Value = self.serialize_i64(it.into());
        serialize_i16(self, it: i16) -> Value = self.serialize_i64(it.into());
        serialize_i32(self, it: i32) -> Value = self.serialize_i64(it.into());
        serialize_i64(self, it: i64) -> Value = Ok(it.into());
        serialize_u8(self, it: u8) -> Value = Ok(Value::Count(it.into()));
        serialize_u16(self, it: u16) -> Value = Ok(Value::Count(it.into()));
        serialize_u32(self, it: u32) -> Value = Ok(Value::Count(it.into()));
        serialize_u64(self, it: u64) -> Value = Ok(Value::Count(it));
        serialize_f32(self, it: f32) -> Value = Ok(Value::Real(it.into()));
        serialize_f64(self, it: f64) -> Value = Ok(Value::Real(it));
        serialize_char(self, it: char) -> Value = Ok(it.to_string().into());
        serialize_str(self, it: &str) -> Value = Ok(it.to_owned().into());
        serialize_bytes(self, it: &[u8]) -> Value = self.collect_seq(it);
        serialize_none(self,) -> Value = Ok(Value::Null);
        serialize_some<T>(self, it: &T) -> Value = it.serialize(self);
        serialize_unit(self,) -> Value = Ok(Value::Null);
        serialize_unit_struct(self, _: &'static str) -> Value = Ok(Value::Null);
        serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Value = Ok(name.into());
        serialize_newtype_struct<T>(self, _: &'static str, it: &T) -> Value = it.serialize(self);
        serialize_newtype_variant<T>(self, _: &'static str, _: u32, name: &'static str, it: &T) -> Value =
            Ok(Value::from_iter([(name, it.serialize(self)?)]));
        serialize_seq(self, _: Option<usize>) -> Parts = Ok(Parts::default());
        serialize_tuple(self, _: usize) -> Parts = Ok(Parts::default());
        serialize_tuple_struct(self, _: &'static str, _: usize) -> Parts = Ok(Parts::default());
        serialize_tuple_variant(self, _: &'static str, _: u32, name: &'static str, _: usize)
            -> Impossible<Value, Error> = Err(Error::custom(name));
        serialize_map(self, _: Option<usize>) -> Parts = Ok(Parts::default());
        serialize_struct(self, _: &'static str, _: usize) -> Parts = Ok(Parts::default());
        serialize_struct_variant(self, _: &'static str, _: u32, name: &'static str, _: usize)
            -> Impossible<Value, Error> = Err(Error::custom(name));
    }
}

/// Implements the traits of a list or a group: what each part does, and what comes of all.
macro_rules! parts {
    ($($of:ident => $made:expr; { $($method:ident($($name:ident: $ty:ty)?) = $put:expr;)+ })*) => {
        $(impl ser::$of for Parts {
            type Ok = Value;
            type Error = Error;

            $(fn $method<T: Serialize + ?Sized>(&mut self, $($name: $ty,)? it: &T) -> Result<(), Error> {
                let put: fn(&mut Self, Value $(, $ty)?) = $put;
                put(self, it.serialize(Maker)? $(, $name)?);
                Ok(())
            })+

            fn end(self) -> Result<Value, Error> {
                let make: fn(Self) -> Value = $made;
                Ok(make(self))
            }
        })*
    };
}

parts! {
    SerializeSeq => |all| Value::List(all.list); { serialize_element() = |all, it| all.list.push(it); }
    SerializeTuple => |all| Value::List(all.list); { serialize_element() = |all, it| all.list.push(it); }
    SerializeTupleStruct => |all| Value::List(all.list); { serialize_field() = |all, it| all.list.push(it); }
    SerializeStruct => |all| Value::Fields(all.fields); {
        serialize_field(name: &'static str) = |all, it, name| all.fields.push((Cow::Borrowed(name), it));
    }
    SerializeMap => |all| Value::Fields(all.fields); {
        serialize_key() = |all, it| if let Value::Text(name) = it { all.name = name };
        serialize_value() = |all, it| all.fields.push((mem::take(&mut all.name), it));
    }
}
