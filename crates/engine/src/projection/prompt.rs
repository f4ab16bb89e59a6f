//! The prompt: one slot an item, totals kept up to date, and the journal of every edit.

mod arrive;
mod edits;

use crate::prelude::*;

use super::history::History;
use super::{Rendered, TextContent};
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
    resets: Vec<Range<SlotIx>>,
    total: Tokens,
    stable: Tokens,
    /// The slot that is reserved for what memory recalls, where it stands in front of the messages; and the tokens in front
    /// of it.
    memory: Option<(SlotIx, Tokens)>,
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

    /// Returns the tokens in front of that slot.
    pub(super) fn tokens_before_memory(&self) -> Tokens {
        self.memory.map_or(0, |it| it.1)
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
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a timeline holds fewer than 2^32 turns")]
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

    /// Notes that a recorded harness took slots out.
    pub(super) fn note_reset(&mut self, slots: Range<SlotIx>) {
        self.resets.push(slots);
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
    #[must_use]
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
