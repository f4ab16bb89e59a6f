//! Reads and writes inputs by code that is compiled once for each type, not once for each type and format.
//!
//! What `serde` derives is generic over formats, and each of them asks for several copies. Here a type sees one
//! deserializer and one serializer; what they are made of is chosen while the program runs. Errors pass through unchanged.

mod ask;
mod fault;
mod give;
mod hold;
mod said;
#[cfg(test)]
mod tests;

use serde::de::{Deserialize, DeserializeOwned};

pub(super) use ask::{Hint, Sink};
pub(super) use fault::Fault;
pub(super) use hold::Grown;
pub(crate) use said::Said;

use ask::Asker;

/// Something that can be read once.
pub(super) trait Source<'de> {
    /// Hands what it holds to a sink; a hint says what the sink hopes for.
    fn read(&mut self, hint: Hint, sink: &mut dyn Sink<'de>) -> Result<(), Fault>;
}

/// Reads a value and keeps it.
pub(super) type Grow<'a, 'de> = dyn FnMut(&mut dyn Source<'de>) -> Result<(), Fault> + 'a;

/// A type of inputs, as far as one can ask what is wrong with a text without having it.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    try_read: fn(&mut dyn Source<'_>) -> Result<(), Fault>,
}

impl Shape {
    /// Returns the shape of a type.
    pub(super) fn of<T: DeserializeOwned>() -> Self {
        Self { try_read: |source| T::deserialize(Asker(source)).map(drop) }
    }

    /// Reads a value and drops it.
    pub(super) fn try_read(self, source: &mut dyn Source<'_>) -> Result<(), Fault> {
        (self.try_read)(source)
    }
}

/// Reads a value by a reader that any type could use; nothing where the reader fails.
pub(super) fn read<'de, T: Deserialize<'de>, E>(
    reader: impl FnOnce(&mut Grow<'_, 'de>) -> Result<(), E>,
) -> Result<Option<T>, E> {
    let mut value = None;
    reader(&mut |source| {
        value = Some(T::deserialize(Asker(source))?);
        Ok(())
    })?;
    Ok(value)
}
