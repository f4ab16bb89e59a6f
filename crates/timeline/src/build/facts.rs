//! Collects planted facts and the questions about them.

use crate::prelude::*;

use super::{TimelineBuilder, before_request};
use crate::facts::{DrawSource, Fact, FactForm, FactPlane, ItemShare, Plant, Probe};
use crate::{ItemIx, StepIx, When};
use ctxsim_base::rng::Seed;

/// Facts as they come.
#[derive(Debug, Default)]
pub(super) struct OpenFacts {
    /// By name: its last plant.
    last: IndexMap<String, u32>,
    plants: Vec<Plant>,
    places: Vec<Option<ItemShare>>,
    repeats: Vec<(u32, ItemIx)>,
    /// Whether everything is asked for at the end of the load.
    asks_at_end: bool,
    /// The questions, each with the following step.
    asked: Vec<(u32, StepIx)>,
}

impl TimelineBuilder {
    /// Records that the last item states a fact, by name: its first version, or the next one, with the change
    /// of a running total.
    pub fn plant(&mut self, fact: &str, form: FactForm, delta: i32) {
        let item = self.next_item().saturating_sub(1);
        let facts = &mut self.facts;
        let nth = ix(facts.plants.len());
        let (fact, before) = facts.last.insert_full(fact.to_owned(), nth);
        let version = before.map_or(0, |it| facts.plants[it as usize].version).saturating_add(1);
        let fact = ix(fact);
        facts.plants.push(Plant { version, delta, ..Plant::new(fact, item, form) });
    }

    /// Sets the position of the last planted fact within its item.
    pub fn placed(&mut self, place: ItemShare) {
        let facts = &mut self.facts;
        facts.places.resize(facts.plants.len(), None);
        if let Some(last) = facts.places.last_mut() {
            *last = Some(place);
        }
    }

    /// Records that the last item repeats a fact's last plant.
    pub fn repeat(&mut self, fact: &str) {
        let item = self.next_item().saturating_sub(1);
        let facts = &mut self.facts;
        facts.repeats.extend(facts.last.get(fact).map(|plant| (*plant, item)));
    }

    /// Asks for the newest version of every fact at the end of the load.
    pub fn ask_at_end(&mut self) {
        self.facts.asks_at_end = true;
    }

    /// Asks for the newest version of a fact before the next step's request; facts that were never stated are
    /// not asked for.
    pub fn ask(&mut self, fact: &str) {
        let step = self.next_step();
        self.facts.asked.extend(self.facts.last.get(fact).map(|it| (*it, step)));
    }

    /// Returns the plane of what was planted and asked, if anything was.
    pub(super) fn fact_plane(&self) -> Option<FactPlane> {
        let facts = &self.facts;
        let n_items = u64::from(self.next_item().max(1));
        let quartile = |item: ItemIx| u8::try_from(u64::from(item) * 4 / n_items).unwrap_or(3);
        let probe =
            |plant: u32, at| Probe { plant, quartile: quartile(facts.plants[plant as usize].item), at };
        let turns = &self.timeline.spine.turns;
        let asked = facts.asked.iter().map(|(plant, step)| probe(*plant, before_request(turns, *step)));
        let at_end = facts.last.values().filter(|_| facts.asks_at_end);
        let probes = asked.chain(at_end.map(|it| probe(*it, When::END)));
        (!facts.plants.is_empty()).then(|| FactPlane {
            facts: vec![Fact { category: 0 }; facts.last.len()],
            plants: facts.plants.clone(),
            places: facts.places.clone(),
            repeats: facts.repeats.clone(),
            probes: probes.collect(),
            categories: Arc::from(["facts".to_owned()]),
            draws: DrawSource::Named(Seed(self.seed)),
        })
    }
}
