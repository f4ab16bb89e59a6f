//! A well-formed memory and its only constructor.

pub mod bank;

use indexmap::IndexSet;

use crate::diag::{Problems, nearest};
use crate::quantity::Tokens;
use crate::spec::memory::{
    ExtractSpec, FactsSpec, FromSpec, MemorySpec, PartSpec, ReadSpec, StateSpec, StoreSpec,
};

/// How a fact stands at its probe.
pub type State = StateSpec;
/// A part of a memory.
pub type Part = PartSpec;

/// No store has more banks, so that a fact's places fit one word.
const BANKS_MAX: usize = 32;

/// A fact meets no more draws.
const DRAWS_MAX: usize = 16;

/// A memory whose numbers are all in range.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// When an item is looked through.
    pub from: FromSpec,
    /// The draws, in order.
    pub extract: Vec<Extract>,
    /// Where facts are kept.
    pub store: Store,
    /// How they come back.
    pub read: ReadSpec,
    /// In which states a fact answers.
    pub answers: Vec<State>,
    /// Parts that lose nothing.
    pub oracle: Vec<Part>,
}

/// One draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Extract {
    /// Which facts meet it.
    pub facts: FactsSpec,
    /// The bar that the draw is held against.
    pub bar: Bar,
    /// The bank or file that it goes to, where it is not that of the fact's category.
    pub into: Option<String>,
}

/// How a draw from 0 to 1 decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// Kept below it.
    Below(f64),
    /// Kept above it.
    Above(f64),
}

/// Where facts are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The banks that there are; files come as they are needed.
    pub banks: Vec<String>,
    /// Whether there is a bank for every category there is.
    pub is_open: bool,
    /// Whether facts go to the bank that is called after their category.
    pub is_by_category: bool,
    /// How many facts a bank holds.
    pub capacity: Option<u64>,
    /// What each fact takes in the prompt.
    pub tokens_per_fact: Tokens,
}

impl Store {
    /// Returns the banks that a policy declares for categories; facts of others go to the last.
    #[must_use]
    pub fn declared(&self) -> Option<&[String]> {
        (self.is_by_category && !self.is_open).then_some(&self.banks)
    }
}

impl Memory {
    /// Checks a memory.
    #[must_use]
    pub fn new(spec: &MemorySpec, problems: &mut Problems) -> Self {
        let store = problems.within("store", |problems| store(&spec.store, problems));
        if spec.write.extract.len() > DRAWS_MAX {
            problems.within("write.extract", |problems| {
                let help = format!("write at most {DRAWS_MAX}");
                problems.push(
                    "extract-too-many",
                    format!("{} draws are too many", spec.write.extract.len()),
                    help,
                );
            });
        }
        if spec.write.extract.is_empty() {
            problems.within("write.extract", |problems| {
                problems.push("memory-never-writes", "nothing is ever written", "write at least one draw");
            });
        }
        if spec.read == ReadSpec::Last(0) {
            problems.within("read.last", |problems| {
                problems.push("read-nothing", "nothing is ever read", "write `last(1)` or more");
            });
        }
        let extract = spec.write.extract.iter().enumerate().map(|(index, it)| {
            problems.within(format_args!("write.extract.{index}"), |problems| {
                check_file(it, &spec.write.extract[..index], &store, problems);
                extract(it, &store, problems)
            })
        });
        let extract = extract.collect();
        let usual = [State::Exact, State::Summarised, State::Recoverable];
        Self {
            from: spec.write.from,
            extract,
            store,
            read: spec.read,
            answers: if spec.answers.is_empty() { usual.to_vec() } else { spec.answers.clone() },
            oracle: spec.oracle.clone(),
        }
    }
}

/// Checks where facts are kept.
fn store(spec: &StoreSpec, problems: &mut Problems) -> Store {
    let (field, banks, capacity, tokens_per_fact) = match spec {
        StoreSpec::Entries { tokens_per_fact, capacity } => {
            ("entries", vec!["entries".to_owned()], *capacity, *tokens_per_fact)
        }
        StoreSpec::Banks { categories, capacity, tokens_per_fact } => {
            ("banks", categories.clone(), Some(*capacity), *tokens_per_fact)
        }
        StoreSpec::Files { tokens_per_fact } => ("files", Vec::new(), None, *tokens_per_fact),
    };
    problems.within(field, |problems| {
        if capacity == Some(0) {
            problems.within("capacity", |problems| {
                problems.push(
                    "capacity-zero",
                    "a store that holds nothing remembers nothing",
                    "write 1 or more",
                );
            });
        }
        problems.within("tokens_per_fact", |problems| {
            if tokens_per_fact > 1_000_000 {
                problems.push("size-too-large", "a fact is not that long", "write at most 1000000");
            }
        });
        problems.within("categories", |problems| {
            let mut seen = IndexSet::new();
            if field == "banks" && banks.is_empty() {
                problems.push("banks-empty", "there is no bank", "name at least one category");
            }
            if banks.len() > BANKS_MAX {
                problems.push(
                    "banks-too-many",
                    format!("{} banks are too many", banks.len()),
                    format!("name at most {BANKS_MAX}"),
                );
            }
            for (index, name) in banks.iter().enumerate() {
                let earlier = banks[..index].iter().map(String::as_str);
                problems.within(index, |problems| bank::check(name, earlier, problems));
            }
            for name in banks.iter().filter(|it| !seen.insert(it.as_str())) {
                problems.push("bank-duplicate", format!("two banks are called `{name}`"), "name each once");
            }
        });
    });
    Store { banks, is_open: field == "files", is_by_category: field != "entries", capacity, tokens_per_fact }
}

/// Checks the file that a draw's facts go to, where files come as they are needed.
fn check_file(spec: &ExtractSpec, earlier: &[ExtractSpec], store: &Store, problems: &mut Problems) {
    if let Some(name) = spec.into.as_ref().filter(|_| store.is_open) {
        let earlier = earlier.iter().filter_map(|it| it.into.as_deref());
        problems.within("into", |problems| bank::check(name, earlier, problems));
    }
}

/// Checks one draw.
fn extract(spec: &ExtractSpec, store: &Store, problems: &mut Problems) -> Extract {
    let passes = spec.passes.unwrap_or(1);
    for (field, value) in [("p", spec.p), ("miss", spec.miss)] {
        problems.within(field, |problems| {
            if value.is_some_and(|it| !(0.0..=1.0).contains(&it)) {
                problems.push(
                    "probability-range",
                    "a probability is from 0 to 1",
                    "write a number from 0.0 to 1.0",
                );
            }
        });
    }
    if spec.p.is_some() == spec.miss.is_some() {
        problems.push(
            "extract-bar",
            "a draw has either `p` or `miss`",
            "write `p: 0.85` for what is kept, or `miss: 0.15` for what is overlooked",
        );
    }
    if passes == 0 || (spec.passes.is_some() && spec.miss.is_none()) {
        problems.within("passes", |problems| {
            problems.push(
                "extract-passes",
                "passes are counted from 1, and go with `miss`",
                "leave `passes` out, or write `miss: 0.15, passes: 2`",
            );
        });
    }
    if let Some(name) = spec.into.as_ref().filter(|it| !store.is_open && !store.banks.contains(it)) {
        problems.within("into", |problems| {
            let banks = || store.banks.iter().map(String::as_str);
            let help = match nearest(name, banks()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write one of `{}`", banks().collect::<Vec<_>>().join("`, `")),
            };
            problems.push("bank-unknown", format!("the store has no bank `{name}`"), help);
        });
    }
    let bar = match (spec.p, spec.miss) {
        (Some(p), _) => Bar::Below(p),
        (None, miss) => Bar::Above(miss.unwrap_or(0.0).powi(i32::from(passes))),
    };
    Extract { facts: spec.facts, bar, into: spec.into.clone() }
}
