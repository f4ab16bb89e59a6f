//! The slots as the oracle holds them: a plain list, counted anew whenever something is asked.

use std::ops::Range;

use ctxsim::input::policy::{
    Changes, DynamicPlace, EditsLast, LayoutSpec, MemoryPlace, Moment, ShownAs, Unit,
};
use ctxsim::ledger::Change;
use ctxsim::timeline::{Item, Kind, NO_ITEM, Session, Timeline, TurnEvidence};

use super::needs::is_exact;

/// Where an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    Shown,
    Dropped,
    Behind,
    /// A summary stands in its slot: the n-th that was written.
    Summary(u64),
    /// Told of in the folded summary of an earlier slot.
    Told,
    /// A folded summary stands in its slot: the n-th that says something of its own.
    Fold(u64),
    /// Of an earlier session.
    Past,
}

/// What a slot says, as the provider gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Something of an item, by the digest of what it was.
    Item(u64),
    /// What a call wrote, which nobody knows: the n-th.
    Call(u64),
    /// What a folded summary tells: the n-th that says something of its own.
    Fold(u64),
}

/// What a slot says, how large that is, how it is shown, and whether the summary tells of it.
pub(super) type Told = (Said, u64, ShownAs, bool);

/// What stands in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) tokens: u64,
    pub(super) rendition: ShownAs,
    pub(super) exact: bool,
    pub(super) stands: Stands,
}

impl View {
    pub(super) fn is_visible(&self) -> bool {
        matches!(self.stands, Stands::Shown | Stands::Summary(_) | Stands::Fold(_))
    }

    pub(super) fn is_behind(&self) -> bool {
        matches!(self.stands, Stands::Behind | Stands::Summary(_))
    }
}

/// A slot with its past.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) view: View,
    /// What the cache knows it by.
    pub(super) identity: View,
    /// Whether a recorded harness took it out.
    pub(super) is_reset: bool,
    /// What returns after the request, and when the turn ends.
    before_request: Option<(View, View, u64)>,
    before_turn: Option<(View, View, u64)>,
    /// Tokens of the item's last rendition.
    pub(super) last_tokens: u64,
    pub(super) was_compressed: bool,
}

impl Slot {
    fn restore(&mut self, before: Option<(View, View, u64)>) {
        if let Some((view, identity, last_tokens)) = before {
            (self.view, self.identity, self.last_tokens) = (view, identity, last_tokens);
        }
    }
}

/// How many of each unit have come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) items: u64,
    pub(super) tool_uses: u64,
    pub(super) messages: u64,
    pub(super) groups: u64,
    pub(super) steps: u64,
    pub(super) turns: u64,
}

/// How a stage left a prompt that it changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// Behind the stable prefix of its session.
    pub(super) session: usize,
    pub(super) tokens: u64,
    pub(super) counts: Counts,
}

/// A pass of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) moment: Moment,
    pub(super) is_active: bool,
    pub(super) n_changed: u32,
    pub(super) tokens_before_steps: u64,
}

/// A summariser's request.
#[derive(Clone, Debug)]
pub(super) struct SideRequest<'a> {
    pub(super) prompt: u64,
    pub(super) output: u64,
    pub(super) n_turns: u32,
    /// The agent's prompt as it stood, where that is sent to keep it in the cache.
    pub(super) ping: Option<Box<History<'a>>>,
}

/// How edits are meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) moment: Moment,
    pub(super) stage: u16,
    pub(super) lasts: EditsLast,
    pub(super) keeps_prefix: bool,
}

/// Something in a stable prefix that is no item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// In front of which item it stands.
    place: usize,
    /// Whose it is: dynamic content changes so often; what memory recalls, silent.
    changes: Option<Changes>,
    pub(super) kind: Kind,
    pub(super) tokens: u64,
    /// Its content by number, of memory or of dynamic content.
    pub(super) content: u64,
}

/// Everything that has come.
#[derive(Clone, Debug)]
pub(super) struct History<'a> {
    timeline: &'a Timeline,
    /// What has come, with the pair and the step that it has here.
    items: Vec<Item>,
    /// Where the timeline's items stand.
    places: Vec<usize>,
    pub(super) slots: Vec<Slot>,
    pub(super) messages: Vec<usize>,
    /// Those that are no results, which belong to the group of their call.
    pub(super) groups: Vec<usize>,
    /// Where each turn's items begin, and where the user's end.
    pub(super) turns: Vec<Range<usize>>,
    /// Where each step's reply begins.
    steps: Vec<usize>,
    /// The step that comes or has come last.
    step: usize,
    /// What the turns hold.
    pub(super) evidence: Vec<TurnEvidence>,
    /// Behind the stable prefix of the session.
    session_from: usize,
    /// What stands in stable prefixes and is no item; where each is in the order of the engine's slots.
    own: Vec<Own>,
    /// How often dynamic content was written.
    n_written: u64,
    n_summaries: u64,
    /// What folded summaries have said.
    folds: Vec<Vec<Told>>,
    pub(super) visits: Vec<Visit>,
    pub(super) requests: Vec<SideRequest<'a>>,
    pub(super) change: Change,
    /// How many edits there were so far.
    pub(super) n_edits: u64,
}

impl Own {
    fn memory(place: usize) -> Self {
        Self { place, changes: None, kind: Kind::Memory, tokens: 0, content: 0 }
    }
}

impl<'a> History<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        Self {
            timeline,
            items: Vec::new(),
            places: Vec::new(),
            slots: Vec::new(),
            messages: Vec::new(),
            groups: Vec::new(),
            turns: Vec::new(),
            steps: Vec::new(),
            step: 0,
            evidence: timeline.needs.evidence.clone(),
            session_from: 0,
            own: Vec::new(),
            n_written: 0,
            n_summaries: 0,
            folds: Vec::new(),
            visits: Vec::new(),
            requests: Vec::new(),
            change: Change::default(),
            n_edits: 0,
        }
    }

    /// Begins a session: its own stable prefix comes, or that of the session before stays.
    pub(super) fn begin_session(
        &mut self,
        session: &Session,
        memory: Option<MemoryPlace>,
        layout: &LayoutSpec,
    ) {
        let is_first = self.slots.is_empty();
        let has_own = is_first || !session.stable.is_empty();
        let from = if has_own { 0 } else { self.session_from };
        for slot in &mut self.slots[from..] {
            (slot.before_request, slot.before_turn) = (None, None);
            if slot.view.is_visible() {
                slot.view = View { tokens: 0, stands: Stands::Past, ..slot.view };
            }
            slot.identity = slot.view;
        }
        if has_own {
            self.own.iter_mut().for_each(|it| it.tokens = 0);
            self.step = self.steps.len();
            self.own.extend((memory == Some(MemoryPlace::Head)).then(|| Own::memory(self.slots.len())));
            let is_system = |item: &u32| self.timeline.spine.items[*item as usize].kind == Kind::System;
            let first = session.stable.clone().find(is_system).unwrap_or(session.stable.end);
            (session.stable.start..first).for_each(|item| self.arrive(item));
            self.write_all(layout, DynamicPlace::FrontOfSystem, Kind::System);
            (first..session.stable.end).for_each(|item| self.arrive(item));
            self.write_all(layout, DynamicPlace::BehindSystem, Kind::User);
            self.own
                .extend((memory == Some(MemoryPlace::BehindSystem)).then(|| Own::memory(self.slots.len())));
        } else {
            self.renew(Changes::Session);
        }
        self.session_from = self.slots.len();
    }

    /// Writes the dynamic content of a place.
    fn write_all(&mut self, layout: &LayoutSpec, at: DynamicPlace, kind: Kind) {
        for it in layout.dynamic.iter().filter(|it| it.at == at) {
            self.n_written += 1;
            let (place, content) = (self.slots.len(), self.n_written);
            self.own.push(Own { place, changes: Some(it.changes), kind, tokens: it.tokens.into(), content });
        }
    }

    /// Writes the dynamic content anew that changes so often.
    pub(super) fn renew(&mut self, changes: Changes) {
        let is_due = |it: &Own| it.tokens > 0 && it.changes == Some(changes);
        let due: Vec<usize> = (0..self.own.len()).filter(|it| is_due(&self.own[*it])).collect();
        for index in &due {
            self.n_written += 1;
            self.own[*index].content = self.n_written;
        }
        if let Some(first) = due.first() {
            self.note_own(*first);
        }
    }

    /// Notes that something changed that is no item, as the passes of a turn's end do.
    fn note_own(&mut self, index: usize) {
        let Own { place, .. } = self.own[index];
        let before: u64 = self.own[..index].iter().map(|it| it.tokens).sum();
        let tokens_before_steps = before + self.slots[..place].iter().map(|it| it.view.tokens).sum::<u64>();
        self.note(self.slot_of_own(index), u16::MAX);
        let (moment, is_active, n_changed) = (Moment::TurnEnd, false, 1);
        self.visits.push(Visit { moment, is_active, n_changed, tokens_before_steps });
    }

    /// What stands in the stable prefix and is no item, each with the engine's slot of it.
    pub(super) fn own(&self) -> impl Iterator<Item = (u32, &Own)> {
        self.own.iter().enumerate().map(|(index, it)| (self.slot_of_own(index), it))
    }

    /// Whether memory has a slot there.
    pub(super) fn has_memory(&self) -> bool {
        self.own.iter().any(|it| it.changes.is_none())
    }

    fn slot_of_own(&self, index: usize) -> u32 {
        (self.own[index].place + index) as u32
    }

    fn own_tokens(&self) -> u64 {
        self.own.iter().map(|it| it.tokens).sum()
    }

    /// The engine's slot of one of these.
    pub(super) fn slot_of(&self, slot: usize) -> u32 {
        (slot + self.own.iter().filter(|it| it.place <= slot).count()) as u32
    }

    /// Where an item of the timeline stands, if it has come.
    pub(super) fn place_of(&self, item: u32) -> Option<usize> {
        self.places.get(item as usize).copied()
    }

    /// Puts what memory recalls into its slot.
    pub(super) fn recall(&mut self, recalled: (u64, u64)) {
        let Some(index) = self.own.iter().rposition(|it| it.changes.is_none()) else { return };
        let own = &mut self.own[index];
        if (own.tokens, own.content) != recalled {
            (own.tokens, own.content) = recalled;
            self.note_own(index);
        }
    }

    /// Takes items out as the harness did.
    pub(super) fn reset(&mut self, items: Range<u32>) {
        let manner = Manner {
            moment: Moment::TurnStart,
            stage: u16::MAX,
            lasts: EditsLast::History,
            keeps_prefix: false,
        };
        let place = |item| self.place_of(item).unwrap_or(self.slots.len());
        for index in place(items.start)..place(items.end) {
            let view = self.slots[index].view;
            self.slots[index].is_reset = true;
            if view.is_visible() {
                let stands = if view.stands == Stands::Shown { Stands::Dropped } else { Stands::Behind };
                self.edit(index, View { tokens: 0, exact: false, stands, ..view }, &manner);
            }
        }
    }

    pub(super) fn begin_turn(&mut self, user: Range<u32>) {
        self.step = self.steps.len();
        let start = self.slots.len();
        self.turns.push(start..start + user.len());
        self.arrive_message(user);
    }

    pub(super) fn begin_step(&mut self) {
        self.step = self.steps.len();
        self.steps.push(self.slots.len());
    }

    pub(super) fn begin_message(&mut self) {
        self.groups.push(self.slots.len());
        self.begin_results();
    }

    pub(super) fn begin_results(&mut self) {
        self.messages.push(self.slots.len());
    }

    pub(super) fn arrive_message(&mut self, items: Range<u32>) {
        if !items.is_empty() {
            self.begin_message();
        }
        items.for_each(|item| self.arrive(item));
    }

    pub(super) fn arrive(&mut self, item: u32) {
        assert_eq!(item as usize, self.places.len());
        let row = self.timeline.spine.items[item as usize];
        let pair = self.place_of(row.pair).map_or(NO_ITEM, |it| it as u32);
        self.places.push(self.slots.len());
        self.add(Item { pair, ..row });
    }

    /// Lets an item come whose pair has come before it, or comes later; returns where it stands.
    pub(super) fn add(&mut self, item: Item) -> usize {
        let here = self.slots.len();
        if let Some(pair) = self.items.get_mut(item.pair as usize) {
            pair.pair = here as u32;
        }
        self.items.push(Item { step_ix: self.step as u32, ..item });
        let view = View {
            tokens: u64::from(item.raw),
            rendition: ShownAs::Raw,
            exact: is_exact(&item),
            stands: Stands::Shown,
        };
        self.slots.push(Slot {
            view,
            identity: view,
            is_reset: false,
            before_request: None,
            before_turn: None,
            last_tokens: view.tokens,
            was_compressed: false,
        });
        here
    }

    /// Behind the session's stable prefix.
    pub(super) fn n_stable(&self) -> usize {
        self.session_from
    }

    pub(super) fn active_from(&self) -> usize {
        self.turns[self.turns.len() - 1].start
    }

    /// The steps so far, each from its reply to its last result.
    pub(super) fn steps(&self) -> impl Iterator<Item = Range<usize>> {
        self.steps.iter().enumerate().map(|(step, start)| {
            let of_step = |it: &usize| self.items[*it].step_ix as usize == step;
            *start..(*start..self.items.len()).rfind(of_step).map_or(*start, |it| it + 1)
        })
    }

    pub(super) fn item(&self, slot: usize) -> &Item {
        &self.items[slot]
    }

    pub(super) fn timeline(&self) -> &'a Timeline {
        self.timeline
    }

    pub(super) fn tokens(&self) -> u64 {
        self.own_tokens() + self.slots.iter().map(|it| it.view.tokens).sum::<u64>()
    }

    pub(super) fn stable_tokens(&self) -> u64 {
        self.own_tokens() + self.slots[..self.n_stable()].iter().map(|it| it.view.tokens).sum::<u64>()
    }

    /// The prompt if no stage had ever edited anything.
    pub(super) fn raw_tokens(&self) -> u64 {
        let sent = (self.n_stable()..self.slots.len()).filter(|it| !self.slots[*it].is_reset);
        self.stable_tokens() + sent.map(|it| u64::from(self.item(it).raw)).sum::<u64>()
    }

    /// Tokens in front of the active turn's first reply.
    fn tokens_before_steps(&self) -> u64 {
        let user_end = self.turns[self.turns.len() - 1].end;
        self.own_tokens() + self.slots[..user_end].iter().map(|it| it.view.tokens).sum::<u64>()
    }

    pub(super) fn counts(&self) -> Counts {
        let n_stable = self.timeline.spine.n_stable as usize;
        let results = (n_stable..self.slots.len()).filter(|it| self.item(*it).kind == Kind::ToolResult);
        Counts {
            items: (self.slots.len() - n_stable) as u64,
            tool_uses: results.count() as u64,
            messages: self.messages.len() as u64,
            groups: self.groups.len() as u64,
            steps: self.steps.len() as u64,
            turns: self.turns.len() as u64,
        }
    }

    /// What a slot shows.
    pub(super) fn kind(&self, slot: usize) -> Kind {
        match self.slots[slot].view.stands {
            Stands::Summary(_) | Stands::Fold(_) => Kind::Summary,
            _ => self.item(slot).kind,
        }
    }

    /// What a slot says that stands so: a summary is known by its own words, whatever stood in its slot.
    pub(super) fn said(&self, slot: usize, view: &View) -> Said {
        match view.stands {
            Stands::Summary(n) if n > u64::MAX / 2 => Said::Fold(u64::MAX - n),
            Stands::Summary(n) => Said::Call(n),
            Stands::Fold(n) => Said::Fold(n),
            Stands::Shown | Stands::Dropped | Stands::Behind | Stands::Told | Stands::Past => {
                Said::Item(self.item(slot).digest)
            }
        }
    }

    /// Which unit of the timeline a slot belongs to.
    pub(super) fn unit_of(&self, slot: usize, unit: Unit) -> usize {
        let item = self.item(slot);
        match unit {
            Unit::Items => slot,
            Unit::ToolUses if item.kind == Kind::ToolCall && (item.pair as usize) < self.items.len() => {
                item.pair as usize
            }
            // An image in a result goes with it, whatever stands for the result by now.
            Unit::ToolUses if item.kind == Kind::Image && item.tool != u16::MAX => {
                (0..slot).rev().find(|it| self.item(*it).kind == Kind::ToolResult).unwrap_or(slot)
            }
            Unit::ToolUses => slot,
            Unit::Messages => self.messages.iter().filter(|start| **start <= slot).count(),
            Unit::Groups => self.groups.iter().filter(|start| **start <= slot).count(),
            Unit::Steps => item.step_ix as usize,
            Unit::Turns => item.turn_ix as usize,
        }
    }

    pub(super) fn next_summary(&mut self) -> u64 {
        self.n_summaries += 1;
        self.n_summaries
    }

    /// Numbers what a folded summary says.
    pub(super) fn number_fold(&mut self, says: Vec<Told>) -> u64 {
        let known = self.folds.iter().position(|it| *it == says);
        let number = known.unwrap_or(self.folds.len());
        if known.is_none() {
            self.folds.push(says);
        }
        number as u64
    }

    pub(super) fn edit(&mut self, index: usize, after: View, manner: &Manner) {
        let raw = u64::from(self.item(index).raw);
        self.n_edits += 1;
        let slot = &mut self.slots[index];
        let now = (slot.view, slot.identity, slot.last_tokens);
        match manner.lasts {
            EditsLast::Request => _ = slot.before_request.get_or_insert(now),
            EditsLast::TurnEnd => {
                let before = slot.before_request.take().unwrap_or(now);
                slot.before_turn.get_or_insert(before);
            }
            EditsLast::History => (slot.before_request, slot.before_turn) = (None, None),
        }
        slot.view = after;
        if !manner.keeps_prefix {
            slot.identity = after;
        }
        if matches!(after.stands, Stands::Shown | Stands::Dropped) {
            slot.last_tokens = after.tokens;
        }
        if after.stands == Stands::Shown && after.tokens < raw {
            slot.was_compressed = true;
        }
        if manner.moment == Moment::Entry {
            return;
        }
        self.note(self.slot_of(index), manner.stage);
    }

    fn note(&mut self, slot: u32, stage: u16) {
        self.change.n_edits += 1;
        if self.change.first_slot.is_none_or(|first| slot < first) {
            self.change.first_slot = Some(slot);
            self.change.by = Some(stage);
        }
    }

    pub(super) fn note_visit(&mut self, manner: &Manner, is_active: bool, n_visited: u32, n_changed: u32) {
        if n_visited > 0 && manner.moment != Moment::Entry {
            let tokens_before_steps = self.tokens_before_steps();
            self.visits.push(Visit { moment: manner.moment, is_active, n_changed, tokens_before_steps });
        }
    }

    pub(super) fn settle(&mut self) {
        self.visits.clear();
        self.change = Change::default();
        for slot in &mut self.slots {
            let before = slot.before_request.take();
            slot.restore(before);
        }
    }

    /// Takes back what held for the turn that ends.
    pub(super) fn end_turn(&mut self) {
        for slot in &mut self.slots {
            slot.before_request = None;
            let before = slot.before_turn.take();
            slot.restore(before);
        }
    }
}
