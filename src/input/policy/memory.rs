//! A memory beside the window, as it works.

pub mod bank;

pub use super::written::memory::{Facts, Part, Read, State, When};
use crate::quantity::Tokens;

/// A memory whose numbers are all in range.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Memory {
    /// When an item is looked through.
    pub from: When,
    /// The draws, in order.
    pub extract: Vec<Extract>,
    /// Where facts are kept.
    pub store: Store,
    /// How they come back.
    pub read: Read,
    /// In which states a fact answers.
    pub answers: Vec<State>,
    /// The service that holds it, where calls are made.
    pub service: Option<String>,
    /// Parts that lose nothing.
    pub oracle: Vec<Part>,
}

/// One draw.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extract {
    /// Which facts meet it.
    pub facts: Facts,
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
#[non_exhaustive]
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
