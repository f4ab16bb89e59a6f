//! Long outputs of tools: what the tokens beyond a cap cost when they came, and in every request that carried them on.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;
use ctxsim_timeline::{ItemIx, Kind};

pub(super) struct OutputsLever;

/// Where outputs are capped, in tokens.
const CAP: Tokens = 4_000;

impl BilledLever for OutputsLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let spine = &session.timeline.spine;
        let carried = session.carried();
        let needed: BTreeSet<ItemIx> =
            session.timeline.needs.of_items().iter().map(|it| it.inferred.item).collect();
        let mut all: IndexMap<&str, Told> = IndexMap::new();
        // What the last request brought was never sent.
        let n_sent = session.requests.len().saturating_sub(1);
        for it in &session.requests[..n_sent] {
            let own = spine.steps[it.step as usize].results.clone();
            let long = own.filter(|nth| {
                let it = &spine.items[*nth as usize];
                it.kind == Kind::ToolResult && Tokens::from(it.raw) > CAP
            });
            for nth in long {
                let item = &spine.items[nth as usize];
                let tool = spine.tools.get_index(usize::from(item.tool)).map_or("", String::as_str);
                if tool.is_empty() {
                    continue;
                }
                // It comes with the next request, at the price of a write.
                let each = it.write_usd() + carried.after(it.step.saturating_add(1));
                let told = all.entry(tool).or_default();
                told.saved += (Tokens::from(item.raw) - CAP) as f64 * each;
                told.times += 1;
                told.size += u64::from(needed.contains(&nth));
            }
        }
        all.into_iter().map(|(of, it)| Told { of: of.to_owned(), ..it }).listed()
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let (tool, cap, needed) = (in_one_line(kind.of), thousands(CAP), thousands(kind.size));
        let [sessions, times] = kind.counts("output");
        BilledRow {
            title: format!("Cap {tool} outputs at {cap} tokens"),
            about: format!("{times} of over {cap} tokens in {sessions}"),
            whom: Some(tool.into_owned()),
            unjudged: Some(format!(
                "a later call used something of {needed} of them, and nothing tells which part"
            )),
            ..kind.row()
        }
    }
}
