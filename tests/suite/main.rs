//! The library as its users see it, in one binary.

mod cli;
mod inputs;
mod report;
mod set;
