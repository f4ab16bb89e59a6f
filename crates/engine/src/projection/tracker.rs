//! Sums that are kept up to date from the journal of edits: over the slots of a scope, of what a harness counts, and of what has come.

use super::{Editor, Filter, Known, Num, Prompt, Slot, SlotIx, State, TableRows};
use crate::prelude::*;
use ctxsim_input::policy::HarnessCounter;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeTotals {
    pub items: u64,
    /// Tool results among them.
    pub tool_uses: u64,
    /// Tokens they show.
    pub tokens: Tokens,
    /// Tokens that the scope's action would free.
    pub reclaimable: Tokens,
}

impl ScopeTotals {
    fn of(filter: &Filter, rows: Option<&TableRows>, item: &Item, slot: &Slot) -> Self {
        if !filter.has_slot(item, slot) {
            return Self::default();
        }
        // A summary is no tool use, whatever stood in its slot, and it has no rendition but its own.
        let is_item = slot.state == State::Shown;
        let left = match rows {
            Some(rows) if is_item => rows.of(item, None).map_or(slot.tokens, |it| it.tokens.min(slot.tokens)),
            Some(_) => slot.tokens,
            None => 0,
        };
        Self {
            items: 1,
            tool_uses: u64::from(is_item && item.kind == Kind::ToolResult),
            tokens: Tokens::from(slot.tokens),
            reclaimable: Tokens::from(slot.tokens - left),
        }
    }

    fn add(&mut self, other: Self) {
        self.items += other.items;
        self.tool_uses += other.tool_uses;
        self.tokens += other.tokens;
        self.reclaimable += other.reclaimable;
    }

    fn take(&mut self, other: Self) {
        self.items -= other.items;
        self.tool_uses -= other.tool_uses;
        self.tokens -= other.tokens;
        self.reclaimable -= other.reclaimable;
    }
}

/// Sums over the slots of a region that pass a filter; both ends of the region may move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tracker {
    from: SlotIx,
    to: SlotIx,
    totals: ScopeTotals,
    /// Of each unit asked for: how many items it has in the scope, and how many units have any.
    units: Vec<(Unit, Vec<u32>, u64)>,
    seen_edits: usize,
}

impl Tracker {
    /// Begins tracking; distinct messages, steps or turns are counted for the units asked for.
    pub fn new(units: &[Unit]) -> Self {
        Self { units: units.iter().map(|it| (*it, Vec::new(), 0)).collect(), ..Self::default() }
    }

    /// Brings the sums up to the prompt and to a region.
    pub fn update(
        &mut self,
        prompt: &mut Prompt<'_>,
        filter: &Filter,
        rows: Option<&TableRows>,
        from: SlotIx,
        to: SlotIx,
    ) {
        if !self.units.is_empty() {
            prompt.note_units();
        }
        let mut touched = 0;
        for edit in &prompt.journal()[self.seen_edits..] {
            touched += 1;
            if (self.from..self.to).contains(&edit.slot) {
                let item = prompt.item(edit.slot);
                let [before, after] =
                    [&edit.before, &edit.after].map(|it| ScopeTotals::of(filter, rows, item, it));
                if before.items == after.items {
                    // Its units have as many items as they had.
                    self.totals.take(before);
                    self.totals.add(after);
                } else {
                    self.leave(prompt, edit.slot, before);
                    self.enter(prompt, edit.slot, after);
                }
            }
        }
        self.seen_edits = prompt.journal().len();
        if from >= self.to || to <= self.from {
            *self = Self {
                from,
                to: from,
                seen_edits: self.seen_edits,
                ..Self::new(&self.units.iter().map(|it| it.0).collect::<Vec<_>>())
            };
        }
        let now = |index: SlotIx| ScopeTotals::of(filter, rows, prompt.item(index), prompt.slot(index));
        touched += u64::from(self.from.abs_diff(from)) + u64::from(self.to.abs_diff(to));
        for index in self.to..to {
            self.enter(prompt, index, now(index));
        }
        for index in to..self.to {
            self.leave(prompt, index, now(index));
        }
        for index in from..self.from {
            self.enter(prompt, index, now(index));
        }
        for index in self.from..from {
            self.leave(prompt, index, now(index));
        }
        (self.from, self.to) = (from, to);
        prompt.touch(touched);
    }

    /// Adds one slot to sums that are made again.
    pub fn add_slot(&mut self, prompt: &Prompt<'_>, filter: &Filter, rows: Option<&TableRows>, at: SlotIx) {
        self.enter(prompt, at, ScopeTotals::of(filter, rows, prompt.item(at), prompt.slot(at)));
    }

    /// Returns the sums.
    pub fn totals(&self) -> ScopeTotals {
        self.totals
    }

    /// Returns how many units have an item in the scope.
    pub fn count(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Items => self.totals.items,
            Unit::ToolUses => self.totals.tool_uses,
            _ => self.units.iter().find(|it| it.0 == unit).map_or(0, |it| it.2),
        }
    }

    fn enter(&mut self, prompt: &Prompt<'_>, index: SlotIx, what: ScopeTotals) {
        if what.items == 0 {
            return;
        }
        self.totals.add(what);
        for (unit, counts, n) in &mut self.units {
            let at = unit_of(prompt, index, *unit);
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            *n += u64::from(counts[at] == 0);
            counts[at] += 1;
        }
    }

    fn leave(&mut self, prompt: &Prompt<'_>, index: SlotIx, what: ScopeTotals) {
        if what.items == 0 {
            return;
        }
        self.totals.take(what);
        for (unit, counts, n) in &mut self.units {
            let at = unit_of(prompt, index, *unit);
            counts[at] -= 1;
            *n -= u64::from(counts[at] == 0);
        }
    }
}

/// Returns the result in which an image is, or the slot itself: the images of a result come right behind it.
#[inline]
fn result_of(prompt: &Prompt<'_>, index: SlotIx) -> SlotIx {
    let is_in_result = |at: SlotIx| {
        let item = prompt.item(at);
        item.kind == Kind::Image && item.tool != u16::MAX
    };
    let mut at = index;
    while at > 0 && is_in_result(at) {
        at -= 1;
    }
    at
}

/// Returns which unit a slot belongs to, counted in the timeline.
#[inline(always)]
pub fn unit_of(prompt: &Prompt<'_>, index: SlotIx, unit: Unit) -> usize {
    let item = prompt.item(index);
    match unit {
        Unit::Items => index as usize,
        Unit::ToolUses => {
            let is_call = item.kind == Kind::ToolCall && item.pair != NO_ITEM;
            (if is_call { item.pair } else { result_of(prompt, index) }) as usize
        }
        Unit::Steps => item.step_ix as usize,
        Unit::Turns => item.turn_ix as usize,
        Unit::Messages => prompt.message_of(index),
        Unit::Groups => prompt.group_of(index),
    }
}

// How a harness counts the prompt, if it differs from the provider's bill: an amount added per item, by kind.

/// How many kinds of items there are.
const KINDS: usize = Kind::Image as usize + 1;

/// What a harness's count adds to what is billed, brought up to date from the journal of edits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counter {
    adds: [u32; KINDS],
    from: SlotIx,
    to: SlotIx,
    sum: Tokens,
    seen_edits: usize,
}

impl Counter {
    /// Begins counting as a policy declares it; without a declaration nothing is added.
    pub(super) fn new(declared: Option<&HarnessCounter>, known: &Known) -> Self {
        let mut adds = [0; KINDS];
        for (kind, size) in declared.iter().flat_map(|it| &it.adds) {
            let tokens = Num::fixed(Some(size), known).unwrap_or(0);
            adds[*kind as usize] = saturated(tokens);
        }
        Self { adds, from: 0, to: 0, sum: 0, seen_edits: 0 }
    }

    /// Returns what is added to an item of a kind.
    pub(super) fn added_to(&self, kind: Kind) -> Tokens {
        self.adds[kind as usize].into()
    }

    fn added(&self, item: &Item, slot: &Slot) -> Tokens {
        match (slot.is_visible(), slot.is_summary()) {
            (false, _) => 0,
            (true, true) => self.added_to(Kind::Summary),
            (true, false) => self.added_to(item.kind),
        }
    }

    /// Counts what is after the stable prefix.
    pub(super) fn count(&mut self, prompt: &mut Prompt<'_>) -> Tokens {
        let (from, to) = (prompt.history().session_from(), prompt.len());
        if from != self.from {
            *self = Self { from, to: from, sum: 0, seen_edits: prompt.journal().len(), ..self.clone() };
        }
        let n_edits = prompt.journal().len();
        for edit in &prompt.journal()[self.seen_edits..] {
            if (self.from..self.to).contains(&edit.slot) {
                let item = prompt.item(edit.slot);
                self.sum = self.sum + self.added(item, &edit.after) - self.added(item, &edit.before);
            }
        }
        for index in self.to..to {
            self.sum += self.added(prompt.item(index), prompt.slot(index));
        }
        prompt.touch((n_edits - self.seen_edits) as u64 + u64::from(to - self.to));
        (self.to, self.seen_edits) = (to, n_edits);
        prompt.tokens() - prompt.stable_tokens() + self.sum
    }
}

// The size of a prompt with every item as received:
// what a client sends that keeps everything while its provider edits.

/// The tokens of what has come in a session, whatever stages made of it; what a recorded harness took out is not sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RawTokens {
    /// Where the session begins.
    from: SlotIx,
    /// The first slot that is not in the sum.
    to: SlotIx,
    n_resets: usize,
    tokens: Tokens,
}

impl RawTokens {
    /// Returns the sum with the stable prefix, brought up to what has come.
    pub(super) fn of(&mut self, edit: &mut Editor<'_, '_>) -> Tokens {
        let prompt = edit.prompt();
        let (from, end, n_resets) = (prompt.history().session_from(), prompt.len(), prompt.resets().len());
        if (self.from, self.n_resets) != (from, n_resets) {
            let tokens = (from..end).filter(|it| is_sent(prompt, *it)).map(|it| raw(prompt, it)).sum();
            edit.prompt.touch((end - from).into());
            *self = Self { from, to: end, n_resets, tokens };
        }
        let prompt = edit.prompt();
        self.tokens += (self.to..end).map(|it| raw(prompt, it)).sum::<Tokens>();
        edit.prompt.touch((end - self.to).into());
        self.to = end;
        edit.prompt().stable_tokens() + self.tokens
    }
}

fn raw(prompt: &Prompt<'_>, slot: SlotIx) -> Tokens {
    prompt.item(slot).raw.into()
}

/// Returns whether no recorded harness has taken a slot out.
fn is_sent(prompt: &Prompt<'_>, slot: SlotIx) -> bool {
    !prompt.resets().iter().any(|it| it.contains(&slot))
}
