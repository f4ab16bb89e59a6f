//! Templates rendered, where the feature `templates` brings the engine.

#[cfg(feature = "templates")]
mod engine;

#[cfg(not(feature = "templates"))]
use serde_json::Value;

#[cfg(feature = "templates")]
pub(super) use engine::{fill, try_out, undeclared, write};

/// Whether this build can render anything.
pub(super) const HAS_ENGINE: bool = cfg!(feature = "templates");

/// A template that cannot be rendered.
#[derive(Debug)]
pub(super) struct RenderFault {
    /// Its line, from 1, where that is known.
    pub(super) line: Option<usize>,
    pub(super) why: String,
}

/// Says that nothing can be rendered.
#[cfg(not(feature = "templates"))]
fn missing() -> RenderFault {
    RenderFault { line: None, why: "this build of ctxsim has no template engine".to_owned() }
}

/// Tries out a text of a policy, which need not be valid.
#[cfg(not(feature = "templates"))]
pub(super) fn try_out(_template: &str, _context: &Value) -> Result<String, RenderFault> {
    Err(missing())
}

/// Writes a text of a policy; names that nothing has are empty.
#[cfg(not(feature = "templates"))]
pub(super) fn write(_template: &str, _context: &Value) -> Result<String, RenderFault> {
    Err(missing())
}

/// Writes a setting; a name that nothing has is an error, because a setting with a gap is not a setting.
#[cfg(not(feature = "templates"))]
pub(super) fn fill(_template: &str, _context: &Value) -> Result<String, RenderFault> {
    Err(missing())
}

/// Returns the names that a template asks for, in no order.
#[cfg(not(feature = "templates"))]
pub(super) fn undeclared(_template: &str) -> Vec<String> {
    Vec::new()
}
