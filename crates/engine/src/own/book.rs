//! The history as code outside this crate sees it: entries with numbers, and the slots in which they stand.

use super::CodeInputs;
use super::view::{Cx, Entry, ItemId};
use super::viewed::NamedEntry;
use crate::prelude::*;

/// How many parts fit between two messages beside what is left out there.
const SPARES: usize = 2;
/// How many fit in front of a session's first message.
const SPARES_IN_FRONT: usize = 8;

/// Follows a run.
pub(super) struct Book<'t> {
    pub(super) made: CodeInputs<'t>,
    /// The entries of the session that were not taken out, in order.
    pub(super) entries: Vec<Entry<'t>>,
    /// The same, with their slots.
    pub(super) known: Vec<NamedEntry>,
    /// How many slots have been looked at.
    until: SlotIx,
    next_id: u32,
    n_resets: usize,
    /// What was taken out since the last view.
    gone: Vec<ItemId>,
    /// The first entry since the last view, as an index.
    new_from: usize,
    n_sessions: u32,
    n_requests: u64,
}

impl<'t> Book<'t> {
    pub(super) fn new(made: CodeInputs<'t>) -> Self {
        Self {
            made,
            entries: Vec::new(),
            known: Vec::new(),
            until: 0,
            next_id: 0,
            n_resets: 0,
            gone: Vec::new(),
            new_from: 0,
            n_sessions: 0,
            n_requests: 0,
        }
    }

    /// Brings the entries up to the prompt.
    pub(super) fn follow(&mut self, moment: Moment, edit: &Editor<'_, '_>) {
        if moment == Moment::SessionStart {
            self.begin_session(edit);
        }
        for index in self.until..edit.prompt().len() {
            if !edit.prompt().is_own(index) {
                self.enter(index, edit);
            }
        }
        self.until = edit.prompt().len();
        self.take_out(edit);
    }

    /// Adds slots for words of the policy's own behind everything that has come.
    pub(super) fn add_spares(&mut self, moment: Moment, edit: &mut Editor<'_, '_>) {
        let wanted = if moment == Moment::SessionStart { SPARES_IN_FRONT } else { SPARES };
        let spares = edit.prompt().spares();
        let n_free = (0..edit.prompt().len()).rev().zip(spares.iter().rev()).take_while(|(at, it)| at == *it);
        for _ in n_free.count()..wanted {
            self.until = edit.prompt.add_spare().saturating_add(1);
        }
    }

    fn begin_session(&mut self, edit: &Editor<'_, '_>) {
        self.n_sessions += 1;
        let is_past = |slot: SlotIx| edit.prompt().slot(slot).state == State::Past;
        let stays: Vec<bool> = self.known.iter().map(|it| !is_past(it.slot)).collect();
        self.retain(&stays);
        self.new_from = self.entries.len();
        self.gone.clear();
    }

    fn retain(&mut self, stays: &[bool]) {
        let mut nth = stays.iter();
        self.entries.retain(|_| *nth.next().unwrap_or(&true));
        let mut nth = stays.iter();
        self.known.retain(|_| *nth.next().unwrap_or(&true));
    }

    fn enter(&mut self, slot: SlotIx, edit: &Editor<'_, '_>) {
        let (prompt, timeline) = (edit.prompt(), self.made.timeline);
        let item = prompt.item(slot);
        let id = ItemId(self.next_id);
        self.next_id += 1;
        let pair = self.known.binary_search_by_key(&item.pair, |it| it.slot).ok();
        let pair = pair.map(|at| {
            (self.known[at].pair, self.known[at].waits) = (Some(id), false);
            self.known[at].id
        });
        let due = timeline.spine.items.get(item.origin as usize).map_or(NO_ITEM, |it| it.pair);
        let is_stable = slot < prompt.history().session_from();
        self.known.push(NamedEntry {
            id,
            slot,
            pair,
            is_stable,
            waits: item.kind == Kind::ToolCall && pair.is_none() && due != NO_ITEM,
        });
        let tool = timeline.spine.tools.get_index(usize::from(item.tool)).map_or("", String::as_str);
        self.entries.push(Entry {
            id,
            kind: item.kind,
            tool,
            call: pair.filter(|_| item.kind == Kind::ToolResult),
            text: timeline.texts.text(item.origin),
            tokens: item.raw.into(),
            is_stable,
        });
    }

    /// Leaves out what the recorded harness took out.
    fn take_out(&mut self, edit: &Editor<'_, '_>) {
        let resets = edit.prompt().resets();
        let new = resets.get(self.n_resets..).unwrap_or_default();
        if new.is_empty() {
            return;
        }
        self.n_resets = resets.len();
        let is_new = |slot: SlotIx| new.iter().any(|range| range.contains(&slot));
        let stays: Vec<bool> = self.known.iter().map(|it| it.is_stable || !is_new(it.slot)).collect();
        let n_old = stays.iter().take(self.new_from).filter(|it| **it).count();
        self.gone.extend(self.known.iter().zip(&stays).filter(|(_, stays)| !**stays).map(|(it, _)| it.id));
        self.retain(&stays);
        self.new_from = n_old;
    }

    /// Returns what stands around a moment.
    pub(super) fn cx<'c>(&'c self, ambient: &Ambient, edit: &Editor<'_, '_>) -> Cx<'c> {
        Cx {
            request: self.n_requests,
            session: self.n_sessions.saturating_sub(1),
            turn: edit.prompt().active_turn(),
            now_ms: ambient.now_ms,
            idle_ms: ambient.idle_ms,
            ttl_ms: ambient.ttl_ms,
            prompt_tokens: edit.prompt().tokens(),
            prompt_limit: Some(self.made.limits.prompt).filter(|it| *it != UNLIMITED),
            new_from: self.new_from,
            gone: &self.gone,
            timeline: self.made.timeline,
            ambient: *ambient,
        }
    }

    /// Notes that a view has been given.
    pub(super) fn seen(&mut self) {
        self.n_requests += 1;
        self.new_from = self.entries.len();
        self.gone.clear();
    }
}
