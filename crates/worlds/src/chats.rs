//! Memory runners: sessions written to a memory service, by the message or as one document, and questions answered from it.
//!
//! ```text
//! load.chats (generated, or a file in LongMemEval's shape) ─┐
//! an AgingStream, or a Timeline with a fact plane ──────┴→ Chats: users → sessions, statements, questions ─┐
//! policy's `memory: service` + assumptions/memory_runners → RunnerRules → Runner + Service → session loop → two-pass search → ChatLog → ChatObserved → ChatSummary → report
//!                                                                                                                 └→ Requests → engine → price
//! ```
//!
//! A runner writes sessions to a memory service outside the agent. The policy alone chooses the runner: `memory: service()` keeps one
//! context document, and `write: (entries: true)` also keeps one entry per message. The two share everything in which they do not differ: a
//! `Desk` makes calls and model requests, in one log and on one clock, and holds the document that is being written.
//!
//! **The trait `PolicyMemory`** is used where memory comes before requests. `cost.rs` lays the model's requests out as a timeline, and a
//! memory in code puts the document into each prompt and hands out the calls to the service, which are `CallRow`s of the ledger like
//! those of any memory. What is written, lost and found is decided before that, as in ageing, because no prompt decides it, and because
//! several vaults read one load. Latency and cost of the calls come from the service's file, after the ledger, instead of the profile's
//! flat price.
//!
//! **Graph and draws** are those of ageing: versions, retractions and what is current at a session are `worlds/graph.rs`. A draw is keyed
//! by its purpose and its subject, so both runners get the same draws, and pairs of runs are compared chat by chat.

mod answer;
mod assumed;
pub mod document;
mod log;
mod rows;
mod run;
mod service;
mod summary;
pub mod tables;
mod users;
mod world;

pub use assumed::{ChatNumbers, RunnerRules, ServiceSpec, check, check_policy};
pub use log::{Answered, ChatEvent, ChatLog, ChatPhase, ModelRole, Occurrence, Storage};
pub use rows::{Wins, orderings, swept};
pub use run::{ChatPlayer, Desk};
pub use service::{Service, Stored};
pub use summary::{ChatObserved, ChatSummary, Latency, LostAnswers, ModelCalls};
pub use users::{
    ChatOrigin, ChatSession, Chats, FactWording, NeededVersion, Question, QuestionKind, StatementKind, User,
    UserDraft, long_mem_eval,
};
pub(super) use world::WORLD;
pub use world::{ChatScenario, Writing};
