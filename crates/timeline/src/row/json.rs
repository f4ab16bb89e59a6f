//! Rows as JSON: one object each.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};
use serde_json::ser::{Formatter, PrettyFormatter};

use super::Rows;
use ctxsim_base::foreign;

/// Returns rows, one per line.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn lines(all: &[Rows]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::new();
    put(all, "\n", &mut bytes)?;
    Ok(shown(bytes))
}

/// Returns rows as one list.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(all: &[Rows]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = b"[\n".to_vec();
    put(all, ",\n", &mut bytes)?;
    if bytes.len() == 2 {
        return Ok(b"[]\n".to_vec());
    }
    // Nothing follows the last row.
    bytes.truncate(bytes.len() - 2);
    bytes.extend_from_slice(b"\n]\n");
    Ok(shown(bytes))
}

/// Returns one document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json_text(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    write_json(document, &mut bytes)?;
    String::from_utf8(bytes).map_err(serde_json::Error::custom)
}

/// Writes one document, whose parts are made as they are written.
///
/// # Errors
/// A value that JSON cannot hold, or it cannot be written.
pub fn write_json(document: &impl Serialize, mut to: impl Write) -> Result<(), serde_json::Error> {
    let form = VisibleForm(PrettyFormatter::new());
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut to, form))?;
    to.write_all(b"\n").map_err(serde_json::Error::io)
}

/// A list whose members are made one by one.
pub struct EachOf<F>(pub F);

impl<F: Fn() -> I, I: IntoIterator<Item: Serialize>> Serialize for EachOf<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

/// JSON for people, in which every character can be seen.
struct VisibleForm(PrettyFormatter<'static>);

impl Formatter for VisibleForm {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, to: &mut W, part: &str) -> io::Result<()> {
        to.write_all(foreign::json(part).as_bytes())
    }

    fn begin_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_array(to)
    }

    fn end_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_array(to)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, to: &mut W, is_first: bool) -> io::Result<()> {
        self.0.begin_array_value(to, is_first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_array_value(to)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_object(to)
    }

    fn end_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_object(to)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, to: &mut W, is_first: bool) -> io::Result<()> {
        self.0.begin_object_key(to, is_first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_object_value(to)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_object_value(to)
    }
}

/// Returns JSON in which every character can be seen.
fn shown(bytes: Vec<u8>) -> Vec<u8> {
    // What serde writes is UTF-8.
    let changed = match std::str::from_utf8(&bytes).map(foreign::json) {
        Ok(Cow::Owned(text)) => Some(text.into_bytes()),
        Ok(Cow::Borrowed(_)) | Err(_) => None,
    };
    changed.unwrap_or(bytes)
}

/// Writes each row, and something after it.
fn put(all: &[Rows], after: &str, to: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    for row in all.iter().flat_map(Rows::each) {
        let mut json = serde_json::Serializer::new(&mut *to);
        let mut map = json.serialize_map(None)?;
        for (name, value) in row {
            map.serialize_entry(name, value)?;
        }
        map.end()?;
        to.write_all(after.as_bytes()).map_err(serde_json::Error::io)?;
    }
    Ok(())
}
