//! The library as its users see it, in one binary.

mod cli;
mod import;
mod inputs;
mod report;
mod set;
