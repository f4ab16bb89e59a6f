//! Text in either format: decoded, located, overridden, with all problems in one form.

pub mod decode;
pub mod duration;
mod fault;
mod node;
mod once;
mod place;
mod repair;
pub mod schema;
pub mod set;
pub mod source;
pub mod spelling;

pub use decode::Format;
pub(crate) use once::Said;
pub use source::Source;
