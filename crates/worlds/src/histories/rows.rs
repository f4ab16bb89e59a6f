//! One fetch of a history, and what it found.

use super::stream::{FetchSeen, ProjectStream};
use ctxsim_timeline::row::columns;

/// A fetch, and what it found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FetchRow {
    session: String,
    number: u32,
    seen: FetchSeen,
    source: String,
    kind: &'static str,
    content: u64,
    characters: u64,
    call_tokens: u64,
    result_tokens: u64,
    step: u32,
}

columns! { FetchRow;
    /// The recording.
    "session": Text = |it| it.session.clone(),
    /// Which of the agent's sessions it is, from 0; a sub-agent's counts as that of the agent that started it.
    "number": Count = |it| it.number,
    /// The request that asked for it, from 0.
    "request": Count = |it| it.step,
    /// The kind of source: `file`, `search`, `lookup`, `page` or `action`.
    "kind": Text = |it| it.kind,
    /// The source, shortened.
    "source": Text = |it| it.source.clone(),
    /// What it found: `new`, `other_part`, `again`, `lost`, `unchanged` or `changed`.
    "found": Text = |it| it.seen.class.name(),
    /// How many sessions ago the same was fetched last; null if no earlier session did.
    "lag_sessions": Count = |it| it.seen.lag.map(|lag| lag.sessions),
    /// How many seconds ago.
    "lag_seconds": Seconds = |it| it.seen.lag.map(|lag| lag.ms as f64 / 1_000.0),
    /// Whether calls of the agent itself wrote the file since then.
    "is_own_change": Flag = |it| it.seen.is_own_change,
    /// A digest of the content.
    "content": Text = |it| format!("{:016x}", it.content),
    /// Characters of the content.
    "characters": Count = |it| it.characters,
    /// Tokens of the call.
    "call_tokens": Tokens = |it| it.call_tokens,
    /// Tokens of the result.
    "result_tokens": Tokens = |it| it.result_tokens,
    /// Tokens that were read from the cache because of it, over all later requests; 0 if nothing was fetched again.
    "read_tokens": Tokens = |it| it.seen.cost.read,
    /// Tokens that were written to the cache because of it.
    "written_tokens": Tokens = |it| it.seen.cost.write[0] + it.seen.cost.write[1],
    /// Tokens of plain input because of it.
    "uncached_tokens": Tokens = |it| it.seen.cost.uncached,
}

impl FetchRow {
    /// Returns all fetches of a stream, in order.
    pub(super) fn all(stream: &ProjectStream) -> Vec<Self> {
        let one = |seen: &FetchSeen| {
            let (session, fetch) = (&stream.sessions[seen.session], stream.fetch(seen));
            Self {
                session: session.name.clone(),
                number: stream.numbers[seen.session],
                seen: seen.clone(),
                source: fetch.label.to_string(),
                kind: fetch.kind.name(),
                content: fetch.content,
                characters: fetch.characters,
                call_tokens: fetch.call,
                result_tokens: fetch.result,
                step: fetch.step,
            }
        };
        stream.seen.iter().map(one).collect()
    }
}
