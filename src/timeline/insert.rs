//! A step that nobody recorded, put between others: whatever refers to later steps and items follows.

use std::ops::Range;

use super::evidence::Recover;
use super::{EventKind, Item, ItemIx, Kind, NO_ITEM, StepIx, StepRow, Timeline, TurnIx};
use crate::quantity::Tokens;

/// How many items a step of one call has: the call and its result.
const N_ITEMS: ItemIx = 2;

impl Timeline {
    /// Puts a step of one call and its result before a step of a turn, or behind its last one; returns the result's place.
    ///
    /// The two belong to that step and answer each other, whatever they said of themselves.
    pub(crate) fn insert_step(
        &mut self,
        turn_ix: TurnIx,
        before: StepIx,
        call: Item,
        result: Item,
    ) -> ItemIx {
        let Some(row) = self.spine.turns.get(turn_ix as usize) else { return NO_ITEM };
        let step = before.clamp(row.steps.start, row.steps.end);
        let is_last = step == row.steps.end;
        let steps = &self.spine.steps;
        let at = if is_last { row.items.end } else { steps[step as usize].reply.start };
        let now_ms = match (is_last, steps.get(step as usize), step.checked_sub(1)) {
            (false, Some(next), _) => next.at_ms,
            (_, next, Some(last)) => {
                let ended = steps[last as usize].end_ms;
                next.map_or(ended, |it| ended.min(it.at_ms))
            }
            (_, next, None) => next.map_or(0, |it| it.at_ms),
        };
        self.make_room(turn_ix, step, at);
        let own = |item: Item, pair| Item { pair, turn_ix, step_ix: step, ..item };
        let (call, result) = (own(call, at + 1), own(result, at));
        self.spine.items.splice(at as usize..at as usize, [call, result]);
        self.spine.steps.insert(
            step as usize,
            StepRow {
                at_ms: now_ms,
                response_ms: now_ms,
                end_ms: now_ms,
                reply: at..at + 1,
                results: at + 1..at + N_ITEMS,
                output_tokens: Tokens::from(call.raw),
            },
        );
        if let Some(evidence) = self.needs.evidence.get_mut(turn_ix as usize)
            && result.kind == Kind::ToolResult
        {
            evidence.add(&result, &Recover::default(), false);
        }
        at + 1
    }

    /// Moves everything behind a place.
    fn make_room(&mut self, turn_ix: TurnIx, step: StepIx, at: ItemIx) {
        let item = |it: &mut ItemIx| {
            if *it >= at && *it != NO_ITEM {
                *it += N_ITEMS;
            }
        };
        let items = |it: &mut Range<ItemIx>| {
            it.start += if it.start >= at { N_ITEMS } else { 0 };
            it.end += if it.end > at || it.start > at { N_ITEMS } else { 0 };
        };
        for (index, row) in self.spine.items.iter_mut().enumerate() {
            item(&mut row.pair);
            if index >= at as usize {
                row.step_ix += 1;
            }
        }
        let shift = |it: &mut Range<ItemIx>| *it = it.start + N_ITEMS..it.end + N_ITEMS;
        self.spine.steps.iter_mut().skip(step as usize).for_each(|row| {
            shift(&mut row.reply);
            shift(&mut row.results);
        });
        for row in self.spine.turns.iter_mut().skip(turn_ix as usize + 1) {
            shift(&mut row.items);
            shift(&mut row.user);
            row.steps = row.steps.start + 1..row.steps.end + 1;
        }
        let row = &mut self.spine.turns[turn_ix as usize];
        row.steps.end += 1;
        row.items.end += N_ITEMS;
        self.needs.make_room(step, item);
        for event in &mut self.events {
            if let EventKind::Reset(range) = &mut event.kind {
                items(range);
            }
            event.step += StepIx::from(event.step > step);
        }
        if let Some(plane) = &mut self.facts {
            plane.plants.iter_mut().for_each(|it| item(&mut it.item));
        }
        if let Some(recorded) = &mut self.recorded {
            let place = step as usize;
            recorded.usage.insert(place.min(recorded.usage.len()), None);
            if place < recorded.tails.len() {
                recorded.tails.insert(place, 0);
            }
            if place < recorded.costs.len() {
                recorded.costs.insert(place, None);
            }
        }
        self.texts.make_room(at, N_ITEMS);
    }
}
