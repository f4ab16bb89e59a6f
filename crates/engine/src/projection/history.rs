//! What has arrived so far, in order of arrival: the load's items, and items that a run adds between them.
//!
//! **What has arrived.** A run never changes the timeline. `History` (`projection/history.rs`) pulls the timeline's items through a cursor
//! and keeps what has arrived, in order. `Prompt::add` adds an item that is not in the timeline, such as a fetched result. The item behind
//! slot *n* is the *n*-th that arrived; `Item::origin` is its place in the timeline, if it has one. **Slots never move.**

use crate::prelude::*;

use super::SlotIx;

/// The items that have arrived, each with its current position in the run.
///
/// The load is read through a cursor and never changed. For an item of the load, [`Item::origin`] is its
/// index there; an item that the run added has the origin of what it copies, or none.
#[derive(Clone, Debug)]
pub struct History<'t> {
    load: &'t Spine,
    /// How much of the load has arrived.
    cursor: ItemIx,
    items: Vec<Item>,
    /// By item of the load that has arrived: its slot; nothing as long as these are the same.
    slots: Option<Vec<SlotIx>>,
    turns: Vec<TurnSpan>,
    /// Where each step's reply begins.
    replies: Vec<SlotIx>,
    /// The step that arriving items belong to.
    step: StepIx,
    session: SessionSpan,
}

/// Where a session begins among what has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionSpan {
    /// The first slot after its stable prefix.
    pub from: SlotIx,
    pub first_turn: TurnIx,
    pub first_step: StepIx,
    pub first_message: usize,
}

/// Where a turn stands among the items and the steps that have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnSpan {
    /// Its items so far.
    pub items: Range<SlotIx>,
    /// After the user's items.
    pub user_end: SlotIx,
    pub first_step: StepIx,
}

impl<'t> History<'t> {
    /// Begins before anything has arrived.
    pub(super) fn new(load: &'t Spine) -> Self {
        Self {
            load,
            cursor: 0,
            items: Vec::with_capacity(load.items.len()),
            slots: None,
            turns: Vec::with_capacity(load.turns.len()),
            replies: Vec::with_capacity(load.steps.len()),
            step: 0,
            session: SessionSpan::default(),
        }
    }

    /// Begins a session whose stable prefix has arrived, after so many messages.
    #[expect(clippy::cast_possible_truncation, reason = "a load holds fewer than 2^32 turns")]
    pub(super) fn begin_session(&mut self, first_message: usize) {
        self.session = SessionSpan {
            from: self.len(),
            first_turn: self.turns.len() as TurnIx,
            first_step: self.n_steps(),
            first_message,
        };
    }

    pub(super) fn begin_turn(&mut self) {
        let at = self.len();
        self.step = self.n_steps();
        self.turns.push(TurnSpan { items: at..at, user_end: at, first_step: self.step });
    }

    /// Ends the user's part of the turn.
    pub(super) fn end_user(&mut self) {
        let at = self.len();
        if let Some(span) = self.turns.last_mut() {
            span.user_end = at;
        }
    }

    /// Begins a step with its reply.
    #[inline]
    pub(super) fn begin_step(&mut self) {
        self.step = self.n_steps();
        self.replies.push(self.len());
    }

    /// Lets the next item of the load arrive; returns it as it is there.
    // Nearly every item of every run comes this way.
    #[inline(always)]
    pub(super) fn pull(&mut self) -> &'t Item {
        let load = &self.load.items[self.cursor as usize];
        self.cursor += 1;
        if self.slots.is_none() {
            self.put(*load);
        } else {
            self.pull_elsewhere(load);
        }
        load
    }

    /// Returns the next item of the load.
    pub(super) fn next(&self) -> Option<&'t Item> {
        self.load.items.get(self.cursor as usize)
    }

    /// Lets an item of the load arrive at another place than it has there.
    #[inline(never)]
    fn pull_elsewhere(&mut self, load: &Item) {
        let at = self.len();
        let slots = self.slots.get_or_insert_default();
        slots.push(at);
        let pair = slots.get(load.pair as usize).copied().unwrap_or(NO_ITEM);
        self.place(Item { pair, ..*load });
    }

    /// Lets an item arrive that the load does not have; of a pair, the second says which slot the first has.
    pub(super) fn push(&mut self, item: Item) {
        if self.slots.is_none() {
            self.part_from_load();
        }
        self.place(item);
    }

    /// From here on the slots of items are not their places in the load: a result that has not come has no slot yet.
    #[cold]
    fn part_from_load(&mut self) {
        let end = self.len();
        let mut slots = Vec::with_capacity(self.load.items.len());
        slots.extend(0..end);
        self.slots = Some(slots);
        let open = self.replies.last().map_or(0, |it| *it as usize);
        for item in self.items.iter_mut().skip(open).filter(|it| it.pair >= end) {
            item.pair = NO_ITEM;
        }
    }

    /// Puts an item after the others, at its place in the run.
    fn place(&mut self, item: Item) {
        let at = self.len();
        if let Some(first) = self.items.get_mut(item.pair as usize) {
            first.pair = at;
        }
        self.put(Item { turn_ix: self.turn_ix(), step_ix: self.step, ..item });
    }

    /// Puts an item after the others.
    #[inline(always)]
    fn put(&mut self, item: Item) {
        let at = self.len();
        if let Some(span) = self.turns.last_mut() {
            span.items.end = at + 1;
        }
        self.items.push(item);
    }

    /// Makes an item another kind of item.
    pub(super) fn retype(&mut self, at: SlotIx, kind: Kind) {
        if let Some(item) = self.items.get_mut(at as usize) {
            item.kind = kind;
        }
    }

    /// Gives an item other content.
    pub(super) fn rewrite(&mut self, at: SlotIx, tokens: u32, digest: u64) {
        if let Some(item) = self.items.get_mut(at as usize) {
            *item = Item { digest, raw: tokens, excerpt: tokens, summary: tokens, ..*item };
        }
    }

    /// Returns the turn that arriving items belong to.
    #[expect(clippy::cast_possible_truncation, reason = "a load holds fewer than 2^32 turns")]
    #[inline]
    pub(super) fn turn_ix(&self) -> TurnIx {
        self.turns.len().saturating_sub(1) as TurnIx
    }

    /// Returns how much of the load has arrived.
    #[inline]
    pub fn cursor(&self) -> ItemIx {
        self.cursor
    }

    /// Returns how many items have arrived.
    #[expect(clippy::cast_possible_truncation, reason = "a run holds fewer than 2^32 items")]
    #[inline]
    pub fn len(&self) -> SlotIx {
        self.items.len() as SlotIx
    }

    /// Returns whether nothing has arrived.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the items, by slot.
    #[inline]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the slot of an item of the load, if it has arrived.
    #[inline]
    pub fn slot_of(&self, item: ItemIx) -> Option<SlotIx> {
        match &self.slots {
            Some(slots) => slots.get(item as usize).copied(),
            None => (item < self.cursor).then_some(item),
        }
    }

    /// Returns where the slots of a range of the load's items are, with what was added between them.
    pub fn slots_of(&self, items: &Range<ItemIx>) -> Range<SlotIx> {
        let end = self.len();
        let slot = |item| self.slot_of(item).unwrap_or(end);
        slot(items.start)..if items.end < self.cursor { slot(items.end) } else { end }
    }

    /// Returns where the turns stand.
    #[inline]
    pub fn turns(&self) -> &[TurnSpan] {
        &self.turns
    }

    /// Returns where each step's reply begins.
    #[inline]
    pub fn replies(&self) -> &[SlotIx] {
        &self.replies
    }

    /// Returns where the session begins.
    #[inline]
    pub fn session(&self) -> &SessionSpan {
        &self.session
    }

    /// Returns the first slot after the session's stable prefix.
    #[inline]
    pub fn session_from(&self) -> SlotIx {
        self.session.from
    }

    #[inline]
    pub fn load(&self) -> &'t Spine {
        self.load
    }

    #[expect(clippy::cast_possible_truncation, reason = "a run holds fewer than 2^32 steps")]
    fn n_steps(&self) -> StepIx {
        self.replies.len() as StepIx
    }
}
