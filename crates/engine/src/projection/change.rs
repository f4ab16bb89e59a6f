//! What a policy changed, and what the provider's cache knows changed slots by.

use crate::prelude::*;

use super::{Chain, Prompt, Slot, SlotIx, UNDO};
use ctxsim_base::quantity::or_unlimited;

/// A policy's edits between two requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The first slot that was edited.
    pub first_slot: Option<u32>,
    /// The stage that edited it.
    pub by: Option<u16>,
    /// How many slots were edited.
    pub n_edits: u32,
}

/// What stood in slots before edits that keep the prefix: the provider's cache knows them by it.
#[derive(Clone, Debug, Default)]
pub struct Identities(pub(super) BTreeMap<SlotIx, Slot>);

impl Identities {
    /// Returns what stood from a place on.
    pub fn from(&self, slot: SlotIx) -> impl Iterator<Item = (&SlotIx, &Slot)> {
        self.0.range(slot..)
    }
}

/// A model request that a policy makes besides the agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideRequest {
    /// Tokens of its prompt.
    pub prompt: Tokens,
    /// The agent's own prompt, if that is at its front.
    pub chain: Option<Chain>,
    /// Tokens that it writes.
    pub output: Tokens,
    /// Turns that its summary replaces, an earlier summary counting as one.
    pub items: u32,
    pub purpose: Purpose,
}

/// The purpose of a policy's own request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To write a summary.
    #[default]
    Summary,
    /// To keep the prompt in the provider's cache.
    KeepAlive,
}

/// What a policy did since the last request.
#[derive(Debug, Default)]
pub struct ChangeLog {
    change: Change,
    /// Up to where passes at a turn's end, and what memory recalls, have left the prompt alone; all of it, where silent.
    pub(super) intact: Option<Tokens>,
    /// Whether a pass has worked on anything after the stable prefix.
    pub(super) is_reworked: bool,
    pub(super) requests: Vec<SideRequest>,
    pub(super) undo: Vec<SlotUndo>,
    /// Of slots edited to stay after they were edited for one request: how many edits had been noted for undoing.
    pub(super) overruled: BTreeMap<SlotIx, usize>,
    pub(super) kept: Identities,
    pub(super) n_summaries: u32,
    /// Why the policy cannot go on, in its own words.
    pub(super) failure: Option<String>,
    /// Tokens that the agent may have fetched by now, and that the prompt does not show.
    fetched: Tokens,
    is_swayed: bool,
}

/// What stood in a slot before an edit that holds for one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotUndo {
    pub(super) slot: SlotIx,
    pub(super) before: Slot,
    /// What the cache knew the slot by, if not by what stood there.
    pub(super) kept: Option<Slot>,
}

impl ChangeLog {
    /// Returns how many tokens at the prompt's front no pass has worked on since the last request, whatever
    /// their content; any number, if there was no pass.
    #[inline]
    pub fn intact_tokens(&self, prompt: &Prompt<'_>) -> Tokens {
        let stable = if self.is_reworked { prompt.stable_tokens() } else { Tokens::MAX };
        or_unlimited(self.intact).min(stable)
    }

    /// Takes the requests that the policy has made.
    #[inline]
    pub fn take_requests(&mut self) -> Option<Vec<SideRequest>> {
        if self.requests.is_empty() { None } else { Some(std::mem::take(&mut self.requests)) }
    }

    /// Takes why the policy cannot go on, in its own words.
    #[inline]
    pub fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Says how many tokens the agent may have fetched that the prompt does not show.
    #[inline]
    pub fn expect_fetched(&mut self, tokens: Tokens) {
        self.fetched = if self.is_swayed { 0 } else { tokens };
    }

    /// Returns how many tokens the agent may have fetched; 0 once they would have made a difference.
    #[inline]
    pub fn fetched(&self) -> Tokens {
        self.fetched
    }

    /// Notes that a stage would have done otherwise with what may have been fetched in the prompt.
    #[cold]
    pub(super) fn sway(&mut self) {
        (self.is_swayed, self.fetched) = (true, 0);
    }

    /// Returns whether a stage would have done otherwise with what may have been fetched in the prompt.
    pub fn is_swayed(&self) -> bool {
        self.is_swayed
    }

    /// Returns what changed since the last request.
    #[inline]
    pub fn change(&self) -> Change {
        self.change
    }

    /// Notes that what is after so many tokens was worked on.
    #[inline]
    pub(super) fn keep_up_to(&mut self, tokens: Tokens) {
        self.intact = Some(self.intact.unwrap_or(tokens).min(tokens));
    }

    /// Notes edits of which this is the first slot.
    #[inline]
    pub(super) fn note(&mut self, first: SlotIx, n_edits: u32, stage: u16) {
        self.change.n_edits += n_edits;
        if self.change.first_slot.is_none_or(|known| first < known) {
            self.change.first_slot = Some(first);
            self.change.by = Some(stage);
        }
    }

    /// Forgets what was to be undone and what the cache was to know in a session that is over.
    pub fn begin_session(&mut self) {
        self.undo.clear();
        self.overruled.clear();
        self.kept.0.clear();
    }

    /// Starts over after a request: edits for one request are undone.
    #[inline]
    pub fn settle(&mut self, prompt: &mut Prompt<'_>) {
        (self.intact, self.is_reworked) = (None, false);
        self.change = Change::default();
        if !self.undo.is_empty() {
            self.take_back(prompt);
        }
    }

    /// Takes back the edits that held for one request, but none that a lasting edit of the same slot came after.
    fn take_back(&mut self, prompt: &mut Prompt<'_>) {
        let overruled = std::mem::take(&mut self.overruled);
        let stays = |(n, undo): &(usize, SlotUndo)| overruled.get(&undo.slot).is_some_and(|after| n < after);
        let undo = std::mem::take(&mut self.undo).into_iter().enumerate().filter(|it| !stays(it));
        let mut undo: Vec<SlotUndo> = undo.map(|it| it.1).collect();
        // Slot by slot from the front, each from its last edit back.
        undo.reverse();
        undo.sort_by_key(|it| it.slot);
        for SlotUndo { slot, before, kept } in undo {
            prompt.replace(slot, Slot { by: UNDO, ..before });
            match kept {
                Some(kept) => self.kept.0.insert(slot, kept),
                None => self.kept.0.remove(&slot),
            };
        }
    }

    /// Returns what the provider's cache knows slots by.
    #[inline]
    pub fn identities(&self) -> &Identities {
        &self.kept
    }

    /// Returns whether some slot is remembered as it was before an edit.
    #[inline]
    pub(super) fn remembers_any(&self) -> bool {
        !self.kept.0.is_empty() || !self.undo.is_empty()
    }
}
