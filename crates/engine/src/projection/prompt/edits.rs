//! What edits make of a prompt: every total follows, and every edit is in the journal.

use crate::prelude::*;
use crate::projection::{Author, Edit, PromptText, Rendered, Slot, TurnState};

impl Prompt<'_> {
    /// Puts what memory recalls, or another version of what prompts begin with, into its slot.
    pub(in crate::projection) fn recall(&mut self, index: SlotIx, after: Slot, digest: u64) {
        let before = Tokens::from(self.slot(index).tokens);
        self.stable = self.stable - before + Tokens::from(after.tokens);
        self.history.rewrite(index, after.tokens, digest);
        self.replace(index, after);
    }

    /// Puts the policy's own words into a spare slot.
    pub(in crate::projection) fn say(&mut self, index: SlotIx, kind: Kind, text: PromptText) {
        self.history.rewrite(index, text.tokens, text.content.digest());
        self.history.retype(index, kind);
    }

    /// Writes dynamic content anew: no two writings are the same.
    pub(super) fn write_dynamic(&mut self, index: SlotIx) {
        self.n_written += 1;
        self.history.rewrite(index, self.slot(index).tokens, self.n_written);
        self.dirty_from = self.dirty_from.min(index);
    }

    /// Writes the dynamic content anew that changes so often; returns the first slot of it.
    pub(in crate::projection) fn renew(&mut self, changes: Changes) -> Option<SlotIx> {
        let due: Vec<SlotIx> = self.dynamic.iter().filter(|it| it.1 == changes).map(|it| it.0).collect();
        due.iter().for_each(|it| self.write_dynamic(*it));
        due.first().copied()
    }

    /// Returns the tokens in front of a slot of the stable prefix.
    pub(in crate::projection) fn tokens_before(&self, index: SlotIx) -> Tokens {
        self.slots[..index as usize].iter().map(|it| Tokens::from(it.tokens)).sum()
    }

    /// Shows an item in another way that is no larger; every total follows.
    // What masks and tables do to each result, and nothing else does.
    #[inline(always)]
    pub fn rerender(&mut self, index: SlotIx, rendered: Rendered, by: Author) {
        let Rendered { shown: rendition, tokens, exact, .. } = rendered;
        let at = index as usize;
        let item = self.history.items()[at];
        let slot = &mut self.slots[at];
        let before = *slot;
        *slot = Slot { by, ..before.showing(rendered) };
        let after = *slot;
        let freed = Tokens::from(before.tokens - tokens);
        self.total -= freed;
        let state = &mut self.turns[item.turn_ix as usize];
        state.tokens -= freed;
        if item.kind == Kind::ToolResult {
            state.n_exact = state.n_exact + u32::from(exact) - u32::from(before.exact);
            state.n_full =
                state.n_full + u32::from(tokens >= item.raw) - u32::from(before.tokens >= item.raw);
            state.n_raw = state.n_raw + u32::from(rendition == ShownAs::Raw)
                - u32::from(before.rendition == ShownAs::Raw);
            self.tools.visible_tokens -= freed;
            if tokens < item.raw && !self.compressed[at] {
                self.compressed[at] = true;
                self.tools.compressed += 1;
            }
        }
        self.note(Edit { slot: index, before, after });
    }

    /// Puts a summary into the first of these slots, in ascending order, and hides the others behind it.
    pub fn absorb(&mut self, slots: &[SlotIx], says: PromptText, by: Author) {
        let Some(host) = slots.first().copied() else { return };
        let Self { history, slots: stand, next, turns, journal, .. } = self;
        let items = history.items();
        let mut freed = 0;
        let mut edit = |index: SlotIx| {
            let at = index as usize;
            let before = stand[at];
            let after = if index == host {
                Slot { tokens: says.tokens, state: State::Host, content: Some(says.content), by, ..before }
            } else {
                next[at] = next.get(at + 1).copied().unwrap_or(index + 1);
                Slot { tokens: 0, state: State::Absorbed, content: None, by, ..before }
            };
            stand[at] = after;
            let state = &mut turns[items[at].turn_ix as usize];
            state.n_absorbed += u32::from(!is_behind(&before));
            state.tokens -= Tokens::from(before.tokens);
            freed += Tokens::from(before.tokens);
            Edit { slot: index, before, after }
        };
        // From the end on, so that a hidden run leads to its end in one step; the journal makes room for all of them at once.
        journal.extend(slots.iter().rev().map(|it| edit(*it)));
        self.turns[self.history.items()[host as usize].turn_ix as usize].tokens += Tokens::from(says.tokens);
        self.total = self.total - freed + Tokens::from(says.tokens);
        self.dirty_from = self.dirty_from.min(host);
        self.touched += slots.len() as u64;
    }

    #[inline]
    fn note(&mut self, edit: Edit) {
        self.dirty_from = self.dirty_from.min(edit.slot);
        self.touched += 1;
        self.journal.push(edit);
    }

    /// Hides what stands in a slot, or brings back what stood there; every total follows.
    pub fn replace(&mut self, index: SlotIx, after: Slot) {
        let item = self.history.items()[index as usize];
        let before = self.slots[index as usize];
        self.total = self.total - Tokens::from(before.tokens) + Tokens::from(after.tokens);
        let first = self.history.turns().first().map_or(SlotIx::MAX, |it| it.items.start);
        if let Some(state) = self.turns.get_mut(item.turn_ix as usize).filter(|_| index >= first) {
            state.tokens = state.tokens - Tokens::from(before.tokens) + Tokens::from(after.tokens);
            state.n_absorbed =
                state.n_absorbed - u32::from(is_behind(&before)) + u32::from(is_behind(&after));
            if item.kind == Kind::ToolResult && is_counted(&before) && is_counted(&after) {
                self.recount(&item, &before, &after);
            }
        }
        self.slots[index as usize] = after;
        self.note(Edit { slot: index, before, after });
        match (before.is_visible(), after.is_visible()) {
            (true, false) => self.next[index as usize] = index + 1,
            (false, true) => self.relink(index),
            _ => {}
        }
    }

    /// Brings back, in any form, what a summary has hidden: it was counted as it stood before.
    pub(in crate::projection) fn bring_back(&mut self, index: SlotIx, after: Slot) {
        let (item, before) = (self.history.items()[index as usize], self.slots[index as usize]);
        if item.kind == Kind::ToolResult && !is_counted(&before) && is_counted(&after) {
            let edits = self.journal.iter().rev().filter(|it| it.slot == index);
            if let Some(counted) = edits.map(|it| it.before).find(is_counted) {
                self.recount(&item, &counted, &after);
            }
        }
        self.replace(index, after);
    }

    /// Counts a result as it stands now in place of how it stood.
    fn recount(&mut self, item: &Item, before: &Slot, after: &Slot) {
        let Some(state) = self.turns.get_mut(item.turn_ix as usize) else { return };
        count(state, before, item, -1);
        count(state, after, item, 1);
        let visible = self.tools.visible_tokens - Tokens::from(before.tokens) + Tokens::from(after.tokens);
        self.tools.visible_tokens = visible;
    }

    /// Makes the skips of the hidden run in front of a slot end there, after it came back.
    fn relink(&mut self, index: SlotIx) {
        self.next[index as usize] = index;
        for before in (0..index as usize).rev() {
            if self.slots[before].is_visible() {
                return;
            }
            self.next[before] = index;
            self.touched += 1;
        }
    }
}

/// Returns whether an item is behind a summary.
#[inline]
fn is_behind(slot: &Slot) -> bool {
    matches!(slot.state, State::Absorbed | State::Host)
}

/// Returns whether a slot says itself what stands of its item; one behind a summary, or told of in one, is as it last was.
#[inline]
fn is_counted(slot: &Slot) -> bool {
    matches!(slot.state, State::Shown | State::Dropped)
}

/// Adds a result that no summary hides to what stands of its turn, or takes it away; summaries leave the counts as they were.
#[inline]
fn count(state: &mut TurnState, slot: &Slot, item: &Item, sign: i32) {
    let add = |to: &mut u32, holds: bool| *to = to.wrapping_add_signed(sign * i32::from(holds));
    let is_shown = slot.state == State::Shown;
    add(&mut state.n_exact, is_shown && slot.exact);
    add(&mut state.n_full, is_shown && slot.tokens >= item.raw);
    add(&mut state.n_raw, is_shown && slot.rendition == ShownAs::Raw);
    add(&mut state.n_handles, is_shown && item.handle > 0);
}
