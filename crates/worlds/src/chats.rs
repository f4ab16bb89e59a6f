//! Memory runners: sessions written to a memory service, by the message or as one document, and questions answered from it.

mod answer;
mod assumed;
pub mod cost;
pub mod document;
mod found;
mod load;
mod log;
mod orderings;
mod rows;
mod run;
mod service;
mod summary;
pub mod tables;
mod users;
mod world;
mod writing;

pub use assumed::{ChatNumbers, RunnerRules, ServiceSpec, check, check_policy};
pub use load::ChatScenario;
pub use log::{Answered, ChatEvent, ChatLog, ChatPhase, ModelRole, Occurrence, Storage};
pub use orderings::{Ordering, Wins, orderings, swept};
pub use run::{ChatPlayer, ContextOnly, Desk, EntriesRunner, SessionRunner};
pub use service::{DocumentVersion, Service, ServiceEntry};
pub use summary::{ChatObserved, ChatSummary, Latency, LostAnswers, ModelCalls};
pub use users::{
    ChatOrigin, ChatSession, Chats, FactWording, NeededVersion, Question, QuestionKind, StatementKind, User,
    UserDraft, long_mem_eval,
};
pub(super) use world::WORLD;
pub use writing::Writing;
