//! The side of the type: the one deserializer that inputs are compiled for.
//!
//! What is generic here is compiled for each of some five hundred types, so it is written without combinators and `?`, which
//! would be compiled as often.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, Expected, Visitor};

use super::fault::Found;
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

/// The events that a kind of type can take. Any other event is a wrong type, which is reported in one place for all visitors.
trait Takes {
    fn take<'de, V: Visitor<'de>>(visitor: V, event: Event<'_, 'de>) -> Result<V::Value, Fault>;
}

/// Lists kinds of types with the events that each takes, and the visitor's call for each event.
macro_rules! takes {
    ($($(#[$doc:meta])* $kind:ident { $($event:ident $(($it:ident))? => $call:ident($($given:expr)?),)* })*) => {
        $(
            $(#[$doc])*
            struct $kind;

            impl Takes for $kind {
                fn take<'de, V: Visitor<'de>>(visitor: V, event: Event<'_, 'de>) -> Result<V::Value, Fault> {
                    match event {
                        $(Event::$event $(($it))? => visitor.$call($($given)?),)*
                        other => Err(wrong(other, &visitor)),
                    }
                }
            }
        )*
    };
}

takes! {
    /// A type that takes whatever is found.
    Anything {
        Bool(it) => visit_bool(it),
        I64(it) => visit_i64(it),
        U64(it) => visit_u64(it),
        F64(it) => visit_f64(it),
        Char(it) => visit_char(it),
        Str(it) => visit_str(it),
        Borrowed(it) => visit_borrowed_str(it),
        Text(it) => visit_string(it),
        Bytes(it) => visit_bytes(it),
        None => visit_none(),
        Some(it) => visit_some(Asker(it)),
        Unit => visit_unit(),
        Newtype(it) => visit_newtype_struct(Asker(it)),
        Seq(it) => visit_seq(Elements(it)),
        Map(it) => visit_map(Fields(it)),
        Enum(it) => visit_enum(Variant(it)),
    }

    /// `true` or `false`.
    Flag { Bool(it) => visit_bool(it), }

    /// A number of at most 64 bits.
    Number {
        I64(it) => visit_i64(it),
        U64(it) => visit_u64(it),
        F64(it) => visit_f64(it),
    }

    /// Characters.
    Words {
        Char(it) => visit_char(it),
        Str(it) => visit_str(it),
        Borrowed(it) => visit_borrowed_str(it),
        Text(it) => visit_string(it),
    }

    /// A field or variant.
    Name {
        Str(it) => visit_str(it),
        Borrowed(it) => visit_str(it),
        Text(it) => visit_str(&it),
    }

    /// A value, or none.
    Perhaps {
        None => visit_none(),
        Some(it) => visit_some(Asker(it)),
        Unit => visit_unit(),
    }

    /// A type with a single value.
    Nothing { Unit => visit_unit(), }

    /// A value with a name of its own.
    Wrapped { Newtype(it) => visit_newtype_struct(Asker(it)), }

    /// A list of values.
    Listed { Seq(it) => visit_seq(Elements(it)), }

    /// Named values.
    Named { Map(it) => visit_map(Fields(it)), }

    /// One of several variants.
    Chosen { Enum(it) => visit_enum(Variant(it)), }
}

/// Says that something of another type was found.
fn wrong(event: Event<'_, '_>, expected: &dyn Expected) -> Fault {
    let found = match event {
        Event::Bool(it) => Found::Bool(it),
        Event::I64(it) => Found::Signed(it),
        Event::I128(it) => Found::Other(format!("integer `{it}` as i128")),
        Event::U64(it) => Found::Unsigned(it),
        Event::U128(it) => Found::Other(format!("integer `{it}` as u128")),
        Event::F64(it) => Found::Float(it),
        Event::Char(it) => Found::Str(it.to_string()),
        Event::Str(it) => Found::Str(it.to_owned()),
        Event::Borrowed(it) => Found::Str(it.to_owned()),
        Event::Text(it) => Found::Str(it),
        Event::Bytes(it) => Found::Bytes(it.to_owned()),
        Event::None | Event::Some(_) => Found::Option,
        Event::Unit => Found::Unit,
        Event::Newtype(_) => Found::NewtypeStruct,
        Event::Seq(_) => Found::Seq,
        Event::Map(_) => Found::Map,
        Event::Enum(_) => Found::Enum,
    };
    Fault::Type(found, expected.to_string())
}

/// A visitor, the kind of its type, and what it made of what it took.
struct Slot<'de, V: Visitor<'de>, K> {
    visitor: Option<V>,
    value: Option<V::Value>,
    kind: PhantomData<K>,
}

impl<'de, V: Visitor<'de>, K: Takes> Slot<'de, V, K> {
    /// Lets a visitor take what a reader finds.
    fn fill(
        visitor: V,
        _: K,
        read: impl FnOnce(&mut dyn Sink<'de>) -> Result<(), Fault>,
    ) -> Result<V::Value, Fault> {
        let mut slot = Self { visitor: Some(visitor), value: None, kind: PhantomData };
        match (read(&mut slot), slot.value) {
            (Ok(()), Some(value)) => Ok(value),
            (Ok(()), None) => Err(nothing()),
            (Err(fault), _) => Err(fault),
        }
    }
}

impl<'de, V: Visitor<'de>, K: Takes> Sink<'de> for Slot<'de, V, K> {
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.visitor {
            Some(it) => it.expecting(f),
            None => Ok(()),
        }
    }

    fn accept(&mut self, event: Event<'_, 'de>) -> Result<(), Fault> {
        let Some(visitor) = self.visitor.take() else { return Err(nothing()) };
        match K::take(visitor, event) {
            Ok(value) => {
                self.value = Some(value);
                Ok(())
            }
            Err(fault) => Err(fault),
        }
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
    let read = read(&mut |source| {
        let Some(seed) = seed.take() else { return Err(nothing()) };
        match seed.deserialize(Asker(source)) {
            Ok(it) => {
                value = Some(it);
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    });
    match read {
        Ok(()) => Ok(value),
        Err(fault) => Err(fault),
    }
}

/// Asks a source for a value.
pub(super) struct Asker<'a, 'de>(pub &'a mut dyn Source<'de>);

/// Asks for a value with a hint that is all that the call says.
macro_rules! ask {
    ($($kind:ident: $($call:ident $hint:ident),*;)*) => {
        $($(fn $call<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            Slot::fill(visitor, $kind, |sink| self.0.read(Hint::$hint, sink))
        })*)*
    };
}

impl<'de> Deserializer<'de> for Asker<'_, 'de> {
    type Error = Fault;

    ask! {
        Anything: deserialize_any Any, deserialize_bytes Bytes, deserialize_byte_buf ByteBuf, deserialize_ignored_any Ignored;
        Flag: deserialize_bool Bool;
        Number: deserialize_i8 I8, deserialize_i16 I16, deserialize_i32 I32, deserialize_i64 I64, deserialize_i128 I128,
            deserialize_u8 U8, deserialize_u16 U16, deserialize_u32 U32, deserialize_u64 U64, deserialize_u128 U128,
            deserialize_f32 F32, deserialize_f64 F64;
        Words: deserialize_char Char, deserialize_str Str, deserialize_string Text;
        Name: deserialize_identifier Identifier;
        Perhaps: deserialize_option Option;
        Nothing: deserialize_unit Unit;
        Listed: deserialize_seq Seq;
        Named: deserialize_map Map;
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, Nothing, |sink| self.0.read(Hint::UnitStruct(name), sink))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, Wrapped, |sink| self.0.read(Hint::NewtypeStruct(name), sink))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        Slot::fill(visitor, Listed, |sink| self.0.read(Hint::Tuple(length), sink))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, Listed, |sink| self.0.read(Hint::TupleStruct(name, length), sink))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, Named, |sink| self.0.read(Hint::Struct(name, fields), sink))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, Chosen, |sink| self.0.read(Hint::Enum(name, variants), sink))
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
        Slot::fill(visitor, Listed, |sink| self.0.tuple(length, sink))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Slot::fill(visitor, Named, |sink| self.0.fields(fields, sink))
    }
}
