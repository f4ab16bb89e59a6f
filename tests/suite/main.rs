//! The library as its users see it, in one binary.

mod cache;
mod calibrate;
mod cli;
mod import;
mod inputs;
mod report;
mod set;
