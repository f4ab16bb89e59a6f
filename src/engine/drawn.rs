//! Needs that are drawn and not weighed: what a drawn need fetches enters the history as a call and its result.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Reply, Run};
use crate::ledger::{FailureKind, NeedRow, Sink};
use crate::model::policy::Moment;
use crate::projection::Projector;
use crate::projection::prompt::SlotIx;
use crate::recovery::item_state;
use crate::rng::Seed;
use crate::trace::evidence::Recover;
use crate::trace::{
    Due, Item, ItemIx, ItemNeed, Kind, Level, LoopEvidence, LoopIx, NO_ITEM, Need, Preserve, Spine, StepIx,
    Trace,
};
use crate::units::Tokens;

/// How needs are drawn, and what was fetched.
#[derive(Debug)]
pub(super) struct Drawn {
    seed: Seed,
    n_drawn: u64,
    /// What the loops hold, with what was fetched in them.
    evidence: Vec<LoopEvidence>,
    /// By item: where its newest copy is.
    copies: BTreeMap<ItemIx, SlotIx>,
}

impl Drawn {
    pub(super) fn new(trace: &Trace, seed: Seed) -> Self {
        Self { seed, n_drawn: 0, evidence: trace.needs.evidence.clone(), copies: BTreeMap::new() }
    }

    /// Turns an expected row into one that happened or did not.
    fn settle(&mut self, row: &NeedRow) -> NeedRow {
        let unit = self.seed.nth("recovery", self.n_drawn, 0).unit();
        self.n_drawn += 1;
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
}

impl<P: Projector, S: Sink> Run<'_, '_, P, S> {
    /// Draws the needs that are due at a moment of a loop.
    #[inline(never)]
    pub(super) fn draw_needs(
        &mut self,
        needs: &[Need],
        loop_ix: LoopIx,
        step: StepIx,
        due: Due,
    ) -> Result<(), FailureKind> {
        let mut fetches = Vec::new();
        for need in needs {
            let Some(drawn) = &mut self.drawn else { return Ok(()) };
            let evidence = drawn.evidence[need.source as usize];
            let stands = self.prompt.loop_state(need.source);
            let row = drawn.settle(&self.recoveries[0].meet(loop_ix, need, &evidence, &stands));
            let n_drawn = drawn.n_drawn;
            self.sinks.iter_mut().for_each(|sink| sink.need(&row));
            let source = result_of(&self.trace.spine, need.source, need.level);
            let Some(source) = source.filter(|_| row.calls > 0.0) else { continue };
            match due {
                Due::LoopStart => fetches.push((source, row, n_drawn)),
                Due::Answer => {
                    self.fetch(source, &row, n_drawn, loop_ix, step)?;
                    self.project(Moment::Request, loop_ix, step);
                }
                Due::LoopEnd => {
                    self.project(Moment::Request, loop_ix, step);
                    self.fetch(source, &row, n_drawn, loop_ix, step)?;
                    self.project(Moment::LoopEnd, loop_ix, step);
                }
            }
        }
        for (source, row, n_drawn) in fetches.into_iter().rev() {
            self.project(Moment::Request, loop_ix, step);
            self.fetch(source, &row, n_drawn, loop_ix, step)?;
        }
        Ok(())
    }

    /// Draws what a step's calls need of single results.
    #[inline(never)]
    pub(super) fn draw_item_needs(
        &mut self,
        needs: &[ItemNeed],
        loop_ix: LoopIx,
        step: StepIx,
    ) -> Result<(), FailureKind> {
        for it in needs {
            let Some(drawn) = &mut self.drawn else { return Ok(()) };
            let item = it.derived.item;
            let mut slot = self.prompt.history().slot_of(item);
            let mut evidence = it.evidence;
            if let (Some(copy), Some(old)) =
                (drawn.copies.get(&item), self.trace.spine.items.get(item as usize))
            {
                let copied = self.prompt.item(*copy);
                if copied.raw >= old.raw || it.need.level <= Level::ExactEvidence {
                    slot = Some(*copy);
                    evidence = LoopEvidence { file: evidence.file, ..LoopEvidence::of_item(copied, false) };
                }
            }
            let stands = item_state(&self.prompt, slot, self.trace.needs.mentions(it));
            let row = self.recoveries[0].meet(loop_ix, &it.need, &evidence, &stands);
            let row = NeedRow { derived: Some(it.derived), ..drawn.settle(&row) };
            let n_drawn = drawn.n_drawn;
            self.sinks.iter_mut().for_each(|sink| sink.need(&row));
            if row.calls > 0.0 {
                let place = self.fetch(item, &row, n_drawn, loop_ix, step)?;
                self.project(Moment::Request, loop_ix, step);
                if let Some(drawn) = &mut self.drawn {
                    drawn.copies.insert(item, place);
                }
            }
        }
        Ok(())
    }

    /// Sends the requests that fetch a need; returns where what the last fetched is.
    fn fetch(
        &mut self,
        source: ItemIx,
        row: &NeedRow,
        id: u64,
        loop_ix: LoopIx,
        step: StepIx,
    ) -> Result<SlotIx, FailureKind> {
        let old = self.trace.spine.items[source as usize];
        let call = self.trace.spine.items.get(old.pair as usize).copied();
        let call =
            call.unwrap_or(Item { kind: Kind::ToolCall, raw: 0, excerpt: 0, summary: 0, handle: 0, ..old });
        let fetched = u32::try_from(row.fetched).unwrap_or(u32::MAX);
        let origin = if fetched >= old.raw { source } else { NO_ITEM };
        let result =
            Item { raw: fetched, excerpt: fetched, summary: old.summary.min(fetched), origin, ..old };
        let mut place = 0;
        for nth in 0..row.calls as u64 {
            if nth > 0 {
                self.project(Moment::Request, loop_ix, step);
            }
            self.n_asking += 1;
            let now_ms = self.ambient.now_ms;
            let output = Tokens::from(call.raw);
            let reply = Reply { response_ms: now_ms, end_ms: now_ms, tail: 0, output, asks: true };
            self.send(loop_ix, step, &reply)?;
            let id = [id, nth].map(u64::to_le_bytes).concat();
            let new = |it: Item, part| Item { digest: xxh3_64_with_seed(&id, old.digest ^ part), ..it };
            self.prompt.begin_step();
            self.prompt.begin_message();
            let asked = self.prompt.add(Item { pair: NO_ITEM, ..new(call, 0) });
            self.prompt.begin_message();
            place = self.prompt.add(Item { pair: asked, ..new(result, 1) });
            if let Some(drawn) = &mut self.drawn {
                drawn.evidence[loop_ix as usize].add(self.prompt.item(place), &Recover::default(), false);
            }
            self.project(Moment::Entry, loop_ix, step);
        }
        Ok(place)
    }
}

/// Returns the result of a loop that stands for what is fetched of it: the largest, of working evidence where there is any.
fn result_of(spine: &Spine, loop_ix: LoopIx, level: Level) -> Option<ItemIx> {
    let row = spine.loops.get(loop_ix as usize)?;
    let results = row.items.clone().filter(|it| spine.items[*it as usize].kind == Kind::ToolResult);
    results.max_by_key(|it| {
        let item = &spine.items[*it as usize];
        let is_asked = level == Level::ExactEvidence && item.preserve == Preserve::WorkingEvidence;
        (is_asked, item.raw, std::cmp::Reverse(*it))
    })
}
