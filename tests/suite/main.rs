//! The library as its users see it, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]

mod block_trace;
mod cache;
mod calibrate;
mod cli;
mod context_decay;
mod diagnostics;
mod documents;
mod duckagent;
mod explain;
mod formats;
mod fuzz;
mod import;
mod inputs;
mod laws;
mod oracle;
mod price;
mod pricelist;
mod profiles;
mod random_policy;
mod random_rules;
mod random_timeline;
mod readings;
mod report;
mod runs;
mod runtime;
mod sampled;
mod schema;
mod sensitivity;
mod set;
mod short_way;
mod sums;
mod tidy;
