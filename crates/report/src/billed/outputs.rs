//! Long outputs of tools: what the tokens beyond a cap cost when they came, and in every request that carried them on.

use super::*;
use ctxsim_timeline::{ItemIx, Kind};

pub(super) struct ToolOutputsLever;

/// Where outputs are capped, in tokens.
const CAP: Tokens = 4_000;

impl BilledLever for ToolOutputsLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let spine = &session.timeline.spine;
        let carried = session.carried_rates();
        let needs = session.timeline.needs.of_items().iter();
        let needed: BTreeSet<ItemIx> = needs.map(|need| need.inferred.item).collect();
        let mut all: IndexMap<&str, BilledSaving> = IndexMap::new();
        // What the last request brought was never sent.
        let n_sent = session.requests.len().saturating_sub(1);
        for request in &session.requests[..n_sent] {
            for nth in spine.steps[request.step as usize].results.clone() {
                let item = &spine.items[nth as usize];
                let tool = spine.tools.get_index(usize::from(item.tool)).map_or("", String::as_str);
                let beyond = Tokens::from(item.raw).saturating_sub(CAP);
                if item.kind != Kind::ToolResult || beyond == 0 || tool.is_empty() {
                    continue;
                }
                // It comes with the next request, at the price of a write.
                let later = carried.later_usd_per_token(request.step.saturating_add(1));
                let told = all.entry(tool).or_default();
                told.saved += beyond as f64 * (request.write_token_usd() + later);
                told.times += 1;
                told.size += u64::from(needed.contains(&nth));
            }
        }
        all.into_iter().map(|(tool, told)| BilledSaving { which: tool.to_owned(), ..told }).listed()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let (tool, cap, needed) = (in_one_line(&row.lever.of), thousands(CAP), thousands(row.size));
        let [sessions, times] = row.sessions_and_times("output");
        Lever {
            title: format!("Cap {tool} outputs at {cap} tokens"),
            about: format!("{times} of over {cap} tokens in {sessions}"),
            whom: Some(tool.into_owned()),
            unjudged: Some(format!(
                "a later call used something of {needed} of them, and nothing tells which part"
            )),
            ..row.lever.clone()
        }
    }
}
