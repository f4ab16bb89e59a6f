//! The library as its users see it, in one binary.

mod cli;
mod import;
mod inputs;
mod laws;
mod oracle;
mod random_policy;
mod random_trace;
mod readings;
mod report;
mod set;
