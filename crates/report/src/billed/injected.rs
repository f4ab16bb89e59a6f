//! Texts that a harness adds to prompts on its own: what hooks say, files that changed on disk, reminders and lists, written once and read again.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;
use ctxsim_timeline::{InjectedText, Occasion, StepIx};

pub(super) struct InjectedLever;

impl BilledLever for InjectedLever {
    fn untold(&self, session: &BilledSession<'_>) -> Option<&'static str> {
        let occasions = session.timeline.recorded.iter().flat_map(|it| it.occasions.iter());
        let has_any = occasions.clone().any(|it| matches!(it.1, Occasion::Injected(..)));
        (!has_any).then_some("these logs name no text that the agent adds on its own")
    }

    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let occasions = session.timeline.recorded.iter().flat_map(|it| it.occasions.iter());
        let carried = session.carried();
        let per_token: f64 = session.timeline.chars_per_token.to_f64().max(1.0);
        let mut all: IndexMap<InjectedText, Told> = IndexMap::new();
        for (step, occasion) in occasions {
            let Occasion::Injected(what, characters) = occasion else { continue };
            let Some(write) = write_at(session, *step) else { continue };
            let tokens = f64::from(*characters) / per_token;
            let told = all.entry(*what).or_default();
            told.saved += tokens * (write + carried.after(*step));
            told.times += 1;
            told.size += tokens as u64;
        }
        all.into_iter().map(|(what, it)| Told { of: what.name().to_owned(), ..it }).listed()
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let [sessions, times] = kind.counts("text");
        BilledRow {
            title: title(kind.of).to_owned(),
            about: format!(
                "{times} in {sessions}, about {} tokens in all, added to prompts and carried on from there",
                thousands(kind.size)
            ),
            whom: Some(kind.of.replace('_', " ")),
            unjudged: Some("what these texts bring is yours to judge".to_owned()),
            ..kind.row()
        }
    }
}

/// Says what to do about a kind of text.
fn title(of: &str) -> &'static str {
    match of {
        "hook" => "Let hooks add less to prompts",
        "changed_file" => "Leave files alone that the agent has read",
        "reminder" => "Do without reminders of tasks",
        "diagnostics" => "Send fewer of an editor's diagnostics",
        _ => "Install fewer skills, sub-agents and tools",
    }
}

/// Returns what writing a token costs that comes with the request of a step.
fn write_at(session: &BilledSession<'_>, step: StepIx) -> Option<f64> {
    let nth = session.requests.partition_point(|it| it.step < step);
    session.requests.get(nth).filter(|it| it.step == step).map(|it| it.write_usd())
}
