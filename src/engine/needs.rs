//! What is needed: met by the prompt, recovered, or failed; one row for each way to recover.

use super::Run;
use crate::ledger::{FailureKind, NeedRow, Sink};
use crate::projection::Projector;
use crate::recovery::{CompiledRecovery, Source, item_state};
use crate::timeline::{Due, StepIx, TurnIx};

impl<P: Projector, S: Sink> Run<'_, '_, P, S> {
    /// Meets, recovers or fails what is due at a moment of a turn.
    #[inline]
    pub(super) fn needs(&mut self, turn_ix: TurnIx, step: StepIx, due: Due) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due(turn_ix, due);
        if self.drawn.is_some() {
            return self.draw_needs(needs, turn_ix, step, due);
        }
        for need in needs {
            let evidence = &self.timeline.needs.evidence[need.source as usize];
            let stands = self.prompt.turn_state(need.source);
            self.settle(Source::Turn(need.source), |it| it.meet(turn_ix, need, evidence, (&stands, true)));
        }
        Ok(())
    }

    /// Meets, recovers or fails what a step's calls need of single results.
    #[inline]
    pub(super) fn item_needs(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due_at(step);
        if self.drawn.is_some() {
            return self.draw_item_needs(needs, turn_ix, step);
        }
        for it in needs {
            let slot = self.prompt.history().slot_of(it.inferred.item);
            let stands = item_state(&self.prompt, slot, self.timeline.needs.mentions(it));
            let was_seen = self.seen.as_ref().zip(slot).is_some_and(|(seen, slot)| seen.has(slot));
            self.settle(Source::Item(it.inferred.item), |recovery| NeedRow {
                inferred: Some(it.inferred),
                ..recovery.meet(turn_ix, &it.need, &it.evidence, (&stands, was_seen))
            });
        }
        Ok(())
    }

    /// Records a need for each way to recover, with what that is expected to carry from now on.
    #[inline]
    fn settle(&mut self, source: Source, meet: impl Fn(&CompiledRecovery) -> NeedRow) {
        let (rules, ttl) = (self.rules, self.ttl);
        for (sink, way) in self.sinks.iter_mut().zip(&mut self.ways) {
            let row = meet(&way.recovery);
            // A row that nobody changes is never made whole.
            match &mut way.carried {
                None => sink.need(&row),
                Some(carried) => {
                    let billing = (rules.billing(ttl), self.last_read);
                    sink.need(&carried.charged(row, source, billing, &self.prompt));
                }
            }
        }
    }
}
