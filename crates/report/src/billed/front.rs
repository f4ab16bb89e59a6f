//! What sessions begin with, by person: system prompt, tools and memory files are paid with every request, and some people's are larger.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, Told, ToldSession};
use crate::prelude::*;

pub(super) struct FrontLever;

/// Fewer sessions do not show what a person's begin with.
const SESSIONS_MIN: usize = 5;
/// Fronts that differ by less are the same.
const LARGER: f64 = 1.1;

impl BilledLever for FrontLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let size = session.front();
        if session.timeline.is_of_agent() || size == 0 {
            return Vec::new();
        }
        let paid = |it: &super::session::RequestBill<'_>| {
            let bill = Bill::of_part(it.list, &it.tokens, [0, size]).1;
            (bill.read + bill.write + bill.uncached).usd()
        };
        let saved = session.requests.iter().map(paid).sum();
        let model = session.requests.first().map_or("", |it| it.profile.name.as_str());
        vec![Told { saved, times: 1, size, of: model.to_owned(), ..Told::default() }]
    }

    /// Compares people who use the same model; where the sessions are one person's, his projects.
    fn rows(&self, all: &[ToldSession<'_>]) -> Vec<BilledRow> {
        let people = larger(all, |it| it.person);
        if people.is_empty() { larger(all, |it| it.project) } else { people }
    }
}

/// What the sessions of a person or a project with one model begin with.
struct GroupFront<'a> {
    group: &'a str,
    model: &'a str,
    median: Tokens,
    sessions: usize,
}

/// Returns them, of those with sessions enough.
fn fronts<'a>(
    all: &'a [ToldSession<'a>],
    group: &impl Fn(&'a super::WhoseBill<'a>) -> &'a str,
) -> Vec<GroupFront<'a>> {
    let mut sizes: IndexMap<(&str, &str), Vec<Tokens>> = IndexMap::new();
    for it in all {
        for told in it.told {
            sizes.entry((group(it.whose), &told.of)).or_default().push(told.size);
        }
    }
    let known = sizes.into_iter().filter(|it| !it.0.0.is_empty() && it.1.len() >= SESSIONS_MIN);
    let front = |((group, model), mut sizes): ((&'a str, &'a str), Vec<Tokens>)| {
        sizes.sort_unstable();
        GroupFront { group, model, median: sizes[sizes.len() / 2], sessions: sizes.len() }
    };
    known.map(front).listed()
}

/// Returns what the larger fronts cost beyond the smallest of the same model.
fn larger<'a>(
    all: &'a [ToldSession<'a>],
    group: impl Fn(&'a super::WhoseBill<'a>) -> &'a str,
) -> Vec<BilledRow> {
    let fronts = fronts(all, &group);
    let mut least: IndexMap<&str, Tokens> = IndexMap::new();
    for it in &fronts {
        let size = least.entry(it.model).or_insert(it.median);
        *size = it.median.min(*size);
    }
    let is_larger = |it: &&GroupFront<'_>| it.median as f64 > LARGER * least[it.model] as f64;
    let larger = fronts.iter().filter(is_larger).listed();
    let row = |front: &&GroupFront<'a>| {
        let least = least[front.model];
        let is_own = |it: &ToldSession<'a>| group(it.whose) == front.group;
        let excess = |it: &'a ToldSession<'a>| {
            let own = it.told.iter().filter(|told| is_own(it) && told.of == front.model);
            own.map(|it| it.saved * it.size.saturating_sub(least) as f64 / it.size.max(1) as f64).sum::<f64>()
        };
        let name = in_one_line(short(front.group));
        let [least, median] = [least, front.median].map(thousands);
        let sessions = counted(front.sessions, "session");
        BilledRow {
            of: format!("{name} {}", front.model),
            title: format!("A smaller start for {name}: {least} tokens, not {median}"),
            about: format!(
                "{sessions} of {name} with {} begin with {median} tokens at the median, before anything is asked: system prompt, tools and memory files",
                front.model
            ),
            whom: Some(name.into_owned()),
            only: Some(front.group.to_owned()),
            unjudged: Some("what these tools and files bring is yours to judge".to_owned()),
            saved: all.iter().map(excess).listed(),
            ..BilledRow::default()
        }
    };
    larger.iter().map(row).listed()
}

/// Returns the last part of a folder's name.
fn short(name: &str) -> &str {
    name.rsplit(['/', '\\']).find(|it| !it.is_empty()).unwrap_or(name)
}
