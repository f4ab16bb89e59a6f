//! Images that stay in the history: what they cost in every later request, and what would be saved if all but the last few were taken out.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;
use ctxsim_timeline::{EventKind, ItemIx, StepIx};

pub(super) struct ImagesLever;

/// How many stay.
const STAY: usize = 3;
/// How many go at once: each time, what stands behind the first of them is written anew.
const BATCH: usize = 10;

/// An image that requests carry on.
struct HeldImage {
    tokens: Tokens,
    /// What the request before its first had sent, behind which it stands.
    before: Tokens,
    /// The first step that no longer sends it, because its harness took it out.
    gone_at: Option<StepIx>,
}

impl BilledLever for ImagesLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let mut arriving = arriving(session.timeline).into_iter().peekable();
        let carried = session.carried();
        let mut held: Vec<HeldImage> = Vec::new();
        let mut told = Told::default();
        let mut before: Tokens = 0;
        for it in &session.requests {
            held.retain(|image| image.gone_at.is_none_or(|gone| gone > it.step));
            while let Some((_, tokens, gone_at)) = arriving.next_if(|image| image.0 <= it.step) {
                held.push(HeldImage { tokens, before, gone_at });
            }
            before = it.prompt();
            if held.len() < STAY + BATCH {
                continue;
            }
            let first = held[0].before;
            let out: Tokens = held.drain(..BATCH).map(|image| image.tokens).sum();
            let rewritten = it.tokens.read.saturating_sub(first).saturating_sub(out);
            let kept = out as f64 * (it.read_usd() + carried.after(it.step));
            told.saved += kept - rewritten as f64 * (it.write_usd() - it.read_usd());
            told.times += BATCH as u64;
            told.size += out;
        }
        if told.times == 0 { Vec::new() } else { vec![told] }
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let [sessions, times] = kind.counts("older image");
        BilledRow {
            title: format!("Take images out of the history {BATCH} at a time, but for the last {STAY}"),
            about: format!("{sessions} carried {times} ({} tokens) on and on", thousands(kind.size)),
            unjudged: Some("whether an older image is looked at again is yours to judge".to_owned()),
            ..kind.row()
        }
    }
}

/// Returns the images of a session in the order in which requests sent them: the first step that did, the tokens, and the first step that
/// no longer does.
fn arriving(timeline: &Timeline) -> Vec<(StepIx, Tokens, Option<StepIx>)> {
    let spine = &timeline.spine;
    let gone_at = |item: ItemIx, sent: StepIx| {
        let goes = |it: &&ctxsim_timeline::Event| match &it.kind {
            EventKind::Reset(items) => items.contains(&item),
            _ => false,
        };
        let steps = timeline.events.iter().filter(goes).map(|it| spine.step_at(it.at));
        steps.filter(|it| *it >= sent).min()
    };
    let images = timeline.images.items.iter().filter_map(|(item, _)| {
        let row = spine.items.get(*item as usize)?;
        let own = spine.steps.get(row.step_ix as usize)?;
        // What a step brought is sent by the next.
        let sent = row.step_ix + u32::from(own.results.contains(item));
        Some((sent, row.raw.into(), gone_at(*item, sent)))
    });
    images.listed()
}
