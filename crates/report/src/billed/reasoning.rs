//! Reasoning of earlier turns that prompts carry on: what dropping it at each new turn saves, less what must be written again behind it.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;
use ctxsim_timeline::{Kind, StepIx};

pub(super) struct ReasoningLever;

impl BilledLever for ReasoningLever {
    fn untold(&self, session: &BilledSession<'_>) -> Option<&'static str> {
        let has_any = session.timeline.spine.items.iter().any(|it| it.kind == Kind::Reasoning && it.raw > 0);
        (!has_any).then_some("these logs hold no reasoning")
    }

    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let spine = &session.timeline.spine;
        let carried = session.carried();
        let mut told = Told::default();
        for pair in spine.turns.windows(2) {
            let (last, next) = (&pair[0], &pair[1]);
            let own = last.items.clone().map(|it| &spine.items[it as usize]);
            let is_dropped = |it: &&ctxsim_timeline::Item| it.kind == Kind::Reasoning && it.raw > 0;
            let Some(first) = own.clone().find(is_dropped).map(|it| it.step_ix) else { continue };
            let dropped: Tokens = own.clone().filter(is_dropped).map(|it| Tokens::from(it.raw)).sum();
            let behind: Tokens = own.filter(|it| it.step_ix >= first).map(|it| Tokens::from(it.raw)).sum();
            let step: StepIx = next.steps.start;
            let Some(it) = session.requests.iter().find(|it| it.step == step) else { continue };
            let again = behind.saturating_sub(dropped) as f64 * (it.write_usd() - it.read_usd());
            told.saved += dropped as f64 * (it.read_usd() + carried.after(step)) - again;
            told.times += 1;
        }
        if told.times > 0 { vec![told] } else { Vec::new() }
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let sessions = counted(kind.sessions, "session");
        BilledRow {
            title: "Drop reasoning when the next turn begins".to_owned(),
            about: format!(
                "In {sessions}, reasoning is carried on; what stands behind it is written again at each turn, which is counted"
            ),
            unjudged: Some("models may answer worse without their earlier reasoning".to_owned()),
            ..kind.row()
        }
    }
}
