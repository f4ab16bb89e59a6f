//! The declared numbers of a model of memories: found and changed by their names.
//!
//! **Numbers are assumptions with names.** The numbers of a world that models memories come from one file of `assumptions/`;
//! `worlds/numbers.rs` finds each by its name, so that a scenario (`load.aging.numbers`), a model's own file, `--set aging.NAME` and
//! `--rows orderings` change the same thing. A world says which paths it has (`Registered::numbers`), which files its loads name
//! (`beside`), and which files that are named like recordings are loads of it (`of_file`). What a number rests on is data:
//! `assumptions/aging/fit.toml` is the objective, `benches/fit_aging.rs` finds the numbers from it, and a test holds the labels of figures
//! against it. What hits are worth is data, too: a thousand random draws (`tests/data/aging/draws.csv`, five of them replayed by a test),
//! and the claims of all sources (`docs/studies/claims.toml`). `worlds/aging/probes/` turns the question around: it takes the numbers under
//! which a user's own answers are most likely.

use crate::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

use ctxsim_base::diag::nearest;
use ctxsim_input::text::source::{Format, decode_table};

/// The largest value of a number.
const MOST: f64 = 1_000_000.0;

/// What a model's numbers are called, and which values they can have.
pub(super) struct Naming {
    /// The files of the model, by path.
    pub files: &'static [(&'static str, &'static str)],
    /// The one of them that declares the numbers.
    pub file: &'static str,
    /// The name of one of them.
    pub example: &'static str,
    /// The tables whose numbers are named without the table's name; all others are named with theirs.
    pub unnamed: &'static [&'static str],
    /// Returns whether a number is a probability.
    pub is_probability: fn(&str) -> bool,
}

impl Naming {
    /// Reads the numbers as they are declared.
    pub(super) fn read<T: DeserializeOwned + Default>(&self) -> T {
        let file = self.files.iter().find(|it| it.0 == self.file);
        file.and_then(|it| decode_table(ctxsim_assumptions::current(it.1), Format::Toml).ok())
            .unwrap_or_default()
    }

    /// Returns the numbers with some of them changed.
    ///
    /// # Errors
    /// Every name that nothing declares and every value that its number cannot have.
    pub(super) fn with<T: Serialize + DeserializeOwned + Default>(
        &self,
        numbers: &T,
        changes: &IndexMap<String, f64>,
    ) -> OrProblems<T> {
        let mut problems = Problems::default();
        let mut tree = tree(numbers);
        for (name, value) in changes {
            problems.within(name, |to| self.change(&mut tree, name, *value, to));
        }
        problems.into_result(serde_json::from_value(tree).unwrap_or_default())
    }

    /// Returns the names of all numbers.
    pub(super) fn names<T: Serialize>(&self, numbers: &T) -> Vec<String> {
        self.places(&tree(numbers)).into_keys().collect()
    }

    /// Returns a number by its name.
    pub(super) fn get<T: Serialize>(&self, numbers: &T, name: &str) -> Option<f64> {
        let tree = tree(numbers);
        tree.pointer(self.places(&tree).get(name)?)?.as_f64()
    }

    /// Returns the place of each number in the tree, by its name.
    fn places(&self, tree: &Value) -> IndexMap<String, String> {
        let mut places = IndexMap::new();
        self.collect(tree, ("", ""), &mut places);
        places
    }

    fn collect(&self, tree: &Value, (name, place): (&str, &str), places: &mut IndexMap<String, String>) {
        match tree {
            Value::Object(members) => {
                for (key, member) in members {
                    let is_named = !place.is_empty() || !self.unnamed.contains(&key.as_str());
                    let inner = match (name, is_named) {
                        (_, false) => String::new(),
                        ("", true) => key.clone(),
                        _ => format!("{name}.{key}"),
                    };
                    self.collect(member, (&inner, &format!("{place}/{}", key.replace('/', "~1"))), places);
                }
            }
            Value::Number(_) => {
                places.insert(name.to_owned(), place.to_owned());
            }
            _ => {}
        }
    }

    /// Changes a number of a tree.
    fn change(&self, tree: &mut Value, name: &str, value: f64, problems: &mut Problems) {
        let places = self.places(tree);
        let Some(place) = places.get(name).and_then(|it| tree.pointer_mut(it)) else {
            let help = match nearest(name, places.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use a name from `{}`, such as `{}`", self.file, self.example),
            };
            problems.push(Code("name-unknown"), format!("unknown number `{name}`"), help);
            return;
        };
        if !value.is_finite() || value < 0.0 {
            let message = format!("{value} is neither a size nor a share");
            problems.push(Code("number-range"), message, "write 0 or more");
        } else if place.is_u64() {
            if value.fract() == 0.0 && value <= MOST {
                *place = Value::from(value as u64);
            } else {
                let help = "write a whole number of at most 1,000,000";
                problems.push(Code("number-range"), format!("{value} is not a count"), help);
            }
        } else if (self.is_probability)(name) && value > 1.0 {
            let help = "write a number from 0.0 to 1.0";
            problems.push(Code("probability-range"), "a probability must be from 0 to 1", help);
        } else if value > MOST {
            problems.push(Code("number-range"), format!("{value} is too large"), "write at most 1,000,000");
        } else {
            *place = Value::from(value);
        }
    }
}

/// Reads the files of a folder, each with its name: what it is called without its ending.
pub(super) fn folder<T: DeserializeOwned>(
    files: &'static [(&'static str, &'static str)],
    folder: &str,
) -> impl Iterator<Item = (String, T)> {
    files.iter().filter_map(move |(path, text)| {
        let name = path.strip_prefix(folder)?.strip_suffix(".toml")?;
        Some((name.to_owned(), decode_table(ctxsim_assumptions::current(text), Format::Toml).ok()?))
    })
}

/// Adds the field that problems are in.
pub(super) fn within(field: &str, problems: Vec<Diagnostic>) -> impl Iterator<Item = Diagnostic> {
    problems.into_iter().map(move |mut it| {
        it.place.field = format!("{field}.{}", it.place.field);
        it
    })
}

/// Reports a name that nothing declares.
pub(super) fn named(kind: &str, name: &str, known: &[&str], problems: &mut Problems) {
    if known.contains(&name) {
        return;
    }
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of `{}`", known.join("`, `")),
    };
    problems.push(Code("name-unknown"), format!("unknown {kind} `{name}`"), help);
}

fn tree<T: Serialize>(numbers: &T) -> Value {
    serde_json::to_value(numbers).unwrap_or_default()
}
