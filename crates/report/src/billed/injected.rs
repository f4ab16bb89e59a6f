//! Texts that a harness adds to prompts on its own: what hooks say, files that changed on disk, reminders and lists, written once and read again.

use super::*;
use ctxsim_timeline::{InjectedText, Occasion};

pub(super) struct InjectedTextLever;

impl BilledLever for InjectedTextLever {
    fn why_unmeasurable(&self, session: &BilledSession<'_>) -> Option<&'static str> {
        let mut occasions = session.timeline.recorded.iter().flat_map(|recorded| recorded.occasions.iter());
        let has_any = occasions.any(|(_, occasion)| matches!(occasion, Occasion::Injected(..)));
        (!has_any).then_some("these logs name no text that the agent adds on its own")
    }

    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let occasions = session.timeline.recorded.iter().flat_map(|recorded| recorded.occasions.iter());
        let carried = session.carried_rates();
        let per_token: f64 = session.timeline.chars_per_token.to_f64().max(1.0);
        let mut all: IndexMap<InjectedText, BilledSaving> = IndexMap::new();
        for (step, occasion) in occasions {
            let Occasion::Injected(what, characters) = occasion else { continue };
            // It is written with the request of its step.
            let Some(request) = session.request_at_step(*step) else { continue };
            let write = request.write_token_usd();
            let tokens = f64::from(*characters) / per_token;
            let told = all.entry(*what).or_default();
            told.saved += tokens * (write + carried.later_usd_per_token(*step));
            told.times += 1;
            told.size += tokens as u64;
        }
        all.into_iter().map(|(what, told)| BilledSaving { which: what.name().to_owned(), ..told }).listed()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let [sessions, times] = row.sessions_and_times("text");
        Lever {
            title: title_for_text_kind(&row.lever.of).to_owned(),
            about: format!(
                "{times} in {sessions}, about {} tokens in all, added to prompts and carried on from there",
                thousands(row.size)
            ),
            whom: Some(row.lever.of.replace('_', " ")),
            unjudged: Some("what these texts bring is yours to judge".to_owned()),
            ..row.lever.clone()
        }
    }
}

/// Says what to do about a kind of text.
fn title_for_text_kind(kind: &str) -> &'static str {
    match kind {
        "hook" => "Let hooks add less to prompts",
        "changed_file" => "Leave files alone that the agent has read",
        "reminder" => "Do without reminders of tasks",
        "diagnostics" => "Send fewer of an editor's diagnostics",
        _ => "Install fewer skills, sub-agents and tools",
    }
}
