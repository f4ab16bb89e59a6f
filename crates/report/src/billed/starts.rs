//! Sub-agents that begin alike: what each would save by reading what another had written shortly before.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, Told, ToldSession};
use crate::prelude::*;

pub(super) struct StartsLever;

/// Sub-agents that began within so many milliseconds of another: the shortest lifetime of entries.
const WITHIN_MS: i64 = 300_000;

impl BilledLever for StartsLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let first = session.requests.first().filter(|_| session.timeline.is_of_agent());
        let missed = first.filter(|it| it.missed_by(&[MissCause::Began]));
        let told = |it: &super::session::RequestBill<'_>| Told {
            saved: it.again_usd(),
            times: 1,
            size: it.miss.map_or(0, |it| it.1),
            ..Told::default()
        };
        missed.map(told).into_iter().listed()
    }

    fn rows(&self, all: &[ToldSession<'_>]) -> Vec<BilledRow> {
        let mut saved = vec![0.0; all.len()];
        let mut last: IndexMap<(&str, &str), (usize, i64)> = IndexMap::new();
        let began = |it: &ToldSession<'_>| it.whose.span_ms.map(|it| it[0]);
        let mut order =
            (0..all.len()).filter(|nth| all[*nth].whose.is_of_agent && began(&all[*nth]).is_some()).listed();
        order.sort_by_key(|nth| began(&all[*nth]));
        let mut n_alike = 0;
        for nth in order {
            let (it, Some(at)) = (&all[nth], began(&all[nth])) else { continue };
            let before = last.insert((it.whose.person, it.whose.project), (nth, at));
            let alike = before.filter(|before| at - before.1 <= WITHIN_MS);
            if let Some(told) = it.told.first().filter(|_| alike.is_some()) {
                saved[nth] = told.saved;
                n_alike += 1;
            }
        }
        if n_alike == 0 {
            return Vec::new();
        }
        let n = thousands(n_alike);
        let all = counted(all.iter().filter(|it| it.whose.is_of_agent).count(), "sub-agent");
        vec![BilledRow {
            title: "Start sub-agents one after another, not at once".to_owned(),
            about: format!(
                "{n} of {all} began within five minutes of another of the same project, and read nothing of what that had written"
            ),
            unjudged: Some("sub-agents that wait for each other take longer".to_owned()),
            saved,
            ..BilledRow::default()
        }]
    }
}
