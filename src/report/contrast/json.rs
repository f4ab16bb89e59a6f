//! The changes between policies, in JSON.

use serde::Serialize;

use super::Contrast;

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.compare/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    comparisons: Vec<Compared<'a>>,
}

#[derive(Serialize)]
struct Compared<'a> {
    verdict: String,
    #[serde(flatten)]
    contrast: &'a Contrast,
}

/// Returns one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(contrasts: &[Contrast]) -> Result<String, serde_json::Error> {
    let comparisons = contrasts.iter().map(|it| Compared { verdict: it.verdict(), contrast: it }).collect();
    serde_json::to_string_pretty(&Document { schema: SCHEMA, comparisons }).map(|it| it + "\n")
}
