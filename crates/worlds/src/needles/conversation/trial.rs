//! One conversation: its messages, the requests that they belong to, and its facts.

use crate::prelude::*;
use std::collections::btree_map::Entry;
use std::ops::Range;

use super::{ConversationLoad, Needle, NumberShare, message};
use ctxsim_timeline::facts::{DrawSource, Fact, FactForm, FactIx, FactPlane, Plant, Probe};
use ctxsim_timeline::{ItemIx, Kind, When};

/// One conversation.
#[derive(Clone, Debug)]
pub struct Dialogue {
    /// The number of messages it has.
    pub length: u64,
    /// Which of that length it is, from 0.
    pub trial: u64,
    /// Its messages; each is an item of its timeline, after the stable prefix.
    pub messages: Vec<TrialMessage>,
    /// By message, and at last after them all: the tokens of all messages before.
    before: Vec<Tokens>,
    /// The messages by request.
    pub steps: Vec<MessageStep>,
    pub facts: FactPlane,
    /// Milliseconds from one message to the next.
    pub message_ms: i64,
    /// The tokens of the stable prefix before it.
    pub stable_tokens: Tokens,
    /// The items of the stable prefix.
    pub n_stable: ItemIx,
    /// The tokens of all messages.
    pub total_tokens: Tokens,
    /// The longest prompt that is allowed.
    pub budget_tokens: Tokens,
    /// By fact: what was drawn of it.
    needles: Vec<Needle>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialMessage {
    /// Who speaks.
    pub kind: Kind,
    pub tokens: u32,
}

/// Messages that go together: a user's begin a turn, an assistant's is what a request gives, a tool's follow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageStep {
    /// The first message.
    pub begin: u32,
    /// After the user's messages.
    pub reply: u32,
    /// After the assistant's message.
    pub results: u32,
    /// After the last message.
    pub end: u32,
    /// Whether it is the first of a turn.
    pub begins_turn: bool,
    /// Whether anything was asked of a model; not so for the user's messages at a conversation's end.
    pub has_request: bool,
}

impl MessageStep {
    /// Returns when its request is made: at its last message, in milliseconds since the conversation began.
    #[inline]
    pub fn at_ms(self, trial: &Dialogue) -> i64 {
        i64::from(self.end).saturating_sub(1).saturating_mul(trial.message_ms)
    }

    /// Returns the user's messages, the assistant's, and the tools'.
    pub fn messages(self, trial: &Dialogue) -> [&[TrialMessage]; 3] {
        let of =
            |range: Range<u32>| trial.messages.get(range.start as usize..range.end as usize).unwrap_or(&[]);
        [of(self.begin..self.reply), of(self.reply..self.results), of(self.results..self.end)]
    }
}

impl Dialogue {
    /// Returns the tokens of the messages from one on up to another.
    #[inline]
    pub fn tokens_in(&self, from: usize, to: usize) -> Tokens {
        self.before[to] - self.before[from]
    }

    /// Returns the first message, from one on, with no more than so many tokens from there on up to another.
    #[inline]
    pub fn first_within(&self, tokens: Tokens, mut from: usize, to: usize) -> usize {
        let least = self.before[to].saturating_sub(tokens);
        // Few messages at a time, counted rather than branched upon: how many are too many cannot be foreseen.
        while let Some(few) = self.before[from..to].first_chunk::<4>() {
            let n_gone = few.iter().map(|it| usize::from(*it < least)).sum::<usize>();
            from += n_gone;
            if n_gone < few.len() {
                return from;
            }
        }
        from + self.before[from..to].iter().take_while(|it| **it < least).count()
    }

    /// Returns what was drawn of a fact.
    pub(super) fn needle(&self, fact: FactIx) -> Option<&Needle> {
        self.needles.get(fact as usize)
    }
}

/// Puts a conversation together.
pub(super) struct TrialWriter {
    made: Dialogue,
    /// By category, key and suffix: the fact.
    keys: BTreeMap<(u16, u32, [u8; 3]), usize>,
}

impl TrialWriter {
    pub(super) fn new(of: &ConversationLoad, length: u64, n_needles: u64) -> Self {
        let n_needles = usize::try_from(n_needles).unwrap_or(0);
        let n_messages = usize::try_from(length).unwrap_or(0);
        let mut before = Vec::with_capacity(n_messages + 1);
        before.push(0);
        let stable = &of.scenario.stable;
        let made = Dialogue {
            length,
            trial: 0,
            messages: Vec::with_capacity(n_messages),
            before,
            steps: Vec::with_capacity(n_messages),
            facts: FactPlane {
                facts: Vec::with_capacity(n_needles),
                plants: Vec::with_capacity(n_needles),
                places: Vec::new(),
                repeats: Vec::new(),
                probes: Vec::with_capacity(n_needles),
                categories: Arc::clone(&of.category_names),
                draws: DrawSource::Named(ctxsim_base::rng::Seed(0)),
            },
            message_ms: of.message_ms,
            stable_tokens: stable.iter().map(|it| it.tokens).sum(),
            n_stable: ix(stable.len()),
            total_tokens: 0,
            budget_tokens: 0,
            needles: Vec::with_capacity(n_needles),
        };
        Self { made, keys: BTreeMap::new() }
    }

    /// Returns how many messages there will be.
    pub(super) fn length(&self) -> u64 {
        self.made.length
    }

    /// Plants a fact of its own in the message that comes next.
    pub(super) fn plant(&mut self, needle: Needle, form: FactForm) {
        self.made.facts.facts.push(Fact { category: needle.category });
        self.made.needles.push(needle);
        self.plant_known(self.made.needles.len() - 1, form);
    }

    /// Plants a fact in the message that comes next; one whose key was used before is the same fact again.
    pub(super) fn plant_again(&mut self, needle: Needle, suffix: [u8; 3], form: FactForm) {
        match self.keys.entry((needle.category, needle.key, suffix)) {
            Entry::Vacant(entry) => {
                entry.insert(self.made.needles.len());
                self.plant(needle, form);
            }
            Entry::Occupied(entry) => {
                let fact = *entry.get();
                self.plant_known(fact, form);
            }
        }
    }

    fn plant_known(&mut self, fact: usize, form: FactForm) {
        let n_messages = self.made.messages.len();
        let plane = &mut self.made.facts;
        let plant = ix(plane.plants.len());
        let quartile = (n_messages as u64).saturating_mul(4) / self.made.length;
        let item = self.made.n_stable.saturating_add(ix(n_messages));
        plane.plants.push(Plant::new(ix(fact), item, form));
        plane.probes.push(Probe { plant, quartile: u8::try_from(quartile).unwrap_or(3), at: When::END });
    }

    /// Appends a message of so many words.
    #[inline]
    pub(super) fn message(&mut self, kind: Kind, words: u64) {
        let made = &mut self.made;
        let message = message(kind, words);
        made.total_tokens += Tokens::from(message.tokens);
        made.before.push(made.total_tokens);
        made.messages.push(message);
        let end: u32 = ix(made.messages.len());
        let begin = end.saturating_sub(1);
        let new =
            MessageStep { begin, reply: begin, results: begin, end, begins_turn: true, has_request: true };
        match (kind, made.steps.last_mut()) {
            // What the user says after another message begins a turn; several messages of the user are one.
            (Kind::User, Some(open)) if !open.has_request => {
                (open.reply, open.results, open.end) = (end, end, end);
            }
            (Kind::User, _) => {
                made.steps.push(MessageStep { reply: end, results: end, has_request: false, ..new });
            }
            (Kind::Assistant, Some(open)) if !open.has_request => {
                (open.results, open.end, open.has_request) = (end, end, true);
            }
            (Kind::Assistant, before) => {
                let begins_turn = before.is_none();
                made.steps.push(MessageStep { results: end, begins_turn, ..new });
            }
            (_, Some(open)) => {
                (open.end, open.has_request) = (end, true);
            }
            (_, None) => made.steps.push(new),
        }
    }

    pub(super) fn finish(mut self, draws: DrawSource, trial: u64, budget: NumberShare) -> Dialogue {
        self.made.facts.draws = draws;
        self.made.trial = trial;
        self.made.budget_tokens = budget.of(self.made.total_tokens);
        self.made
    }
}
