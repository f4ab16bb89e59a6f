//! The engine behind pages and drawings; every word of a value is shown as it is.

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, escape_formatter};
use serde::Serialize;

/// Fills a template in.
///
/// # Errors
/// A template that is broken, or asks for something that is not there.
pub(in crate::report) fn write(name: &str, text: &str, context: impl Serialize) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(words) if !value.is_safe() => Ok(out.write_str(&escaped(words))?),
        _ => escape_formatter(out, state, value),
    });
    environment.render_named_str(name, text, Value::from(Serde(context)))
}

/// Writes words so that HTML and XML show them; slashes of names stay, and what no XML may hold is left out.
fn escaped(words: &str) -> String {
    let is_shown = |it: &char| !it.is_control() || it.is_whitespace();
    let words: String = words.chars().filter(is_shown).collect();
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
