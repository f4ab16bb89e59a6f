//! Marks for the cache: sessions that were billed without any use of it under a provider that caches nothing without marks.

use super::*;
use ctxsim_engine::ledger::TokenUse;

pub(super) struct CacheMarksLever;

impl BilledLever for CacheMarksLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let uses = |tokens: &TokenUse| tokens.read + tokens.write[0] + tokens.write[1] > 0;
        if session.requests.iter().any(|request| uses(&request.tokens)) {
            return Vec::new();
        }
        let mut told = BilledSaving::default();
        let mut before: Tokens = 0;
        for request in &session.requests {
            let prompt = request.prompt_tokens();
            let min = request.profile.cache.needs_marks().filter(|min| prompt >= *min);
            let Some((min, [write, _])) = min.zip(request.write_usd_by_lifetime()) else { continue };
            let lives = request.entry_life_ms().is_some_and(|life| request.pause_ms <= life);
            // What was sent before is at most what it has in common with that.
            let known = if lives && before >= min { before.min(prompt) } else { 0 };
            let input = request.write_token_usd();
            let saved = known as f64 * (input - request.read_token_usd());
            told.saved += saved - (prompt - known) as f64 * (write - input);
            told.times += u64::from(known > 0);
            before = prompt;
        }
        told.into_vec_if_occurred()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let [sessions, times] = row.sessions_and_times("prompt");
        Lever {
            title: "Mark prompts for the cache".to_owned(),
            about: format!("{sessions} sent {times} again without marks, and nothing was cached"),
            ..row.lever.clone()
        }
    }
}
