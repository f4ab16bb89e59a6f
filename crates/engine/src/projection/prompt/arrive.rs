//! What comes into a prompt: sessions, turns, messages and items, each in its slot.

use crate::prelude::*;
use crate::projection::{Slot, TurnState, UNDO};
use ctxsim_input::{DynamicPlace, LayoutSpec, MemoryPlace};
use ctxsim_timeline::{Preserve, Session};

impl Prompt<'_> {
    /// Begins a session: nothing of the one before is shown any more but the stable prefix, where the new one has none of
    /// its own. A slot is reserved for what memory recalls, where there is one that stands in front of the messages.
    pub fn begin_session(&mut self, session: &Session, layout: &LayoutSpec, remembers: bool) {
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
            let memory = Some(layout.memory).filter(|_| remembers);
            self.begin_stable(session, memory, layout);
        }
        if is_first {
            self.turns.clear();
            (self.n_uncounted, self.n_results) = (self.len(), 0);
        }
        self.history.begin_session(self.messages.len());
    }

    /// Lets the stable prefix of a session come, and reserves the slot of what memory recalls in front of it or behind it.
    fn begin_stable(&mut self, session: &Session, memory: Option<MemoryPlace>, layout: &LayoutSpec) {
        self.dynamic.clear();
        if memory == Some(MemoryPlace::Head) {
            self.reserve();
        }
        let mut in_front = Some(DynamicPlace::FrontOfSystem);
        while self.history.cursor() < session.stable.end {
            if self.history.next().is_some_and(|it| it.kind == Kind::System) {
                in_front.take().into_iter().for_each(|it| self.begin_dynamic(layout, it));
            }
            self.enter();
        }
        in_front.into_iter().for_each(|it| self.begin_dynamic(layout, it));
        self.begin_dynamic(layout, DynamicPlace::BehindSystem);
        if memory == Some(MemoryPlace::BehindSystem) {
            self.reserve();
        }
        self.stable = self.total;
    }

    /// Reserves the slot of what memory recalls; nothing stands there yet.
    fn reserve(&mut self) {
        let at = self.add_hidden(Kind::Memory);
        self.memory = Some((at, self.total));
    }

    /// Adds a hidden slot behind everything else, for words of the policy's own; returns it.
    pub(crate) fn add_spare(&mut self) -> SlotIx {
        let at = self.add_hidden(Kind::User);
        self.spares.push(at);
        at
    }

    /// Adds a hidden slot that is no item's; returns it.
    fn add_hidden(&mut self, kind: Kind) -> SlotIx {
        let at = self.add_own(kind, 0);
        self.replace(at, Slot { state: State::Dropped, ..*self.slot(at) });
        at
    }

    /// Lets content come that is not part of the history. Behind the system prompt it is the user's, so a breakpoint there
    /// does not cover it.
    fn begin_dynamic(&mut self, layout: &LayoutSpec, place: DynamicPlace) {
        let kind = if place == DynamicPlace::FrontOfSystem { Kind::System } else { Kind::User };
        for it in layout.dynamic_at(place) {
            let slot = self.add_own(kind, it.tokens);
            self.dynamic.push((slot, it.changes));
            self.write_dynamic(slot);
        }
    }

    /// Lets an item come that is the policy's own and no part of the load.
    fn add_own(&mut self, kind: Kind, tokens: u32) -> SlotIx {
        self.n_uncounted += 1;
        self.own.push(self.len());
        self.add(Item {
            digest: 0,
            raw: tokens,
            excerpt: tokens,
            summary: tokens,
            handle: 0,
            pair: NO_ITEM,
            origin: NO_ITEM,
            turn_ix: 0,
            step_ix: 0,
            tool: u16::MAX,
            kind,
            preserve: Preserve::None,
            rank: 0,
        })
    }

    /// Begins the next turn: what has been active is completed.
    pub fn begin_turn(&mut self) {
        self.turns.push(TurnState::default());
        self.history.begin_turn();
    }

    /// Lets the user's items come, up to a place in the load; together they are one message.
    pub fn user(&mut self, end: ItemIx) {
        self.arrive(end);
        self.history.end_user();
    }

    /// Lets items come up to a place in the load, as they came; together they are one message.
    // A message is an item or two: a call would cost as much as they do.
    #[inline(always)]
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
    }

    /// Begins a message of results, which is no group of its own.
    #[inline]
    pub fn begin_results(&mut self) {
        self.result_messages.push(self.messages.len());
        self.begin_message();
    }

    /// Begins a step, with its reply.
    #[inline]
    pub fn begin_step(&mut self) {
        self.history.begin_step();
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
        let Some(state) = self.turns.last_mut() else { return };
        state.tokens += tokens;
        if item.kind == Kind::ToolResult {
            state.n_exact += u32::from(item.preserve.is_exact());
            state.n_full += 1;
            state.n_raw += 1;
            state.n_handles += u32::from(item.handle > 0);
            self.tools.raw_tokens += tokens;
            self.tools.visible_tokens += tokens;
            self.n_results += 1;
            self.last_result = Some(self.len() - 1);
        }
    }
}
