//! Pages and drawings from templates, where the feature `html` brings the engine.

#[cfg(feature = "html")]
mod engine;

#[cfg(feature = "html")]
pub(super) use engine::write;
#[cfg(feature = "html")]
pub(super) use minijinja::Error;

/// This build cannot draw.
#[cfg(not(feature = "html"))]
#[derive(Debug, thiserror::Error)]
#[error("this build of ctxsim writes no pages or charts: enable its feature `html`")]
pub struct Error;

/// Says that nothing can be drawn.
#[cfg(not(feature = "html"))]
pub(super) fn write(_name: &str, _text: &str, _context: impl serde::Serialize) -> Result<String, Error> {
    Err(Error)
}
