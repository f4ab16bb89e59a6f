//! What is needed: met by the prompt, recovered, or failed; one row for each way to recover.

use super::lanes::Lane;
use super::{EngineRun, Way};
use crate::ledger::{ExploredRow, FailureKind, NeedRow};
use crate::prelude::*;
use crate::recovery::{BilledSteps, Carried, NeedSource, Removed, item_state};
use ctxsim_timeline::Due;

impl<P: Projector + ?Sized, S: Sink> EngineRun<'_, '_, P, S> {
    /// Meets, recovers or fails what is due at a moment of a turn.
    #[inline]
    pub(super) fn needs(&mut self, turn_ix: TurnIx, step: StepIx, due: Due) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due(turn_ix, due);
        if self.drawn.is_some() {
            return self.draw_needs(needs, turn_ix, step, due);
        }
        if needs.is_empty() {
            return Ok(());
        }
        let n_ways = self.ways.len();
        // The innermost loop knows its sink: most needs of most runs pass here.
        for (at, sink) in self.sinks.iter_mut().enumerate() {
            let way = &self.ways[at % n_ways];
            if way.carried.is_some() {
                continue;
            }
            for need in needs {
                let evidence = &self.timeline.needs.evidence[need.source as usize];
                let stands = self.prompt.turn_state(need.source);
                sink.need(&way.recovery.meet(turn_ix, need, evidence, &stands, true));
            }
        }
        for at in 0..n_ways {
            if self.ways[at].carried.is_none() {
                continue;
            }
            for need in needs {
                let evidence = &self.timeline.needs.evidence[need.source as usize];
                let stands = self.prompt.turn_state(need.source);
                let row = self.ways[at].recovery.meet(turn_ix, need, evidence, &stands, true);
                self.charge(at, row, NeedSource::Turn(need.source));
            }
        }
        if self.seen.is_some() {
            self.foresee();
        }
        Ok(())
    }

    /// Tells the policy how much the agent may have fetched, as long as that decides whether the closed form holds.
    pub(super) fn foresee(&mut self) {
        if self.outcome.reacts {
            return self.log.expect_fetched(0);
        }
        // The closed form is replaced only where everything is as it is declared.
        let is_declared = |it: &&Way| it.recovery.terms().is_some_and(|it| it.is_declared);
        let declared = self.ways.iter().filter(is_declared);
        let most = declared.filter_map(|it| it.carried.as_ref()).map(Carried::most).max();
        self.log.expect_fetched(most.unwrap_or_default());
    }

    /// Meets, recovers or fails what a step's calls need of single results.
    #[inline]
    pub(super) fn item_needs(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due_at(step);
        if self.drawn.is_some() {
            return self.draw_item_needs(needs, turn_ix, step);
        }
        if needs.is_empty() {
            return Ok(());
        }
        for it in needs {
            let slot = self.prompt.history().slot_of(it.inferred.item);
            let stands = item_state(&self.prompt, slot, self.timeline.needs.mentions(it));
            let was_seen = self.seen.as_ref().zip(slot).is_some_and(|(seen, slot)| seen.has(slot));
            for at in 0..self.ways.len() {
                let Way { recovery, carried } = &self.ways[at];
                let met = recovery.meet(turn_ix, &it.need, &it.evidence, &stands, was_seen);
                if met.met >= 1.0 && carried.as_ref().is_some_and(Carried::is_at_end) {
                    continue;
                }
                let told = it.inferred.names.filter(|_| stands.n_absorbed > 0);
                let row = NeedRow { inferred: Some(it.inferred), told, ..met };
                self.settle(at, row, NeedSource::Item(it.inferred.item));
            }
        }
        Ok(())
    }

    /// Looks up anew before a step's request what removed context makes an agent look up.
    #[inline]
    pub(super) fn explore(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let removed = self.removed.as_mut().map_or(0.0, Removed::at_request);
        if removed <= 0.0 {
            return Ok(());
        }
        if self.drawn.is_some() {
            return self.draw_explored(removed, turn_ix, step);
        }
        for at in 0..self.ways.len() {
            let Some(carried) = &mut self.ways[at].carried else { continue };
            let Some((row, asked)) = carried.explored(removed, &self.prompt) else { continue };
            for lane in 0..self.lanes.len() {
                let tokens = Some(asked.billed(self.billed(lane)));
                self.sink(lane, at).explored(&ExploredRow { turn_ix, step, tokens, ..row });
            }
        }
        Ok(())
    }

    /// Notes what the prompt lost, or got back, since it had so many tokens.
    #[inline]
    pub(super) fn note_removed(&mut self, before: Tokens) {
        if let Some(removed) = &mut self.removed {
            removed.note(before, self.prompt.tokens());
        }
    }

    /// Records a need under one way to recover, with what it is expected to carry from now on.
    #[inline(always)]
    fn settle(&mut self, way: usize, row: NeedRow, source: NeedSource) {
        if self.ways[way].carried.is_some() {
            // A row that nobody changes is never made whole: what changes it gets a copy.
            return self.charge(way, NeedRow { ..row }, source);
        }
        let mut at = way;
        while let Some(sink) = self.sinks.get_mut(at) {
            sink.need(&row);
            at += self.ways.len();
        }
    }

    /// Records a need of which calls are expected, as each of the caches bills them.
    #[inline(never)]
    fn charge(&mut self, way: usize, row: NeedRow, source: NeedSource) {
        let Some(carried) = &mut self.ways[way].carried else { return };
        let (row, asked) = carried.charged(row, source, &self.prompt);
        for lane in 0..self.lanes.len() {
            let refetched = asked.map(|it| it.billed(self.billed(lane)));
            self.sink(lane, way).need(&NeedRow { refetched, ..row });
        }
    }

    /// Returns how the calls that an agent is expected to make are billed by one of the caches.
    #[inline]
    fn billed(&self, lane: usize) -> BilledSteps {
        let Lane { rules, last_read, .. } = &self.lanes[lane];
        BilledSteps { billing: rules.billing(self.ttl), read: *last_read }
    }
}
