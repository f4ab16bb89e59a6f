//! Planted facts: drawn as numbers, spelled only when someone asks for their words.

use indexmap::IndexMap;

use super::dice::{Dice, choice};
use ctxsim_base::quantity::ix;
use ctxsim_input::scenario::FactValues;
use ctxsim_timeline::facts::FactForm;

/// In how many ways a fact is said in passing.
pub(super) const TEMPLATES: u64 = 5;

/// Words beside the value of each way of saying a fact in passing, after the Context Decay Benchmark's templates.
const IMPLICIT_WORDS: [u64; 5] = [10, 9, 7, 6, 8];
/// Words beside the value of a fact that is marked: the mark and the key.
const EXPLICIT_WORDS: u64 = 2;

/// The keys of one category.
#[derive(Clone, Debug)]
pub(super) struct Category(Vec<NeedleKey>);

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
pub(super) struct Needle {
    /// The message that says it.
    pub(super) message: u64,
    pub(super) category: u16,
    /// Its key, in its category.
    pub(super) key: u32,
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
    pub(super) fn new(keys: &IndexMap<String, FactValues>) -> Self {
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
    pub(super) fn drawn(categories: &[Category], dice: &mut impl Dice, message: u64) -> Self {
        let category = choice(categories.len(), dice);
        let keys = &categories[category].0;
        let key = choice(keys.len(), dice);
        Self::new(category, key, value(&keys[key].spec, dice), message)
    }

    /// Draws a value for every key of every category before the fact is drawn.
    pub(super) fn sequential(categories: &[Category], dice: &mut impl Dice, message: u64) -> Self {
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
    pub(super) fn words(&self, categories: &[Category], form: FactForm, template: u64) -> u64 {
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
    pub(super) fn name<'a>(&self, categories: &'a [Category]) -> &'a str {
        &self.of(categories).name
    }

    /// Spells its value.
    pub(super) fn value(&self, categories: &[Category]) -> String {
        text(&self.of(categories).spec, self.value)
    }

    /// Returns the suffix by which the published script distinguishes facts of one name: six digits of a digest.
    pub(super) fn suffix(&self, categories: &[Category]) -> [u8; 3] {
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
