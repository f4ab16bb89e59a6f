//! Memory runners: sessions written to a memory service, by the message or as one document, and questions answered from it.

mod answer;
mod assumed;
mod chats;
pub mod cost;
pub mod document;
mod load;
mod log;
mod orderings;
mod run;
mod service;
mod summary;

pub use assumed::{Numbers, Rules, ServiceSpec, check, check_policy};
pub use chats::{
    Chats, Draft, Question, QuestionKind, Said, Session, Source, StatementKind, User, Versions, long_mem_eval,
};
pub use load::ChatScenario;
pub use log::{Answered, Event, Log, ModelRole, Phase, Storage, What};
pub use orderings::{Ordering, Wins, orderings, swept};
pub use run::{ContextOnly, Desk, Entries, Player, SessionRunner};
pub use service::{Entry, Service, Shard};
pub use summary::{Latency, Lost, ModelCalls, Observed, Summary};
