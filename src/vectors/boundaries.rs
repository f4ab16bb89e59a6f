//! The rule `boundaries` of cache vectors: entries at the end of tools and system prompt and of the last user message.
//!
//! After the vectors' README, which has it from OpenAI's prompt caching guide (GPT-5.6 and later), read 2026-09: a read
//! takes the longest live entry at either place or at one of a number of earlier ends of user messages, exactly.

use indexmap::IndexMap;

use crate::cache::marks::message_ends;
use crate::cache::{CacheRule, RequestView};
use crate::ledger::CacheUse;
use crate::projection::chain::Link;
use crate::trace::Kind;
use crate::units::Tokens;

/// The numbers of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundaries {
    /// Shorter prefixes are not cached.
    pub(super) min_tokens: Tokens,
    /// How many earlier ends of user messages are looked at.
    pub(super) message_ends: usize,
    /// How long an entry lives after its last use, in milliseconds.
    pub(super) ttl_ms: u64,
}

/// When an entry was used last, and from when on it can be read.
#[derive(Clone, Copy, Debug)]
struct Entry {
    touched_ms: i64,
    readable_ms: i64,
}

/// A cache under this rule.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    rules: Boundaries,
    entries: IndexMap<u128, Entry>,
}

impl Cache {
    pub(super) fn new(rules: Boundaries) -> Self {
        Self { rules, entries: IndexMap::new() }
    }

    /// Returns the entry at a prefix, if it still lives.
    fn live(&self, link: &Link, now_ms: i64) -> Option<Entry> {
        let entry = self.entries.get(&link.digest)?;
        let age = u64::try_from(now_ms.saturating_sub(entry.touched_ms)).unwrap_or(0);
        (age <= self.rules.ttl_ms).then_some(*entry)
    }
}

impl CacheRule for Cache {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let links = request.chain.links();
        let is_long = |it: &usize| links[*it].tokens >= self.rules.min_tokens && links[*it].tokens > 0;
        let front = links.iter().rposition(|it| matches!(it.kind, Kind::ToolSchema | Kind::System));
        let mut ends = message_ends(links).filter(|it| is_user(links[*it].kind));
        let mut marks: Vec<usize> = front.into_iter().chain(ends.next()).filter(is_long).collect();
        marks.sort_unstable();
        let earlier = ends.take(self.rules.message_ends).filter(is_long);
        let places = marks.iter().copied().chain(earlier);
        let readable = |it: &usize| {
            self.live(&links[*it], request.now_ms).is_some_and(|it| it.readable_ms <= request.now_ms)
        };
        let hit = places.filter(readable).max();
        for at in hit.into_iter().chain(marks.iter().copied()) {
            let (link, is_behind) = (&links[at], hit.is_none_or(|hit| at > hit));
            let before = self.live(link, request.now_ms);
            let readable_ms = match before {
                Some(entry) => entry.readable_ms.min(request.response_ms),
                None if is_behind => request.response_ms,
                None => continue,
            };
            self.entries.insert(link.digest, Entry { touched_ms: request.now_ms, readable_ms });
        }
        let tokens = |at: Option<usize>| at.map_or(0, |it| links[it].tokens.min(request.prompt));
        let (read, written_to) = (tokens(hit), tokens(marks.last().copied().max(hit)));
        let broke_at = links.get(hit.map_or(0, |it| it + 1)).map(|it| it.slot);
        CacheUse { read, write: [written_to - read, 0], uncached: request.prompt - written_to, broke_at }
    }
}

/// Returns whether a kind is the user's side.
fn is_user(kind: Kind) -> bool {
    matches!(kind, Kind::User | Kind::ToolResult | Kind::Summary)
}
