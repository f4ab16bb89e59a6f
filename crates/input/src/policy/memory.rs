//! A memory beside the window, and the names of its banks.

pub mod bank;

pub use super::written::memory::*;
