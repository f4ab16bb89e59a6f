//! The side of the type: the one deserializer that inputs are compiled for.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

use super::{Fault, Grow, Source};

/// What a type hopes for.
#[derive(Clone, Copy)]
pub(in crate::floors::input::text) enum Hint {
    Any,
    Bool,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F32,
    F64,
    Char,
    Str,
    Text,
    Bytes,
    ByteBuf,
    Option,
    Unit,
    UnitStruct(&'static str),
    NewtypeStruct(&'static str),
    Seq,
    Tuple(usize),
    TupleStruct(&'static str, usize),
    Map,
    Struct(&'static str, &'static [&'static str]),
    Enum(&'static str, &'static [&'static str]),
    Identifier,
    Ignored,
}

/// What a format found.
pub(in crate::floors::input::text) enum Event<'a, 'de> {
    Bool(bool),
    I64(i64),
    I128(i128),
    U64(u64),
    U128(u128),
    F64(f64),
    Char(char),
    Str(&'a str),
    Borrowed(&'de str),
    Text(String),
    Bytes(&'a [u8]),
    None,
    Some(&'a mut dyn Source<'de>),
    Unit,
    Newtype(&'a mut dyn Source<'de>),
    Seq(&'a mut dyn List<'de>),
    Map(&'a mut dyn Map<'de>),
    Enum(&'a mut dyn Choice<'de>),
}

/// Takes what a format found.
pub(in crate::floors::input::text) trait Sink<'de> {
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn accept(&mut self, event: Event<'_, 'de>) -> Result<(), Fault>;
}

/// Elements, one by one.
pub(in crate::floors::input::text) trait List<'de> {
    fn element(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault>;
    fn size(&self) -> Option<usize>;
}

/// Keys and values, by turns.
pub(in crate::floors::input::text) trait Map<'de> {
    fn key(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault>;
    fn value(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault>;
    fn size(&self) -> Option<usize>;
}

/// A variant, then what it holds.
pub(in crate::floors::input::text) trait Choice<'de> {
    fn variant(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault>;
    fn unit(&mut self) -> Result<(), Fault>;
    fn newtype(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault>;
    fn tuple(&mut self, length: usize, sink: &mut dyn Sink<'de>) -> Result<(), Fault>;
    fn fields(&mut self, names: &'static [&'static str], sink: &mut dyn Sink<'de>) -> Result<(), Fault>;
}

/// A visitor and what it made of what it took.
struct Slot<'de, V: Visitor<'de>> {
    visitor: Option<V>,
    value: Option<V::Value>,
}

impl<'de, V: Visitor<'de>> Slot<'de, V> {
    /// Lets a visitor take what a reader finds.
    fn fill(
        visitor: V,
        read: impl FnOnce(&mut dyn Sink<'de>) -> Result<(), Fault>,
    ) -> Result<V::Value, Fault> {
        let mut slot = Self { visitor: Some(visitor), value: None };
        read(&mut slot)?;
        slot.value.ok_or_else(nothing)
    }
}

impl<'de, V: Visitor<'de>> Sink<'de> for Slot<'de, V> {
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.as_ref().map_or(Ok(()), |it| it.expecting(f))
    }

    fn accept(&mut self, event: Event<'_, 'de>) -> Result<(), Fault> {
        let visitor = self.visitor.take().ok_or_else(nothing)?;
        let value = match event {
            Event::Bool(it) => visitor.visit_bool(it),
            Event::I64(it) => visitor.visit_i64(it),
            Event::I128(it) => visitor.visit_i128(it),
            Event::U64(it) => visitor.visit_u64(it),
            Event::U128(it) => visitor.visit_u128(it),
            Event::F64(it) => visitor.visit_f64(it),
            Event::Char(it) => visitor.visit_char(it),
            Event::Str(it) => visitor.visit_str(it),
            Event::Borrowed(it) => visitor.visit_borrowed_str(it),
            Event::Text(it) => visitor.visit_string(it),
            Event::Bytes(it) => visitor.visit_bytes(it),
            Event::None => visitor.visit_none(),
            Event::Some(it) => visitor.visit_some(Asker(it)),
            Event::Unit => visitor.visit_unit(),
            Event::Newtype(it) => visitor.visit_newtype_struct(Asker(it)),
            Event::Seq(it) => visitor.visit_seq(Elements(it)),
            Event::Map(it) => visitor.visit_map(Fields(it)),
            Event::Enum(it) => visitor.visit_enum(Variant(it)),
        };
        self.value = Some(value?);
        Ok(())
    }
}

/// Says that a format ended without a value, which none does.
fn nothing() -> Fault {
    de::Error::custom("no value was read")
}

/// Reads with a seed; nothing where the format had nothing more.
fn sown<'de, S: DeserializeSeed<'de>>(
    seed: S,
    read: impl FnOnce(&mut Grow<'_, 'de>) -> Result<(), Fault>,
) -> Result<Option<S::Value>, Fault> {
    let (mut seed, mut value) = (Some(seed), None);
    read(&mut |source| {
        value = Some(seed.take().ok_or_else(nothing)?.deserialize(Asker(source))?);
        Ok(())
    })?;
    Ok(value)
}

/// Asks a source for a value.
pub(super) struct Asker<'a, 'de>(pub &'a mut dyn Source<'de>);

/// Asks for a value with a hint that is all that the call says.
macro_rules! ask {
    ($($call:ident $hint:ident,)*) => {
        $(fn $call<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            Slot::fill(visitor, |sink| self.0.read(Hint::$hint, sink))
        })*
    };
}

impl<'de> Deserializer<'de> for Asker<'_, 'de> {
    type Error = Fault;

    ask! {
        deserialize_any Any, deserialize_bool Bool, deserialize_i8 I8, deserialize_i16 I16, deserialize_i32 I32,
        deserialize_i64 I64, deserialize_i128 I128, deserialize_u8 U8, deserialize_u16 U16, deserialize_u32 U32,
        deserialize_u64 U64, deserialize_u128 U128, deserialize_f32 F32, deserialize_f64 F64, deserialize_char Char,
        deserialize_str Str, deserialize_string Text, deserialize_bytes Bytes, deserialize_byte_buf ByteBuf,
        deserialize_option Option, deserialize_unit Unit, deserialize_seq Seq, deserialize_map Map,
        deserialize_identifier Identifier, deserialize_ignored_any Ignored,
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.read(Hint::UnitStruct(name), sink))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.read(Hint::NewtypeStruct(name), sink))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.read(Hint::Tuple(length), sink))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.read(Hint::TupleStruct(name, length), sink))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.read(Hint::Struct(name, fields), sink))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.read(Hint::Enum(name, variants), sink))
    }
}

/// Asks for elements.
struct Elements<'a, 'de>(&'a mut dyn List<'de>);

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        sown(seed, |grow| self.0.element(grow))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size()
    }
}

/// Asks for keys and values.
struct Fields<'a, 'de>(&'a mut dyn Map<'de>);

impl<'de> de::MapAccess<'de> for Fields<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        sown(seed, |grow| self.0.key(grow))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        sown(seed, |grow| self.0.value(grow))?.ok_or_else(nothing)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size()
    }
}

/// Asks for a variant and what it holds.
struct Variant<'a, 'de>(&'a mut dyn Choice<'de>);

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        let variant = sown(seed, |grow| self.0.variant(grow))?.ok_or_else(nothing)?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        self.0.unit()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        sown(seed, |grow| self.0.newtype(grow))?.ok_or_else(nothing)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.tuple(length, sink))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, |sink| self.0.fields(fields, sink))
    }
}
