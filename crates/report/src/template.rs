//! Pages and drawings from templates, where the feature `html` brings the engine. Every word of a value is shown as it is.

use crate::prelude::*;

#[cfg(feature = "html")]
use ctxsim_base::foreign::markup;
#[cfg(feature = "html")]
pub(super) use minijinja::Error;

/// This build cannot draw.
#[cfg(not(feature = "html"))]
#[derive(Debug, thiserror::Error)]
#[error("this build of ctxsim writes no pages or charts: enable its feature `html`")]
pub struct Error;

/// Fills a template in.
///
/// # Errors
/// A template that is broken, or asks for something that is not there.
#[cfg(feature = "html")]
pub(super) fn render_template(name: &str, text: &str, context: impl Serialize) -> Result<String, Error> {
    use minijinja::value::{Serde, Value};
    use minijinja::{AutoEscape, Environment, UndefinedBehavior, escape_formatter};

    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(words) if !value.is_safe() => Ok(out.write_str(&markup(words))?),
        _ => escape_formatter(out, state, value),
    });
    environment.render_named_str(name, text, Value::from(Serde(context)))
}

/// Says that nothing can be drawn.
#[cfg(not(feature = "html"))]
pub(super) fn render_template(_name: &str, _text: &str, _context: impl Serialize) -> Result<String, Error> {
    Err(Error)
}
