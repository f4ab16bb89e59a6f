//! A value as its type says it, which any format can write: the one serializer that types are compiled for.

use std::fmt::{self, Display};

use crate::prelude::*;
use serde::Serializer;
use serde::ser::{
    self, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleVariant,
};

/// A variant: its type, its place among the others, its name.
pub(super) type Variant = (&'static str, u32, &'static str);

/// A value as its type says it.
pub enum Said {
    Bool(bool),
    I64(i64),
    I128(i128),
    U64(u64),
    U128(u128),
    F64(f64),
    Text(String),
    None,
    Some(Box<Said>),
    Unit,
    UnitVariant(Variant),
    NewtypeStruct(&'static str, Box<Said>),
    NewtypeVariant(Variant, Box<Said>),
    Seq(Vec<Said>),
    Tuple(Vec<Said>),
    TupleVariant(Variant, Vec<Said>),
    Map(Vec<(Said, Said)>),
    Struct(&'static str, Vec<(&'static str, Said)>),
    StructVariant(Variant, Vec<(&'static str, Said)>),
}

/// A type of inputs that says itself, compiled once, in the package that has it: [`encoded_here`](crate::encoded_here) says so.
pub trait Encode {
    /// Returns what it says of itself.
    ///
    /// # Errors
    /// A value that refuses to be written.
    fn said(&self) -> Result<Said, Unsayable>;
}

/// Compiles the writing of types here.
#[macro_export]
macro_rules! encoded_here {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::text::Encode for $type {
            #[inline(never)]
            fn said(&self) -> Result<$crate::text::Said, $crate::text::Unsayable> {
                $crate::text::Said::by(self)
            }
        })*
    };
}

impl Said {
    /// Returns what a value says of itself.
    pub fn by<T: Serialize + ?Sized>(value: &T) -> Result<Self, Unsayable> {
        value.serialize(Giver)
    }

    /// Writes what holds several values.
    fn serialize_many<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Seq(list) => {
                let mut to = to.serialize_seq(Some(list.len()))?;
                list.iter().try_for_each(|it| to.serialize_element(it))?;
                to.end()
            }
            Self::Tuple(list) => {
                let mut to = to.serialize_tuple(list.len())?;
                list.iter().try_for_each(|it| to.serialize_element(it))?;
                to.end()
            }
            Self::TupleVariant((name, index, variant), list) => {
                let mut to = to.serialize_tuple_variant(name, *index, variant, list.len())?;
                list.iter().try_for_each(|it| to.serialize_field(it))?;
                to.end()
            }
            Self::Map(list) => {
                let mut to = to.serialize_map(Some(list.len()))?;
                list.iter().try_for_each(|(key, it)| to.serialize_entry(key, it))?;
                to.end()
            }
            Self::Struct(name, list) => {
                let list = set(list);
                let mut to = to.serialize_struct(name, list.len())?;
                list.iter().try_for_each(|(key, it)| to.serialize_field(key, it))?;
                to.end()
            }
            Self::StructVariant((name, index, variant), list) => {
                let list = set(list);
                let mut to = to.serialize_struct_variant(name, *index, variant, list.len())?;
                list.iter().try_for_each(|(key, it)| to.serialize_field(key, it))?;
                to.end()
            }
            _ => to.serialize_unit(),
        }
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(it) => to.serialize_bool(*it),
            Self::I64(it) => to.serialize_i64(*it),
            Self::I128(it) => to.serialize_i128(*it),
            Self::U64(it) => to.serialize_u64(*it),
            Self::U128(it) => to.serialize_u128(*it),
            Self::F64(it) => to.serialize_f64(*it),
            Self::Text(it) => to.serialize_str(it),
            Self::None => to.serialize_none(),
            Self::Some(it) => to.serialize_some(&**it),
            Self::Unit => to.serialize_unit(),
            Self::UnitVariant((name, index, variant)) => to.serialize_unit_variant(name, *index, variant),
            Self::NewtypeStruct(name, it) => to.serialize_newtype_struct(name, &**it),
            Self::NewtypeVariant((name, index, variant), it) => {
                to.serialize_newtype_variant(name, *index, variant, &**it)
            }
            _ => self.serialize_many(to),
        }
    }
}

/// Returns the name of a choice in files.
pub fn name_of<T: Serialize>(choice: &T) -> &'static str {
    match Said::by(choice) {
        Ok(
            Said::UnitVariant((.., name))
            | Said::NewtypeVariant((.., name), _)
            | Said::TupleVariant((.., name), _)
            | Said::StructVariant((.., name), _),
        ) => name,
        _ => "",
    }
}

/// Returns whether a field has its default value, which files leave out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The default of numbers that count from one.
pub(crate) fn once() -> u64 {
    1
}

/// Returns whether nothing is repeated, which files leave out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
pub(crate) fn is_once(times: &u64) -> bool {
    *times == 1
}

/// The default of what holds unless a file says otherwise.
pub(crate) fn yes() -> bool {
    true
}

/// Returns the fields that are set; a file does not have the others.
fn set<'s>(all: &'s [(&'static str, Said)]) -> Vec<&'s (&'static str, Said)> {
    all.iter().filter(|(_, it)| !matches!(it, Said::None)).collect()
}

// The one serializer that inputs are compiled for.

/// Why a value cannot be said.
#[derive(Debug)]
pub struct Unsayable(String);

impl Display for Unsayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsayable {}

impl ser::Error for Unsayable {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Makes what a value says of itself.
struct Giver;

/// Takes a plain value as it is.
macro_rules! plain {
    ($($call:ident $of:ty => $said:ident,)*) => {
        $(fn $call(self, it: $of) -> Result<Said, Unsayable> {
            Ok(Said::$said(it.into()))
        })*
    };
}

impl Serializer for Giver {
    type Ok = Said;
    type Error = Unsayable;
    type SerializeSeq = ValueList;
    type SerializeTuple = ValueList;
    type SerializeTupleStruct = ValueList;
    type SerializeTupleVariant = ValueList;
    type SerializeMap = MapEntries;
    type SerializeStruct = StructFields;
    type SerializeStructVariant = StructFields;

    plain! {
        serialize_bool bool => Bool, serialize_i8 i8 => I64, serialize_i16 i16 => I64, serialize_i32 i32 => I64,
        serialize_i64 i64 => I64, serialize_i128 i128 => I128, serialize_u8 u8 => U64, serialize_u16 u16 => U64,
        serialize_u32 u32 => U64, serialize_u64 u64 => U64, serialize_u128 u128 => U128, serialize_f32 f32 => F64,
        serialize_f64 f64 => F64, serialize_char char => Text, serialize_str &str => Text,
    }

    fn serialize_bytes(self, all: &[u8]) -> Result<Said, Unsayable> {
        all.serialize(self)
    }

    fn serialize_none(self) -> Result<Said, Unsayable> {
        Ok(Said::None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Said, Unsayable> {
        Ok(Said::Some(Box::new(value.serialize(Giver)?)))
    }

    fn serialize_unit(self) -> Result<Said, Unsayable> {
        Ok(Said::Unit)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Said, Unsayable> {
        Ok(Said::Unit)
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<Said, Unsayable> {
        Ok(Said::UnitVariant((name, index, variant)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Said, Unsayable> {
        Ok(Said::NewtypeStruct(name, Box::new(value.serialize(Giver)?)))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Said, Unsayable> {
        Ok(Said::NewtypeVariant((name, index, variant), Box::new(value.serialize(Giver)?)))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ValueList, Unsayable> {
        Ok(ValueList(Said::Seq(Vec::new())))
    }

    fn serialize_tuple(self, _: usize) -> Result<ValueList, Unsayable> {
        Ok(ValueList(Said::Tuple(Vec::new())))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<ValueList, Unsayable> {
        self.serialize_tuple(length)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ValueList, Unsayable> {
        Ok(ValueList(Said::TupleVariant((name, index, variant), Vec::new())))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<MapEntries, Unsayable> {
        Ok(MapEntries { key: None, list: Vec::new() })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<StructFields, Unsayable> {
        Ok(StructFields(Said::Struct(name, Vec::new())))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<StructFields, Unsayable> {
        Ok(StructFields(Said::StructVariant((name, index, variant), Vec::new())))
    }
}

/// Values, one behind the other.
struct ValueList(Said);

impl ValueList {
    /// Adds a value; compiled once, and not for each type of values.
    fn put(&mut self, said: Result<Said, Unsayable>) -> Result<(), Unsayable> {
        if let Said::Seq(list) | Said::Tuple(list) | Said::TupleVariant(_, list) = &mut self.0 {
            list.push(said?);
        }
        Ok(())
    }
}

/// Takes values one behind the other, whatever the list is.
macro_rules! list {
    ($($of:ident $call:ident,)*) => {
        $(impl ser::$of for ValueList {
            type Ok = Said;
            type Error = Unsayable;

            fn $call<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsayable> {
                self.put(value.serialize(Giver))
            }

            fn end(self) -> Result<Said, Unsayable> {
                Ok(self.0)
            }
        })*
    };
}

list! {
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

/// Keys and values.
struct MapEntries {
    key: Option<Said>,
    list: Vec<(Said, Said)>,
}

impl MapEntries {
    /// Adds a value to its key; compiled once, and not for each type of values.
    fn put(&mut self, said: Result<Said, Unsayable>) -> Result<(), Unsayable> {
        let key = self.key.take().unwrap_or(Said::Unit);
        self.list.push((key, said?));
        Ok(())
    }
}

impl ser::SerializeMap for MapEntries {
    type Ok = Said;
    type Error = Unsayable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unsayable> {
        self.key = Some(key.serialize(Giver)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsayable> {
        self.put(value.serialize(Giver))
    }

    fn end(self) -> Result<Said, Unsayable> {
        Ok(Said::Map(self.list))
    }
}

/// Fields of a struct or of a variant.
struct StructFields(Said);

impl StructFields {
    /// Adds a field; compiled once, and not for each type of fields.
    fn put(&mut self, key: &'static str, said: Result<Said, Unsayable>) -> Result<(), Unsayable> {
        if let Said::Struct(_, list) | Said::StructVariant(_, list) = &mut self.0 {
            list.push((key, said?));
        }
        Ok(())
    }
}

/// Takes fields, whatever they are of.
macro_rules! fields {
    ($($of:ident,)*) => {
        $(impl ser::$of for StructFields {
            type Ok = Said;
            type Error = Unsayable;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Unsayable> {
                self.put(key, value.serialize(Giver))
            }

            fn end(self) -> Result<Said, Unsayable> {
                Ok(self.0)
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant, }
