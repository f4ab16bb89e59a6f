//! A timeline cut off before a request: what had come by then, and nothing that says what follows.

use super::evidence::Needs;
use super::{NO_ITEM, StepIx, Timeline};
use crate::prelude::*;

impl Timeline {
    /// Returns what had arrived before the user's message, or the request, of a step: items and events alone, without needs, facts and bills.
    pub fn before(&self, step: StepIx) -> Self {
        let mut cut =
            Self { needs: Needs::default(), facts: None, recorded: None, shared: None, ..self.clone() };
        cut.events.retain(|it| self.spine.step_at(it.at) < step);
        let spine = &mut cut.spine;
        spine.steps.truncate(step as usize);
        let n_items = spine.steps.last().map_or(spine.n_stable, |it| it.results.end);
        spine.items.truncate(n_items as usize);
        cut.images.items.retain(|it| it.0 < n_items);
        for item in spine.items.iter_mut().filter(|it| it.pair >= n_items) {
            item.pair = NO_ITEM;
        }
        spine.turns.retain(|it| it.steps.start < step);
        if let Some(last) = spine.turns.last_mut() {
            clamp(&mut last.steps, step);
            clamp(&mut last.items, n_items);
        }
        let n_turns = ix(spine.turns.len());
        cut.side_requests.retain(|it| it.turn_ix < n_turns);
        spine.sessions.retain(|it| it.turns.start < n_turns);
        spine.sessions.iter_mut().for_each(|it| clamp(&mut it.turns, n_turns));
        cut
    }
}

/// Ends a range where all ends.
fn clamp(range: &mut Range<u32>, end: u32) {
    range.end = range.end.min(end);
}
