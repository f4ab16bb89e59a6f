//! What a policy lets the model see: the prompt, its editor, and the trait that every policy implements.

pub mod chain;
pub mod edit;
pub mod num;
pub mod filter;
pub mod prompt;
pub mod reach;
pub mod rendition;
pub mod scope;
pub mod test;
pub mod tracker;
mod act;
mod slot;
pub mod program;
pub mod window;

pub use edit::{Editor, SideRequest, Visit};
pub use program::Program;
pub use prompt::{Prompt, Slot, SlotIx, State};
pub use window::Window;

use crate::model::policy::Moment;

/// What surrounds a moment: time and cache facts, passed down so that a policy never asks the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ambient {
    /// Milliseconds since the trace began at which the next request starts.
    pub now_ms: i64,
    /// Milliseconds since the last request started.
    pub idle_ms: u64,
    /// How long a cache entry lives after its last use, where the provider says so.
    pub ttl_ms: Option<u64>,
}

/// A policy: it looks at the prompt at each moment and edits it.
///
/// Declarative policies are one implementation ([`Program`]); code of your own is another.
pub trait Projector {
    /// Edits the prompt at a moment; [`Editor::prompt`] shows what stands there.
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>);
}
