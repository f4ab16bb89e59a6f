//! Takes facts out of what was said, one draw after the other.

use super::is_oracle;
use super::store::{BankIx, BankStore};
use ctxsim_base::rng::{Cpython, Stream};
use ctxsim_input::policy::memory::{DrawBar, Extract, FactMemory as Rules, Facts, MemoryPart};
use ctxsim_timeline::facts::{DrawSource, FactForm, FactIx, FactPlane, Plant};

/// What memory's draws are for.
const PURPOSE: &str = "memory/write";

/// Takes facts out of items.
#[derive(Debug)]
pub(super) struct FactWriter<'t> {
    rules: &'t Rules,
    plane: &'t FactPlane,
    draws: FactDraws,
    /// Where each draw's facts go, if it is not the bank of their category.
    into: Vec<Option<BankIx>>,
    bars: Vec<DrawBar>,
    keeps_all: bool,
    /// By fact: the newest version that was written; 0 for none.
    written: Vec<u16>,
    /// How many draws have kept their fact.
    n_kept: u64,
}

/// Where the draws come from.
#[derive(Debug)]
enum FactDraws {
    Named(Stream),
    Sequential(Box<Cpython>),
}

impl<'t> FactWriter<'t> {
    /// Begins to write.
    pub(super) fn new(rules: &'t Rules, plane: &'t FactPlane) -> Self {
        let draws = match &plane.draws {
            DrawSource::Named(seed) => FactDraws::Named(seed.stream(PURPOSE, 0)),
            DrawSource::Sequential(draws) => FactDraws::Sequential(draws.clone()),
        };
        let into = rules.write.extract.iter().map(|it| {
            let name = it.into.as_ref()?;
            BankStore::bank_names(rules, plane).position(|bank| bank == name)
        });
        Self {
            rules,
            plane,
            draws,
            into: into.collect(),
            bars: rules.write.extract.iter().map(Extract::bar).collect(),
            keeps_all: is_oracle(rules, MemoryPart::Write),
            written: vec![0; plane.facts.len()],
            n_kept: 0,
        }
    }

    /// Looks one plant through: every draw that its form meets is made, whatever the draws before gave.
    pub(super) fn write(&mut self, plant: &Plant, store: &mut BankStore<'_>) {
        let mut nth = 0;
        for ((rule, into), bar) in self.rules.write.extract.iter().zip(&self.into).zip(&self.bars) {
            let is_met = match rule.facts {
                Facts::Any => true,
                Facts::Explicit => plant.form == FactForm::Explicit,
                Facts::Implicit => plant.form == FactForm::Implicit,
            };
            if !is_met {
                continue;
            }
            let is_kept = self.draws.keeps(*bar, plant.fact, nth) || self.keeps_all;
            nth += 1;
            if is_kept {
                let at = plant.fact as usize;
                self.n_kept += 1;
                if self.written[at] < plant.version {
                    self.written[at] = plant.version;
                    store.renew();
                }
                let bank = into.unwrap_or_else(|| store.bank_of(self.plane.facts[at].category));
                store.put(bank, plant.fact);
            }
        }
    }

    /// Returns how many draws have kept their fact.
    pub(super) fn n_kept(&self) -> u64 {
        self.n_kept
    }

    /// Returns the newest version of a fact that was written; 0 for none.
    pub(super) fn version(&self, fact: FactIx) -> u16 {
        self.written[fact as usize]
    }

    /// Returns whether what a plant says was ever written, or a later version of it.
    pub(super) fn has_written(&self, plant: &Plant) -> bool {
        self.written[plant.fact as usize] >= plant.version
    }
}

impl FactDraws {
    /// Makes a fact's n-th draw.
    fn keeps(&mut self, bar: DrawBar, fact: FactIx, nth: u64) -> bool {
        match self {
            // One number for the n-th meeting, whatever the bar: a policy with a lower bar keeps all that another keeps.
            Self::Named(stream) => {
                let drawn = stream.nth(u64::from(fact), nth).unit();
                match bar {
                    DrawBar::Below(p) => drawn < p,
                    DrawBar::Above(miss) => drawn < 1.0 - miss,
                }
            }
            Self::Sequential(draws) => {
                let drawn = draws.unit();
                match bar {
                    DrawBar::Below(p) => drawn < p,
                    DrawBar::Above(miss) => drawn > miss,
                }
            }
        }
    }
}
