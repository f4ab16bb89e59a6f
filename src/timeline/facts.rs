//! The plane of facts: what was said where, and what is asked about it later.

use std::sync::Arc;

use super::ItemIx;
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
    /// What is asked when the load is over.
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
}

/// How a fact is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Marked as a fact.
    Explicit,
    /// In passing.
    Implicit,
}

/// A question: what does this plant's fact say?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The plant that taught it.
    pub plant: u32,
    /// Which quarter of the load that was, from 0.
    pub quartile: u8,
}

/// Where the draws of a memory come from.
#[derive(Clone, Debug)]
pub enum DrawSource {
    /// Each draw from its own place: policies meet the same luck.
    Named(Seed),
    /// One after the other, as a `random.Random` gives them; each memory begins with a copy.
    Sequential(Box<Cpython>),
}
