//! Full knowledge of later needs: keeps what some later need or probe of positive weight asks, at the level asked.
//!
//! No policy can know more, so it shows what better selection could keep. It is not a lower bound on cost: each of its edits
//! breaks the cached prefix, which can cost more than keeping everything.

use super::asked::{LastAsked, REQUEST, Time, asked};
use crate::prelude::*;
use crate::projection::{Ambient, Rendered};

/// Knows the whole load in advance, and still may cost more than a policy that edits nothing.
///
/// What the active turn is about stays as it came until it has been read: the user's message until the turn is over, a step
/// until the request after it is out.
#[derive(Clone, Debug)]
pub struct Clairvoyant {
    /// By item: what is asked of it, and until when.
    asked: Vec<LastAsked>,
    /// By step: the items to look at before its request.
    reviews: Vec<Vec<ItemIx>>,
    /// How many steps' reviews are done.
    n_reviewed: usize,
}

impl Clairvoyant {
    /// Looks ahead.
    pub fn new(timeline: &Timeline) -> Self {
        let spine = &timeline.spine;
        let asked = asked(timeline);
        let reviews = reviews(spine, &asked);
        Self { asked, reviews, n_reviewed: 0 }
    }

    /// Shows an item as it is still asked for from a time on.
    fn review(&self, index: ItemIx, now: Time, edit: &mut Editor<'_, '_>) {
        if index >= edit.prompt().len() {
            return;
        }
        let (item, asked) = (edit.prompt().item(index), &self.asked[index as usize]);
        let is_asked = |until: Option<Time>| until.is_some_and(|it| it >= now);
        if is_asked(asked.whole) {
            return;
        }
        if is_asked(asked.exact) {
            let tokens = item.excerpt.saturating_add(item.handle).min(item.raw);
            let exact = item.preserve.is_exact();
            edit.shrink(index, Rendered::sized(ShownAs::Exact, tokens, exact));
        } else if is_asked(asked.handle) {
            edit.shrink(index, Rendered::sized(ShownAs::Handle, item.handle.min(item.raw), false));
        } else {
            edit.take_out(index);
        }
    }
}

impl Projector for Clairvoyant {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let step: StepIx = saturated(edit.prompt().arrived().steps);
        while self.n_reviewed <= step as usize {
            let items = self.reviews.get_mut(self.n_reviewed).map(std::mem::take).unwrap_or_default();
            self.n_reviewed += 1;
            edit.touch(items.len() as u64);
            items.into_iter().for_each(|it| self.review(it, (step, REQUEST), edit));
        }
    }
}

/// Returns, by step, which items to look at: what has just been read, and what has just been asked for the last time.
fn reviews(spine: &Spine, asked: &[LastAsked]) -> Vec<Vec<ItemIx>> {
    let mut reviews = vec![Vec::new(); spine.steps.len() + 1];
    let mut at = |step: StepIx, item: ItemIx| {
        if let Some(items) = reviews.get_mut(step as usize) {
            items.push(item);
        }
    };
    for row in &spine.turns {
        row.user.clone().for_each(|it| at(row.steps.end, it));
        for step in row.steps.clone() {
            let it = &spine.steps[step as usize];
            // A call goes with its result.
            let is_led = |it: &ItemIx| {
                let item = &spine.items[*it as usize];
                item.kind == Kind::ToolCall && item.pair != NO_ITEM
            };
            (it.reply.start..it.results.end).filter(|it| !is_led(it)).for_each(|it| at(step + 2, it));
        }
    }
    for (index, asked) in asked.iter().enumerate() {
        let item = ix(index);
        let read_at = spine.items[index].step_ix.saturating_add(2);
        for (step, _) in [asked.whole, asked.exact, asked.handle].into_iter().flatten() {
            at(step.saturating_add(1).max(read_at), item);
        }
    }
    reviews
}
