//! Reasoning of earlier turns that prompts carry on: what dropping it at each new turn saves, less what must be written again behind it.

use super::*;
use ctxsim_timeline::{Item, Kind};

pub(super) struct ReasoningLever;

impl BilledLever for ReasoningLever {
    fn why_unmeasurable(&self, session: &BilledSession<'_>) -> Option<&'static str> {
        let has_any = session.timeline.spine.items.iter().any(|item| is_reasoning(&item));
        (!has_any).then_some("these logs hold no reasoning")
    }

    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let spine = &session.timeline.spine;
        let carried = session.carried_rates();
        let mut told = BilledSaving::default();
        for pair in spine.turns.windows(2) {
            let (last, next) = (&pair[0], &pair[1]);
            let own = last.items.clone().map(|item| &spine.items[item as usize]);
            let Some(first) = own.clone().find(is_reasoning).map(|item| item.step_ix) else { continue };
            let Some(request) = session.request_at_step(next.steps.start) else { continue };
            let dropped: Tokens = own.clone().filter(is_reasoning).map(|it| Tokens::from(it.raw)).sum();
            let behind: Tokens = own.filter(|it| it.step_ix >= first).map(|it| Tokens::from(it.raw)).sum();
            let (read, write) = (request.read_token_usd(), request.write_token_usd());
            let again = behind.saturating_sub(dropped) as f64 * (write - read);
            told.saved += dropped as f64 * (read + carried.later_usd_per_token(request.step)) - again;
            told.times += 1;
        }
        told.into_vec_if_occurred()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
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
