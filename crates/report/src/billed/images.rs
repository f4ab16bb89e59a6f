//! Images that stay in the history: what they cost in every later request, and what would be saved if all but the last few were taken out.

use super::*;
use ctxsim_timeline::{Event, EventKind, ItemIx, StepIx};

pub(super) struct ImagesLever;

/// How many stay.
const STAY: usize = 3;
/// How many go at once: each time, what stands behind the first of them is written anew.
const BATCH: usize = 10;

/// An image that requests carry on.
struct CarriedImage {
    /// The first step that sends it.
    sent: StepIx,
    tokens: Tokens,
    /// What the request before its first had sent, behind which it stands.
    before: Tokens,
    /// The first step that no longer sends it, because its harness took it out.
    gone_at: Option<StepIx>,
}

impl BilledLever for ImagesLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let mut arriving = images_in_sending_order(session.timeline).into_iter().peekable();
        let carried = session.carried_rates();
        let mut held: Vec<CarriedImage> = Vec::new();
        let mut told = BilledSaving::default();
        let mut before: Tokens = 0;
        for request in &session.requests {
            held.retain(|image| image.gone_at.is_none_or(|gone| gone > request.step));
            while let Some(image) = arriving.next_if(|image| image.sent <= request.step) {
                held.push(CarriedImage { before, ..image });
            }
            before = request.prompt_tokens();
            if held.len() < STAY + BATCH {
                continue;
            }
            let first = held[0].before;
            let out: Tokens = held.drain(..BATCH).map(|image| image.tokens).sum();
            let rewritten = request.tokens.read.saturating_sub(first).saturating_sub(out);
            let kept = out as f64 * (request.read_token_usd() + carried.later_usd_per_token(request.step));
            told.saved += kept - rewritten as f64 * (request.write_token_usd() - request.read_token_usd());
            told.times += BATCH as u64;
            told.size += out;
        }
        told.into_vec_if_occurred()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let [sessions, times] = row.sessions_and_times("older image");
        Lever {
            title: format!("Take images out of the history {BATCH} at a time, but for the last {STAY}"),
            about: format!("{sessions} carried {times} ({} tokens) on and on", thousands(row.size)),
            unjudged: Some("whether an older image is looked at again is yours to judge".to_owned()),
            ..row.lever.clone()
        }
    }
}

/// Returns the images of a session in the order in which requests sent them.
fn images_in_sending_order(timeline: &Timeline) -> Vec<CarriedImage> {
    let spine = &timeline.spine;
    let image = |item: ItemIx| {
        let row = spine.items.get(item as usize)?;
        let own = spine.steps.get(row.step_ix as usize)?;
        // What a step brought is sent by the next.
        let sent = row.step_ix + u32::from(own.results.contains(&item));
        let goes = |event: &&Event| matches!(&event.kind, EventKind::Reset(items) if items.contains(&item));
        let gone = timeline.events.iter().filter(goes).map(|event| spine.step_at(event.at));
        let gone_at = gone.filter(|step| *step >= sent).min();
        Some(CarriedImage { sent, tokens: row.raw.into(), before: 0, gone_at })
    };
    timeline.images.items.iter().filter_map(|(item, _)| image(*item)).listed()
}
