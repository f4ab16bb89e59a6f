//! The prompt: one slot an item, totals kept up to date, and the journal of every edit.

mod arrive;

use crate::prelude::*;

use super::history::History;
use super::{PromptText, Rendered, TextContent};
pub use ctxsim_input::policy::ShownAs;

/// What became of the tool results, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolResults {
    /// As they came.
    pub raw_tokens: Tokens,
    /// Each result's last rendition, whether or not a summary hides it later.
    pub visible_tokens: Tokens,
    /// Results ever shown smaller than raw.
    pub compressed: u64,
}

ctxsim_base::quantity::packed!(ToolResults: [raw_tokens, visible_tokens, compressed]);
ctxsim_base::quantity::sums!(ToolResults: raw_tokens, visible_tokens, compressed);

/// How many of each unit have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Items behind the stable prefix.
    pub items: u64,
    /// Tool results.
    pub tool_uses: u64,
    /// User messages, replies, and messages of results.
    pub messages: u64,
    /// The same without messages of results.
    pub groups: u64,
    /// Replies.
    pub steps: u64,
    /// User messages.
    pub turns: u64,
}

/// The visible slots of the next request, with everything that edits keep up to date.
#[derive(Clone, Debug)]
pub struct Prompt<'t> {
    history: History<'t>,
    /// One an item that has come.
    slots: Vec<Slot>,
    /// Per slot: itself while visible, else a later slot; hidden runs are skipped in one step.
    next: Vec<SlotIx>,
    /// Per slot: whether it was ever shown smaller than raw.
    compressed: Vec<bool>,
    turns: Vec<TurnState>,
    messages: Vec<SlotIx>,
    journal: Vec<Edit>,
    /// What a recorded harness took out.
    pub(super) resets: Vec<Range<SlotIx>>,
    total: Tokens,
    stable: Tokens,
    /// The slot that is reserved for what memory recalls, where it stands in front of the messages; and the tokens in front
    /// of it.
    pub(super) memory: Option<(SlotIx, Tokens)>,
    /// The slots of the layout's dynamic content in the stable prefix, and with what each changes.
    dynamic: Vec<(SlotIx, Changes)>,
    /// How often any of it has been written.
    n_written: u64,
    tools: ToolResults,
    last_result: Option<SlotIx>,
    /// Slots that are no items behind the first stable prefix.
    n_uncounted: SlotIx,
    /// The slots that hold no item of the history: memory, dynamic content, spares; in order.
    own: Vec<SlotIx>,
    /// Of these, the slots that code added for words of its own.
    spares: Vec<SlotIx>,
    n_results: u64,
    /// Which of the messages are results, counted from 0.
    result_messages: Vec<usize>,
    /// By slot: which message and which group it belongs to, counted from 1; 0 is before all. Up to where anyone has asked.
    units: Vec<[usize; 2]>,
    dirty_from: SlotIx,
    touched: u64,
}

impl<'t> Prompt<'t> {
    /// Begins before the first session of a load.
    pub fn new(load: &'t Spine) -> Self {
        let n_items = load.items.len();
        Self {
            history: History::new(load),
            slots: Vec::with_capacity(n_items),
            next: Vec::with_capacity(n_items),
            compressed: Vec::with_capacity(n_items),
            turns: Vec::with_capacity(load.turns.len()),
            messages: Vec::new(),
            journal: Vec::with_capacity(2 * n_items),
            resets: Vec::new(),
            total: 0,
            stable: 0,
            memory: None,
            dynamic: Vec::new(),
            n_written: 0,
            tools: ToolResults::default(),
            last_result: None,
            n_uncounted: 0,
            own: Vec::new(),
            spares: Vec::new(),
            n_results: 0,
            result_messages: Vec::new(),
            units: Vec::new(),
            dirty_from: 0,
            touched: 0,
        }
    }

    /// Returns the slot that is reserved for what memory recalls, where it stands in front of the messages.
    #[inline]
    pub fn memory(&self) -> Option<SlotIx> {
        self.memory.map(|it| it.0)
    }

    /// Returns the tokens of what memory recalls in that slot.
    pub fn memory_tokens(&self) -> Tokens {
        self.memory.map_or(0, |it| self.slot(it.0).tokens.into())
    }

    /// Returns the first visible slot from a place on, or the end.
    #[inline]
    pub fn visible_from(&mut self, from: SlotIx) -> SlotIx {
        match self.next.get(from as usize) {
            Some(next) if *next != from => self.skip_hidden(from),
            _ => from,
        }
    }

    /// Follows the links from a hidden slot on, halving the way for the next time.
    fn skip_hidden(&mut self, from: SlotIx) -> SlotIx {
        let mut at = from;
        while let Some(next) = self.next.get(at as usize).copied() {
            if next == at {
                return at;
            }
            self.touched += 1;
            self.next[at as usize] = self.next.get(next as usize).copied().unwrap_or(next);
            at = next;
        }
        at
    }

    /// Returns whether a slot holds no item of the history: memory, dynamic content, words of a policy's own.
    pub fn is_own(&self, index: SlotIx) -> bool {
        self.own.binary_search(&index).is_ok()
    }

    /// Returns the slots that code added for words of its own, in order.
    pub fn spares(&self) -> &[SlotIx] {
        &self.spares
    }

    /// Returns a slot's number without the spare slots in front of it: policies that put nothing of their own there have none.
    #[inline]
    pub fn number(&self, index: SlotIx) -> SlotIx {
        if self.spares.is_empty() { index } else { index - self.n_spares_before(index) }
    }

    #[cold]
    fn n_spares_before(&self, index: SlotIx) -> SlotIx {
        SlotIx::try_from(self.spares.partition_point(|it| *it < index)).unwrap_or(index)
    }

    /// Returns what has come, in order.
    #[inline]
    pub fn history(&self) -> &History<'t> {
        &self.history
    }

    /// Returns the item of a slot.
    #[inline]
    pub fn item(&self, index: SlotIx) -> &Item {
        &self.history.items()[index as usize]
    }

    /// Returns what stands in a slot.
    #[inline]
    pub fn slot(&self, index: SlotIx) -> &Slot {
        &self.slots[index as usize]
    }

    /// Returns what a slot shows: a summary where one stands, else the item's kind.
    #[inline]
    pub fn kind(&self, index: SlotIx) -> Kind {
        if self.slots[index as usize].is_summary() { Kind::Summary } else { self.item(index).kind }
    }

    /// Returns how many slots there are.
    #[inline]
    pub fn len(&self) -> SlotIx {
        self.history.len()
    }

    /// Returns whether nothing has come yet.
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }

    /// Returns the tokens of the request about to go out.
    #[inline]
    pub fn tokens(&self) -> Tokens {
        self.total
    }

    /// Returns the tokens of the stable prefix.
    #[inline]
    pub fn stable_tokens(&self) -> Tokens {
        self.stable
    }

    /// Returns the active turn; the first, before any has begun.
    #[expect(clippy::cast_possible_truncation, reason = "a timeline holds fewer than 2^32 turns")]
    #[inline]
    pub fn active_turn(&self) -> TurnIx {
        self.turns.len().saturating_sub(1) as TurnIx
    }

    /// Returns the first slot of the active turn.
    #[inline]
    pub fn active_from(&self) -> SlotIx {
        if self.turns.is_empty() {
            self.len()
        } else {
            self.history.turns()[self.active_turn() as usize].items.start
        }
    }

    /// Returns what stands of a turn.
    #[inline]
    pub fn turn_state(&self, turn_ix: TurnIx) -> TurnState {
        self.turns.get(turn_ix as usize).copied().unwrap_or_default()
    }

    /// Returns the tokens in front of the active turn's first reply.
    pub fn tokens_before_steps(&self) -> Tokens {
        let active = self.active_turn();
        let span = &self.history.turns()[active as usize];
        let user: Tokens =
            (span.items.start..span.user_end).map(|it| Tokens::from(self.slots[it as usize].tokens)).sum();
        self.total - self.turn_state(active).tokens + user
    }

    /// Returns the newest tool result.
    pub fn last_result(&self) -> Option<SlotIx> {
        self.last_result
    }

    /// Returns where the messages begin, in order.
    pub fn messages(&self) -> &[SlotIx] {
        &self.messages
    }

    /// Returns how many of each unit have come.
    pub fn arrived(&self) -> Arrived {
        Arrived {
            items: (self.len() - self.n_uncounted).into(),
            tool_uses: self.n_results,
            messages: self.messages.len() as u64,
            groups: (self.messages.len() - self.result_messages.len()) as u64,
            steps: self.history.replies().len() as u64,
            turns: self.history.turns().len() as u64,
        }
    }

    /// Returns how many groups begin among so many messages: results belong to the group of their call.
    pub fn groups_among(&self, messages: usize) -> usize {
        messages - self.result_messages.partition_point(|it| *it < messages)
    }

    /// Notes which message and group each slot belongs to, for those who are about to ask for many.
    #[inline]
    pub fn note_units(&mut self) {
        if self.units.len() < self.slots.len() {
            self.note_new_units();
        }
    }

    fn note_new_units(&mut self) {
        let mut last = self.units.last().copied().unwrap_or_default();
        for index in self.units.len()..self.slots.len() {
            let later = self.messages[last[0]..].iter().take_while(|it| **it as usize <= index).count();
            if later > 0 {
                let message = last[0] + later;
                last = [message, self.groups_among(message)];
            }
            self.units.push(last);
        }
        debug_assert!((0..self.len()).all(|it| self.message_of(it) == self.message_sought(it)));
    }

    /// Returns which message a slot belongs to, counted from 1; 0 is before all.
    #[inline]
    pub fn message_of(&self, index: SlotIx) -> usize {
        self.units.get(index as usize).map_or_else(|| self.message_sought(index), |it| it[0])
    }

    /// Searches for the message that a slot belongs to.
    fn message_sought(&self, index: SlotIx) -> usize {
        self.messages.partition_point(|start| *start <= index)
    }

    /// Returns which group a slot belongs to, counted from 1; 0 is before all.
    #[inline]
    pub fn group_of(&self, index: SlotIx) -> usize {
        self.units
            .get(index as usize)
            .map_or_else(|| self.groups_among(self.message_sought(index)), |it| it[1])
    }

    /// Returns where a group begins, counted from 0.
    pub fn group_start(&self, nth: usize) -> Option<SlotIx> {
        // Results never begin one, so the first message among which there are enough groups is its first.
        let (mut low, mut high) = (nth, self.messages.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.groups_among(middle + 1) > nth { high = middle } else { low = middle + 1 }
        }
        self.messages.get(low).copied()
    }

    /// Returns every edit so far.
    #[inline]
    pub fn journal(&self) -> &[Edit] {
        &self.journal
    }

    /// Returns which slots a recorded harness took out, whatever stood there.
    pub fn resets(&self) -> &[Range<SlotIx>] {
        &self.resets
    }

    /// Returns what became of the tool results.
    pub fn tool_results(&self) -> ToolResults {
        self.tools
    }

    /// Returns the first slot that changed since this was last taken, or the end.
    pub fn dirty_from(&self) -> SlotIx {
        self.dirty_from
    }

    /// Takes the first slot that changed since this was last taken, or the end.
    pub fn take_dirty(&mut self) -> SlotIx {
        let end = self.len();
        std::mem::replace(&mut self.dirty_from, end)
    }

    /// Returns how many slots were looked at, each also when it came.
    pub fn touched(&self) -> u64 {
        self.touched + u64::from(self.len())
    }

    /// Counts slots that were looked at.
    #[inline]
    pub fn touch(&mut self, slots: u64) {
        self.touched += slots;
    }
}

// What edits make of a prompt: every total follows, and every edit is in the journal.

impl Prompt<'_> {
    /// Puts what memory recalls, or another version of what prompts begin with, into its slot.
    pub(super) fn recall(&mut self, index: SlotIx, after: Slot, digest: u64) {
        let before = Tokens::from(self.slot(index).tokens);
        self.stable = self.stable - before + Tokens::from(after.tokens);
        self.history.rewrite(index, after.tokens, digest);
        self.replace(index, after);
    }

    /// Puts the policy's own words into a spare slot.
    pub(super) fn say(&mut self, index: SlotIx, kind: Kind, text: PromptText) {
        self.history.rewrite(index, text.tokens, text.content.digest());
        self.history.retype(index, kind);
    }

    /// Writes dynamic content anew: no two writings are the same.
    fn write_dynamic(&mut self, index: SlotIx) {
        self.n_written += 1;
        self.history.rewrite(index, self.slot(index).tokens, self.n_written);
        self.dirty_from = self.dirty_from.min(index);
    }

    /// Writes the dynamic content anew that changes so often; returns the first slot of it.
    pub(super) fn renew(&mut self, changes: Changes) -> Option<SlotIx> {
        let due: Vec<SlotIx> = self.dynamic.iter().filter(|it| it.1 == changes).map(|it| it.0).collect();
        due.iter().for_each(|it| self.write_dynamic(*it));
        due.first().copied()
    }

    /// Returns the tokens in front of a slot of the stable prefix.
    pub(super) fn tokens_before(&self, index: SlotIx) -> Tokens {
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
    pub(super) fn bring_back(&mut self, index: SlotIx, after: Slot) {
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

// The content of one slot of a prompt, an edit of it, and the sums of a turn.

/// A slot's index; slots never move, so it is the item's index in order of arrival.
pub type SlotIx = u32;
/// The author of an edit: a rung of the program, or a projector of your own.
pub type Author = u8;
/// The author of edits that undo what was shown for one request.
pub const UNDO: Author = Author::MAX;

/// The state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In the prompt.
    Shown,
    /// Hidden by a stage.
    Dropped,
    /// Part of a summary in an earlier slot.
    Absorbed,
    /// Part of the summary in this slot.
    Host,
    /// Contained, as last shown, in the folded summary of an earlier slot.
    Folded,
    /// Contained in the folded summary of this slot.
    FoldHost,
    /// Of an earlier session.
    Past,
}

/// One item's rendition at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Tokens shown: the item's, or of the summary in its place; 0 if hidden.
    pub tokens: u32,
    /// The item's last rendition.
    pub rendition: ShownAs,
    /// Whether the item is in the prompt.
    pub state: State,
    /// Whether it counts as exact evidence.
    pub exact: bool,
    /// The last author of an edit; [`UNDO`] when there was none.
    pub by: Author,
    /// What caches know it by, if it has its own text; `None` for an item fully described by its rendition.
    pub content: Option<TextContent>,
}

impl Slot {
    /// An item as received.
    #[inline]
    pub fn as_it_came(item: &Item) -> Self {
        let exact = item.preserve.is_exact();
        Self {
            tokens: item.raw,
            rendition: ShownAs::Raw,
            state: State::Shown,
            exact,
            by: UNDO,
            content: None,
        }
    }

    /// Returns the slot with its item shown in another way.
    #[inline]
    pub(super) fn showing(self, rendered: Rendered) -> Self {
        let Rendered { shown: rendition, tokens, exact, content } = rendered;
        Self { tokens, rendition, exact, content, ..self }
    }

    /// Returns whether anything is in this slot.
    #[inline]
    pub fn is_visible(&self) -> bool {
        matches!(self.state, State::Shown | State::Host | State::FoldHost)
    }

    /// Returns whether a summary is in this slot.
    #[inline]
    pub fn is_summary(&self) -> bool {
        matches!(self.state, State::Host | State::FoldHost)
    }
}

/// What is in the prompt of one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnState {
    /// Tokens shown.
    pub tokens: Tokens,
    /// Working-evidence results shown exactly; like the next three, by the last rendition, after a summary or
    /// not.
    pub n_exact: u32,
    /// Results shown in full.
    pub n_full: u32,
    /// Results shown raw.
    pub n_raw: u32,
    /// Results that still have a handle.
    pub n_handles: u32,
    /// Items after a summary.
    pub n_absorbed: u32,
}

/// An edit of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which.
    pub slot: SlotIx,
    /// What stood there.
    pub before: Slot,
    /// What is there now.
    pub after: Slot,
}

// A run of slots.

/// Slots from one to before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The first.
    pub from: SlotIx,
    /// After the last.
    pub to: SlotIx,
}
