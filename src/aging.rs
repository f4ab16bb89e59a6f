//! Ageing of a memory over the sessions of a deployed agent: what is stated, kept, asked and answered.

mod assumed;
mod attribution;
pub mod cost;
pub mod generate;
pub mod graph;
pub mod metric;
mod play;
mod rules;
pub(crate) mod similar;
pub mod stream;
mod store;
mod summary;

pub use assumed::{MODELS, Model, Numbers, check};
pub use attribution::{Attribution, Ladder, Stage};
pub use play::{Answer, Asked, Log, Oracle, Player, SessionLog};
pub use rules::Rules;
pub use stream::{Aging, Stream};
pub use summary::{LAGS, NAMES, Numbered, Observed, Played, Summary};
