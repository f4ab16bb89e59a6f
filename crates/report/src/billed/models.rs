//! The same requests under another model of the provider: a ceiling, because it would answer otherwise, and take other turns.
//!
//! The other model is of the next line down, as Sonnet is below Opus, or a cheaper one of the same line.

use super::session::{BilledSession, Cheaper, line_of};
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;

/// Other models for one lane.
pub(super) struct OtherModel {
    is_of_agent: bool,
    cheaper: Cheaper,
}

pub(super) const MAIN: OtherModel = OtherModel { is_of_agent: false, cheaper: Cheaper::NextLine };
pub(super) const SAME_LINE: OtherModel = OtherModel { is_of_agent: false, cheaper: Cheaper::SameLine };
pub(super) const SUB_AGENTS: OtherModel = OtherModel { is_of_agent: true, cheaper: Cheaper::NextLine };

impl BilledLever for OtherModel {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        if session.timeline.is_of_agent() != self.is_of_agent {
            return Vec::new();
        }
        let mut all: Vec<Told> = Vec::new();
        // A session has few models, and finding another looks at all price lists.
        let mut known: IndexMap<&str, Option<(&Profile, String)>> = IndexMap::new();
        for it in &session.requests {
            let name = it.profile.name.as_str();
            let find = || {
                let down = session.cheaper(it.profile, self.cheaper)?;
                Some((
                    down,
                    format!("{} instead of {}", short(&down.name), self.cheaper.written(short(name))),
                ))
            };
            let found = known.entry(name).or_insert_with(find).as_ref();
            let Some((down, of)) = found else { continue };
            // Nobody can buy it at the prices of the past.
            let usd = Bill::of_request(down.prices.at(0), &it.tokens).total();
            let usd = usd.filter(|_| down.limits.prompt >= it.prompt());
            let Some(usd) = usd else { continue };
            let saved = it.usd - usd.usd();
            match all.iter_mut().find(|it| it.of == *of) {
                Some(told) => {
                    told.saved += saved;
                    told.times += 1;
                }
                None => all.push(Told { of: of.clone(), saved, times: 1, ..Told::default() }),
            }
        }
        all
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let whose = if self.is_of_agent { " for sub-agents" } else { "" };
        let sessions = counted(kind.sessions, "session");
        BilledRow {
            title: format!("{}{whose}", kind.of),
            about: format!("A ceiling: every request of {sessions} at its prices, with the same tokens"),
            unjudged: Some("quality and other turns of another model are not judged".to_owned()),
            ..kind.row()
        }
    }
}

impl Cheaper {
    /// Returns what a model is called beside the one that takes its place: models of a line go together where another line does.
    fn written(self, name: &str) -> String {
        if self == Self::NextLine { format!("{} models", line_of(name)) } else { name.to_owned() }
    }
}

/// Returns a profile's name without its provider.
fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
