//! The editor that policies work with.

use crate::prelude::*;

use super::{Author, Prompt, PromptText, Rendered, Slot, SlotIx, State, TextContent, UNDO};

/// How a stage's edits are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// When they are made.
    pub moment: Moment,
    /// Who makes them.
    pub author: Author,
    /// The stage, for reports.
    pub stage: u16,
    /// When they are taken back.
    pub lasts: EditsLast,
    /// Whether the cache does not notice.
    pub keeps_prefix: bool,
}

/// Edits a prompt. Who edits keeps to what providers accept: the stable prefix stays, and a call goes with its result.
#[derive(Debug)]
pub struct Editor<'p, 't> {
    pub(crate) prompt: &'p mut Prompt<'t>,
    log: &'p mut ChangeLog,
    manner: Manner,
}

impl<'p, 't> Editor<'p, 't> {
    /// Begins editing at a moment.
    pub fn new(prompt: &'p mut Prompt<'t>, log: &'p mut ChangeLog, moment: Moment) -> Self {
        let manner = Manner { moment, author: 0, stage: 0, lasts: EditsLast::History, keeps_prefix: false };
        Self { prompt, log, manner }
    }

    /// Says how the edits that follow are meant.
    #[inline]
    pub fn set_manner(&mut self, manner: Manner) {
        self.manner = manner;
    }

    /// Returns what stands in the prompt.
    #[inline]
    pub fn prompt(&self) -> &Prompt<'t> {
        self.prompt
    }

    /// Notes whether a stage would do otherwise if what may have been fetched were in the prompt.
    #[inline]
    pub(super) fn sway(&mut self, would: impl FnOnce(Tokens) -> bool) {
        let fetched = self.log.fetched();
        if fetched > 0 && would(fetched) {
            self.log.sway();
        }
    }

    /// Ends the run with an error that says this.
    pub fn fail(&mut self, what: String) {
        self.log.failure.get_or_insert(what);
    }

    /// Puts words of the policy's own into a spare slot.
    pub fn say(&mut self, index: SlotIx, kind: Kind, text: PromptText) {
        self.prompt.say(index, kind, text);
        let says = Slot {
            tokens: text.tokens,
            state: State::Shown,
            content: Some(text.content),
            ..*self.prompt.slot(index)
        };
        self.put(index, says);
    }

    /// Makes a slot stand as told, whatever stood there. Who calls it keeps the rules of edits.
    pub fn set(&mut self, index: SlotIx, after: Slot) {
        let before = *self.prompt.slot(index);
        self.prompt.bring_back(index, Slot { by: self.manner.author, ..after });
        self.note_edit(index, before);
    }

    /// Notes that everything behind the first edited slot was worked on, for caches that do not look at content.
    pub fn note_first_edit(&mut self) {
        if let Some(first) = self.log.change().first_slot {
            self.log.keep_up_to(self.prompt.tokens_before(first));
        }
    }

    /// Shows an item in another way if that makes it smaller, or if it enters.
    #[inline(always)]
    pub fn shrink(&mut self, index: SlotIx, rendered: Rendered) -> bool {
        let before = *self.prompt.slot(index);
        let enters = self.manner.moment == Moment::Entry;
        if before.state != State::Shown || (rendered.tokens >= before.tokens && !enters) {
            return false;
        }
        if rendered.tokens > before.tokens {
            self.put(index, before.showing(rendered));
            return true;
        }
        self.prompt.rerender(index, rendered, self.manner.author);
        self.note_edit(index, before);
        true
    }

    /// Shows an item in another way whatever its size.
    pub fn resize(&mut self, index: SlotIx, rendered: Rendered) -> bool {
        let before = *self.prompt.slot(index);
        let after = before.showing(rendered);
        if before.state != State::Shown || after == before {
            return false;
        }
        if rendered.tokens < before.tokens {
            return self.shrink(index, rendered);
        }
        self.put(index, after);
        true
    }

    /// Hides what stands in a slot, and its call or its result; returns how many slots it hid.
    pub fn take_out(&mut self, index: SlotIx) -> u32 {
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
    pub fn chain(&mut self) -> Chain {
        Chain::aside(self.prompt, self.log.identities())
    }

    /// Takes a run of slots out, as the recorded harness did; it is no stage's doing.
    pub fn reset(&mut self, slots: Range<SlotIx>) {
        self.manner = Manner { author: UNDO, stage: u16::MAX, ..self.manner };
        let memory = self.prompt.memory();
        self.prompt.resets.push(slots.clone());
        for index in slots.filter(|it| memory != Some(*it)) {
            self.hide(index);
        }
    }

    /// Says what memory recalls in the slot that is reserved for it; nothing stands there where it recalls nothing. It is no
    /// stage's doing.
    pub fn recall(&mut self, tokens: u32, digest: u64) {
        let Some((index, in_front)) = self.prompt.memory else { return };
        self.put_in_front(index, (tokens, digest), in_front);
    }

    /// Replaces the content of a slot of the stable prefix, as the recorded harness did. No stage is responsible for it.
    pub fn change_front(&mut self, index: SlotIx, tokens: u32, digest: u64) {
        let in_front = self.prompt.tokens_before(index);
        self.put_in_front(index, (tokens, digest), in_front);
    }

    fn put_in_front(&mut self, index: SlotIx, (tokens, digest): (u32, u64), in_front: Tokens) {
        let before = *self.prompt.slot(index);
        let is_same = (before.tokens, self.prompt.item(index).digest) == (tokens, digest);
        if is_same && before.is_visible() == (tokens > 0) {
            return;
        }
        let state = if tokens == 0 { State::Dropped } else { State::Shown };
        self.prompt.recall(index, Slot { tokens, state, by: UNDO, ..before }, digest);
        self.log.note(index, 1, u16::MAX);
        self.log.keep_up_to(in_front);
    }

    /// Writes the layout's dynamic content anew that changes so often; it is no stage's doing.
    pub fn renew(&mut self, changes: Changes) {
        if let Some(first) = self.prompt.renew(changes) {
            self.log.note(first, 1, u16::MAX);
            self.log.keep_up_to(self.prompt.tokens_before(first));
        }
    }

    /// Puts a model's summary into the first of these slots, in ascending order, and hides the others behind it; nobody knows its words,
    /// so that no two summaries are the same.
    pub fn absorb(&mut self, slots: &[SlotIx], tokens: u32, request: Option<SideRequest>) {
        self.log.n_summaries = self.log.n_summaries.saturating_add(1);
        let content = TextContent::of_call(self.log.n_summaries);
        self.absorb_as(slots, PromptText { tokens, content }, request);
    }

    /// Returns how many requests beside the agent's own are to be sent.
    pub(super) fn n_asked(&self) -> usize {
        self.log.requests.len()
    }

    /// Sends a request beside the agent's own.
    pub fn ask(&mut self, request: SideRequest) {
        self.log.requests.push(request);
    }

    /// Puts a summary in these words into the first of these slots, in ascending order, and hides the others behind it.
    pub fn absorb_as(&mut self, slots: &[SlotIx], text: PromptText, request: Option<SideRequest>) {
        let Some(host) = slots.first().copied() else { return };
        if self.is_plain() && self.manner.moment != Moment::Entry {
            self.log.note(host, ix(slots.len()), self.manner.stage);
        } else {
            for index in slots {
                let before = *self.prompt.slot(*index);
                self.note_edit(*index, before);
            }
        }
        self.prompt.absorb(slots, text, self.manner.author);
        self.log.requests.extend(request);
    }

    /// Notes a pass over a scope: it works on what stands behind the stable prefix, at a turn's end on the turn's steps.
    /// A pass over the active turn does so even where it changes nothing.
    #[inline]
    pub fn note_pass(&mut self, is_active: bool, n_visited: u32, n_changed: u32) {
        let n_worked_on = if is_active { n_visited } else { n_changed };
        match self.manner.moment {
            Moment::TurnStart | Moment::Request => self.log.is_reworked |= n_worked_on > 0,
            Moment::TurnEnd if n_changed > 0 => self.log.keep_up_to(self.prompt.tokens_before_steps()),
            _ => {}
        }
    }

    /// Puts something else into a slot.
    pub(super) fn put(&mut self, index: SlotIx, after: Slot) {
        let before = *self.prompt.slot(index);
        self.prompt.replace(index, Slot { by: self.manner.author, ..after });
        self.note_edit(index, before);
    }

    /// Returns whether edits stay, the cache notices, and no slot is remembered as it was.
    #[inline]
    fn is_plain(&self) -> bool {
        let manner = &self.manner;
        manner.lasts == EditsLast::History && !manner.keeps_prefix && !self.log.remembers_any()
    }

    /// Notes what undoing takes, and what the cache goes on to know the slot by.
    fn note_manner(&mut self, index: SlotIx, before: Slot) {
        let kept = self.log.kept.0.get(&index).copied();
        let undo = self.log.undo.entry(index).or_default();
        match self.manner.lasts {
            EditsLast::History => _ = self.log.undo.remove(&index),
            EditsLast::Request => _ = undo.after_request.get_or_insert((before, kept)),
            EditsLast::TurnEnd => {
                let before = undo.after_request.take().unwrap_or((before, kept));
                undo.after_turn.get_or_insert(before);
            }
        }
        if self.manner.keeps_prefix {
            self.log.kept.0.entry(index).or_insert(before);
        } else {
            self.log.kept.0.remove(&index);
        }
    }

    /// Notes an edit for the report, for the undoing, and for what the cache knows the slot by.
    #[inline(always)]
    fn note_edit(&mut self, index: SlotIx, before: Slot) {
        if !self.is_plain() {
            self.note_manner(index, before);
        }
        if self.manner.moment != Moment::Entry {
            self.log.note(index, 1, self.manner.stage);
        }
    }
}

// What a policy changed, and what the provider's cache knows changed slots by.

/// A policy's edits between two requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The first slot that was edited.
    pub first_slot: Option<u32>,
    /// The stage that edited it.
    pub by: Option<u16>,
    /// How many slots were edited.
    pub n_edits: u32,
}

/// What stood in slots before edits that keep the prefix: the provider's cache knows them by it.
#[derive(Clone, Debug, Default)]
pub struct Identities(pub(super) BTreeMap<SlotIx, Slot>);

impl Identities {
    /// Returns what stood from a place on.
    pub fn from(&self, slot: SlotIx) -> impl Iterator<Item = (&SlotIx, &Slot)> {
        self.0.range(slot..)
    }
}

/// A model request that a policy makes besides the agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideRequest {
    /// Tokens of its prompt.
    pub prompt: Tokens,
    /// The agent's own prompt, if that is at its front.
    pub chain: Option<Chain>,
    /// Tokens that it writes.
    pub output: Tokens,
    /// Turns that its summary replaces, an earlier summary counting as one.
    pub items: u32,
    pub purpose: Purpose,
}

/// The purpose of a policy's own request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To write a summary.
    #[default]
    Summary,
    /// To keep the prompt in the provider's cache.
    KeepAlive,
}

/// What a policy did since the last request.
#[derive(Debug, Default)]
pub struct ChangeLog {
    change: Change,
    /// Up to where passes at a turn's end, and what memory recalls, have left the prompt alone; all of it, where silent.
    pub(super) intact: Option<Tokens>,
    /// Whether a pass has worked on anything after the stable prefix.
    pub(super) is_reworked: bool,
    pub(crate) requests: Vec<SideRequest>,
    pub(super) undo: BTreeMap<SlotIx, SlotUndo>,
    pub(super) kept: Identities,
    pub(super) n_summaries: u32,
    /// Why the policy cannot go on, in its own words.
    pub(crate) failure: Option<String>,
    /// Tokens that the agent may have fetched by now, and that the prompt does not show.
    fetched: Tokens,
    is_swayed: bool,
}

/// What stood in a slot before edits that do not last; with it, what the cache knew the slot by, if by anything else.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotUndo {
    after_request: Option<(Slot, Option<Slot>)>,
    after_turn: Option<(Slot, Option<Slot>)>,
}

impl ChangeLog {
    /// Returns how many tokens at the prompt's front no pass has worked on since the last request, whatever
    /// their content; any number, if there was no pass.
    #[inline]
    pub fn intact_tokens(&self, prompt: &Prompt<'_>) -> Tokens {
        let stable = if self.is_reworked { prompt.stable_tokens() } else { Tokens::MAX };
        or_unlimited(self.intact).min(stable)
    }

    /// Says how many tokens the agent may have fetched that the prompt does not show.
    #[inline]
    pub fn expect_fetched(&mut self, tokens: Tokens) {
        self.fetched = if self.is_swayed { 0 } else { tokens };
    }

    /// Returns how many tokens the agent may have fetched; 0 once they would have made a difference.
    #[inline]
    pub fn fetched(&self) -> Tokens {
        self.fetched
    }

    /// Notes that a stage would have done otherwise with what may have been fetched in the prompt.
    #[cold]
    pub(super) fn sway(&mut self) {
        (self.is_swayed, self.fetched) = (true, 0);
    }

    /// Returns whether a stage would have done otherwise with what may have been fetched in the prompt.
    pub fn is_swayed(&self) -> bool {
        self.is_swayed
    }

    /// Returns what changed since the last request.
    #[inline]
    pub fn change(&self) -> Change {
        self.change
    }

    /// Notes that what is after so many tokens was worked on.
    #[inline]
    pub(super) fn keep_up_to(&mut self, tokens: Tokens) {
        self.intact = Some(self.intact.unwrap_or(tokens).min(tokens));
    }

    /// Notes edits of which this is the first slot.
    #[inline]
    pub(super) fn note(&mut self, first: SlotIx, n_edits: u32, stage: u16) {
        self.change.n_edits += n_edits;
        if self.change.first_slot.is_none_or(|known| first < known) {
            self.change.first_slot = Some(first);
            self.change.by = Some(stage);
        }
    }

    /// Forgets what was to be undone and what the cache was to know in a session that is over.
    pub fn begin_session(&mut self) {
        self.undo.clear();
        self.kept.0.clear();
    }

    /// Starts over after a request: edits for one request are undone.
    #[inline]
    pub fn settle(&mut self, prompt: &mut Prompt<'_>) {
        (self.intact, self.is_reworked) = (None, false);
        self.change = Change::default();
        self.take_back(prompt, false);
    }

    /// Takes back the edits that held for one request, or for the turn that ends. An edit of the same slot that lasts longer has made them last as long.
    pub fn take_back(&mut self, prompt: &mut Prompt<'_>, turn_ends: bool) {
        self.undo.retain(|slot, undo| {
            let before = if turn_ends { undo.after_turn.take() } else { undo.after_request.take() };
            if let Some((before, kept)) = before {
                prompt.bring_back(*slot, Slot { by: UNDO, ..before });
                match kept {
                    Some(kept) => self.kept.0.insert(*slot, kept),
                    None => self.kept.0.remove(slot),
                };
            }
            undo.after_turn.is_some() || (!turn_ends && undo.after_request.is_some())
        });
    }

    /// Returns what the provider's cache knows slots by.
    #[inline]
    pub fn identities(&self) -> &Identities {
        &self.kept
    }

    /// Returns whether some slot is remembered as it was before an edit.
    #[inline]
    pub(super) fn remembers_any(&self) -> bool {
        !self.kept.0.is_empty() || !self.undo.is_empty()
    }
}
