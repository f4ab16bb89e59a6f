//! The plane of facts: what was said where, and what is asked about it later.

use std::sync::Arc;

use super::{ItemIx, When};
use crate::rng::{Cpython, Seed};

/// A fact's place in its plane.
pub type FactIx = u32;

/// Facts, where they are planted, and what is asked; only memory and retention are given it.
#[derive(Clone, Debug)]
pub struct FactPlane {
    /// The facts.
    pub facts: Vec<Fact>,
    /// Where they stand in the load, by item.
    pub plants: Vec<Plant>,
    /// Where in its item each plant stands, by plant, as far as that is known.
    pub places: Vec<Option<Share>>,
    /// Items that say again what a plant said, by plant.
    pub repeats: Vec<(u32, ItemIx)>,
    /// What is asked, in the order of the moments at which it is due.
    pub probes: Vec<Probe>,
    /// The categories that facts are of.
    pub categories: Arc<[String]>,
    /// Where the draws of this load's memory come from.
    pub draws: DrawSource,
}

/// Something worth remembering; its words are known to the load, which spells them when they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Which category it is of.
    pub category: u16,
}

/// A place at which a fact stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plant {
    /// The fact.
    pub fact: FactIx,
    /// The item that says it.
    pub item: ItemIx,
    /// How it is said.
    pub form: Form,
    /// Which version of the fact it says, from 1; a later one takes the place of the earlier.
    pub version: u16,
    /// By how much it changes a running total, where the fact is one.
    pub delta: i32,
}

/// A place in an item: behind so many of its equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many parts stand in front of it.
    pub behind: u32,
    /// How many there are.
    pub of: u32,
}

impl Share {
    /// Returns the token at which the place is in an item of so many.
    #[must_use]
    pub fn in_tokens(self, tokens: u32) -> u32 {
        let at = u64::from(tokens) * u64::from(self.behind) / u64::from(self.of.max(1));
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

/// How a fact is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Marked as a fact.
    Explicit,
    /// In passing.
    Implicit,
}

impl Plant {
    /// The first and only version of a fact.
    #[must_use]
    pub fn new(fact: FactIx, item: ItemIx, form: Form) -> Self {
        Self { fact, item, form, version: 1, delta: 0 }
    }
}

/// A question: what does this plant's fact say?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The plant that taught it.
    pub plant: u32,
    /// Which quarter of the load that was, from 0.
    pub quartile: u8,
    /// When it is asked; of moments with stages, after these.
    pub at: When,
}

/// Where the draws of a memory come from.
#[derive(Clone, Debug)]
pub enum DrawSource {
    /// Each draw from its own place: policies meet the same luck.
    Named(Seed),
    /// One after the other, as a `random.Random` gives them; each memory begins with a copy.
    Sequential(Box<Cpython>),
}
