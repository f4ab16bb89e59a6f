//! Memory runners: sessions written to a memory service, by the message or as one document, and questions answered from it.

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
