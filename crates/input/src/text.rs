//! Text in either format: decoded, located, overridden, with all problems in one form.

pub mod comments;
pub mod decode;
pub mod duration;
mod fault;
mod problems;
mod read;
mod said;
pub mod schema;
pub mod set;
pub mod source;
pub mod spelling;
mod tree;

pub use decode::Format;
pub use read::{Decode, TreeReader, Unwanted};
pub use said::{Encode, Said, Unsayable};
pub(crate) use said::{is_default, name_of};
pub use source::Source;
pub use tree::{Node, TreeEntry, Value};
