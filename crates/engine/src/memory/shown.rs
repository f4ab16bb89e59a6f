//! A memory's view of a prompt whose policy knows how much of an item it kept.

use super::{MemoryView, r#use};
use crate::projection::{Left, Projector, Prompt};
use ctxsim_input::policy::memory::State;
use ctxsim_timeline::ItemIx;
use ctxsim_timeline::facts::ItemShare;

/// A prompt, and the policy that edits it.
pub struct Edited<'a, 't, P: ?Sized> {
    pub prompt: &'a Prompt<'t>,
    /// The policy.
    pub projector: &'a P,
}

impl<P: Projector + ?Sized> Edited<'_, '_, P> {
    fn left(&self, item: ItemIx) -> Option<Left> {
        self.projector.left(self.prompt, self.prompt.history().slot_of(item)?)
    }
}

impl<P: Projector + ?Sized> MemoryView for Edited<'_, '_, P> {
    fn n_items(&self) -> ItemIx {
        self.prompt.n_items()
    }

    fn standing(&self, item: ItemIx) -> State {
        let standing = r#use::standing(self.prompt, item);
        if standing == State::Lost && self.left(item) == Some(Left::ALL) {
            State::Summarised
        } else {
            standing
        }
    }

    fn standing_at(&self, item: ItemIx, place: ItemShare) -> State {
        let standing = self.standing(item);
        if matches!(standing, State::Exact | State::Summarised) {
            return standing;
        }
        let raw = self.prompt.history().slot_of(item).map_or(0, |it| self.prompt.item(it).raw);
        let at = place.in_tokens(raw);
        match self.left(item) {
            Some(left) if at < left.head || at >= raw.saturating_sub(left.tail) => State::Exact,
            Some(left) if left.has_handle => State::Recoverable,
            Some(_) => State::Lost,
            None => standing,
        }
    }
}
