//! The kinds of load, each with its play, findings and rows.

pub mod worlds;
