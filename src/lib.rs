//! An embedded, offline, deterministic simulator for the context policies of LLM agents.

pub mod units;
pub mod rng;
pub mod diag;
pub mod error;
pub mod spec;
pub mod source;
pub mod model;
pub mod trace;
pub mod ledger;
pub mod projection;
pub mod cache;
pub mod recovery;
pub mod engine;
pub mod vectors;
pub mod price;
pub mod calibrate;
pub mod metrics;
pub mod report;
pub mod catalog;
pub mod run;
