//! Facts that a timeline plants, and what it asks of them, as they come.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{TimelineBuilder, before_request};
use crate::rng::Seed;
use crate::timeline::facts::{DrawSource, Fact, FactIx, FactPlane, Form, Plant, Probe, Share};
use crate::timeline::{ItemIx, StepIx, When};

/// Facts as they come.
#[derive(Debug, Default)]
pub(super) struct OpenFacts {
    /// By name: its last plant.
    last: IndexMap<String, u32>,
    plants: Vec<Plant>,
    places: Vec<Option<Share>>,
    repeats: Vec<(u32, ItemIx)>,
    /// Whether everything is asked when the load is over.
    asks_at_end: bool,
    /// What is asked, each with the step that came next.
    asked: Vec<(u32, StepIx)>,
}

impl TimelineBuilder {
    /// Says that the item that came last tells a fact, by its name: its first version, or the next one, which changes a running
    /// total by so much.
    pub fn plant(&mut self, fact: &str, form: Form, delta: i32) {
        let item = self.next_item().saturating_sub(1);
        let facts = &mut self.facts;
        let nth = u32::try_from(facts.plants.len()).unwrap_or(u32::MAX);
        let (fact, before) = facts.last.insert_full(fact.to_owned(), nth);
        let version = before.map_or(0, |it| facts.plants[it as usize].version).saturating_add(1);
        let fact = FactIx::try_from(fact).unwrap_or(FactIx::MAX);
        facts.plants.push(Plant { version, delta, ..Plant::new(fact, item, form) });
    }

    /// Says where in its item the fact stands that was planted last.
    pub fn placed(&mut self, place: Share) {
        let facts = &mut self.facts;
        facts.places.resize(facts.plants.len(), None);
        if let Some(last) = facts.places.last_mut() {
            *last = Some(place);
        }
    }

    /// Says that the item that came last says again what was planted of a fact last.
    pub fn repeat(&mut self, fact: &str) {
        let item = self.next_item().saturating_sub(1);
        let facts = &mut self.facts;
        facts.repeats.extend(facts.last.get(fact).map(|plant| (*plant, item)));
    }

    /// Asks for the newest version of every fact when the load is over.
    pub fn ask_at_end(&mut self) {
        self.facts.asks_at_end = true;
    }

    /// Asks for the newest version of a fact, before the request of the step that comes next; what was never told is not asked.
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
