//! Long sessions: from which size on a new session pays, with what beginning again costs.
//!
//! A new session begins where a turn does, with the front and as much as this session's first turn gathered, which it must gather again; what
//! the rest of the history would have cost to read from there on is saved. What is forgotten with it is not judged.

use super::*;

pub(super) struct FreshStartLever;

/// The sizes from which on a new session is begun, in tokens.
const SIZES: [u64; 5] = [100_000, 150_000, 200_000, 300_000, 500_000];

impl BilledLever for FreshStartLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        SIZES.into_iter().flat_map(|size| fresh_start_savings(session, size)).listed()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let size = thousands(row.lever.of.parse().unwrap_or(0));
        let [sessions, times] = row.sessions_and_times("time");
        Lever {
            title: format!("Begin a new session once one has {size} tokens"),
            about: format!(
                "{sessions} would begin anew, {times} in all; what beginning again costs is counted as this session's own first turn"
            ),
            unjudged: Some("a new session has forgotten the old one".to_owned()),
            ..row.lever.clone()
        }
    }
}

/// Returns what a session saves that begins anew at turns whose prompt has a size; nothing if none has.
fn fresh_start_savings(session: &BilledSession<'_>, min_prompt_tokens: u64) -> Vec<BilledSaving> {
    let mut turns = session.requests.iter().filter(|request| request.begins_turn);
    let Some(second) = turns.nth(1) else { return Vec::new() };
    // The front, and what the first turn had gathered when the second began.
    let fresh = session.fixed_prefix_tokens().max(second.prompt_tokens());
    let mut told = BilledSaving { which: min_prompt_tokens.to_string(), ..BilledSaving::default() };
    let mut left_out = 0;
    for request in &session.requests {
        let again_usd = request.write_token_usd() - request.read_token_usd();
        // A prompt that shrank in between has nothing more to leave out than it holds.
        left_out = left_out.min(request.prompt_tokens().saturating_sub(fresh));
        let prompt = request.prompt_tokens().saturating_sub(left_out);
        if request.begins_turn && prompt >= min_prompt_tokens && prompt > 2 * fresh {
            left_out += prompt - fresh;
            told.times += 1;
            // What was read is written anew; what was missed was written anyway.
            told.saved -= fresh.min(prompt.saturating_sub(request.missed_tokens())) as f64 * again_usd;
        }
        let rest = left_out.min(request.prompt_tokens()) as f64;
        let missed = request.missed_tokens().min(left_out) as f64;
        told.saved += rest * request.read_token_usd() + missed * again_usd;
    }
    told.into_vec_if_occurred()
}
