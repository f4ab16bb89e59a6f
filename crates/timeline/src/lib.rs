//! The load before any policy, and the importers that read recordings into it.

pub mod row;
pub mod timeline;
