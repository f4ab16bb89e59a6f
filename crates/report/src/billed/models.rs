//! The same requests under another model of the provider: a ceiling, because it would answer otherwise, and take other turns.
//!
//! The other model is of the next line down, as Sonnet is below Opus, or a cheaper one of the same line.

use super::session::{BilledSession, CheaperChoice, model_line_name};
use super::{BilledLever, BilledRow, BilledSaving};
use crate::lever::Lever;
use crate::prelude::*;

/// Other models for one lane.
pub(super) struct OtherModel {
    is_of_agent: bool,
    cheaper: CheaperChoice,
}

pub(super) const MAIN: OtherModel = OtherModel { is_of_agent: false, cheaper: CheaperChoice::NextLine };
pub(super) const SAME_LINE: OtherModel = OtherModel { is_of_agent: false, cheaper: CheaperChoice::SameLine };
pub(super) const SUB_AGENTS: OtherModel = OtherModel { is_of_agent: true, cheaper: CheaperChoice::NextLine };

impl BilledLever for OtherModel {
    fn savings_in_session(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        if session.timeline.is_of_agent() != self.is_of_agent {
            return Vec::new();
        }
        let mut all: IndexMap<String, BilledSaving> = IndexMap::new();
        // A session has few models, and finding another looks at all price lists.
        let mut cheaper: IndexMap<&str, Option<&Profile>> = IndexMap::new();
        for request in &session.requests {
            let name = request.profile.name.as_str();
            let find = || session.find_cheaper_profile(request.profile, self.cheaper);
            let down = cheaper.entry(name).or_insert_with(find);
            let Some(down) = down.filter(|down| down.limits.prompt >= request.prompt_tokens()) else {
                continue;
            };
            // Nobody can buy it at the prices of the past.
            let Some(usd) = Bill::of_request(down.prices.at(0), &request.tokens).total() else { continue };
            let which = format!(
                "{} instead of {}",
                name_without_provider(&down.name),
                self.cheaper.replaced_models_name(name_without_provider(name))
            );
            let told = all.entry(which).or_default();
            told.saved += request.usd - usd.usd();
            told.times += 1;
        }
        all.into_iter().map(|(which, told)| BilledSaving { which, ..told }).listed()
    }

    fn lever_for_row(&self, row: &BilledRow) -> Lever {
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

impl CheaperChoice {
    /// Returns what a model is called beside the one that takes its place: models of a line go together where another line does.
    fn replaced_models_name(self, name: &str) -> String {
        if self == Self::NextLine { format!("{} models", model_line_name(name)) } else { name.to_owned() }
    }
}

/// Returns a profile's name without its provider.
fn name_without_provider(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
