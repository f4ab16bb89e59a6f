//! The one serializer that inputs are compiled for.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize, Serializer};

use super::{Said, Variant};

/// Why a value cannot be said.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Makes what a value says of itself.
pub(super) struct Giver;

/// Takes a plain value as it is.
macro_rules! plain {
    ($($call:ident $of:ty => $said:ident,)*) => {
        $(fn $call(self, it: $of) -> Result<Said, Refused> {
            Ok(Said::$said(it.into()))
        })*
    };
}

impl Serializer for Giver {
    type Ok = Said;
    type Error = Refused;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Entries;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Fields;

    plain! {
        serialize_bool bool => Bool, serialize_i8 i8 => I64, serialize_i16 i16 => I64, serialize_i32 i32 => I64,
        serialize_i64 i64 => I64, serialize_i128 i128 => I128, serialize_u8 u8 => U64, serialize_u16 u16 => U64,
        serialize_u32 u32 => U64, serialize_u64 u64 => U64, serialize_u128 u128 => U128, serialize_f32 f32 => F64,
        serialize_f64 f64 => F64, serialize_char char => Text, serialize_str &str => Text,
    }

    fn serialize_bytes(self, all: &[u8]) -> Result<Said, Refused> {
        all.serialize(self)
    }

    fn serialize_none(self) -> Result<Said, Refused> {
        Ok(Said::None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, it: &T) -> Result<Said, Refused> {
        Ok(Said::Some(Box::new(it.serialize(Giver)?)))
    }

    fn serialize_unit(self) -> Result<Said, Refused> {
        Ok(Said::Unit)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Said, Refused> {
        Ok(Said::Unit)
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<Said, Refused> {
        Ok(Said::UnitVariant((name, index, variant)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        it: &T,
    ) -> Result<Said, Refused> {
        Ok(Said::NewtypeStruct(name, Box::new(it.serialize(Giver)?)))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        it: &T,
    ) -> Result<Said, Refused> {
        Ok(Said::NewtypeVariant((name, index, variant), Box::new(it.serialize(Giver)?)))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<List, Refused> {
        Ok(List { kind: Kind::Seq(length), list: Vec::new() })
    }

    fn serialize_tuple(self, _: usize) -> Result<List, Refused> {
        Ok(List { kind: Kind::Tuple, list: Vec::new() })
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<List, Refused> {
        self.serialize_tuple(length)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List, Refused> {
        Ok(List { kind: Kind::TupleVariant((name, index, variant)), list: Vec::new() })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Entries, Refused> {
        Ok(Entries { length, key: None, list: Vec::new() })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields, Refused> {
        Ok(Fields { name, variant: None, list: Vec::new() })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields, Refused> {
        Ok(Fields { name, variant: Some((name, index, variant)), list: Vec::new() })
    }
}

/// What a list of values is.
enum Kind {
    Seq(Option<usize>),
    Tuple,
    TupleVariant(Variant),
}

/// Values, one behind the other.
pub(super) struct List {
    kind: Kind,
    list: Vec<Said>,
}

impl List {
    fn push<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Refused> {
        self.list.push(it.serialize(Giver)?);
        Ok(())
    }

    fn close(self) -> Said {
        match self.kind {
            Kind::Seq(length) => Said::Seq(length, self.list),
            Kind::Tuple => Said::Tuple(self.list),
            Kind::TupleVariant(variant) => Said::TupleVariant(variant, self.list),
        }
    }
}

/// Takes values one behind the other, whatever the list is.
macro_rules! list {
    ($($of:ident $call:ident,)*) => {
        $(impl ser::$of for List {
            type Ok = Said;
            type Error = Refused;

            fn $call<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Refused> {
                self.push(it)
            }

            fn end(self) -> Result<Said, Refused> {
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
pub(super) struct Entries {
    length: Option<usize>,
    key: Option<Said>,
    list: Vec<(Said, Said)>,
}

impl ser::SerializeMap for Entries {
    type Ok = Said;
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        self.key = Some(key.serialize(Giver)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Refused> {
        let key = self.key.take().unwrap_or(Said::Unit);
        self.list.push((key, it.serialize(Giver)?));
        Ok(())
    }

    fn end(self) -> Result<Said, Refused> {
        Ok(Said::Map(self.length, self.list))
    }
}

/// Fields of a struct or of a variant.
pub(super) struct Fields {
    name: &'static str,
    variant: Option<Variant>,
    list: Vec<(&'static str, Said)>,
}

impl Fields {
    fn push<T: Serialize + ?Sized>(&mut self, key: &'static str, it: &T) -> Result<(), Refused> {
        self.list.push((key, it.serialize(Giver)?));
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
        $(impl ser::$of for Fields {
            type Ok = Said;
            type Error = Refused;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, it: &T) -> Result<(), Refused> {
                self.push(key, it)
            }

            fn end(self) -> Result<Said, Refused> {
                Ok(self.close())
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant, }
