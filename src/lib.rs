//! An embedded, offline, deterministic simulator for the context policies of LLM agents.
//!
//! A [`Catalog`] holds inputs by name, a [`Comparison`] says which of them to compare, a [`Plan`] checks them and runs them, and its
//! [`Report`] holds what came of it:
//!
//! ```
//! use ctxsim::{Catalog, Comparison, Plan};
//!
//! # fn main() -> Result<(), ctxsim::Error> {
//! let comparison = Comparison {
//!     policies: vec!["identity".into(), "clear_tool_results".into()],
//!     scenarios: vec!["recorded/claude-code".into()],
//!     profiles: vec!["duckagent/openai-gpt-5.4".into()],
//!     ..Comparison::default()
//! };
//! let report = Plan::new(&Catalog::bundled(), &comparison)?.report(None, &|_, _| {})?;
//!
//! let longest: Vec<u64> = report.runs.iter().map(|it| it.tally.sums.main.prompt_max).collect();
//! assert_eq!(longest, [108_982, 99_771]);
//! # Ok(())
//! # }
//! ```
//!
//! One level below, [`simulate`] plays one [`Timeline`] under one [`Policy`], and [`play`] under any [`Projector`], which is how a
//! policy is written in code. Sizes are tokens, prices US dollars per million tokens, times milliseconds. Bad
//! input is an [`Error`]; a policy in code that breaks the rules of edits is a [`engine::RunError`], which becomes one.

pub mod quantity;
pub mod rng;
pub mod diag;
pub mod error;
pub mod input;
pub mod tokens;
pub mod timeline;
pub mod projection;
pub mod ledger;
pub mod memory;
pub mod own;
pub mod cache;
pub mod recovery;
pub mod builtin;
pub mod engine;
pub mod block_trace;
pub mod price;
pub mod hindsight;
pub mod calibrate;
pub mod explain;
pub mod measure;
pub mod aging;
pub mod runner;
pub mod report;
pub mod pricelist;
pub mod guard;
pub mod catalog;
pub mod compare;

pub use catalog::Catalog;
pub use compare::{Comparison, Plan};
pub use diag::Diagnostic;
pub use engine::{play, simulate};
pub use error::Error;
pub use input::{
    CacheRules, Format, Limits, Policy, PolicyFile, Profile, ProfileFile, ScenarioFile, SuiteFile,
};
pub use ledger::{Outcome, Rows, Sums};
pub use measure::Tally;
pub use projection::{Ambient, Editor, Projector, Prompt};
pub use report::{Report, Totals};
pub use timeline::Timeline;
