//! Rows as JSON: one object each.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};

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
    serde_json::to_writer_pretty(VisibleForm(&mut to), document)?;
    to.write_all(b"\n").map_err(serde_json::Error::io)
}

/// A list whose members are made one by one.
pub struct EachOf<F>(pub F);

impl<F: Fn() -> I, I: IntoIterator<Item: Serialize>> Serialize for EachOf<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

/// Writes JSON for people, in which every character can be seen.
struct VisibleForm<W>(W);

impl<W: Write> Write for VisibleForm<W> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.write_all(part).map(|()| part.len())
    }

    fn write_all(&mut self, part: &[u8]) -> io::Result<()> {
        // Most pieces are marks, names and numbers; a command of a runner has a `#`.
        if part.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~' if *byte != b'#')) {
            return self.0.write_all(part);
        }
        // A piece that is no text has no character to show.
        match std::str::from_utf8(part) {
            Ok(text) => self.0.write_all(foreign::json(text).as_bytes()),
            Err(_) => self.0.write_all(part),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
