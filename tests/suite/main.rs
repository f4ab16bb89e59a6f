//! The library as its users see it, in one binary.

mod cli;
mod context_decay;
mod import;
mod inputs;
mod report;
mod set;
