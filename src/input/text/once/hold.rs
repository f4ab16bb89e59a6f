//! The side of the format: any deserializer as a source, with its own errors held until they are asked for.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

use super::ask::{Choice, Event, Hint, List, Map, Sink};
use super::{Fault, Grow, Source};

/// A reader of a type, as the formats know it.
pub(in crate::floors::input::text) struct Grown<'a, 'b, 'de>(pub &'a mut Grow<'b, 'de>);

impl<'de> DeserializeSeed<'de> for Grown<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let mut held = Held { of: Some(deserializer), error: None };
        (self.0)(&mut held).map_err(|it| it.said_by(&mut held.error))
    }
}

/// A part of a format that is used up, and the error that it ended with.
struct Held<T, E> {
    of: Option<T>,
    error: Option<E>,
}

impl<T, E: de::Error> Held<T, E> {
    /// Uses the part up.
    fn spend<R>(&mut self, spend: impl FnOnce(T) -> Result<R, E>) -> Result<R, Fault> {
        let Some(of) = self.of.take() else { return Err(de::Error::custom("this was read before")) };
        spend(of).map_err(|it| hold(&mut self.error, it))
    }
}

/// Keeps an error of the format.
fn hold<E>(place: &mut Option<E>, error: E) -> Fault {
    *place = Some(error);
    Fault::Held
}

impl<'de, D: Deserializer<'de>> Source<'de> for Held<D, D::Error> {
    fn read(&mut self, hint: Hint, sink: &mut dyn Sink<'de>) -> Result<(), Fault> {
        let to = Through(sink);
        self.spend(|it| match hint {
            Hint::Any => it.deserialize_any(to),
            Hint::Bool => it.deserialize_bool(to),
            Hint::I8 => it.deserialize_i8(to),
            Hint::I16 => it.deserialize_i16(to),
            Hint::I32 => it.deserialize_i32(to),
            Hint::I64 => it.deserialize_i64(to),
            Hint::I128 => it.deserialize_i128(to),
            Hint::U8 => it.deserialize_u8(to),
            Hint::U16 => it.deserialize_u16(to),
            Hint::U32 => it.deserialize_u32(to),
            Hint::U64 => it.deserialize_u64(to),
            Hint::U128 => it.deserialize_u128(to),
            Hint::F32 => it.deserialize_f32(to),
            Hint::F64 => it.deserialize_f64(to),
            Hint::Char => it.deserialize_char(to),
            Hint::Str => it.deserialize_str(to),
            Hint::Text => it.deserialize_string(to),
            Hint::Bytes => it.deserialize_bytes(to),
            Hint::ByteBuf => it.deserialize_byte_buf(to),
            Hint::Option => it.deserialize_option(to),
            Hint::Unit => it.deserialize_unit(to),
            Hint::UnitStruct(name) => it.deserialize_unit_struct(name, to),
            Hint::NewtypeStruct(name) => it.deserialize_newtype_struct(name, to),
            Hint::Seq => it.deserialize_seq(to),
            Hint::Tuple(length) => it.deserialize_tuple(length, to),
            Hint::TupleStruct(name, length) => it.deserialize_tuple_struct(name, length, to),
            Hint::Map => it.deserialize_map(to),
            Hint::Struct(name, fields) => it.deserialize_struct(name, fields, to),
            Hint::Enum(name, variants) => it.deserialize_enum(name, variants, to),
            Hint::Identifier => it.deserialize_identifier(to),
            Hint::Ignored => it.deserialize_ignored_any(to),
        })
    }
}

/// A sink as a format knows it.
struct Through<'a, 'de>(&'a mut dyn Sink<'de>);

impl<'de> Through<'_, 'de> {
    /// Hands over what holds nothing of the format.
    fn plain<E: de::Error>(self, event: Event<'_, 'de>) -> Result<(), E> {
        self.0.accept(event).map_err(|it| it.said_by(&mut None))
    }
}

/// Hands over what holds nothing of the format.
macro_rules! plain {
    ($($call:ident $event:ident $of:ty,)*) => {
        $(fn $call<E: de::Error>(self, it: $of) -> Result<(), E> {
            self.plain(Event::$event(it))
        })*
    };
}

impl<'de> Visitor<'de> for Through<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    plain! {
        visit_bool Bool bool, visit_i64 I64 i64, visit_i128 I128 i128, visit_u64 U64 u64, visit_u128 U128 u128,
        visit_f64 F64 f64, visit_char Char char, visit_str Str &str, visit_borrowed_str Borrowed &'de str,
        visit_string Text String, visit_bytes Bytes &[u8],
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        self.plain(Event::None)
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.plain(Event::Unit)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let mut held = Held { of: Some(deserializer), error: None };
        self.0.accept(Event::Some(&mut held)).map_err(|it| it.said_by(&mut held.error))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let mut held = Held { of: Some(deserializer), error: None };
        self.0.accept(Event::Newtype(&mut held)).map_err(|it| it.said_by(&mut held.error))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        let mut held = HeldList { of: access, error: None };
        self.0.accept(Event::Seq(&mut held)).map_err(|it| it.said_by(&mut held.error))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        let mut held = HeldMap { of: access, error: None };
        self.0.accept(Event::Map(&mut held)).map_err(|it| it.said_by(&mut held.error))
    }

    fn visit_enum<A: de::EnumAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        let variant = Held { of: None, error: None };
        let mut held = HeldChoice { of: Some(access), variant };
        self.0.accept(Event::Enum(&mut held)).map_err(|it| it.said_by(&mut held.variant.error))
    }
}

/// Elements of a format.
struct HeldList<A, E> {
    of: A,
    error: Option<E>,
}

impl<'de, A: de::SeqAccess<'de>> List<'de> for HeldList<A, A::Error> {
    fn element(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault> {
        let next = self.of.next_element_seed(Grown(grow));
        next.map(|_| ()).map_err(|it| hold(&mut self.error, it))
    }

    fn size(&self) -> Option<usize> {
        self.of.size_hint()
    }
}

/// Keys and values of a format.
struct HeldMap<A, E> {
    of: A,
    error: Option<E>,
}

impl<'de, A: de::MapAccess<'de>> Map<'de> for HeldMap<A, A::Error> {
    fn key(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault> {
        let next = self.of.next_key_seed(Grown(grow));
        next.map(|_| ()).map_err(|it| hold(&mut self.error, it))
    }

    fn value(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault> {
        self.of.next_value_seed(Grown(grow)).map_err(|it| hold(&mut self.error, it))
    }

    fn size(&self) -> Option<usize> {
        self.of.size_hint()
    }
}

/// A variant of a format and what it holds.
struct HeldChoice<A, V, E> {
    of: Option<A>,
    variant: Held<V, E>,
}

impl<'de, A: de::EnumAccess<'de>> Choice<'de> for HeldChoice<A, A::Variant, A::Error> {
    fn variant(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault> {
        let Some(of) = self.of.take() else { return Err(de::Error::custom("this was read before")) };
        let ((), variant) = of.variant_seed(Grown(grow)).map_err(|it| hold(&mut self.variant.error, it))?;
        self.variant.of = Some(variant);
        Ok(())
    }

    fn unit(&mut self) -> Result<(), Fault> {
        self.variant.spend(de::VariantAccess::unit_variant)
    }

    fn newtype(&mut self, grow: &mut Grow<'_, 'de>) -> Result<(), Fault> {
        self.variant.spend(|it| de::VariantAccess::newtype_variant_seed(it, Grown(grow)))
    }

    fn tuple(&mut self, length: usize, sink: &mut dyn Sink<'de>) -> Result<(), Fault> {
        self.variant.spend(|it| de::VariantAccess::tuple_variant(it, length, Through(sink)))
    }

    fn fields(&mut self, names: &'static [&'static str], sink: &mut dyn Sink<'de>) -> Result<(), Fault> {
        self.variant.spend(|it| de::VariantAccess::struct_variant(it, names, Through(sink)))
    }
}
