//! Inputs that once broke a reader, and a short run of damaged ones; `fuzz/` is for long runs.

mod targets;
