//! The fixed part of a recorded session's prompts: what stands before every message of its user, where it is in each billed prompt.
//!
//! Nothing is simulated: the sizes are those of the first billed prompt, and a split of what the log does not show is what the bill of the
//! first request tells, or there is none.

use crate::prelude::*;
use ctxsim_timeline::FixedPart;

use super::carried::each_prompt;

/// A part of the fixed part, and from where to where it stands in a prompt.
pub type FixedPiece = (FixedPart, [Tokens; 2]);

/// Hands over the billed prompts of a session, each with its bill and what is fixed of it, in order; a prompt ends where its bill does.
pub fn each_fixed(timeline: &Timeline, mut each: impl FnMut(StepIx, Usage, &[FixedPiece])) {
    let Some(recorded) = &timeline.recorded else { return };
    let fixed = &recorded.fixed;
    let shared_end = shared_end(timeline);
    let mut pieces: Vec<FixedPiece> = Vec::new();
    each_prompt(timeline, |prompt| {
        let usage = prompt.usage;
        pieces.clear();
        let mut at: Tokens = 0;
        for item in prompt.items.iter().take_while(|it| fixed.last().is_some_and(|last| **it <= last.0)) {
            let from = at.min(usage.prompt);
            at = at.saturating_add(tokens(timeline, *item));
            let to = at.min(usage.prompt);
            if let Ok(nth) = fixed.binary_search_by_key(item, |it| it.0) {
                split(fixed[nth].1, [from, to], shared_end, &mut pieces);
            }
        }
        each(prompt.step, usage, &pieces);
    });
}

/// Adds a piece, in two where what the log does not show of it is known to be.
fn split(part: FixedPart, [from, to]: [Tokens; 2], shared_end: Option<Tokens>, pieces: &mut Vec<FixedPiece>) {
    let mut add = |part: FixedPart, [from, to]: [Tokens; 2]| match pieces.last_mut() {
        _ if from >= to => {}
        Some((last, place)) if *last == part && place[1] == from => place[1] = to,
        _ => pieces.push((part, [from, to])),
    };
    match shared_end.filter(|_| part == FixedPart::NotShown) {
        None => add(part, [from, to]),
        Some(end) => {
            let end = end.clamp(from, to);
            add(FixedPart::SharedFront, [from, end]);
            add(FixedPart::BehindFront, [end, to]);
        }
    }
}

/// Returns where what other sessions had sent, too, ends in what the log does not show: the first request read it, though its own session
/// had sent nothing. Only caches that writes are paid for end entries where a prompt has a mark.
fn shared_end(timeline: &Timeline) -> Option<Tokens> {
    let recorded = timeline.recorded.as_ref()?;
    let hidden = recorded.fixed.iter().filter(|it| it.1 == FixedPart::NotShown);
    let hidden: Tokens = hidden.map(|it| tokens(timeline, it.0)).sum();
    let has_writes = recorded.usage.iter().flatten().any(|it| it.cache_write > 0);
    let read = recorded.usage.first().copied().flatten()?.cache_read;
    (has_writes && (1..=hidden).contains(&read)).then_some(read)
}

fn tokens(timeline: &Timeline, item: ItemIx) -> Tokens {
    timeline.spine.items.get(item as usize).map_or(0, |it| it.raw.into())
}
