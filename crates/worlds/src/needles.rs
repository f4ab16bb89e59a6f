//! Conversations with planted facts, which questions ask for in the end: each is generated, played and dropped.

pub mod conversation;
mod found;
mod planted;
pub mod trial;
pub mod window;
mod world;

pub use conversation::ConversationLoad;
pub use planted::NeedleProbe;
pub use trial::Retention;
pub(super) use world::WORLD;
