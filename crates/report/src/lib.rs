//! What is said of a run: numbers, tables, drawings and JSON.

pub mod report;
pub mod guard;
