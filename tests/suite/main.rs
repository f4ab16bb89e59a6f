//! Integration tests, one binary.

mod laws;
mod oracle;
mod random_policy;
mod random_trace;
