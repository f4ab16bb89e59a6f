//! What the texts of a session reveal, kept without the texts: its needs, the files that its calls name, its draws.

use super::lay_out::{LayOut, unwrap};
use super::transcript::PartNeed;
use super::undo::Undo;
use crate::import::prelude::*;
use crate::infer_needs::{Inference, rules, say};
use crate::{EventKind, Inferred, ItemIx, Need, StepIx, Timeline, TurnEvidence};

/// Where the parts of a transcript are in its timeline.
#[derive(Debug, Default)]
pub(super) struct PartPlaces {
    /// By part, of those that are there: its item.
    pub(super) items: Vec<ItemIx>,
    /// The parts that are not there, in order.
    pub(super) gone: Vec<usize>,
}

impl PartPlaces {
    /// Returns the item of a part.
    fn item(&self, part: usize) -> Option<ItemIx> {
        let n_gone = self.gone.partition_point(|it| *it < part);
        let is_there = self.gone.get(n_gone) != Some(&part);
        self.items.get(part - n_gone).copied().filter(|_| is_there)
    }

    /// Returns the part of each item.
    fn parts(&self) -> IndexMap<ItemIx, usize> {
        let n_parts = self.items.len() + self.gone.len();
        (0..n_parts).filter_map(|part| Some((self.item(part)?, part))).collect()
    }
}

impl Transcript {
    /// Keeps all that its texts reveal.
    pub(super) fn with_needs(mut self, layout: &LayOut) -> Self {
        unwrap(&mut self.exchanges, &layout.assume.complete().tools);
        if self.tools_of.is_some() {
            return self;
        }
        let lay_out = |undo| self.clone().laid_out(layout, &undo);
        let (as_recorded, undone) = (lay_out(Undo::Nothing), lay_out(Undo::All));
        let needs = [&as_recorded, &undone].map(|(timeline, places)| needs(timeline, &places.parts()));
        let (timeline, places) = &as_recorded;
        let draws = self.draws();
        let files: Vec<Option<u64>> =
            (0..self.parts_mut().count()).map(|part| timeline.texts.file(places.item(part)?)).collect();
        self.parts_mut().zip(files).for_each(|(part, file)| part.file = file);
        self.draws = Some(draws);
        self.needs = needs;
        self.tools_of = Some(layout.harness);
        self
    }

    /// Returns what its draws are made from: its parts, whatever its file is called and whatever is undone.
    pub(super) fn draws(&self) -> u64 {
        let of_exchanges =
            self.exchanges.iter().flat_map(|it| it.user().iter().chain(&it.reply).chain(&it.results));
        let parts = self.stable.iter().chain(of_exchanges);
        let digests: Vec<u8> = parts.flat_map(|it| it.digest.to_le_bytes()).collect();
        self.draws.unwrap_or_else(|| xxh3_64(&digests))
    }

    /// Returns all parts, in order.
    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        let of_exchanges = self
            .exchanges
            .iter_mut()
            .flat_map(|it| it.begins.iter_mut().flatten().chain(&mut it.reply).chain(&mut it.results));
        self.stable.iter_mut().chain(of_exchanges)
    }

    /// Adds the needs that are kept without their texts.
    pub(super) fn keep_needs(
        &self,
        timeline: &mut Timeline,
        places: &PartPlaces,
        undo: &Undo,
        file_tools: &[String],
    ) {
        let [as_recorded, undone] = &self.needs;
        let needs = if *undo == Undo::Nothing { as_recorded } else { undone };
        if needs.is_empty() {
            return;
        }
        let gone = gone(timeline);
        let is_there = |item: &ItemIx, step: StepIx| gone.get(item).is_none_or(|at| step < *at);
        let mut found: IndexMap<&str, Inference> = IndexMap::new();
        for it in needs {
            let step: StepIx = ix(it.exchange);
            let item = places.item(it.part).filter(|it| is_there(it, step));
            let row = |item: &ItemIx| timeline.spine.items.get(*item as usize).copied();
            let Some((item, row)) = item.and_then(|it| Some((it, row(&it)?))) else { continue };
            if row.kind != Kind::ToolResult {
                continue;
            }
            let is_file = timeline.spine.is_one_of(row.tool, file_tools);
            let [weight, low, high] = it.weight;
            let need = Need { interval: [low, high], ..Need::new(row.turn_ix, it.level, weight, None) };
            let inferred = Inferred { rule: it.rule, step, item, names: None };
            let mentions = it.mentions.iter().filter_map(|it| places.item(*it));
            let mentions: Vec<ItemIx> = mentions.filter(|it| is_there(it, step)).collect();
            timeline.needs.push_item(inferred, need, TurnEvidence::of_item(&row, is_file), &mentions);
            let of_rule =
                Inference { rule: it.rule, n_found: 0, level: it.level, weight, interval: [low, high] };
            found.entry(it.rule).or_insert(of_rule).n_found += 1;
        }
        let in_order: Vec<Inference> = rules().filter_map(|it| found.swap_remove(it)).collect();
        say(timeline, in_order.into_iter());
    }
}

/// Returns the needs of a timeline by the parts that its items are of.
fn needs(timeline: &Timeline, parts: &IndexMap<ItemIx, usize>) -> Vec<PartNeed> {
    let part = |item: &ItemIx| parts.get(item).copied();
    let needs = timeline.needs.of_items().iter().filter_map(|it| {
        let [low, high] = it.need.interval;
        Some(PartNeed {
            rule: it.inferred.rule,
            exchange: it.inferred.step as usize,
            part: part(&it.inferred.item)?,
            level: it.need.level,
            weight: [it.need.weight, low, high],
            mentions: timeline.needs.mentions(it).iter().filter_map(part).collect(),
        })
    });
    needs.collect()
}

/// Returns the items that the harness took out, each with the first step that does not have it.
fn gone(timeline: &Timeline) -> IndexMap<ItemIx, StepIx> {
    let mut gone = IndexMap::new();
    for event in &timeline.events {
        if let EventKind::Reset(items) = &event.kind {
            let step = timeline.spine.step_at(event.at);
            items.clone().for_each(|it| _ = gone.entry(it).or_insert(step));
        }
    }
    gone
}
