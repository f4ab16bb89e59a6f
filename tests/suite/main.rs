//! The library as its users see it, in one binary.

mod cache;
mod cli;
mod import;
mod inputs;
mod report;
mod set;
