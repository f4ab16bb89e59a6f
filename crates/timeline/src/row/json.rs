//! Rows as JSON: one object each.

use std::io::Write as _;
use std::string::FromUtf8Error;

use serde::{Serialize, Serializer as _, ser::SerializeMap as _};

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
pub fn page(document: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(document).map(|it| foreign::json(it + "\n"))
}

/// Returns JSON in which every character can be seen.
fn shown(bytes: Vec<u8>) -> Vec<u8> {
    // What serde writes is UTF-8.
    String::from_utf8(bytes).map_or_else(FromUtf8Error::into_bytes, |it| foreign::json(it).into_bytes())
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
