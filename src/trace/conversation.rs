//! Synthetic conversations with planted facts: one trace for each length and trial, made when it is wanted.

mod check;
mod filler;
mod needles;

use std::sync::Arc;

use super::build::NewItem;
use super::facts::{Fact, FactIx, FactPlane, Form, Luck, Plant, Probe};
use super::written::{self, narrow};
use super::{Kind, Trace, TraceBuilder};
use crate::diag::{Diagnostic, Problems};
use crate::rng::{Cpython, Draw, Seed, StrHash};
use crate::spec::ScenarioSpec;
use crate::spec::conversation::{ConversationSpec, RandomSpec};
use crate::units::{Decimal, Tokens};

use needles::{Category, Needle};

/// A load of conversations that has passed every rule.
#[derive(Clone, Debug)]
pub struct Conversation {
    scenario: ScenarioSpec,
    lengths: Vec<u64>,
    trials: u64,
    needle_density: Decimal,
    implicit_ratio: f64,
    budget_ratio: Decimal,
    turn_ms: i64,
    n_domains: u64,
    categories: Vec<Category>,
    category_names: Arc<[String]>,
    source: Source,
}

/// Where the draws come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Named(Seed),
    Cpython(u64, StrHash),
}

/// One conversation.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its turns.
    pub length: u64,
    /// Which of that length it is, from 0.
    pub trial: u64,
    /// Its turns and its facts.
    pub trace: Trace,
    /// The tokens of all turns.
    pub total_tokens: Tokens,
    /// The longest prompt that is allowed.
    pub budget_tokens: Tokens,
}

/// A source of the parts of a turn.
trait Dice {
    /// Draws a number below a count.
    fn below(&mut self, count: u64) -> u64;
    /// Draws a whole number between two, both included.
    fn between(&mut self, first: u64, last: u64) -> u64;
    /// Draws a number between two.
    fn uniform(&mut self, from: f64, to: f64) -> f64;
    /// Draws which of so many letters are blanks, each with the chance of one in 28; tells them in order.
    fn blanks(&mut self, letters: u64, tell: impl FnMut(bool));
}

impl Dice for Cpython {
    #[inline]
    fn below(&mut self, count: u64) -> u64 {
        self.below(count)
    }

    #[inline]
    fn between(&mut self, first: u64, last: u64) -> u64 {
        self.between(first, last)
    }

    #[inline]
    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        self.uniform(from, to)
    }

    #[inline]
    fn blanks(&mut self, letters: u64, mut tell: impl FnMut(bool)) {
        for _ in 0..letters {
            tell(self.choices_index(28) == 27);
        }
    }
}

impl Dice for Draw {
    #[inline]
    fn below(&mut self, count: u64) -> u64 {
        self.next_between(0, count.saturating_sub(1))
    }

    #[inline]
    fn between(&mut self, first: u64, last: u64) -> u64 {
        self.next_between(first, last)
    }

    #[inline]
    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.next_unit()
    }

    #[inline]
    fn blanks(&mut self, letters: u64, mut tell: impl FnMut(bool)) {
        // A 28th of 2^32 is a whole number but for a part in 10^9: two letters a word.
        const BAR: u32 = u32::MAX / 28;
        let mut left = letters;
        while left > 0 {
            let bits = self.next_bits();
            tell((bits >> 32) as u32 <= BAR);
            if left > 1 {
                tell(bits as u32 <= BAR);
            }
            left = left.saturating_sub(2);
        }
    }
}

impl Conversation {
    /// Checks a load of conversations.
    ///
    /// # Errors
    /// Every problem of the scenario and its load, each with its field path.
    pub fn new(scenario: &ScenarioSpec, spec: &ConversationSpec) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        written::check(scenario, &mut problems);
        problems.within("load.conversation", |problems| check::check(spec, problems));
        problems.into_result(())?;
        let exact = |ratio| Decimal::from_f64(ratio).unwrap_or_default();
        let source = match spec.random {
            RandomSpec::Named => Source::Named(Seed(scenario.seed)),
            RandomSpec::Cpython => {
                Source::Cpython(scenario.seed, StrHash::new(spec.hash_seed.unwrap_or_default()))
            }
        };
        Ok(Self {
            scenario: scenario.clone(),
            lengths: spec.lengths.clone(),
            trials: spec.trials,
            needle_density: exact(spec.needle_density),
            implicit_ratio: spec.implicit_ratio,
            budget_ratio: exact(spec.context_budget_ratio),
            turn_ms: i64::try_from(spec.turn_seconds.saturating_mul(1_000)).unwrap_or(i64::MAX),
            n_domains: u64::try_from(spec.domains.len()).unwrap_or(u64::MAX),
            categories: spec.categories.iter().map(|(_, keys)| Category::new(keys)).collect(),
            category_names: spec.categories.keys().cloned().collect(),
            source,
        })
    }

    /// Returns how many conversations there are.
    #[must_use]
    pub fn n_trials(&self) -> usize {
        usize::try_from(self.trials).unwrap_or(usize::MAX).saturating_mul(self.lengths.len())
    }

    /// Returns how many conversations there are of each length.
    #[must_use]
    pub fn trials_per_length(&self) -> u64 {
        self.trials
    }

    /// Makes one conversation; all of one length come before all of the next.
    #[must_use]
    pub fn trial(&self, index: usize) -> Trial {
        let index = u64::try_from(index).unwrap_or(u64::MAX);
        let (nth, trial) = (index / self.trials, index % self.trials);
        let length = usize::try_from(nth).ok().and_then(|it| self.lengths.get(it)).copied().unwrap_or(1);
        let n_needles = self.needle_density.of(length).max(1);
        let mut writer = Writer::new(self, length, n_needles);
        let luck = match self.source {
            Source::Named(seed) => self.named(seed.child("conversation", length), trial, &mut writer),
            Source::Cpython(seed, hash) => {
                let seed = seed.wrapping_add(length.wrapping_mul(1_000)).wrapping_add(trial);
                self.sequential(Cpython::new(seed), hash, &mut writer)
            }
        };
        writer.finish(luck, trial, self.budget_ratio)
    }

    /// Draws a conversation from named streams: each turn depends on its own place alone.
    fn named(&self, seed: Seed, trial: u64, writer: &mut Writer<'_>) -> Luck {
        let seed = seed.child("trial", trial);
        let mut places = seed.stream("places", 0).draw();
        let (mut turns, mut needles) = (seed.stream("turn", 0), seed.stream("needle", 0));
        let (length, mut left) = (writer.length, writer.n_needles);
        for index in 0..length {
            let (kind, words) = filler::drawn(&mut turns.draw());
            let has_needle = places.below(length - index) < left;
            let mut said = None;
            if has_needle {
                left -= 1;
                let mut dice = needles.draw();
                let form =
                    if dice.next_unit() < self.implicit_ratio { Form::Implicit } else { Form::Explicit };
                let needle = Needle::drawn(&self.categories, &mut dice, index);
                let template = dice.below(needles::TEMPLATES);
                said = Some((needle, form, template));
            }
            writer.turn(kind, words, said);
        }
        Luck::Named(seed)
    }

    /// Draws a conversation as the published Python benchmark does, every alternative of every turn included.
    fn sequential(&self, mut dice: Cpython, hash: StrHash, writer: &mut Writer<'_>) -> Luck {
        dice.below(self.n_domains);
        let length = writer.length;
        let mut is_place = vec![false; usize::try_from(length).unwrap_or(0)];
        for place in dice.sample(length, writer.n_needles) {
            is_place[usize::try_from(place).unwrap_or(0)] = true;
        }
        for (index, has_needle) in (0..length).zip(is_place) {
            let (kind, words) = filler::sequential(&mut dice);
            let mut said = None;
            if has_needle {
                let form = if dice.unit() < self.implicit_ratio { Form::Implicit } else { Form::Explicit };
                let needle = Needle::sequential(&self.categories, &mut dice, index);
                let template = hash.of(&needle.key).rem_euclid(needles::TEMPLATES.cast_signed());
                said = Some((needle, form, template.cast_unsigned()));
            }
            writer.turn(kind, words, said);
        }
        Luck::Sequential(dice.between(0, 1 << 31))
    }
}

/// Puts a conversation together: a user's turn begins a loop, an assistant's a request, a tool's belongs to the request before.
struct Writer<'c> {
    of: &'c Conversation,
    length: u64,
    n_needles: u64,
    builder: TraceBuilder,
    n_turns: u64,
    total: Tokens,
    first_item: u32,
    users: Vec<NewItem<'static>>,
    reply: Vec<NewItem<'static>>,
    results: Vec<NewItem<'static>>,
    has_loop: bool,
    has_step: bool,
    keys: indexmap::IndexSet<String>,
    facts: Vec<Fact>,
    plants: Vec<Plant>,
    probes: Vec<Probe>,
}

impl<'c> Writer<'c> {
    fn new(of: &'c Conversation, length: u64, n_needles: u64) -> Self {
        let builder = written::begin(&of.scenario);
        let needles = usize::try_from(n_needles).unwrap_or(0);
        Self {
            of,
            length,
            n_needles,
            builder,
            n_turns: 0,
            total: 0,
            first_item: u32::try_from(of.scenario.stable.len()).unwrap_or(u32::MAX),
            users: Vec::new(),
            reply: Vec::new(),
            results: Vec::new(),
            has_loop: false,
            has_step: false,
            keys: indexmap::IndexSet::with_capacity(needles),
            facts: Vec::with_capacity(needles),
            plants: Vec::with_capacity(needles),
            probes: Vec::with_capacity(needles),
        }
    }

    /// Appends a turn, with the fact that it says, how, and in which of the ways of saying it in passing.
    fn turn(&mut self, kind: Kind, words: u64, said: Option<(Needle, Form, u64)>) {
        let mut tokens = words;
        if let Some((needle, form, template)) = said {
            tokens += needle.words(form, template);
            self.plant(needle, form);
        }
        self.total += tokens;
        let item = NewItem::plain(kind, narrow(tokens));
        match kind {
            Kind::User => {
                self.end_step();
                self.has_loop = false;
                self.users.push(item);
            }
            Kind::Assistant => {
                self.end_step();
                self.begin_step();
                self.reply.push(item);
            }
            _ => {
                if !self.has_step {
                    self.begin_step();
                }
                self.results.push(item);
            }
        }
        self.n_turns += 1;
    }

    /// Plants a fact in the turn that is being appended; a key that was used before is the same fact again.
    fn plant(&mut self, needle: Needle, form: Form) {
        let (index, is_new) = self.keys.insert_full(needle.key);
        let key = self.keys[index].clone();
        if is_new {
            self.facts.push(Fact { key, value: needle.value, category: needle.category });
        }
        let plant = u32::try_from(self.plants.len()).unwrap_or(u32::MAX);
        let quartile = u8::try_from(self.n_turns * 4 / self.length).unwrap_or(3);
        let item = self.first_item + narrow(self.n_turns);
        self.plants.push(Plant { fact: FactIx::try_from(index).unwrap_or(FactIx::MAX), item, form });
        self.probes.push(Probe { plant, quartile });
    }

    fn begin_step(&mut self) {
        if !self.has_loop {
            self.builder.begin_loop(&self.users);
            self.users.clear();
            self.has_loop = true;
        }
        self.has_step = true;
    }

    fn end_step(&mut self) {
        if !self.has_step {
            return;
        }
        let turn = i64::try_from(self.n_turns).unwrap_or(i64::MAX);
        let at_ms = turn.saturating_sub(1).saturating_mul(self.of.turn_ms);
        let output = self.reply.iter().map(|it| Tokens::from(it.sizes.raw)).sum();
        self.builder.step(at_ms, output, &self.reply, &self.results);
        self.reply.clear();
        self.results.clear();
        self.has_step = false;
    }

    fn finish(mut self, luck: Luck, trial: u64, budget_ratio: Decimal) -> Trial {
        self.end_step();
        if !self.users.is_empty() {
            self.builder.begin_loop(&self.users);
        }
        let mut trace = self.builder.finish();
        trace.facts = Some(FactPlane {
            facts: self.facts,
            plants: self.plants,
            probes: self.probes,
            categories: Arc::clone(&self.of.category_names),
            luck,
        });
        Trial {
            length: self.length,
            trial,
            trace,
            total_tokens: self.total,
            budget_tokens: budget_ratio.of(self.total),
        }
    }
}
