//! Ageing of a memory over the sessions of a deployed agent: what is stated, kept, asked and answered.

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
