//! A memory beside the window, and how its banks may be called.

pub mod bank;

pub use super::written::memory::*;
