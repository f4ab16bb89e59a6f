//! The library as its users see it, in one binary.

mod cli;
mod diagnostics;
mod documents;
mod formats;
mod import;
mod inputs;
mod report;
mod set;
mod tidy;
