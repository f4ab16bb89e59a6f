//! Reasoning of earlier turns that prompts carry on: what dropping it at each new turn saves, less what must be written again behind it.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, Told};
use crate::lever::Lever;
use crate::prelude::*;
use ctxsim_timeline::{Item, Kind};

pub(super) struct ReasoningLever;

impl BilledLever for ReasoningLever {
    fn untold(&self, session: &BilledSession<'_>) -> Option<&'static str> {
        let has_any = session.timeline.spine.items.iter().any(|item| is_reasoning(&item));
        (!has_any).then_some("these logs hold no reasoning")
    }

    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let spine = &session.timeline.spine;
        let carried = session.carried();
        let mut told = Told::default();
        for pair in spine.turns.windows(2) {
            let (last, next) = (&pair[0], &pair[1]);
            let own = last.items.clone().map(|item| &spine.items[item as usize]);
            let Some(first) = own.clone().find(is_reasoning).map(|item| item.step_ix) else { continue };
            let Some(request) = session.request_of(next.steps.start) else { continue };
            let dropped: Tokens = own.clone().filter(is_reasoning).map(|item| Tokens::from(item.raw)).sum();
            let behind: Tokens =
                own.filter(|item| item.step_ix >= first).map(|item| Tokens::from(item.raw)).sum();
            let again = behind.saturating_sub(dropped) as f64 * (request.write_usd() - request.read_usd());
            told.saved += dropped as f64 * (request.read_usd() + carried.after(request.step)) - again;
            told.times += 1;
        }
        told.if_met()
    }

    fn lever(&self, row: &BilledRow) -> Lever {
        let sessions = counted(row.sessions, "session");
        Lever {
            title: "Drop reasoning when the next turn begins".to_owned(),
            about: format!(
                "In {sessions}, reasoning is carried on; what stands behind it is written again at each turn, which is counted"
            ),
            unjudged: Some("models may answer worse without their earlier reasoning".to_owned()),
            ..row.lever.clone()
        }
    }
}

fn is_reasoning(item: &&Item) -> bool {
    item.kind == Kind::Reasoning && item.raw > 0
}
