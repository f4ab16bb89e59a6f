//! The same requests under another model of the provider: a ceiling, because it would answer otherwise, and take other turns.
//!
//! The other model is of the next line down, as Sonnet is below Opus, or a cheaper one of the same line.

use super::session::{CheaperChoice, model_line_name};
use super::*;

/// Other models for one lane.
pub(super) struct OtherModel {
    is_of_agent: bool,
    cheaper: CheaperChoice,
}

pub(super) const MAIN: OtherModel = OtherModel { is_of_agent: false, cheaper: CheaperChoice::NextLine };
pub(super) const SAME_LINE: OtherModel = OtherModel { is_of_agent: false, cheaper: CheaperChoice::SameLine };
pub(super) const SUB_AGENTS: OtherModel = OtherModel { is_of_agent: true, cheaper: CheaperChoice::NextLine };

impl BilledLever for OtherModel {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        if session.timeline.is_of_agent() != self.is_of_agent {
            return Vec::new();
        }
        let mut all: IndexMap<String, BilledSaving> = IndexMap::new();
        // A session has few models, and finding another looks at all price lists.
        let mut cheaper: IndexMap<&str, Option<&Profile>> = IndexMap::new();
        for request in &session.requests {
            let name = request.profile.name.as_str();
            let find = || (session.cheaper)(request.profile, self.cheaper);
            let Some(down) = *cheaper.entry(name).or_insert_with(find) else { continue };
            // Nobody can buy it at the prices of the past.
            let usd = Bill::of_request(down.prices.at(0), &request.tokens).total();
            let Some(usd) = usd.filter(|_| down.limits.prompt >= request.prompt_tokens()) else { continue };
            let [own, other] = [name, &down.name].map(|it| it.rsplit('/').next().unwrap_or(it));
            // Models of a line go together where another line takes their place.
            let own = match self.cheaper {
                CheaperChoice::NextLine => format!("{} models", model_line_name(own)),
                CheaperChoice::SameLine => own.to_owned(),
            };
            let told = all.entry(format!("{other} instead of {own}")).or_default();
            told.saved += request.usd - usd.usd();
            told.times += 1;
        }
        all.into_iter().map(|(which, told)| BilledSaving { which, ..told }).listed()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let whose = if self.is_of_agent { " for sub-agents" } else { "" };
        let sessions = counted(row.sessions, "session");
        Lever {
            title: format!("{}{whose}", row.lever.of),
            about: format!("A ceiling: every request of {sessions} at its prices, with the same tokens"),
            unjudged: Some("quality and other turns of another model are not judged".to_owned()),
            ..row.lever.clone()
        }
    }
}
