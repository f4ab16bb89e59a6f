//! Names to inputs, inputs to plans, plans to runs; advice, and what it is held against.

pub mod catalog;
pub mod compare;
