//! Sessions that are all alike: each fetches the same sources, one a request, and answers.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::session::{BilledRequest, Fetch, ItemSpan, ProjectSession};
use ctxsim_base::quantity::{ix, saturated};
use ctxsim_engine::ledger::TokenUse;
use ctxsim_input::policy::memory::SourceKind;
use ctxsim_input::scenario::GeneratedHistory;

/// Tokens of the user's message.
pub(super) const USER_TOKENS: u64 = 100;
/// Tokens of a call, and of the answer.
pub(super) const CALL_TOKENS: u64 = 20;
/// From one request to the next, in milliseconds.
const REQUEST_MS: i64 = 10_000;

/// Makes the sessions.
pub(super) fn sessions(made: &GeneratedHistory) -> Vec<ProjectSession> {
    (0..made.sessions).map(|nth| session(made, nth)).collect()
}

fn session(made: &GeneratedHistory, nth: u64) -> ProjectSession {
    let step = CALL_TOKENS + made.source_tokens;
    let front = made.stable_tokens + USER_TOKENS;
    let began_ms: i64 = saturated(nth * made.hours * 3_600_000);
    let n_requests = made.sources + made.more_requests + 1;
    let prompt = |request: u64| front + request.min(made.sources) * step;
    let request = |it: u64| {
        let read = it.checked_sub(1).map_or(0, prompt);
        let tokens = TokenUse { read, write: [prompt(it) - read, 0], uncached: 0, output: CALL_TOKENS };
        let at_ms = began_ms.saturating_add(saturated::<i64>(it).saturating_mul(REQUEST_MS));
        BilledRequest { at_ms, tokens: Some(tokens) }
    };
    let fetch = |source: u64| {
        let name = format!("src/{source}.rs");
        let version = (nth + source).checked_div(made.changes_every).unwrap_or(0);
        let from = prompt(source);
        let span =
            |from, to| ItemSpan { first: ix(source as usize + 1), end: ix(n_requests as usize), from, to };
        Fetch {
            source: xxh3_64(name.as_bytes()),
            place: xxh3_64(name.as_bytes()),
            kind: SourceKind::File,
            label: Arc::from(name),
            topic: xxh3_64(b"src"),
            content: version,
            characters: made.source_tokens * 4,
            call: CALL_TOKENS,
            result: made.source_tokens,
            step: ix(source as usize),
            is_alone: true,
            spans: vec![span(from, from + CALL_TOKENS), span(from + CALL_TOKENS, from + step)],
        }
    };
    ProjectSession {
        name: format!("session {}", nth + 1),
        root: nth.to_string(),
        began_ms,
        stable: made.stable_tokens,
        requests: (0..n_requests).map(request).collect(),
        fetches: (0..made.sources).map(fetch).collect(),
        ..ProjectSession::default()
    }
}
