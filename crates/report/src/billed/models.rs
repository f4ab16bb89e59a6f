//! The same requests under another model of the provider: a ceiling, because it would answer otherwise, and take other turns.
//!
//! The other model is of the next line down, as Sonnet is below Opus, or a cheaper one of the same line.

use super::session::{CheaperChoice, model_line_name};
use super::*;
use crate::lever::CeilingSessions;
use ctxsim_engine::measure::known_task::LeverTerms;

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
        // A short session is one to try it on, if the other model could take all of it.
        let n = session.requests.len() as u64;
        let is_short = |times: u64| times == n && n <= LeverTerms::declared().trial_requests;
        let one = |(which, told): (String, BilledSaving)| BilledSaving {
            which,
            size: is_short(told.times).into(),
            ..told
        };
        all.into_iter().map(one).listed()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let whose = if self.is_of_agent { " for sub-agents" } else { "" };
        Lever {
            title: format!("{}{whose}", row.lever.of),
            about: "the same requests, with the same tokens, at its prices".to_owned(),
            ceiling: Some(CeilingSessions {
                sessions: row.sessions,
                short_sessions: row.size,
                short_requests: LeverTerms::declared().trial_requests,
            }),
            ..row.lever.clone()
        }
    }
}
