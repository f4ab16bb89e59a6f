//! The changes between policies, in JSON.

use super::{Beside, Contrast};
use crate::made::VERSION;
use ctxsim_base::list::Listed as _;
use ctxsim_timeline::row::json::json_text;
use ctxsim_timeline::row::{Value, group};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.compare/1";

/// Returns one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(contrasts: &[Contrast], beside: &Beside) -> Result<String, serde_json::Error> {
    let one = |it: &Contrast| group! { "verdict": it.verdict() }.and(Value::of(it));
    json_text(&group! {
        "schema": SCHEMA,
        "version": VERSION.to_owned(),
        "made": beside.made.value(),
        "revision": beside.revision.clone(),
        "new_policies": Value::of(&beside.new),
        "changed_beside": Value::of(&beside.changed),
        "unknown_folders": Value::of(&beside.unknown),
        "comparisons": contrasts.iter().map(one).listed(),
    })
}
