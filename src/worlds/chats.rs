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

pub use assumed::{Numbers, Rules, ServiceSpec, check, check_policy};
pub use load::ChatScenario;
pub use log::{Answered, Event, Log, ModelRole, Phase, Storage, What};
pub use orderings::{Ordering, Wins, orderings, swept};
pub use run::{ContextOnly, Desk, Entries, Player, SessionRunner};
pub use service::{Entry, Service, Shard};
pub use summary::{Latency, Lost, ModelCalls, Observed, Summary};
pub use users::{
    Chats, Draft, Question, QuestionKind, Said, Session, Source, StatementKind, User, Versions, long_mem_eval,
};
pub(super) use world::WORLD;
pub use writing::Writing;
