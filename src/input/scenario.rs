//! A scenario: which load is played, and what it sets.

pub mod written;

pub use written::*;
