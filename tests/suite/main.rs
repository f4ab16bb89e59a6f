//! The library as its users see it, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![allow(clippy::disallowed_methods, reason = "tests start programs, and some wait")]

mod aging;
mod agents;
mod block_trace;
mod cache;
mod calibrate;
mod checks;
mod clear_tool_results;
mod cli;
mod context_decay;
mod contrast;
mod diagnostics;
mod documents;
mod duckagent;
mod explain;
mod field;
mod firings;
mod formats;
mod fuzz;
mod guards;
mod guide;
mod hindsight;
mod identity;
mod import;
mod inputs;
mod laws;
mod live_grid;
mod memory;
mod memory_runners;
mod oracle;
mod pictures;
mod price;
mod pricelist;
mod processes;
mod profiles;
mod random_memory;
mod random_policy;
mod random_rules;
mod random_timeline;
mod readings;
mod recovery;
mod report;
mod runs;
mod runtime;
mod sampled;
mod schema;
mod sensitivity;
mod sessions;
mod set;
mod short_way;
mod summariser;
mod sums;
mod sweep;
mod tidy;
