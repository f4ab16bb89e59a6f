//! The engine behind pages and drawings; every word of a value is shown as it is.

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, escape_formatter};
use serde::Serialize;

use ctxsim_base::foreign::markup;

/// Fills a template in.
///
/// # Errors
/// A template that is broken, or asks for something that is not there.
pub(crate) fn write(name: &str, text: &str, context: impl Serialize) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(words) if !value.is_safe() => Ok(out.write_str(&markup(words))?),
        _ => escape_formatter(out, state, value),
    });
    environment.render_named_str(name, text, Value::from(Serde(context)))
}
