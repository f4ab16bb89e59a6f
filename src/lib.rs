//! An embedded, offline, deterministic simulator for the context policies of LLM agents.
//!
//! At every request, an agent decides which part of a growing history the model sees. ctxsim runs recorded or generated sessions
//! under such *policies* and provider *profiles*, and reports prompt sizes, cache reads and writes, recovery calls, dollars, and how much
//! of the needed evidence the prompts still contained. It uses no network and no model: the same inputs give the same bytes everywhere.
//!
//! Two lines of `Cargo.toml` embed it, with the bundled inputs and without the command line:
//!
//! ```toml
//! [dependencies]
//! ctxsim = { path = "../ctxsim", default-features = false, features = ["bundled"] }
//! ```
//!
//! # A comparison
//!
//! A [`Comparison`] is put together from names (bundled inputs, files, folders of recordings) or from inputs built in code;
//! [`Comparison::plan`] checks everything and reports every problem at once; a [`Plan`] can run any number of times.
//!
//! ```
#![doc = include_str!("../examples/quickstart.rs")]
//! ```
//!
//! Sizes are [`Tokens`], prices are US dollars per million tokens, times are milliseconds from the start of a scenario. Shares and relative changes
//! are fractions. A [`Report`] displays as Markdown and serialises as the JSON report. An unknown cost is `None`, never zero and never NaN. Whatever
//! cannot be used is an [`Error`] with every problem, its place, and a fix; an input or a load that needs a feature which is left out names it.
//!
//! # What the other verbs find
//!
//! The module [`results`] has what `sensitivity`, `explain`, `sweep`, `tune`, `check`, `advise`, `realised` and the bill of sessions find, as values
//! with fields: [`Plan::sensitivity`], [`Plan::explain`], [`Comparison::sweep`], [`Comparison::tune`], [`Comparison::advise`],
//! [`Comparison::realised`] and [`Comparison::bill`].
//!
//! # The agent's own code as a policy
//!
//! A [`View`] is the function that an agent ships: from its history to what it sends. [`CodePolicy::view`] makes it a policy; reports, guards,
//! [`Plan::sensitivity`], [`Plan::explain`] and sampled recovery treat it like any other. Caches identify a part by its content, so a view that
//! repeats the same text is cached as a provider would cache it.
//!
//! ```
#![doc = include_str!("../examples/own_compaction.rs")]
//! ```
//!
//! A [`Memory`] recalls something in each request, and [`CodePolicy::process`] asks a program in any language. Code that fails ends its run with an error that names the policy and the request; other runs continue.
//!
//! # A guard in the agent's tests
//!
//! [`assert_snapshots!`] (feature `testing`) makes one `insta` snapshot for each policy and scenario, under prices that no release changes:
//!
#![cfg_attr(feature = "testing", doc = "```no_run")]
#![cfg_attr(not(feature = "testing"), doc = "```ignore")]
#![doc = include_str!("../examples/snapshot_guard.rs")]
//! ```
//!
//! # Rows
//!
//! [`Plan::stream`] hands each request to a [`Sink`] as it is made, with its cost:
//!
//! ```
#![doc = include_str!("../examples/stream_rows.rs")]
//! ```
//!
//! # Scenarios and profiles in code
//!
//! ```
#![doc = include_str!("../examples/inputs_in_code.rs")]
//! ```
//!
//! # A cache rule in code
//!
//! A [`CacheRule`] divides each prompt into tokens read from the cache, written to it, and plain input; its answer is checked after each request.
//!
//! ```
#![doc = include_str!("../examples/cache_rule.rs")]
//! ```
//!
//! # A sweep over your own code
//!
//! Each run creates its own instance of the code, on its own thread, so variants are just more policies:
//!
//! ```
#![doc = include_str!("../examples/sweep_own_code.rs")]
//! ```
//!
//! # Features
//!
//! | feature | adds | default |
//! |---|---|---|
//! | `cli` | the command line `ctxsim` and everything it writes, and `Comparison::check` | yes |
//! | `testing` | [`testing`] and [`assert_snapshots!`] | yes |
//! | `archives` | eval logs of inspect_ai that are zip archives | with `cli` |
//! | `bundled` | the bundled policies, scenarios, profiles and suites, by name | with `cli` |
//! | `html` | HTML reports | with `cli` |
//! | `templates` | text templates in policies, and what to paste into an agent's settings | with `bundled` |
//! | `threads` | work on all cores, not on the caller's thread alone; the bytes are the same | with `cli` |
//! | `worlds` | loads of benchmarks: planted facts, conversations, ageing, chats, block traces | with `cli` |
//! | `tokens` | counting texts with a published tokenizer (3 MB of vocabularies) | no |
//!
//! The modules behind this page are hidden, not private: the command line, the bindings and this crate's tests reach them, and they change
//! without notice.

#![warn(missing_docs)]

mod face;

// The floors, from the packages that hold them: whoever reaches behind the face finds them here.
#[doc(hidden)]
pub use ctxsim_app as app;
#[doc(hidden)]
pub use ctxsim_base::{counts, diag, digest, error, foreign, grid, quantity, rng};
#[doc(hidden)]
pub use ctxsim_engine::{
    builtin, cache, calibrate, engine, explain, hindsight, ledger, measure, memory, own, price, projection,
    recovery, take,
};
#[doc(hidden)]
pub use ctxsim_input::{self as input, pricelist, tokens};
#[doc(hidden)]
pub use ctxsim_report::{self as report, guard};
#[doc(hidden)]
pub use ctxsim_timeline::{self as timeline, row};
#[doc(hidden)]
pub use ctxsim_worlds as worlds;
#[doc(hidden)]
pub mod catalog;

pub use face::*;

#[cfg(feature = "cli")]
pub mod cli;
pub mod results;
#[cfg(feature = "testing")]
pub mod testing;
