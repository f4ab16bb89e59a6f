//! Ageing of a memory over the sessions of a deployed agent: what is stated, kept, asked and answered.

mod assumed;
mod attribution;
mod card;
pub mod cost;
mod found;
pub mod generate;
pub mod metric;
mod orderings;
mod play;
pub mod probes;
mod question;
mod read;
mod repair;
mod rules;
pub mod stream;
mod store;
mod summary;
mod tables;
mod told;
mod trace;
mod world;
pub mod written;

pub use assumed::{AgingNumbers, MODELS, Model, check};
pub use attribution::{Attribution, Ladder, PipelineStage};
pub use play::{AgingLog, AgingPlayer, Answer, AnsweredQuestion, Oracle, SessionLog};
pub use question::AgingQuestion;
pub use read::ReadStreams;
pub use rules::MemoryRules;
pub use stream::{Aging, AgingStream};
pub use summary::{AgingObserved, AgingSummary, LAGS, NAMES, Numbered, Scores, StreamResult};
pub(super) use world::WORLD;
