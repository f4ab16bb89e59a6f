//! Memories over one's own history: the sessions of a project, what they fetched again, and what a memory would have made of it.

mod assumed;
mod found;
mod generate;
mod names;
mod play;
mod rows;
mod session;
mod store;
mod stream;
mod summary;
mod tables;
mod world;

pub use assumed::HistoryNumbers;
pub use session::ProjectSession;
pub use stream::ProjectStream;
pub use summary::FetchSummary;
pub use world::ProjectHistory;
pub(super) use world::WORLD;
