//! A suite: policies, scenarios and profiles that are run together, and what is expected of them.

pub mod written;

pub use written::*;
