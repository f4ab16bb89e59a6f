//! A value as its type says it, which any format can write: the one serializer that types are compiled for.

mod give;

use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant};
use serde::ser::{SerializeTuple, SerializeTupleVariant};
use serde::{Serialize, Serializer};

use give::Giver;
pub use give::Unsayable;

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
    Seq(Option<usize>, Vec<Said>),
    Tuple(Vec<Said>),
    TupleVariant(Variant, Vec<Said>),
    Map(Option<usize>, Vec<(Said, Said)>),
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

impl Said {
    /// Writes what holds several values.
    fn serialize_many<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Seq(length, list) => {
                let mut to = to.serialize_seq(*length)?;
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
            Self::Map(length, list) => {
                let mut to = to.serialize_map(*length)?;
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

/// Returns the name of a choice in files.
pub(crate) fn name_of<T: Serialize>(choice: &T) -> &'static str {
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

/// Returns the fields that are set; a file does not have the others.
fn set<'s>(all: &'s [(&'static str, Said)]) -> Vec<&'s (&'static str, Said)> {
    all.iter().filter(|(_, it)| !matches!(it, Said::None)).collect()
}
