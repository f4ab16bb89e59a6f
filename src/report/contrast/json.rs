//! The changes between policies, in JSON.

use super::Contrast;
use crate::row::json::page;
use crate::row::{Value, group};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.compare/1";

/// Returns one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(contrasts: &[Contrast]) -> Result<String, serde_json::Error> {
    let one = |it: &Contrast| group! { "verdict": it.verdict() }.and(Value::of(it));
    page(&group! { "schema": SCHEMA, "comparisons": contrasts.iter().map(one).collect::<Vec<_>>() })
}
