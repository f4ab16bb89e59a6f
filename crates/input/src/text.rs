//! Text in either format: decoded, located, overridden, with all problems in one form.
//!
//! All kinds share `input/text`:
//!
//! - `tree` parses a text of either format, once, into values with their bytes. `toml` parses TOML. `ron` gives no places, so RON has a
//!   reader of its own, which also reads on behind an error; `tests/suite/trees.rs` holds it against the crate, which cannot read sound
//!   documents in its place: it takes a map's key twice, ranges and suffixes of Rust's types, refuses attributes, and loses the names of
//!   variants in values without a type. `Tree::find` turns a field path into bytes.
//! - `read` reads types from a tree. It is the only deserializer that types are compiled for, and an error knows the way to its value.
//! - `problems` finds everything that is wrong with a text, and `fault` says it in words.
//! - `said` is the only serializer that types are compiled for; all formats are written from what it makes. `comments` carries comments
//!   from one tree to the other format by field path.
//! - `source` is a file with its tree: it reads inputs, and locates problems.
//! - `set` applies `--set` to the tree of an input. `app/overrides.rs` finds the policies that an override applies to, and
//!   it suggests paths for a wrong one.
//! - `spelling` shows fixes in TOML.
//! - `schema` holds the JSON Schemas. A unit test derives them again from the types, so no other build does.

pub mod comments;
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

pub use read::{Decode, TreeReader, Unwanted};
pub use said::{Encode, Said, Unsayable, name_of};
pub(crate) use said::{is_default, is_once, once, yes};
pub use source::{Format, Source};
pub use tree::{Node, TreeEntry, Value};
