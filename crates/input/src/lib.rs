//! The four kinds of input files: what is written, what is checked, and what comes out.

pub mod input;
pub mod tokens;
pub mod pricelist;
