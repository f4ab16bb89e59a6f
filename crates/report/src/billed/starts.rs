//! Sub-agents that begin alike: what each would save by reading what another had written shortly before.

use super::*;

pub(super) struct SubAgentStarts;

/// Sub-agents that began within so many milliseconds of another: the shortest lifetime of entries.
const WITHIN_MS: i64 = 300_000;

impl BilledLever for SubAgentStarts {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let first = session.requests.first().filter(|_| session.timeline.is_of_agent());
        let missed = first.filter(|it| it.has_miss_of(&[MissCause::Began]));
        let saved = missed.map(RequestBill::cache_miss_usd);
        saved.map(|saved| BilledSaving { saved, times: 1, ..BilledSaving::default() }).into_iter().listed()
    }

    fn rows_to_judge(&self, sessions: &[AttributedBill<'_>], savings: &[&[BilledSaving]]) -> Vec<LeverRow> {
        let began = |nth: &usize| sessions[*nth].span_ms.map(|[began, _]| began);
        let agents = (0..sessions.len()).filter(|nth| sessions[*nth].is_of_agent).listed();
        let mut order = agents.iter().copied().filter(|nth| began(nth).is_some()).listed();
        order.sort_by_key(began);
        let mut saved = vec![0.0; sessions.len()];
        let mut n_alike = 0;
        // When the last sub-agent of each person and project began.
        let mut last: IndexMap<(&str, &str), i64> = IndexMap::new();
        for nth in order {
            let Some(at) = began(&nth) else { continue };
            let before = last.insert((sessions[nth].person, sessions[nth].project), at);
            let is_alike = before.is_some_and(|before| at - before <= WITHIN_MS);
            if let Some(savings) = savings[nth].first().filter(|_| is_alike) {
                saved[nth] = savings.saved;
                n_alike += 1;
            }
        }
        if n_alike == 0 {
            return Vec::new();
        }
        let (n, all) = (thousands(n_alike), counted(agents.len(), "sub-agent"));
        let lever = Lever {
            title: "Start sub-agents one after another, not at once".to_owned(),
            about: format!(
                "{n} of {all} began within five minutes of another of the same project, and read nothing of what that had written"
            ),
            unjudged: Some("sub-agents that wait for each other take longer".to_owned()),
            ..Lever::default()
        };
        vec![LeverRow { lever, saved, ..LeverRow::default() }]
    }
}
