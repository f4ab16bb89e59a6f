//! The editor that policies work with, and the log of what they did.

use std::collections::BTreeMap;
use std::ops::Range;

use super::chain::Chain;
use super::filter::Filter;
use super::prompt::{Author, Prompt, Slot, SlotIx, State, UNDO};
use super::rendition::{Rendered, Rows};
use super::scope::Region;
use super::tracker::Tracker;
use crate::ledger::Change;
use crate::model::policy::Moment;
use crate::quantity::Tokens;

/// One pass of a stage over its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// When.
    pub moment: Moment,
    /// Whether its scope is the active turn.
    pub is_active: bool,
    /// Slots it looked at with a mind to change them.
    pub n_visited: u32,
    /// Slots it changed.
    pub n_changed: u32,
    /// At a turn's end: tokens in front of the turn's first reply.
    pub tokens_before_steps: Tokens,
}

/// A model request that a policy makes beside the agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideRequest {
    /// Tokens of its prompt.
    pub prompt: Tokens,
    /// The agent's own prompt, where that stands at its front.
    pub chain: Option<Chain>,
    /// Tokens that it writes.
    pub output: Tokens,
    /// Turns that its summary replaces, an earlier summary counting as one.
    pub items: u32,
}

/// What a policy did since the last request.
#[derive(Debug, Default)]
pub struct ChangeLog {
    change: Change,
    visits: Vec<Visit>,
    requests: Vec<SideRequest>,
    undo: Vec<Undo>,
    /// Of slots edited to stay after they were edited for one request: how many edits had been noted for undoing.
    overruled: BTreeMap<SlotIx, usize>,
    kept: BTreeMap<SlotIx, Slot>,
    n_summaries: u32,
}

/// What stood in a slot before an edit that holds for one request.
#[derive(Clone, Copy, Debug)]
struct Undo {
    slot: SlotIx,
    before: Slot,
    /// What the cache knew the slot by, if not by what stood there.
    kept: Option<Slot>,
}

impl ChangeLog {
    /// Returns the passes since the last request.
    #[inline]
    #[must_use]
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Takes the requests that the policy has made.
    #[inline]
    pub fn take_requests(&mut self) -> Option<Vec<SideRequest>> {
        if self.requests.is_empty() { None } else { Some(std::mem::take(&mut self.requests)) }
    }

    /// Returns what changed since the last request.
    #[inline]
    #[must_use]
    pub fn change(&self) -> Change {
        self.change
    }

    /// Notes edits of which this is the first slot.
    #[inline]
    fn note(&mut self, first: SlotIx, n_edits: u32, stage: u16) {
        self.change.n_edits += n_edits;
        if self.change.first_slot.is_none_or(|known| first < known) {
            self.change.first_slot = Some(first);
            self.change.by = Some(stage);
        }
    }

    /// Begins anew after a request: what held for it alone is taken back.
    #[inline]
    pub fn settle(&mut self, prompt: &mut Prompt<'_>) {
        self.visits.clear();
        self.change = Change::default();
        if !self.undo.is_empty() {
            self.take_back(prompt);
        }
    }

    /// Takes back the edits that held for one request, but none that a lasting edit of the same slot came after.
    fn take_back(&mut self, prompt: &mut Prompt<'_>) {
        let overruled = std::mem::take(&mut self.overruled);
        let stays = |(n, undo): &(usize, Undo)| overruled.get(&undo.slot).is_some_and(|after| n < after);
        let undo = std::mem::take(&mut self.undo).into_iter().enumerate().filter(|it| !stays(it));
        let mut undo: Vec<Undo> = undo.map(|it| it.1).collect();
        // Slot by slot from the front, each from its last edit back.
        undo.reverse();
        undo.sort_by_key(|it| it.slot);
        for Undo { slot, before, kept } in undo {
            prompt.replace(slot, Slot { by: UNDO, ..before });
            match kept {
                Some(kept) => self.kept.insert(slot, kept),
                None => self.kept.remove(&slot),
            };
        }
    }

    /// Returns what the provider's cache knows a slot by: what stands there, or what stood there before edits that keep
    /// the prefix.
    #[must_use]
    pub fn identity(&self, prompt: &Prompt<'_>, index: SlotIx) -> Slot {
        *self.kept.get(&index).unwrap_or_else(|| prompt.slot(index))
    }

    /// Returns whether some slot is remembered as it was before an edit.
    #[inline]
    fn remembers_any(&self) -> bool {
        !self.kept.is_empty() || !self.undo.is_empty()
    }

    /// Returns the first slot from a place on that the cache knows, visible or hidden by edits that keep the prefix; or
    /// the end.
    #[inline]
    pub fn known_from(&self, prompt: &mut Prompt<'_>, from: SlotIx) -> SlotIx {
        let visible = prompt.visible_from(from);
        if self.kept.is_empty() {
            return visible;
        }
        self.kept.range(from..).next().map_or(visible, |(kept, _)| visible.min(*kept))
    }
}

/// How a stage's edits are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// When they are made.
    pub moment: Moment,
    /// Who makes them.
    pub author: Author,
    /// The stage, for reports.
    pub stage: u16,
    /// Whether they are taken back after the request.
    pub for_request: bool,
    /// Whether the cache does not notice.
    pub keeps_prefix: bool,
}

impl Manner {
    /// Returns whether edits stay and the cache notices.
    #[inline]
    fn is_plain(&self) -> bool {
        !self.for_request && !self.keeps_prefix
    }
}

/// Edits a prompt.
#[derive(Debug)]
pub struct Editor<'p, 't> {
    prompt: &'p mut Prompt<'t>,
    log: &'p mut ChangeLog,
    manner: Manner,
}

impl<'p, 't> Editor<'p, 't> {
    /// Begins editing at a moment.
    #[must_use]
    pub fn new(prompt: &'p mut Prompt<'t>, log: &'p mut ChangeLog, moment: Moment) -> Self {
        let manner = Manner { moment, author: 0, stage: 0, for_request: false, keeps_prefix: false };
        Self { prompt, log, manner }
    }

    /// Says how the edits that follow are meant.
    #[inline]
    pub fn set_manner(&mut self, manner: Manner) {
        self.manner = manner;
    }

    /// Returns what stands in the prompt.
    #[inline]
    #[must_use]
    pub fn prompt(&self) -> &Prompt<'t> {
        self.prompt
    }

    /// Returns the first visible slot from a place on, or the end.
    #[inline]
    pub fn visible_from(&mut self, from: SlotIx) -> SlotIx {
        self.prompt.visible_from(from)
    }

    /// Counts slots that a policy looked at.
    #[inline]
    pub fn touch(&mut self, slots: u64) {
        self.prompt.touch(slots);
    }

    /// Brings a tracker up to the prompt and to a region.
    pub fn track(&mut self, tracker: &mut Tracker, filter: &Filter, rows: Option<&Rows>, region: Region) {
        tracker.update(self.prompt, filter, rows, region.from, region.to);
    }

    /// Shows an item in another way if that makes it smaller; an item that enters is shown so whatever its size.
    #[inline]
    pub fn show(&mut self, index: SlotIx, rendered: Rendered) -> bool {
        let before = *self.prompt.slot(index);
        let enters = self.manner.moment == Moment::Entry;
        if before.state != State::Shown || (rendered.tokens >= before.tokens && !enters) {
            return false;
        }
        if rendered.tokens > before.tokens {
            let Rendered { shown: rendition, tokens, exact } = rendered;
            self.put(index, Slot { tokens, rendition, exact, ..before });
            return true;
        }
        self.prompt.rerender(index, rendered.tokens, rendered.shown, rendered.exact, self.manner.author);
        self.note_edit(index, before);
        true
    }

    /// Shows an item in another way whatever that makes of its size.
    pub fn show_as(&mut self, index: SlotIx, rendered: Rendered) -> bool {
        let before = *self.prompt.slot(index);
        let Rendered { shown: rendition, tokens, exact } = rendered;
        let after = Slot { tokens, rendition, exact, ..before };
        if before.state != State::Shown || after == before {
            return false;
        }
        if tokens < before.tokens {
            return self.show(index, rendered);
        }
        self.put(index, after);
        true
    }

    /// Hides what stands in a slot; a call and its result go together. Returns how many slots it hid.
    pub fn drop(&mut self, index: SlotIx) -> u32 {
        let pair = self.prompt.item(index).pair;
        let mut n = self.hide(index);
        if pair < self.prompt.len() && self.prompt.slot(pair).state == State::Shown {
            n += self.hide(pair);
        }
        n
    }

    fn hide(&mut self, index: SlotIx) -> u32 {
        let before = *self.prompt.slot(index);
        if !before.is_visible() {
            return 0;
        }
        let state = if before.is_summary() { State::Absorbed } else { State::Dropped };
        self.put(index, Slot { tokens: 0, state, exact: false, ..before });
        1
    }

    /// Returns the prefixes of the prompt as it stands, for a request that begins with it.
    #[must_use]
    pub fn chain(&mut self) -> Chain {
        Chain::aside(self.prompt, self.log)
    }

    /// Takes a run of slots out, as the recorded harness did; it is no stage's doing.
    pub fn reset(&mut self, slots: Range<SlotIx>) {
        self.manner = Manner { author: UNDO, stage: u16::MAX, ..self.manner };
        for index in slots {
            self.hide(index);
        }
    }

    /// Puts a summary of so many tokens into the first of these slots, in ascending order, and hides the others behind it.
    pub fn summarise(&mut self, slots: &[SlotIx], tokens: u32, request: Option<SideRequest>) {
        let Some(host) = slots.first().copied() else { return };
        self.log.n_summaries = self.log.n_summaries.saturating_add(1);
        if self.manner.is_plain() && !self.log.remembers_any() && self.manner.moment != Moment::Entry {
            self.log.note(host, u32::try_from(slots.len()).unwrap_or(u32::MAX), self.manner.stage);
        } else {
            for index in slots {
                let before = *self.prompt.slot(*index);
                self.note_edit(*index, before);
            }
        }
        self.prompt.absorb(slots, tokens, self.log.n_summaries, self.manner.author);
        self.log.requests.extend(request);
    }

    /// Notes a pass over a scope.
    #[inline]
    pub fn note_visit(&mut self, is_active: bool, n_visited: u32, n_changed: u32) {
        if n_visited == 0 || self.manner.moment == Moment::Entry {
            return;
        }
        let at_end = self.manner.moment == Moment::TurnEnd && n_changed > 0;
        let tokens_before_steps = if at_end { self.prompt.tokens_before_steps() } else { 0 };
        let visit =
            Visit { moment: self.manner.moment, is_active, n_visited, n_changed, tokens_before_steps };
        self.log.visits.push(visit);
    }

    /// Puts something else into a slot.
    pub(super) fn put(&mut self, index: SlotIx, after: Slot) {
        let before = *self.prompt.slot(index);
        self.prompt.replace(index, Slot { by: self.manner.author, ..after });
        self.note_edit(index, before);
    }

    /// Notes what undoing takes, and what the cache goes on to know the slot by.
    fn note_manner(&mut self, index: SlotIx, before: Slot) {
        if self.manner.for_request {
            let kept = self.log.kept.get(&index).copied();
            self.log.undo.push(Undo { slot: index, before, kept });
        } else if !self.log.undo.is_empty() {
            self.log.overruled.insert(index, self.log.undo.len());
        }
        if self.manner.keeps_prefix {
            self.log.kept.entry(index).or_insert(before);
        } else {
            self.log.kept.remove(&index);
        }
    }

    /// Notes an edit for the report, for the undoing, and for what the cache knows the slot by.
    #[inline]
    fn note_edit(&mut self, index: SlotIx, before: Slot) {
        if !self.manner.is_plain() || self.log.remembers_any() {
            self.note_manner(index, before);
        }
        if self.manner.moment != Moment::Entry {
            self.log.note(index, 1, self.manner.stage);
        }
    }
}
