//! Marks for the cache: sessions that were billed without any use of it under a provider that caches nothing without marks.

use super::session::{BilledSession, RequestBill};
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;

pub(super) struct MarksLever;

impl BilledLever for MarksLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let uses = |it: &RequestBill<'_>| it.tokens.read + it.tokens.write[0] + it.tokens.write[1] > 0;
        if session.requests.iter().any(uses) {
            return Vec::new();
        }
        let mut saved = 0.0;
        let mut times = 0;
        let mut before: Tokens = 0;
        for it in &session.requests {
            let Some(min) = it.profile.cache.needs_marks().filter(|min| it.prompt() >= *min) else {
                continue;
            };
            let Some([write, _]) = it.writes_usd() else { continue };
            let lives = it.life_ms().is_some_and(|life| it.pause_ms <= life);
            // What was sent before is at most what it has in common with that.
            let known = if lives && before >= min { before.min(it.prompt()) } else { 0 };
            let input = it.write_usd();
            saved += known as f64 * (input - it.read_usd()) - (it.prompt() - known) as f64 * (write - input);
            times += u64::from(known > 0);
            before = it.prompt();
        }
        if times == 0 { Vec::new() } else { vec![Told { saved, times, ..Told::default() }] }
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let [sessions, times] = kind.counts("prompt");
        BilledRow {
            title: "Mark prompts for the cache".to_owned(),
            about: format!("{sessions} sent {times} again without marks, and nothing was cached"),
            ..kind.row()
        }
    }
}
