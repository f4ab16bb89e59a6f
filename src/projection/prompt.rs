//! The prompt: one slot an item, totals kept up to date, and the journal of every edit.

pub use super::slot::{Author, Edit, Shown, Slot, SlotIx, State, TurnState, UNDO};
use crate::ledger::ToolResults;
use crate::quantity::Tokens;
use crate::timeline::{Item, Kind, Preserve, Spine, TurnIx};

/// How many of each unit have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Items behind the stable prefix.
    pub items: u64,
    /// Tool results.
    pub tool_uses: u64,
    /// User messages, replies, and messages of results.
    pub messages: u64,
    /// Replies.
    pub steps: u64,
    /// User messages.
    pub turns: u64,
}

/// The visible slots of the next request, with everything that edits keep up to date.
#[derive(Debug)]
pub struct Prompt<'t> {
    spine: &'t Spine,
    /// One an item of the timeline, come or not.
    slots: Vec<Slot>,
    /// How many have come.
    n_come: SlotIx,
    /// Per slot: itself while visible, else a later slot; hidden runs are skipped in one step.
    next: Vec<SlotIx>,
    /// Per slot: whether it was ever shown smaller than raw.
    compressed: Vec<bool>,
    turns: Vec<TurnState>,
    messages: Vec<SlotIx>,
    journal: Vec<Edit>,
    total: Tokens,
    stable: Tokens,
    tools: ToolResults,
    arrived: Arrived,
    dirty_from: SlotIx,
    touched: u64,
}

impl<'t> Prompt<'t> {
    /// Begins with the stable prefix of a timeline.
    #[must_use]
    pub fn new(spine: &'t Spine) -> Self {
        let mut prompt = Self {
            spine,
            slots: spine.items.iter().map(Slot::as_it_came).collect(),
            n_come: 0,
            next: (0..).take(spine.items.len()).collect(),
            compressed: vec![false; spine.items.len()],
            turns: Vec::with_capacity(spine.turns.len()),
            messages: Vec::new(),
            journal: Vec::with_capacity(2 * spine.items.len()),
            total: 0,
            stable: 0,
            tools: ToolResults::default(),
            arrived: Arrived::default(),
            dirty_from: 0,
            touched: 0,
        };
        prompt.turns.push(TurnState::default());
        for _ in 0..spine.n_stable {
            prompt.push_item();
        }
        prompt.turns.clear();
        prompt.stable = prompt.total;
        prompt.arrived = Arrived::default();
        prompt
    }

    /// Begins the next turn: what has been active is completed.
    pub fn begin_turn(&mut self) {
        self.turns.push(TurnState::default());
        self.arrived.turns += 1;
    }

    /// Appends items up to a place in the timeline, as they came; together they are one message.
    #[inline]
    pub fn arrive(&mut self, end: SlotIx) {
        if self.len() < end {
            self.begin_message();
        }
        while self.len() < end {
            self.push_item();
        }
    }

    /// Begins a message; what enters until the next one belongs to it.
    #[inline]
    pub fn begin_message(&mut self) {
        self.messages.push(self.len());
        self.arrived.messages += 1;
    }

    /// Appends one item as it came, to the message that has begun.
    #[inline]
    pub fn enter(&mut self) {
        self.push_item();
    }

    /// Counts a reply.
    #[inline]
    pub fn count_step(&mut self) {
        self.arrived.steps += 1;
    }

    #[inline]
    fn push_item(&mut self) {
        let item = &self.spine.items[self.n_come as usize];
        self.n_come += 1;
        let tokens = Tokens::from(item.raw);
        self.total += tokens;
        self.arrived.items += 1;
        self.touched += 1;
        let Some(state) = self.turns.last_mut() else { return };
        state.tokens += tokens;
        if item.kind == Kind::ToolResult {
            state.n_exact += u32::from(item.preserve == Preserve::WorkingEvidence);
            state.n_full += 1;
            state.n_raw += 1;
            state.n_handles += u32::from(item.handle > 0);
            self.tools.raw_tokens += tokens;
            self.tools.visible_tokens += tokens;
            self.arrived.tool_uses += 1;
        }
    }

    /// Shows an item in another way that is no larger; every total follows.
    #[inline]
    pub fn rerender(&mut self, index: SlotIx, tokens: u32, rendition: Shown, exact: bool, by: Author) {
        let at = index as usize;
        let item = &self.spine.items[at];
        let slot = &mut self.slots[at];
        let before = *slot;
        (slot.tokens, slot.rendition, slot.exact, slot.by) = (tokens, rendition, exact, by);
        let after = *slot;
        let freed = Tokens::from(before.tokens - tokens);
        self.total -= freed;
        let state = &mut self.turns[item.turn_ix as usize];
        state.tokens -= freed;
        if item.kind == Kind::ToolResult {
            state.n_exact = state.n_exact + u32::from(exact) - u32::from(before.exact);
            state.n_full =
                state.n_full + u32::from(tokens >= item.raw) - u32::from(before.tokens >= item.raw);
            state.n_raw =
                state.n_raw + u32::from(rendition == Shown::Raw) - u32::from(before.rendition == Shown::Raw);
            self.tools.visible_tokens -= freed;
            if tokens < item.raw && !self.compressed[at] {
                self.compressed[at] = true;
                self.tools.compressed += 1;
            }
        }
        self.note(Edit { slot: index, before, after });
    }

    /// Puts a summary into the first of these slots, in ascending order, and hides the others behind it.
    pub fn absorb(&mut self, slots: &[SlotIx], tokens: u32, serial: u32, by: Author) {
        let Some(host) = slots.first().copied() else { return };
        let mut freed = 0;
        // From the end on, so that a hidden run leads to its end in one step.
        for index in slots.iter().rev().copied() {
            let at = index as usize;
            let slot = &mut self.slots[at];
            let before = *slot;
            slot.by = by;
            if index == host {
                (slot.tokens, slot.state, slot.serial) = (tokens, State::Host, serial);
            } else {
                (slot.tokens, slot.state, slot.serial) = (0, State::Absorbed, 0);
                self.next[at] = self.next.get(at + 1).copied().unwrap_or(index + 1);
            }
            self.journal.push(Edit { slot: index, before, after: *slot });
            let state = &mut self.turns[self.spine.items[at].turn_ix as usize];
            state.n_absorbed += u32::from(!is_behind(&before));
            state.tokens -= Tokens::from(before.tokens);
            freed += Tokens::from(before.tokens);
        }
        self.turns[self.spine.items[host as usize].turn_ix as usize].tokens += Tokens::from(tokens);
        self.total = self.total - freed + Tokens::from(tokens);
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
        let item = &self.spine.items[index as usize];
        let before = self.slots[index as usize];
        self.total = self.total - Tokens::from(before.tokens) + Tokens::from(after.tokens);
        if let Some(state) = self.turns.get_mut(item.turn_ix as usize) {
            state.tokens = state.tokens - Tokens::from(before.tokens) + Tokens::from(after.tokens);
            state.n_absorbed =
                state.n_absorbed - u32::from(is_behind(&before)) + u32::from(is_behind(&after));
            if item.kind == Kind::ToolResult && is_counted(&before) && is_counted(&after) {
                count(state, &before, item, -1);
                count(state, &after, item, 1);
                let tools = &mut self.tools;
                tools.visible_tokens =
                    tools.visible_tokens - Tokens::from(before.tokens) + Tokens::from(after.tokens);
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

    /// Returns the timeline's structure.
    #[must_use]
    pub fn spine(&self) -> &'t Spine {
        self.spine
    }

    /// Returns the item of a slot.
    #[inline]
    #[must_use]
    pub fn item(&self, index: SlotIx) -> &'t Item {
        &self.spine.items[index as usize]
    }

    /// Returns what stands in a slot.
    #[inline]
    #[must_use]
    pub fn slot(&self, index: SlotIx) -> &Slot {
        &self.slots[index as usize]
    }

    /// Returns what a slot shows: a summary where one stands, else the item's kind.
    #[inline]
    #[must_use]
    pub fn kind(&self, index: SlotIx) -> Kind {
        if self.slots[index as usize].is_summary() { Kind::Summary } else { self.item(index).kind }
    }

    /// Returns how many slots there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> SlotIx {
        self.n_come
    }

    /// Returns whether nothing has come yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_come == 0
    }

    /// Returns the tokens of the request about to go out.
    #[inline]
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        self.total
    }

    /// Returns the tokens of the stable prefix.
    #[inline]
    #[must_use]
    pub fn stable_tokens(&self) -> Tokens {
        self.stable
    }

    /// Returns the active turn; the first, before any has begun.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a timeline holds fewer than 2^32 turns")]
    pub fn active_turn(&self) -> TurnIx {
        self.turns.len().saturating_sub(1) as TurnIx
    }

    /// Returns the first slot of the active turn.
    #[inline]
    #[must_use]
    pub fn active_from(&self) -> SlotIx {
        if self.turns.is_empty() {
            self.len()
        } else {
            self.spine.turns[self.active_turn() as usize].items.start
        }
    }

    /// Returns what stands of a turn.
    #[inline]
    #[must_use]
    pub fn turn_state(&self, turn_ix: TurnIx) -> TurnState {
        self.turns.get(turn_ix as usize).copied().unwrap_or_default()
    }

    /// Returns the tokens in front of the active turn's first reply.
    #[must_use]
    pub fn tokens_before_steps(&self) -> Tokens {
        let active = self.active_turn();
        let user = self.spine.turns[active as usize].user.clone();
        let user: Tokens = user.map(|it| Tokens::from(self.slots[it as usize].tokens)).sum();
        self.total - self.turn_state(active).tokens + user
    }

    /// Returns where the messages begin, in order.
    #[must_use]
    pub fn messages(&self) -> &[SlotIx] {
        &self.messages
    }

    /// Returns how many of each unit have come.
    #[must_use]
    pub fn arrived(&self) -> Arrived {
        self.arrived
    }

    /// Returns every edit so far.
    #[inline]
    #[must_use]
    pub fn journal(&self) -> &[Edit] {
        &self.journal
    }

    /// Returns what became of the tool results.
    #[must_use]
    pub fn tool_results(&self) -> ToolResults {
        self.tools
    }

    /// Returns the first slot that changed since this was last asked, or the end.
    pub fn take_dirty(&mut self) -> SlotIx {
        let end = self.len();
        std::mem::replace(&mut self.dirty_from, end)
    }

    /// Returns how many slots were looked at.
    #[must_use]
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// Counts slots that were looked at.
    #[inline]
    pub fn touch(&mut self, slots: u64) {
        self.touched += slots;
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
    add(&mut state.n_raw, is_shown && slot.rendition == Shown::Raw);
    add(&mut state.n_handles, is_shown && item.handle > 0);
}
