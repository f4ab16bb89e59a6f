//! Takes facts out of what was said, one draw after the other.

use super::is_oracle;
use super::store::{BankIx, Store};
use crate::model::memory::{Bar, Memory, Part};
use crate::rng::{Cpython, Stream};
use crate::spec::memory::FactsSpec;
use crate::timeline::facts::{DrawSource, FactIx, FactPlane, Form, Plant};

/// What memory's draws are for.
const PURPOSE: &str = "memory/write";

/// Takes facts out of items.
#[derive(Debug)]
pub(super) struct Writer<'t> {
    rules: &'t Memory,
    plane: &'t FactPlane,
    draws: Draws,
    /// Where each draw's facts go, where it is not the bank of their category.
    into: Vec<Option<BankIx>>,
    keeps_all: bool,
    written: Vec<bool>,
}

/// Where the draws come from.
#[derive(Debug)]
enum Draws {
    Named(Stream),
    Sequential(Box<Cpython>),
}

impl<'t> Writer<'t> {
    /// Begins to write.
    pub(super) fn new(rules: &'t Memory, plane: &'t FactPlane) -> Self {
        let draws = match &plane.draws {
            DrawSource::Named(seed) => Draws::Named(seed.stream(PURPOSE, 0)),
            DrawSource::Sequential(draws) => Draws::Sequential(draws.clone()),
        };
        let into = rules.extract.iter().map(|it| {
            let name = it.into.as_ref()?;
            Store::bank_names(rules, plane).position(|bank| bank == name)
        });
        Self {
            rules,
            plane,
            draws,
            into: into.collect(),
            keeps_all: is_oracle(rules, Part::Write),
            written: vec![false; plane.facts.len()],
        }
    }

    /// Looks one plant through: every draw that its form meets is made, whatever the draws before gave.
    pub(super) fn write(&mut self, plant: &Plant, store: &mut Store<'_>) {
        let mut nth = 0;
        for (rule, into) in self.rules.extract.iter().zip(&self.into) {
            let is_met = match rule.facts {
                FactsSpec::Any => true,
                FactsSpec::Explicit => plant.form == Form::Explicit,
                FactsSpec::Implicit => plant.form == Form::Implicit,
            };
            if !is_met {
                continue;
            }
            let is_kept = self.draws.keeps(rule.bar, plant.fact, nth) || self.keeps_all;
            nth += 1;
            if is_kept {
                let at = plant.fact as usize;
                self.written[at] = true;
                let bank = into.unwrap_or_else(|| store.bank_of(self.plane.facts[at].category));
                store.put(bank, plant.fact);
            }
        }
    }

    /// Returns whether a fact was ever written.
    pub(super) fn has_written(&self, fact: FactIx) -> bool {
        self.written[fact as usize]
    }
}

impl Draws {
    /// Makes a fact's n-th draw.
    fn keeps(&mut self, bar: Bar, fact: FactIx, nth: u64) -> bool {
        match self {
            // One number for the n-th meeting, whatever the bar: a policy with a lower bar keeps all that another keeps.
            Self::Named(stream) => {
                let drawn = stream.nth(u64::from(fact), nth).unit();
                match bar {
                    Bar::Below(p) => drawn < p,
                    Bar::Above(miss) => drawn < 1.0 - miss,
                }
            }
            Self::Sequential(draws) => {
                let drawn = draws.unit();
                match bar {
                    Bar::Below(p) => drawn < p,
                    Bar::Above(miss) => drawn > miss,
                }
            }
        }
    }
}
