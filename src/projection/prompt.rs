//! The prompt: one slot an item, totals kept up to date, and the journal of every edit.

use super::history::History;
use super::rendition::Rendered;
pub use super::slot::{Author, Edit, Shown, Slot, SlotIx, State, TurnState, UNDO};
use super::text::Text;
use crate::input::policy::layout::MemoryPlace;
use crate::quantity::Tokens;
use crate::timeline::{Item, ItemIx, Kind, NO_ITEM, Preserve, Session, Spine, TurnIx};

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
    total: Tokens,
    stable: Tokens,
    /// The slot that is reserved for what memory recalls, where it stands in front of the messages; and the tokens in front
    /// of it.
    memory: Option<(SlotIx, Tokens)>,
    tools: ToolResults,
    last_result: Option<SlotIx>,
    arrived: Arrived,
    dirty_from: SlotIx,
    touched: u64,
}

impl<'t> Prompt<'t> {
    /// Begins before the first session of a load.
    #[must_use]
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
            total: 0,
            stable: 0,
            memory: None,
            tools: ToolResults::default(),
            last_result: None,
            arrived: Arrived::default(),
            dirty_from: 0,
            touched: 0,
        }
    }

    /// Begins a session: nothing of the one before is shown any more but the stable prefix, where the new one has none of
    /// its own. A slot is reserved for what memory recalls, where there is one that stands in front of the messages.
    pub fn begin_session(&mut self, session: &Session, memory: Option<MemoryPlace>) {
        let is_first = self.history.is_empty();
        let is_same = session.stable.is_empty() && !is_first;
        let from = if is_same { self.history.session_from() } else { 0 };
        // What is hidden here may be known to the cache, and is not any more.
        self.dirty_from = self.dirty_from.min(from);
        let mut at = self.visible_from(from);
        while at < self.len() {
            let past = Slot { tokens: 0, state: State::Past, by: UNDO, ..*self.slot(at) };
            self.replace(at, past);
            at = self.visible_from(at + 1);
        }
        if is_first {
            self.turns.push(TurnState::default());
        }
        if !is_same {
            self.begin_stable(session, memory);
        }
        if is_first {
            self.turns.clear();
            self.arrived = Arrived::default();
        }
        self.history.begin_session(self.messages.len());
    }

    /// Lets the stable prefix of a session come, and reserves the slot of what memory recalls in front of it or behind it.
    fn begin_stable(&mut self, session: &Session, memory: Option<MemoryPlace>) {
        if memory == Some(MemoryPlace::Head) {
            self.reserve();
        }
        while self.history.cursor() < session.stable.end {
            self.enter();
        }
        if memory == Some(MemoryPlace::BehindSystem) {
            self.reserve();
        }
        self.stable = self.total;
    }

    /// Reserves the slot of what memory recalls; nothing stands there yet.
    fn reserve(&mut self) {
        let (arrived, none) = (self.arrived, NO_ITEM);
        let item = Item {
            digest: 0,
            raw: 0,
            excerpt: 0,
            summary: 0,
            handle: 0,
            pair: none,
            origin: none,
            turn_ix: 0,
            step_ix: 0,
            tool: u16::MAX,
            kind: Kind::Memory,
            preserve: Preserve::None,
        };
        let at = self.add(item);
        self.arrived = arrived;
        self.replace(at, Slot { state: State::Dropped, ..*self.slot(at) });
        self.memory = Some((at, self.total));
    }

    /// Returns the slot that is reserved for what memory recalls, where it stands in front of the messages.
    #[inline]
    #[must_use]
    pub fn memory(&self) -> Option<SlotIx> {
        self.memory.map(|it| it.0)
    }

    /// Returns the tokens of what memory recalls in that slot.
    #[must_use]
    pub fn memory_tokens(&self) -> Tokens {
        self.memory.map_or(0, |it| self.slot(it.0).tokens.into())
    }

    /// Returns the tokens in front of that slot.
    pub(super) fn tokens_before_memory(&self) -> Tokens {
        self.memory.map_or(0, |it| it.1)
    }

    /// Puts what memory recalls into its slot.
    pub(super) fn recall(&mut self, index: SlotIx, after: Slot, digest: u64) {
        self.stable = self.stable - self.memory_tokens() + Tokens::from(after.tokens);
        self.history.rewrite(index, after.tokens, digest);
        self.replace(index, after);
    }

    /// Begins the next turn: what has been active is completed.
    pub fn begin_turn(&mut self) {
        self.turns.push(TurnState::default());
        self.history.begin_turn();
        self.arrived.turns += 1;
    }

    /// Lets the user's items come, up to a place in the load; together they are one message.
    pub fn user(&mut self, end: ItemIx) {
        self.arrive(end);
        self.history.end_user();
    }

    /// Lets items come up to a place in the load, as they came; together they are one message.
    #[inline]
    pub fn arrive(&mut self, end: ItemIx) {
        if self.history.cursor() < end {
            self.begin_message();
        }
        while self.history.cursor() < end {
            self.enter();
        }
    }

    /// Begins a message; what enters until the next one belongs to it.
    #[inline]
    pub fn begin_message(&mut self) {
        self.messages.push(self.len());
        self.arrived.messages += 1;
    }

    /// Begins a step, with its reply.
    #[inline]
    pub fn begin_step(&mut self) {
        self.history.begin_step();
        self.arrived.steps += 1;
    }

    /// Lets the next item of the load come as it is, in the message that has begun.
    #[inline]
    pub fn enter(&mut self) {
        let item = self.history.pull();
        self.open(item);
    }

    /// Lets an item come that the load does not have, in the message that has begun; returns its slot.
    pub fn add(&mut self, item: Item) -> SlotIx {
        self.history.push(item);
        self.open(&item);
        self.len() - 1
    }

    /// Opens the slot of an item that has come; every total follows.
    #[inline(always)]
    fn open(&mut self, item: &Item) {
        self.next.push(self.len() - 1);
        self.slots.push(Slot::as_it_came(item));
        self.compressed.push(false);
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
            self.last_result = Some(self.len() - 1);
        }
    }

    /// Shows an item in another way that is no larger; every total follows.
    #[inline]
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
    pub fn absorb(&mut self, slots: &[SlotIx], says: Text, by: Author) {
        let Some(host) = slots.first().copied() else { return };
        let mut freed = 0;
        // From the end on, so that a hidden run leads to its end in one step.
        for index in slots.iter().rev().copied() {
            let at = index as usize;
            let slot = &mut self.slots[at];
            let before = *slot;
            slot.by = by;
            if index == host {
                (slot.tokens, slot.state, slot.content) = (says.tokens, State::Host, Some(says.content));
            } else {
                (slot.tokens, slot.state, slot.content) = (0, State::Absorbed, None);
                self.next[at] = self.next.get(at + 1).copied().unwrap_or(index + 1);
            }
            self.journal.push(Edit { slot: index, before, after: *slot });
            let state = &mut self.turns[self.history.items()[at].turn_ix as usize];
            state.n_absorbed += u32::from(!is_behind(&before));
            state.tokens -= Tokens::from(before.tokens);
            freed += Tokens::from(before.tokens);
        }
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
                count(state, &before, &item, -1);
                count(state, &after, &item, 1);
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

    /// Returns what has come, in order.
    #[inline]
    #[must_use]
    pub fn history(&self) -> &History<'t> {
        &self.history
    }

    /// Returns the item of a slot.
    #[inline]
    #[must_use]
    pub fn item(&self, index: SlotIx) -> &Item {
        &self.history.items()[index as usize]
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
        self.history.len()
    }

    /// Returns whether nothing has come yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
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
            self.history.turns()[self.active_turn() as usize].items.start
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
        let span = &self.history.turns()[active as usize];
        let user: Tokens =
            (span.items.start..span.user_end).map(|it| Tokens::from(self.slots[it as usize].tokens)).sum();
        self.total - self.turn_state(active).tokens + user
    }

    /// Returns the newest tool result.
    #[must_use]
    pub fn last_result(&self) -> Option<SlotIx> {
        self.last_result
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
