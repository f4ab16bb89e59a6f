//! The library as its users see it, in one binary.

mod blocks;
mod cli;
mod context_decay;
mod diagnostics;
mod documents;
mod duckagent;
mod formats;
mod import;
mod inputs;
mod laws;
mod oracle;
mod random_policy;
mod random_trace;
mod readings;
mod report;
mod set;
mod sums;
mod tidy;
