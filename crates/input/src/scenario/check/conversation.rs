//! The rules of a load of conversations.

use crate::prelude::*;

use crate::policy::memory::bank;
use crate::scenario::{Conversations, FactValues, Random};

/// The most turns of a conversation.
const MESSAGES_MAX: u64 = 1_000_000;
/// The most lengths.
const LENGTHS_MAX: usize = 1_000;
/// The most categories, so that each can have its own file.
const CATEGORIES_MAX: usize = 32;
/// The longest time between two turns.
const MESSAGE_SECONDS_MAX: u64 = 31_536_000;

/// Checks a load of conversations.
pub(super) fn check(spec: &Conversations, problems: &mut Problems) {
    check_lengths(spec, problems);
    problems.within("needle_density", |problems| share(spec.needle_density, problems));
    problems.within("context_budget_ratio", |problems| share(spec.context_budget_ratio, problems));
    problems.check_share("implicit_ratio", spec.implicit_ratio);
    if spec.message_seconds > MESSAGE_SECONDS_MAX {
        let (message, help) = ("messages are more than a year apart", "write at most 31536000");
        problems.push_at(Code("message-seconds-range"), "message_seconds", message, help);
    }
    match (spec.random, spec.hash_seed) {
        (Random::Cpython, None) => {
            let message = "`cpython` needs a hash seed for Python's strings";
            problems.push(Code("hash-seed-missing"), message, "add `hash_seed: 0`, or another number");
        }
        (Random::Named, Some(_)) => {
            let message = "`hash_seed` has no effect: named streams do not hash strings";
            let help = "remove it, or write `random: cpython`";
            problems.push_at(Code("hash-seed-stray"), "hash_seed", message, help);
        }
        _ => {}
    }
    problems.within("domains", |problems| {
        if spec.domains.is_empty() {
            problems.push(Code("domains-empty"), "there are no domains", "name at least one domain");
        }
        let is_word = |it: &String| it.split_whitespace().count() == 1;
        for (index, _) in spec.domains.iter().enumerate().filter(|(_, it)| !is_word(it)) {
            let help = "join its words with `_`";
            problems.push_at(Code("domain-words"), index, "a domain must be one word", help);
        }
    });
    problems.within("categories", |problems| check_categories(&spec.categories, problems));
}

/// Checks the lengths of conversations.
fn check_lengths(spec: &Conversations, problems: &mut Problems) {
    problems.within("lengths", |problems| {
        if spec.lengths.is_empty() || spec.lengths.len() > LENGTHS_MAX {
            let help = format!("write 1 to {LENGTHS_MAX} lengths");
            problems.push(Code("lengths-empty"), format!("there are {} lengths", spec.lengths.len()), help);
        }
        for (index, length) in spec.lengths.iter().enumerate() {
            problems.within(index, |problems| {
                let help = format!("write 1 to {MESSAGES_MAX} messages");
                if !(1..=MESSAGES_MAX).contains(length) {
                    let message = format!("a conversation cannot have {length} messages");
                    problems.push(Code("length-range"), message, help);
                } else if spec.lengths[..index].contains(length) {
                    let help = "list it once";
                    problems.push(Code("length-duplicate"), format!("{length} is listed twice"), help);
                }
            });
        }
    });
    problems.within("trials", |problems| super::check_trials(spec.trials, problems));
}

/// Checks a share above 0 and up to 1.
fn share(value: f64, problems: &mut Problems) {
    if !(value > 0.0 && value <= 1.0) {
        let message = format!("{value} is not a share");
        problems.push(Code("share-range"), message, "write a number above 0.0 and at most 1.0");
    } else if ctxsim_base::quantity::Decimal::from_f64(value).is_none() {
        problems.push(Code("share-digits"), "the number has too many digits", "write at most 18 digits");
    }
}

/// Checks the facts.
fn check_categories(categories: &IndexMap<String, IndexMap<String, FactValues>>, problems: &mut Problems) {
    if categories.is_empty() || categories.len() > CATEGORIES_MAX {
        let help = format!("write 1 to {CATEGORIES_MAX} categories");
        problems.push(Code("categories-empty"), format!("there are {} categories", categories.len()), help);
    }
    let mut seen: IndexMap<&str, &str> = IndexMap::new();
    for (index, (category, keys)) in categories.iter().enumerate() {
        problems.within(category, |problems| {
            bank::check(category, categories.keys().take(index).map(String::as_str), problems);
            if keys.keys().any(|it| it.trim().is_empty()) {
                problems.push(Code("needle-name"), "the fact has no name", "give each key a name");
            }
            if keys.is_empty() {
                let help = "add at least one key with its values";
                problems.push(Code("category-empty"), "the category has no keys", help);
            }
            for (key, value) in keys {
                problems.within(key, |problems| {
                    if let Some(other) = seen.insert(key, category) {
                        let message = format!(
                            "two needles have the key `{key}`: one in `{other}`, one in `{category}`"
                        );
                        problems.push(Code("needle-duplicate"), message, "use each key once");
                    }
                    check_value(value, problems);
                });
            }
        });
    }
}

/// Checks the values of a key.
fn check_value(value: &FactValues, problems: &mut Problems) {
    match value {
        FactValues::Between { first, last, .. } if first > last => {
            let message = format!("`first` ({first}) is more than `last` ({last})");
            let help = "write the smaller number as `first`";
            problems.push_at(Code("value-range"), "between", message, help);
        }
        FactValues::Uniform { from, to, decimals, .. } => problems.within("uniform", |problems| {
            if !(from.is_finite() && to.is_finite() && from <= to) {
                let help = "write the smaller number as `from`";
                problems.push(Code("value-range"), format!("`from` ({from}) is not below `to` ({to})"), help);
            }
            if *decimals > 15 {
                let message = format!("too many decimals: {decimals}");
                let help = "write at most 15";
                problems.push_at(Code("value-decimals"), "decimals", message, help);
            }
        }),
        FactValues::OneOf(choices) if choices.is_empty() => {
            let help = "write at least one";
            problems.push_at(Code("value-none"), "one_of", "there are no values to choose from", help);
        }
        _ => {}
    }
}
