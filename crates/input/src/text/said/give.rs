//! The one serializer that inputs are compiled for.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize, Serializer};

use super::{Said, Variant};

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
pub(super) struct Giver;

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

    fn serialize_some<T: Serialize + ?Sized>(self, it: &T) -> Result<Said, Unsayable> {
        Ok(Said::Some(Box::new(it.serialize(Giver)?)))
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
        it: &T,
    ) -> Result<Said, Unsayable> {
        Ok(Said::NewtypeStruct(name, Box::new(it.serialize(Giver)?)))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        it: &T,
    ) -> Result<Said, Unsayable> {
        Ok(Said::NewtypeVariant((name, index, variant), Box::new(it.serialize(Giver)?)))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ValueList, Unsayable> {
        Ok(ValueList { kind: SequenceKind::Seq(length), list: Vec::new() })
    }

    fn serialize_tuple(self, _: usize) -> Result<ValueList, Unsayable> {
        Ok(ValueList { kind: SequenceKind::Tuple, list: Vec::new() })
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
        Ok(ValueList { kind: SequenceKind::TupleVariant((name, index, variant)), list: Vec::new() })
    }

    fn collect_seq<I: IntoIterator<Item: Serialize>>(self, all: I) -> Result<Said, Unsayable> {
        let all = all.into_iter();
        let length = match all.size_hint() {
            (least, Some(most)) if least == most => Some(least),
            _ => None,
        };
        let mut list = ValueList { kind: SequenceKind::Seq(length), list: Vec::new() };
        for it in all {
            list.push(&it)?;
        }
        Ok(list.close())
    }

    fn serialize_map(self, length: Option<usize>) -> Result<MapEntries, Unsayable> {
        Ok(MapEntries { length, key: None, list: Vec::new() })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<StructFields, Unsayable> {
        Ok(StructFields { name, variant: None, list: Vec::new() })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<StructFields, Unsayable> {
        Ok(StructFields { name, variant: Some((name, index, variant)), list: Vec::new() })
    }
}

/// What a list of values is.
enum SequenceKind {
    Seq(Option<usize>),
    Tuple,
    TupleVariant(Variant),
}

/// Values, one behind the other.
pub(super) struct ValueList {
    kind: SequenceKind,
    list: Vec<Said>,
}

impl ValueList {
    fn push<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Unsayable> {
        self.put(it.serialize(Giver))
    }

    /// Adds a value; compiled once, and not for each type of values.
    fn put(&mut self, said: Result<Said, Unsayable>) -> Result<(), Unsayable> {
        self.list.push(said?);
        Ok(())
    }

    fn close(self) -> Said {
        match self.kind {
            SequenceKind::Seq(length) => Said::Seq(length, self.list),
            SequenceKind::Tuple => Said::Tuple(self.list),
            SequenceKind::TupleVariant(variant) => Said::TupleVariant(variant, self.list),
        }
    }
}

/// Takes values one behind the other, whatever the list is.
macro_rules! list {
    ($($of:ident $call:ident,)*) => {
        $(impl ser::$of for ValueList {
            type Ok = Said;
            type Error = Unsayable;

            fn $call<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Unsayable> {
                self.push(it)
            }

            fn end(self) -> Result<Said, Unsayable> {
                Ok(self.close())
            }
        })*
    };
}

list! {
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

/// Keys and values.
pub(super) struct MapEntries {
    length: Option<usize>,
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

    fn serialize_value<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Unsayable> {
        self.put(it.serialize(Giver))
    }

    fn end(self) -> Result<Said, Unsayable> {
        Ok(Said::Map(self.length, self.list))
    }
}

/// Fields of a struct or of a variant.
pub(super) struct StructFields {
    name: &'static str,
    variant: Option<Variant>,
    list: Vec<(&'static str, Said)>,
}

impl StructFields {
    fn push<T: Serialize + ?Sized>(&mut self, key: &'static str, it: &T) -> Result<(), Unsayable> {
        self.put(key, it.serialize(Giver))
    }

    /// Adds a field; compiled once, and not for each type of fields.
    fn put(&mut self, key: &'static str, said: Result<Said, Unsayable>) -> Result<(), Unsayable> {
        self.list.push((key, said?));
        Ok(())
    }

    fn close(self) -> Said {
        match self.variant {
            Some(variant) => Said::StructVariant(variant, self.list),
            None => Said::Struct(self.name, self.list),
        }
    }
}

/// Takes fields, whatever they are of.
macro_rules! fields {
    ($($of:ident,)*) => {
        $(impl ser::$of for StructFields {
            type Ok = Said;
            type Error = Unsayable;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, it: &T) -> Result<(), Unsayable> {
                self.push(key, it)
            }

            fn end(self) -> Result<Said, Unsayable> {
                Ok(self.close())
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant, }
