//! Needs that are drawn and not weighed: what a drawn need fetches enters the history as a request, a call and its result.
//!
//! Each draw is a function of the seed and of the need's place in the load, and is held against the share of the need that the
//! prompt does not meet: of two policies, the one that meets more fetches a part of what the other fetches. Over many seeds the
//! calls of a run average to the calls that are expected *along that run*; where what was fetched changes nothing about the
//! needs that follow, that is what the expected mode says.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{CompiledPolicy, simulate_each};
use crate::ledger::{ExplicitCacheRow, NeedRow, Outcome, ProbeRow, RequestRow, Sink};
use crate::model::{CacheRules, Limits};
use crate::recovery::CompiledRecovery;
use crate::rng::Seed;
use crate::timeline::{Due, Inferred, Item, ItemIx, Kind, Level, Preserve, Spine, StepIx, Timeline, TurnIx};

/// What became of a load whose needs were drawn.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The load with the requests that fetched something.
    pub timeline: Timeline,
    /// The needs as they were drawn, each once: a call and a failure happened or did not. Steps and items are those of the load
    /// as it was given.
    pub needs: Vec<NeedRow>,
    /// By step of the new load: the step that it is, or is made for.
    pub steps: Vec<StepIx>,
    /// By item of the new load: the item that it is, or is a copy of.
    pub items: Vec<ItemIx>,
}

/// A need in the order in which needs fall due.
struct Asked {
    turn_ix: TurnIx,
    /// The step before which it is fetched.
    before: StepIx,
    source: Source,
    level: Level,
}

/// What a need is of.
enum Source {
    /// A result, and which of the needs of single results it is.
    Item(ItemIx, usize),
    /// A turn.
    Turn(TurnIx),
}

/// Plays a timeline with drawn needs; rows of requests that fetch something are further requests of the step that needs it.
pub fn simulate_sampled<S: Sink>(
    timeline: &Timeline,
    compiled: &CompiledPolicy<'_>,
    recovery: CompiledRecovery,
    limits: &Limits,
    rules: &CacheRules,
    seed: Seed,
    sink: &mut S,
) -> Outcome {
    let sampled = sample(timeline, compiled, recovery, limits, rules, seed);
    let mut requests = [Requests { sink, steps: &sampled.steps, numbered: (0, 0) }];
    let outcome = simulate_each(&sampled.timeline, compiled, &[recovery], limits, rules, &mut requests);
    sampled.needs.iter().for_each(|it| sink.need(it));
    outcome
}

/// Draws the needs of a timeline one after the other, each with everything in the history that was fetched before.
///
/// What is fetched changes what follows, so the load is played anew after each call.
#[must_use]
pub fn sample(
    timeline: &Timeline,
    compiled: &CompiledPolicy<'_>,
    recovery: CompiledRecovery,
    limits: &Limits,
    rules: &CacheRules,
    seed: Seed,
) -> Sampled {
    let mut sampled = Sampled {
        timeline: timeline.clone(),
        needs: Vec::new(),
        steps: (0..).take(timeline.spine.steps.len()).collect(),
        items: (0..).take(timeline.spine.items.len()).collect(),
    };
    loop {
        let mut rows = [NeedRows::default()];
        simulate_each(&sampled.timeline, compiled, &[recovery], limits, rules, &mut rows);
        let [NeedRows(rows)] = rows;
        let n_settled = sampled.needs.len();
        let drawn = rows.iter().enumerate().skip(n_settled).map(|(index, row)| {
            let id = u64::try_from(index).unwrap_or(u64::MAX);
            (index, settle(row, seed.nth("recovery", id, 0).unit()))
        });
        let mut fetched = None;
        for (index, row) in drawn {
            sampled.needs.push(sampled.told(row));
            if row.calls > 0.0 {
                fetched = Some((index, row));
                break;
            }
        }
        match fetched {
            Some((index, row)) => sampled.fetch(index, &row),
            None => return sampled,
        }
    }
}

/// Turns an expected row into one that happened or did not.
fn settle(row: &NeedRow, unit: f64) -> NeedRow {
    let unmet = row.weight * (1.0 - row.met);
    if unmet <= 0.0 || unit >= unmet {
        return NeedRow { calls: 0.0, repeats: 0.0, failed: 0.0, ..*row };
    }
    NeedRow {
        calls: (row.calls / unmet).round(),
        repeats: (row.repeats / unmet).round(),
        failed: if row.failed > 0.0 { 1.0 } else { 0.0 },
        is_sent: row.calls > 0.0,
        ..*row
    }
}

impl Sampled {
    /// Returns a row with the steps and items of the load as it was given.
    fn told(&self, row: NeedRow) -> NeedRow {
        let inferred = row.inferred.map(|it| Inferred {
            step: self.steps.get(it.step as usize).copied().unwrap_or(it.step),
            item: self.items.get(it.item as usize).copied().unwrap_or(it.item),
            ..it
        });
        NeedRow { inferred, ..row }
    }

    /// Puts the calls that fetch a need, and what they fetch, in front of the step that needs it.
    fn fetch(&mut self, need: usize, row: &NeedRow) {
        let Some(asked) = asked(&self.timeline).into_iter().nth(need) else { return };
        let source = match asked.source {
            Source::Item(item, _) => Some(item),
            Source::Turn(source) => result_of(&self.timeline.spine, source, asked.level),
        };
        let Some(source) = source else { return };
        let old = self.timeline.spine.items[source as usize];
        let call = self.timeline.spine.items.get(old.pair as usize).copied();
        let call =
            call.unwrap_or(Item { kind: Kind::ToolCall, raw: 0, excerpt: 0, summary: 0, handle: 0, ..old });
        let fetched = u32::try_from(row.fetched).unwrap_or(u32::MAX);
        let result = Item { raw: fetched, excerpt: fetched, summary: old.summary.min(fetched), ..old };
        let mut place = source;
        for nth in 0..row.calls as u64 {
            let id = [u64::try_from(need).unwrap_or(u64::MAX), nth].map(u64::to_le_bytes).concat();
            let new = |it: Item, part| Item { digest: xxh3_64_with_seed(&id, old.digest ^ part), ..it };
            place = self.timeline.insert_step(asked.turn_ix, asked.before, new(call, 0), new(result, 1));
            self.note(place, source, old.pair);
        }
        if let Source::Item(item, nth) = asked.source {
            self.timeline.needs.retarget(nth + 1, item, place, &self.timeline.spine);
        }
    }

    /// Notes what a step that was put in stands for.
    fn note(&mut self, place: ItemIx, source: ItemIx, call: ItemIx) {
        let items = &self.timeline.spine.items;
        let Some(row) = items.get(place as usize) else { return };
        let step = row.step_ix as usize;
        let ends_turn = self.timeline.spine.turns[row.turn_ix as usize].steps.end as usize == step + 1;
        let beside = if ends_turn { step.saturating_sub(1) } else { step };
        let of_step = self.steps.get(beside).copied().unwrap_or_default();
        self.steps.insert(step, of_step);
        let of = |it: ItemIx| self.items.get(it as usize).copied().unwrap_or(it);
        let pair = [of(call), of(source)];
        let at = place as usize - 1;
        self.items.splice(at..at, pair);
    }
}

/// Returns the needs of a load in the order in which they fall due.
fn asked(timeline: &Timeline) -> Vec<Asked> {
    let mut all = Vec::new();
    let mut n_of_items = 0;
    for (turn_ix, row) in (0..).zip(&timeline.spine.turns) {
        let due = |due, before, all: &mut Vec<Asked>| {
            let needs = timeline.needs.due(turn_ix, due).iter();
            all.extend(needs.map(|it| Asked {
                turn_ix,
                before,
                source: Source::Turn(it.source),
                level: it.level,
            }));
        };
        due(Due::TurnStart, row.steps.start, &mut all);
        for step in row.steps.clone() {
            for it in timeline.needs.due_at(step) {
                let source = Source::Item(it.inferred.item, n_of_items);
                all.push(Asked { turn_ix, before: step, source, level: it.need.level });
                n_of_items += 1;
            }
            if step + 1 == row.steps.end {
                due(Due::Answer, step, &mut all);
            }
        }
        due(Due::TurnEnd, row.steps.end, &mut all);
    }
    all
}

/// Returns the result of a turn that stands for what is fetched of it: the largest, of working evidence where there is any.
fn result_of(spine: &Spine, turn_ix: TurnIx, level: Level) -> Option<ItemIx> {
    let row = spine.turns.get(turn_ix as usize)?;
    let results = row.items.clone().filter(|it| spine.items[*it as usize].kind == Kind::ToolResult);
    results.max_by_key(|it| {
        let item = &spine.items[*it as usize];
        let is_asked = level == Level::ExactEvidence && item.preserve == Preserve::WorkingEvidence;
        (is_asked, item.raw, std::cmp::Reverse(*it))
    })
}

/// Keeps the needs of a run.
#[derive(Default)]
struct NeedRows(Vec<NeedRow>);

impl Sink for NeedRows {
    fn request(&mut self, _: &RequestRow) {}

    fn need(&mut self, row: &NeedRow) {
        self.0.push(*row);
    }
}

/// Hands on the requests and probes of a run, under the steps that they were made for.
struct Requests<'a, S> {
    sink: &'a mut S,
    steps: &'a [StepIx],
    /// The step whose requests are being numbered, and how many it has made.
    numbered: (StepIx, u32),
}

impl<S: Sink> Sink for Requests<'_, S> {
    fn request(&mut self, row: &RequestRow) {
        let step = self.steps.get(row.step as usize).copied().unwrap_or(row.step);
        let n = if self.numbered.0 == step { self.numbered.1 } else { 0 };
        self.numbered = (step, n + 1);
        self.sink.request(&RequestRow { step, n, ..*row });
    }

    fn need(&mut self, _: &NeedRow) {}

    fn probe(&mut self, row: &ProbeRow) {
        self.sink.probe(row);
    }

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.sink.stored(row);
    }
}
