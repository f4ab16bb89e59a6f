//! The fact plane: what was stated where, and later questions about it.

use crate::prelude::*;

use super::{ItemIx, When};
use ctxsim_base::rng::{Cpython, Seed};

/// A fact's index in its plane.
pub type FactIx = u32;

/// Planted facts, if any, and the questions about them; only memory and retention have access.
#[derive(Clone, Debug)]
pub struct FactPlane {
    pub facts: Vec<Fact>,
    /// Where they are in the load, by item.
    pub plants: Vec<Plant>,
    /// The position of each plant within its item, if known.
    pub places: Vec<Option<ItemShare>>,
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
    pub category: u16,
}

/// A place where a fact is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plant {
    pub fact: FactIx,
    /// The item that states it.
    pub item: ItemIx,
    /// How it is stated.
    pub form: FactForm,
    /// The version of the fact, from 1; a later one replaces the earlier.
    pub version: u16,
    /// The change of a running total, if the fact is one.
    pub delta: i32,
}

/// A place in an item: after so many of its equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemShare {
    /// How many parts are before it.
    pub behind: u32,
    /// How many there are.
    pub of: u32,
}

impl ItemShare {
    /// Returns the token at which the place is, in an item of a given size.
    pub fn in_tokens(self, tokens: u32) -> u32 {
        saturated(u64::from(tokens) * u64::from(self.behind) / u64::from(self.of.max(1)))
    }
}

/// How a fact is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactForm {
    /// Explicitly: marked as a fact.
    Explicit,
    /// Implicitly: said in passing.
    Implicit,
}

impl Plant {
    /// The first and only version of a fact.
    pub fn new(fact: FactIx, item: ItemIx, form: FactForm) -> Self {
        Self { fact, item, form, version: 1, delta: 0 }
    }
}

/// A question about a plant's fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The plant that stated it.
    pub plant: u32,
    /// The quarter of the load in which it was stated, from 0.
    pub quartile: u8,
    /// When it is asked; after the stages of that moment.
    pub at: When,
}

/// The random generator of a memory.
#[derive(Clone, Debug)]
pub enum DrawSource {
    /// A separate stream per place, so that all policies meet the same draws.
    Named(Seed),
    /// One sequence of a Python `random.Random`; each memory begins with a copy.
    Sequential(Box<Cpython>),
}
