//! Ageing of a memory over the sessions of a deployed agent: what is stated, kept, asked and answered.
//!
//! ```text
//! load + seed → generator, or StreamFile → AgingStream (graph of facts, sessions, probes) ──────┐
//! policy's `memory: sessions` + model + assumptions/aging → MemoryRules → AgingStore ┴→ session loop → AgingLog → AgingObserved → AgingSummary → report
//!                                                                                       └→ StreamRequests → engine → price
//! ```
//!
//! A load of many sessions (`load.aging`) is a world of its own (`worlds/aging/`). A file has the same sessions as a generator makes
//! (`StreamFile`; `written.rs` goes both ways, `read/` imports). Reliability needs no requests: whether a fact is answered depends on what
//! the memory kept, not on the layout of a prompt. So the session loop (`worlds/aging/play.rs`) is a few comparisons per fact. What is
//! asked in a session is answered from memory (`aging/play.rs`: what comes back, and what is stated of it), then the session
//! is written (`store.rs`), then the controller checks. Events happen before a session. Cost takes the ordinary path:
//! `worlds/aging/cost.rs` lays the first stream out as a timeline and replays what the memory recalled through the `PolicyMemory` trait, so
//! caches, prices and layouts work as in any load. The size of a memory determines requests, so each policy has its own timeline.
//!
//! **Draws** are keyed by their purpose and their subject (a statement being taken up, its noise in a pass, its use in a question), never
//! by order. A policy that changes at a session therefore changes no later draw, control runs are identical before an event, and oracles
//! can only help. Normal noise is a sum of four uniform numbers, which is the same on any machine.
//!
//! **Losses follow from capacity, not from passes**: a summary that fits is a fixed point. A constant loss per pass, which fits short runs
//! equally well, is a negative control that must fail on long runs.

mod assumed;
mod attribution;
pub mod cost;
mod found;
pub mod generate;
mod generators;
pub mod metric;
mod orderings;
mod play;
pub mod probes;
mod read;
mod repair;
mod rules;
pub mod stream;
mod store;
mod summary;
mod told;
mod trace;
mod world;
pub mod written;

pub use assumed::{AgingNumbers, MODELS, Model, check};
pub use attribution::{Attribution, Ladder, PipelineStage};
pub use play::{AgingLog, AgingPlayer, Answer, AnsweredQuestion, Oracle, SessionLog};
pub use read::ReadStreams;
pub use rules::MemoryRules;
pub use stream::{Aging, AgingStream};
pub use summary::{AgingObserved, AgingSummary, LAGS, NAMES, Scores, StreamResult};
pub use trace::AgingQuestion;
pub(super) use world::WORLD;
