//! Synthetic conversations with planted facts: one for each length and trial, generated on demand.

mod filler;
mod trial;

use crate::prelude::*;

use ctxsim_base::quantity::Decimal;
use ctxsim_base::rng::{Cpython, Draw, StrHash};
use ctxsim_input::scenario::{Conversations, FactValues, Random};
use ctxsim_timeline::facts::{DrawSource, FactForm, FactIx};
use ctxsim_timeline::scripted::{self, narrow};
use ctxsim_timeline::{Kind, NewItem};
use trial::TrialWriter;

pub use trial::{Dialogue, MessageStep, TrialMessage};

/// A checked load of conversations.
#[derive(Clone, Debug)]
pub struct ConversationLoad {
    pub(super) scenario: Scenario,
    pub(super) lengths: Vec<u64>,
    pub(super) trials: u64,
    needle_density: NumberShare,
    implicit_ratio: f64,
    budget_ratio: NumberShare,
    message_ms: i64,
    chars_per_token: Decimal,
    n_domains: u64,
    categories: Vec<Category>,
    pub(super) category_names: Arc<[String]>,
    source: TrialRandom,
}

/// The random generator.
#[derive(Clone, Copy, Debug)]
enum TrialRandom {
    Named(Seed),
    Cpython(u64, StrHash),
}

#[derive(Clone, Copy, Debug)]
enum NumberShare {
    /// Exact, rounded down.
    Exact(Decimal),
    /// As CPython's `int(number * share)`: 0.29 of 100 is 28.
    Float(f64),
}

impl NumberShare {
    fn new(share: f64, random: Random) -> Self {
        match random {
            Random::Named => Self::Exact(Decimal::from_f64(share).unwrap_or_default()),
            Random::Cpython => Self::Float(share),
        }
    }

    fn of(self, number: u64) -> u64 {
        match self {
            Self::Exact(share) => share.share_of(number),
            Self::Float(share) => (number as f64 * share) as u64,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactInWords {
    /// Its key, unique in its conversation.
    pub key: String,
    pub value: String,
}

impl ConversationLoad {
    /// Prepares a scenario's load of conversations.
    pub fn new(scenario: &Scenario, spec: &Conversations) -> Self {
        let source = match spec.random {
            Random::Named => TrialRandom::Named(Seed(scenario.seed)),
            Random::Cpython => {
                TrialRandom::Cpython(scenario.seed, StrHash::new(spec.hash_seed.unwrap_or_default()))
            }
        };
        Self {
            scenario: scenario.clone(),
            lengths: spec.lengths.clone(),
            trials: spec.trials,
            needle_density: NumberShare::new(spec.needle_density, spec.random),
            implicit_ratio: spec.implicit_ratio,
            budget_ratio: NumberShare::new(spec.context_budget_ratio, spec.random),
            message_ms: saturated(spec.message_seconds.saturating_mul(1_000)),
            chars_per_token: scripted::begin_timeline(scenario).finish().chars_per_token,
            n_domains: spec.domains.len() as u64,
            categories: spec.categories.iter().map(|(_, keys)| Category::new(keys)).collect(),
            category_names: spec.categories.keys().cloned().collect(),
            source,
        }
    }

    /// Returns how many conversations there are.
    pub fn n_trials(&self) -> usize {
        saturated::<usize>(self.trials).saturating_mul(self.lengths.len())
    }

    /// Returns a conversation's index among all, from its length and its index within that length.
    pub fn index_of(&self, length: u64, trial: u64) -> Option<usize> {
        let nth = self.lengths.iter().position(|it| *it == length)?;
        let trials = usize::try_from(self.trials).ok()?;
        let trial = usize::try_from(trial).ok().filter(|it| *it < trials)?;
        nth.checked_mul(trials)?.checked_add(trial)
    }

    /// Returns the number of characters a token has, where a policy counts in characters.
    pub fn chars_per_token(&self) -> Decimal {
        self.chars_per_token
    }

    /// Generates one conversation; all of one length precede all of the next.
    pub fn trial(&self, index: usize) -> Dialogue {
        let index = index as u64;
        let (nth, trial) = (index / self.trials, index % self.trials);
        let length = usize::try_from(nth).ok().and_then(|it| self.lengths.get(it)).copied().unwrap_or(1);
        let n_needles = self.needle_density.of(length).max(1);
        let mut writer = TrialWriter::new(self, length, n_needles);
        let draws = match self.source {
            TrialRandom::Named(seed) => {
                self.named(seed.child("conversation", length).child("trial", trial), n_needles, &mut writer)
            }
            TrialRandom::Cpython(seed, hash) => {
                let seed = u128::from(seed) + u128::from(length) * 1_000 + u128::from(trial);
                self.sequential(Cpython::new(seed), hash, n_needles, &mut writer)
            }
        };
        writer.finish(draws, trial, self.budget_ratio)
    }

    /// Draws a conversation from named streams: each message depends only on its own index.
    fn named(&self, seed: Seed, n_needles: u64, writer: &mut TrialWriter) -> DrawSource {
        let mut places = seed.stream("places", 0).draw();
        let (mut messages, mut needles) = (seed.stream("turn", 0), seed.stream("needle", 0));
        let (length, mut left) = (writer.length(), n_needles);
        for index in 0..length {
            let (kind, mut words) = filler::drawn(&mut messages.draw());
            if left > 0 && places.next_below(length - index) < left {
                left -= 1;
                let mut dice = needles.draw();
                let form = if dice.next_unit() < self.implicit_ratio {
                    FactForm::Implicit
                } else {
                    FactForm::Explicit
                };
                let needle = Needle::drawn(&self.categories, &mut dice, index);
                words += needle.words(&self.categories, form, dice.next_below(TEMPLATES));
                writer.plant(needle, form);
            }
            writer.message(kind, words);
        }
        DrawSource::Named(seed)
    }

    /// Draws a conversation as the published Python benchmark does, including every alternative of every
    /// message.
    fn sequential(
        &self,
        mut dice: Cpython,
        hash: StrHash,
        n_needles: u64,
        writer: &mut TrialWriter,
    ) -> DrawSource {
        dice.below(self.n_domains);
        let length = writer.length();
        let mut is_place = vec![false; usize::try_from(length).unwrap_or(0)];
        for place in dice.sample(length, n_needles) {
            is_place[usize::try_from(place).unwrap_or(0)] = true;
        }
        for (index, has_needle) in (0..length).zip(is_place) {
            let (kind, mut words) = filler::sequential(&mut dice);
            if has_needle {
                let form =
                    if dice.unit() < self.implicit_ratio { FactForm::Implicit } else { FactForm::Explicit };
                let needle = Needle::sequential(&self.categories, &mut dice, index);
                let suffix = needle.suffix(&self.categories);
                let template = match form {
                    FactForm::Explicit => 0,
                    FactForm::Implicit => {
                        let key = with_digest(needle.name(&self.categories), suffix);
                        hash.hash(&key).rem_euclid(TEMPLATES.cast_signed()).cast_unsigned()
                    }
                };
                words += needle.words(&self.categories, form, template);
                writer.plant_again(needle, suffix, form);
            }
            writer.message(kind, words);
        }
        DrawSource::Sequential(Box::new(Cpython::new(dice.between(0, 1 << 31).into())))
    }

    /// Spells a fact of one of its conversations, or returns nothing if there is no such fact.
    pub fn spell(&self, trial: &Dialogue, fact: FactIx) -> Option<FactInWords> {
        let needle = trial.needle(fact)?;
        let name = needle.name(&self.categories);
        let key = match self.source {
            TrialRandom::Named(_) => format!("{name}_{}", needle.message),
            TrialRandom::Cpython(..) => with_digest(name, needle.suffix(&self.categories)),
        };
        Some(FactInWords { key, value: needle.value(&self.categories) })
    }

    /// Makes the timeline of one of its conversations.
    pub fn timeline(&self, trial: &Dialogue) -> Timeline {
        let mut builder = scripted::begin_timeline(&self.scenario);
        let item = |message: &TrialMessage| NewItem::plain(message.kind, message.tokens);
        for step in &trial.steps {
            let [users, reply, results] =
                step.messages(trial).map(|it| it.iter().map(item).collect::<Vec<_>>());
            if step.begins_turn {
                builder.begin_turn(&users);
            }
            if step.has_request {
                let output = reply.iter().map(|it| Tokens::from(it.sizes.raw)).sum();
                builder.step(step.at_ms(trial), output, &reply, &results);
            }
        }
        let mut timeline = builder.finish();
        timeline.facts = Some(trial.facts.clone());
        timeline
    }
}

/// Returns a key as the published script has it: with its digest in hexadecimal digits.
fn with_digest(name: &str, digest: [u8; 3]) -> String {
    let mut key = String::with_capacity(name.len() + 1 + 2 * digest.len());
    key.push_str(name);
    key.push('_');
    let digits = digest.into_iter().flat_map(|it| [it >> 4, it & 15]);
    key.extend(digits.filter_map(|it| char::from_digit(u32::from(it), 16)));
    key
}

/// Returns a message of so many words.
fn message(kind: Kind, words: u64) -> TrialMessage {
    TrialMessage { kind, tokens: narrow(words) }
}

/// A source of draws.
trait Dice {
    /// Draws a number below a count.
    fn below(&mut self, count: u64) -> u64;
    /// Draws a whole number between two, both included.
    fn between(&mut self, first: u64, last: u64) -> u64;
    /// Draws a number between two.
    fn uniform(&mut self, from: f64, to: f64) -> f64;
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
}

impl Dice for Draw {
    #[inline]
    fn below(&mut self, count: u64) -> u64 {
        self.next_below(count)
    }

    #[inline]
    fn between(&mut self, first: u64, last: u64) -> u64 {
        let reach = last.saturating_sub(first);
        let drawn = match reach.checked_add(1) {
            Some(count) => self.next_below(count),
            None => self.next_bits(),
        };
        first + drawn
    }

    #[inline]
    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.next_unit()
    }
}

/// Draws one of several alternatives.
#[inline]
fn choice(count: usize, dice: &mut impl Dice) -> usize {
    let drawn = dice.below(count as u64);
    usize::try_from(drawn).unwrap_or(0)
}

/// In how many ways a fact is said in passing.
const TEMPLATES: u64 = 5;

/// Words beside the value of each way of saying a fact in passing, after the Context Decay Benchmark's templates.
const IMPLICIT_WORDS: [u64; 5] = [10, 9, 7, 6, 8];
/// Words beside the value of a fact that is marked: the mark and the key.
const EXPLICIT_WORDS: u64 = 2;

/// The keys of one category.
#[derive(Clone, Debug)]
struct Category(Vec<NeedleKey>);

/// A key with its values.
#[derive(Clone, Debug)]
struct NeedleKey {
    name: String,
    spec: FactValues,
    /// The number of words a value has: by choice, or one number for all.
    words: Vec<u64>,
}

/// A fact about to be planted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Needle {
    /// The message that says it.
    message: u64,
    category: u16,
    /// Its key, in its category.
    key: u32,
    value: NeedleValue,
}

/// A drawn value, not yet written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NeedleValue {
    Whole(u64),
    Real(f64),
    Choice(usize),
}

impl Category {
    /// Takes the keys of a category.
    fn new(keys: &IndexMap<String, FactValues>) -> Self {
        let key = |(name, spec): (&String, &FactValues)| {
            let count = |value| words(&text(spec, value));
            let words = match spec {
                FactValues::Between { first, .. } => vec![count(NeedleValue::Whole(*first))],
                FactValues::Uniform { from, .. } => vec![count(NeedleValue::Real(*from))],
                FactValues::OneOf(choices) => choices.iter().map(|it| words(it)).collect(),
            };
            NeedleKey { name: name.clone(), spec: spec.clone(), words }
        };
        Self(keys.iter().map(key).collect())
    }
}

impl Needle {
    /// Draws a fact.
    fn drawn(categories: &[Category], dice: &mut impl Dice, message: u64) -> Self {
        let category = choice(categories.len(), dice);
        let keys = &categories[category].0;
        let key = choice(keys.len(), dice);
        Self::new(category, key, value(&keys[key].spec, dice), message)
    }

    /// Draws a value for every key of every category before the fact is drawn.
    fn sequential(categories: &[Category], dice: &mut impl Dice, message: u64) -> Self {
        let mut drawn = Vec::with_capacity(categories.iter().map(|it| it.0.len()).sum());
        for keys in categories {
            drawn.extend(keys.0.iter().map(|it| value(&it.spec, dice)));
        }
        let category = choice(categories.len(), dice);
        let key = choice(categories[category].0.len(), dice);
        let before: usize = categories[..category].iter().map(|it| it.0.len()).sum();
        Self::new(category, key, drawn[before + key], message)
    }

    fn new(category: usize, key: usize, value: NeedleValue, message: u64) -> Self {
        let category = ix(category);
        Self { message, category, key: ix(key), value }
    }

    /// Returns the number of words it takes to say it.
    fn words(&self, categories: &[Category], form: FactForm, template: u64) -> u64 {
        let words = &self.of(categories).words;
        let value = match self.value {
            NeedleValue::Choice(index) => words.get(index),
            NeedleValue::Whole(_) | NeedleValue::Real(_) => words.first(),
        };
        let rest = match form {
            FactForm::Explicit => EXPLICIT_WORDS,
            FactForm::Implicit => {
                IMPLICIT_WORDS[usize::try_from(template).unwrap_or(0) % IMPLICIT_WORDS.len()]
            }
        };
        value.copied().unwrap_or(0) + rest
    }

    /// Returns the name that its key begins with.
    fn name<'a>(&self, categories: &'a [Category]) -> &'a str {
        &self.of(categories).name
    }

    /// Spells its value.
    fn value(&self, categories: &[Category]) -> String {
        text(&self.of(categories).spec, self.value)
    }

    /// Returns the suffix by which the published script distinguishes facts of one name: six digits of a digest.
    fn suffix(&self, categories: &[Category]) -> [u8; 3] {
        let mut digest = md5::Context::new();
        digest.consume(self.message.to_string());
        digest.consume("_");
        digest.consume(self.name(categories));
        let [first, second, third, ..] = digest.finalize().0;
        [first, second, third]
    }

    fn of<'a>(&self, categories: &'a [Category]) -> &'a NeedleKey {
        &categories[usize::from(self.category)].0[self.key as usize]
    }
}

/// Counts words.
fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// Draws a value.
#[inline]
fn value(spec: &FactValues, dice: &mut impl Dice) -> NeedleValue {
    match spec {
        FactValues::Between { first, last, .. } => NeedleValue::Whole(dice.between(*first, *last)),
        FactValues::Uniform { from, to, .. } => NeedleValue::Real(dice.uniform(*from, *to)),
        FactValues::OneOf(choices) => NeedleValue::Choice(choice(choices.len(), dice)),
    }
}

/// Writes a value.
fn text(spec: &FactValues, value: NeedleValue) -> String {
    match (spec, value) {
        (FactValues::Between { prefix, .. }, NeedleValue::Whole(number)) => format!("{prefix}{number}"),
        (FactValues::Uniform { decimals, suffix, .. }, NeedleValue::Real(number)) => {
            format!("{number:.places$}{suffix}", places = usize::from(*decimals))
        }
        (FactValues::OneOf(choices), NeedleValue::Choice(index)) => {
            choices.get(index).cloned().unwrap_or_default()
        }
        _ => String::new(),
    }
}
