//! Quantities, digests, random streams, problems and tables: what every other crate stands on.

pub mod counts;
pub mod quantity;
pub mod digest;
pub mod rng;
pub mod foreign;
pub mod diag;
pub mod error;
pub mod list;
pub mod order;
pub mod grid;
