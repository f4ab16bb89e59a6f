//! Values written by the places of their fields, for programs of the same version alone: names would be most of the bytes.

/// Has a type written as lists of its fields, in the order given; fields behind `else` are not written, and are read as their defaults.
///
/// A list holds at most sixteen fields.
#[macro_export]
macro_rules! packed {
    ($type:ty: $([$($field:ident),+]),+ $(; else $($rest:ident),+)?) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&($(($(&self.$field,)+),)+), to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let ($(($($field,)+),)+) = serde::Deserialize::deserialize(from)?;
                Ok(Self { $($($field,)+)+ $($($rest: Default::default(),)+)? })
            }
        }
    };
}

pub use packed;
