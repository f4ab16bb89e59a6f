//! What users asked, as far as prompts still show it: needed by the requests of its turn, and by later turns.
//!
//! Nothing is looked at again unless an edit changed it: a request adds up what the edits before it left.
//!
//! **What users asked is needed** (`engine/users.rs`), in recordings and in generated loads that declare no needs (`Timeline::users`): the
//! message of a turn by each of its requests, earlier ones by later turns with a declared weight; a summary in its place keeps a declared
//! share (`assumptions/user_messages.toml`). The engine follows the journal of edits, so that a request costs the same however many
//! messages there were; a turn has two rows. No call fetches a message again. `measure/floor.rs` is the one rule by which verdicts, `tune`
//! and `advise` ask whether enough is kept.

use crate::prelude::*;

use super::{EngineRun, Way};
use crate::cache::Lane;
use crate::ledger::{ExploredRow, FailureKind, NeedRow, UserRow};
use crate::recovery::{BilledSteps, Carried, NeedSource, Removed, item_state};
use ctxsim_input::scenario::user_messages::UserTerms;
use ctxsim_timeline::evidence::{EARLIER, RUNNING};
use ctxsim_timeline::{Due, Inferred, Level};

/// The number of parts of a message: whole numbers are the same in whatever order they are added.
const PARTS: u64 = 1 << 20;

/// What is left of something: as it came, and behind a summary, which keeps a share of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MessageLeft {
    whole: u64,
    summarised: u64,
}

impl MessageLeft {
    fn add(&mut self, other: Self) {
        self.whole += other.whole;
        self.summarised += other.summarised;
    }

    /// Returns the share that is kept of so many parts, if summaries keep such a share.
    fn share(self, tokens: u64, kept: f64) -> f64 {
        (self.whole as f64 + kept * self.summarised as f64) / tokens as f64
    }
}

/// A part of a message: one item.
#[derive(Clone, Copy, Debug)]
struct MessagePart {
    slot: SlotIx,
    tokens: u64,
    message: usize,
    left: MessageLeft,
}

/// What a user said at the start of a turn.
#[derive(Clone, Copy, Debug)]
struct UserMessage {
    first: ItemIx,
    tokens: u64,
    /// In tokens.
    left: MessageLeft,
}

impl UserMessage {
    /// Returns what is left of it, in [`PARTS`].
    fn parts(&self) -> MessageLeft {
        let of = |tokens: u64| tokens * PARTS / self.tokens.max(1);
        MessageLeft { whole: of(self.left.whole), summarised: of(self.left.summarised) }
    }
}

/// Follows the messages of a session's users.
#[derive(Clone, Debug)]
pub(super) struct Users {
    terms: UserTerms,
    /// In the order of their slots.
    parts: Vec<MessagePart>,
    messages: Vec<UserMessage>,
    /// Where the message of the turn is.
    running: Option<usize>,
    /// How many messages there were before the turn.
    n_before: usize,
    /// What is left of the earlier ones together, and how many there are.
    earlier: (MessageLeft, u64),
    /// The slots of summaries.
    hosts: BTreeSet<SlotIx>,
    /// How many edits have been looked at.
    n_edits: usize,
    turn: TurnSums,
}

/// What the requests of a turn have shown so far.
#[derive(Clone, Copy, Debug, Default)]
struct TurnSums {
    requests: u64,
    running: MessageLeft,
    n_running: u64,
    earlier: MessageLeft,
    n_earlier: u64,
}

impl Users {
    pub(super) fn new(terms: UserTerms) -> Self {
        Self {
            terms,
            parts: Vec::new(),
            messages: Vec::new(),
            running: None,
            n_before: 0,
            earlier: (MessageLeft::default(), 0),
            hosts: BTreeSet::new(),
            n_edits: 0,
            turn: TurnSums::default(),
        }
    }

    /// Begins a session, in which nobody has said anything yet.
    pub(super) fn begin_session(&mut self, prompt: &Prompt<'_>) {
        *self = Self { n_edits: prompt.journal().len(), ..Self::new(self.terms) };
    }

    /// Lets a turn begin with what its user says.
    pub(super) fn begin_turn(&mut self, prompt: &Prompt<'_>) {
        self.look(prompt);
        self.turn = TurnSums::default();
        if let Some(before) = self.running.take() {
            self.earlier.0.add(self.messages[before].parts());
            self.earlier.1 += 1;
        }
        let Some(span) = prompt.history().turns().last() else { return };
        let message = self.messages.len();
        self.n_before = message;
        let is_said = |it: &SlotIx| {
            let item = prompt.item(*it);
            matches!(item.kind, Kind::User | Kind::Summary) && item.origin != NO_ITEM && item.raw > 0
        };
        let begin = self.parts.len();
        for slot in (span.items.start..span.user_end).filter(is_said) {
            let tokens = u64::from(prompt.item(slot).raw);
            let left = MessageLeft { whole: tokens, summarised: 0 };
            self.parts.push(MessagePart { slot, tokens, message, left });
        }
        let Some(first) = self.parts.get(begin) else { return };
        let tokens = self.parts[begin..].iter().map(|it| it.tokens).sum();
        let first = prompt.item(first.slot).origin;
        self.messages.push(UserMessage { first, tokens, left: MessageLeft { whole: tokens, summarised: 0 } });
        self.running = Some(message);
    }

    /// Forgets what the recorded harness took out: it is gone whatever a policy does.
    #[cold]
    pub(super) fn forget(&mut self, slots: &Range<SlotIx>, prompt: &Prompt<'_>) {
        self.look(prompt);
        for at in (0..self.parts.len()).filter(|it| slots.contains(&self.parts[*it].slot)).collect::<Vec<_>>()
        {
            let MessagePart { tokens, message, left, .. } = self.parts[at];
            self.change(message, |it| {
                it.tokens -= tokens;
                it.left.whole -= left.whole;
                it.left.summarised -= left.summarised;
            });
            if self.messages[message].tokens == 0 {
                if self.running == Some(message) {
                    self.running = None;
                } else {
                    self.earlier.1 -= 1;
                }
            }
        }
        self.parts.retain(|it| !slots.contains(&it.slot));
    }

    /// Notes what a request shows.
    #[inline]
    pub(super) fn request(&mut self, prompt: &Prompt<'_>) {
        if self.n_edits < prompt.journal().len() {
            self.look(prompt);
        }
        let turn = &mut self.turn;
        turn.requests += 1;
        if let Some(running) = self.running {
            turn.running.add(self.messages[running].parts());
            turn.n_running += 1;
        }
        turn.earlier.add(self.earlier.0);
        turn.n_earlier += self.earlier.1;
    }

    /// Returns the needs of a turn whose last request was noted.
    pub(super) fn needs(&self, turn_ix: TurnIx, step: StepIx) -> impl Iterator<Item = NeedRow> + use<> {
        let (turn, [kept, low, high]) = (self.turn, self.terms.summarised);
        let row = |rule, item, weights: [f64; 3], left: MessageLeft, n: u64| {
            let [weight, least, most] = weights;
            let of = n * PARTS;
            let met = left.share(of, kept);
            NeedRow {
                turn_ix,
                level: Level::RawContent,
                weight,
                met,
                inferred: Some(Inferred { rule, step, item, names: None }),
                of_user: Some(UserRow {
                    weights: [least, most],
                    met: [low, high].map(|it| left.share(of, it)),
                }),
                ..NeedRow::default()
            }
        };
        let running = self.messages.get(self.n_before).filter(|_| turn.n_running > 0);
        let running = running.map(|it| row(RUNNING, it.first, [1.0; 3], turn.running, turn.n_running));
        let often = turn.n_earlier as f64 / turn.requests.max(1) as f64;
        let newest = self.n_before.checked_sub(1).and_then(|it| self.messages.get(it));
        let is_needed = turn.n_earlier > 0 && self.terms.earlier[2] > 0.0;
        let earlier = newest.filter(|_| is_needed).map(|it| {
            let weights = self.terms.earlier.map(|it| it * often);
            row(EARLIER, it.first, weights, turn.earlier, turn.n_earlier)
        });
        running.into_iter().chain(earlier)
    }

    /// Looks at the edits that were made since it last did.
    fn look(&mut self, prompt: &Prompt<'_>) {
        let journal = prompt.journal();
        let n_seen = std::mem::replace(&mut self.n_edits, journal.len());
        for edit in &journal[n_seen..] {
            let (was_host, is_host) = (edit.before.state == State::Host, edit.after.state == State::Host);
            if was_host || is_host {
                self.move_host(edit.slot, prompt);
            }
            let kind = prompt.item(edit.slot).kind;
            if matches!(kind, Kind::User | Kind::Summary)
                && let Ok(part) = self.parts.binary_search_by_key(&edit.slot, |it| it.slot)
            {
                self.review(part, prompt);
            }
        }
    }

    /// Notes whether a summary stands in a slot, and looks at what may be behind it.
    fn move_host(&mut self, slot: SlotIx, prompt: &Prompt<'_>) {
        if prompt.slot(slot).state == State::Host {
            self.hosts.insert(slot);
        } else {
            self.hosts.remove(&slot);
        }
        let before = |slot: SlotIx| self.parts.partition_point(|it| it.slot < slot);
        let from = before(slot);
        let to = self.hosts.range(slot + 1..).next().map_or(self.parts.len(), |it| before(*it));
        (from..to).for_each(|it| self.review(it, prompt));
    }

    /// Looks at what stands of a part of a message.
    fn review(&mut self, at: usize, prompt: &Prompt<'_>) {
        let MessagePart { slot, tokens, message, left: before } = self.parts[at];
        let stands = prompt.slot(slot);
        let is_whole = stands.rendition == ShownAs::Raw;
        let left = match stands.state {
            State::Shown | State::Folded | State::FoldHost if is_whole => {
                MessageLeft { whole: tokens, summarised: 0 }
            }
            State::Absorbed | State::Host => {
                let host = self.hosts.range(..=slot).next_back();
                let size = host.map_or(0, |it| u64::from(prompt.slot(*it).tokens));
                MessageLeft { whole: 0, summarised: tokens.min(size) }
            }
            _ => MessageLeft::default(),
        };
        if left == before {
            return;
        }
        self.parts[at].left = left;
        self.change(message, |it| {
            it.left.whole = it.left.whole - before.whole + left.whole;
            it.left.summarised = it.left.summarised - before.summarised + left.summarised;
        });
    }

    /// Changes a message, and what is left of the earlier ones.
    fn change(&mut self, message: usize, change: impl FnOnce(&mut UserMessage)) {
        let before = self.messages[message].parts();
        change(&mut self.messages[message]);
        if self.running != Some(message) {
            let after = self.messages[message].parts();
            let earlier = &mut self.earlier.0;
            earlier.whole = earlier.whole - before.whole + after.whole;
            earlier.summarised = earlier.summarised - before.summarised + after.summarised;
        }
    }
}

impl<P: Projector + ?Sized, S: Sink> EngineRun<'_, '_, P, S> {
    /// Notes what a step's request shows of what users asked; with the turn's last request, what the turn needed of it.
    #[inline]
    pub(super) fn user_needs(&mut self, turn_ix: TurnIx, step: StepIx, is_last: bool) {
        let Some(users) = &mut self.users else { return };
        users.request(&self.prompt);
        if is_last {
            users.needs(turn_ix, step).for_each(|row| self.sinks.iter_mut().for_each(|it| it.need(&row)));
        }
    }
}

// What is needed: met by the prompt, recovered, or failed; one row for each way to recover.

impl<P: Projector + ?Sized, S: Sink> EngineRun<'_, '_, P, S> {
    /// Meets, recovers or fails what is due at a moment of a turn.
    #[inline]
    pub(super) fn needs(&mut self, turn_ix: TurnIx, step: StepIx, due: Due) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due(turn_ix, due);
        if self.drawn.is_some() {
            return self.draw_needs(needs, turn_ix, step, due);
        }
        if needs.is_empty() {
            return Ok(());
        }
        let n_ways = self.ways.len();
        // The innermost loop knows its sink: most needs of most runs pass here.
        for (at, sink) in self.sinks.iter_mut().enumerate() {
            let way = &self.ways[at % n_ways];
            if way.carried.is_some() {
                continue;
            }
            for need in needs {
                let evidence = &self.timeline.needs.evidence[need.source as usize];
                let stands = self.prompt.turn_state(need.source);
                sink.need(&way.recovery.meet(turn_ix, need, evidence, &stands, true));
            }
        }
        for at in 0..n_ways {
            if self.ways[at].carried.is_none() {
                continue;
            }
            for need in needs {
                let evidence = &self.timeline.needs.evidence[need.source as usize];
                let stands = self.prompt.turn_state(need.source);
                let row = self.ways[at].recovery.meet(turn_ix, need, evidence, &stands, true);
                self.charge(at, row, NeedSource::Turn(need.source));
            }
        }
        if self.seen.is_some() {
            self.foresee();
        }
        Ok(())
    }

    /// Tells the policy how much the agent may have fetched, as long as that decides whether the closed form holds.
    pub(super) fn foresee(&mut self) {
        if self.outcome.reacts {
            return self.log.expect_fetched(0);
        }
        // The closed form is replaced only where everything is as it is declared.
        let is_declared = |it: &&Way| it.recovery.terms().is_some_and(|it| it.is_declared);
        let declared = self.ways.iter().filter(is_declared);
        let most = declared.filter_map(|it| it.carried.as_ref()).map(Carried::most).max();
        self.log.expect_fetched(most.unwrap_or_default());
    }

    /// Meets, recovers or fails what a step's calls need of single results.
    #[inline]
    pub(super) fn item_needs(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due_at(step);
        if self.drawn.is_some() {
            return self.draw_item_needs(needs, turn_ix, step);
        }
        if needs.is_empty() {
            return Ok(());
        }
        for it in needs {
            let slot = self.prompt.history().slot_of(it.inferred.item);
            let stands = item_state(&self.prompt, slot, self.timeline.needs.mentions(it));
            let was_seen = self.seen.as_ref().zip(slot).is_some_and(|(seen, slot)| seen.has(slot));
            for at in 0..self.ways.len() {
                let Way { recovery, carried } = &self.ways[at];
                let met = recovery.meet(turn_ix, &it.need, &it.evidence, &stands, was_seen);
                if met.met >= 1.0 && carried.as_ref().is_some_and(Carried::is_at_end) {
                    continue;
                }
                let told = it.inferred.names.filter(|_| stands.n_absorbed > 0);
                let row = NeedRow { inferred: Some(it.inferred), told, ..met };
                self.settle(at, row, NeedSource::Item(it.inferred.item));
            }
        }
        Ok(())
    }

    /// Looks up anew before a step's request what removed context makes an agent look up.
    #[inline]
    pub(super) fn explore(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let removed = self.removed.as_mut().map_or(0.0, Removed::at_request);
        if removed <= 0.0 {
            return Ok(());
        }
        if self.drawn.is_some() {
            return self.draw_explored(removed, turn_ix, step);
        }
        for at in 0..self.ways.len() {
            let Some(carried) = &mut self.ways[at].carried else { continue };
            let Some((row, asked)) = carried.explored(removed, &self.prompt) else { continue };
            for lane in 0..self.lanes.len() {
                let tokens = Some(asked.billed(self.billed(lane)));
                self.sink(lane, at).explored(&ExploredRow { turn_ix, step, tokens, ..row });
            }
        }
        Ok(())
    }

    /// Notes what the prompt lost, or got back, since it had so many tokens.
    #[inline]
    pub(super) fn note_removed(&mut self, before: Tokens) {
        if let Some(removed) = &mut self.removed {
            removed.note(before, self.prompt.tokens());
        }
    }

    /// Records a need under one way to recover, with what it is expected to carry from now on.
    #[inline(always)]
    fn settle(&mut self, way: usize, row: NeedRow, source: NeedSource) {
        if self.ways[way].carried.is_some() {
            // A row that nobody changes is never made whole: what changes it gets a copy.
            return self.charge(way, NeedRow { ..row }, source);
        }
        let mut at = way;
        while let Some(sink) = self.sinks.get_mut(at) {
            sink.need(&row);
            at += self.ways.len();
        }
    }

    /// Records a need of which calls are expected, as each of the caches bills them.
    #[inline(never)]
    fn charge(&mut self, way: usize, row: NeedRow, source: NeedSource) {
        let Some(carried) = &mut self.ways[way].carried else { return };
        let (row, asked) = carried.charged(row, source, &self.prompt);
        for lane in 0..self.lanes.len() {
            let refetched = asked.map(|it| it.billed(self.billed(lane)));
            self.sink(lane, way).need(&NeedRow { refetched, ..row });
        }
    }

    /// Returns how the calls that an agent is expected to make are billed by one of the caches.
    #[inline]
    fn billed(&self, lane: usize) -> BilledSteps {
        let Lane { rules, last_read, .. } = &self.lanes[lane];
        BilledSteps { billing: rules.billing(self.ttl), read: *last_read }
    }
}
