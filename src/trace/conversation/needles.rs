//! Planted facts: a key with a suffix of its own, a value, and the words that saying it takes.

use indexmap::IndexMap;

use super::Dice;
use crate::spec::conversation::ValueSpec;
use crate::trace::facts::Form;

/// In how many ways a fact is said in passing.
pub(super) const TEMPLATES: u64 = 5;

/// Words beside the value of each way of saying a fact in passing, after the Context Decay Benchmark's templates.
const IMPLICIT_WORDS: [u64; 5] = [10, 9, 7, 6, 8];

/// Words beside the value of a fact that is marked: the mark and the key.
const EXPLICIT_WORDS: u64 = 2;

/// The keys of one category.
#[derive(Clone, Debug)]
pub(super) struct Category(Vec<(String, ValueSpec)>);

/// A fact about to be planted.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    /// Its key.
    pub(super) key: String,
    /// Its value.
    pub(super) value: String,
    /// Its category.
    pub(super) category: u16,
}

/// A drawn value, not yet written.
#[derive(Clone, Copy, Debug)]
enum Value {
    Whole(u64),
    Real(f64),
    Choice(usize),
}

impl Category {
    /// Takes the keys of a category.
    pub(super) fn new(keys: &IndexMap<String, ValueSpec>) -> Self {
        Self(keys.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

impl Needle {
    /// Draws a fact.
    pub(super) fn drawn(categories: &[Category], dice: &mut impl Dice, turn: u64) -> Self {
        let category = choice(categories.len(), dice);
        let keys = &categories[category].0;
        let key = choice(keys.len(), dice);
        let value = value(&keys[key].1, dice);
        Self::new(category, &keys[key], value, turn)
    }

    /// Draws a value for every key of every category before the fact is drawn.
    pub(super) fn sequential(categories: &[Category], dice: &mut impl Dice, turn: u64) -> Self {
        let drawn: Vec<Vec<Value>> =
            categories.iter().map(|it| it.0.iter().map(|(_, spec)| value(spec, dice)).collect()).collect();
        let category = choice(categories.len(), dice);
        let keys = &categories[category].0;
        let key = choice(keys.len(), dice);
        Self::new(category, &keys[key], drawn[category][key], turn)
    }

    fn new(category: usize, (key, spec): &(String, ValueSpec), value: Value, turn: u64) -> Self {
        let digest = md5::compute(format!("{turn}_{key}").as_bytes());
        let [first, second, third, ..] = digest.0;
        Self {
            key: format!("{key}_{first:02x}{second:02x}{third:02x}"),
            value: text(spec, value),
            category: u16::try_from(category).unwrap_or(u16::MAX),
        }
    }

    /// Returns how many words it takes to say it.
    pub(super) fn words(&self, form: Form, template: u64) -> u64 {
        let value = u64::try_from(self.value.split_whitespace().count()).unwrap_or(u64::MAX);
        let rest = match form {
            Form::Explicit => EXPLICIT_WORDS,
            Form::Implicit => IMPLICIT_WORDS[usize::try_from(template).unwrap_or(0) % IMPLICIT_WORDS.len()],
        };
        value + rest
    }
}

/// Draws one of so many.
fn choice(count: usize, dice: &mut impl Dice) -> usize {
    let drawn = dice.below(u64::try_from(count).unwrap_or(u64::MAX));
    usize::try_from(drawn).unwrap_or(0)
}

/// Draws a value.
fn value(spec: &ValueSpec, dice: &mut impl Dice) -> Value {
    match spec {
        ValueSpec::Between { first, last, .. } => Value::Whole(dice.between(*first, *last)),
        ValueSpec::Uniform { from, to, .. } => Value::Real(dice.uniform(*from, *to)),
        ValueSpec::OneOf(choices) => Value::Choice(choice(choices.len(), dice)),
    }
}

/// Writes a value.
fn text(spec: &ValueSpec, value: Value) -> String {
    match (spec, value) {
        (ValueSpec::Between { prefix, .. }, Value::Whole(number)) => format!("{prefix}{number}"),
        (ValueSpec::Uniform { decimals, suffix, .. }, Value::Real(number)) => {
            format!("{number:.places$}{suffix}", places = usize::from(*decimals))
        }
        (ValueSpec::OneOf(choices), Value::Choice(index)) => choices.get(index).cloned().unwrap_or_default(),
        _ => String::new(),
    }
}
