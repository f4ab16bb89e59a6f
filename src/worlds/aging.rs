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
mod rules;
pub mod stream;
mod store;
mod summary;
mod tables;
mod told;
mod trace;
mod world;

pub use assumed::{MODELS, Model, Numbers, check};
pub use attribution::{Attribution, Ladder, Stage};
pub use play::{Answer, Asked, Log, Oracle, Player, SessionLog};
pub use question::Question;
pub use rules::Rules;
pub use stream::{Aging, Stream};
pub use summary::{LAGS, NAMES, Numbered, Observed, Played, Scores, Summary};
pub(super) use world::WORLD;
