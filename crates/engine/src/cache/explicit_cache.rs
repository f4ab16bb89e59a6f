//! Contents that the harness stores under a name, keeps for a time and pays for by the token-hour.
//!
//! Follows Gemini's explicit caching, as of 2026-09. A content ends at the policy's last breakpoint or, by
//! default, where the messages begin. If a prompt extends beyond the stored content, a new content is created
//! first, in a separate call billed as input; then the prompt reads it. Contents are never removed early.

use super::marks::{Asked, lead_end, places};
use super::{CacheRule, EntryFound, Fate, Finding, MarkFound, RequestView, elapsed_ms};
use crate::prelude::*;
use ctxsim_input::Breakpoints;
use ctxsim_input::profile::cache;

#[derive(Clone, Copy, Debug)]
struct StoredContent {
    /// The prefix that it is, and which of its prompt's that was.
    digest: u128,
    link: usize,
    expires_ms: i64,
}

/// The contents that were stored; each has a row of the same index.
pub(super) struct StoredContents {
    rules: cache::ExplicitCache,
    contents: Vec<StoredContent>,
    rows: Vec<ExplicitCacheRow>,
}

impl StoredContents {
    pub(super) fn new(rules: cache::ExplicitCache) -> Self {
        Self { rules, contents: Vec::new(), rows: Vec::new() }
    }

    /// Returns where the content of a request would end, however short.
    fn end(request: &RequestView<'_>) -> Option<usize> {
        let links = request.chain.links();
        if request.layout.is_silent() {
            lead_end(links)
        } else {
            places(Asked::by_request(request), &Breakpoints::default(), request.chain, 0)
                .last()
                .map(|it| it.0.link)
        }
    }

    /// Returns where the content ends that a request has stored before it reads, beyond what is held.
    fn wanted(&self, request: &RequestView<'_>, held: Option<usize>) -> Option<usize> {
        let links = request.chain.links();
        let is_long = |it: &usize| links[*it].tokens >= self.rules.min_tokens;
        let is_more = |it: &usize| held.is_none_or(|held| self.rows[held].tokens < links[*it].tokens);
        Self::end(request).filter(is_long).filter(is_more)
    }

    /// Returns the contents that a prompt begins with, held or not.
    fn begun(&self, request: &RequestView<'_>) -> impl Iterator<Item = usize> {
        let links = request.chain.links();
        let is_begun = |it: &StoredContent| links.get(it.link).is_some_and(|link| link.digest == it.digest);
        (0..self.contents.len()).filter(move |it| is_begun(&self.contents[*it]))
    }

    /// Returns the longest content that a prompt begins with.
    fn longest(&self, request: &RequestView<'_>) -> Option<usize> {
        let is_held = |index: &usize| request.now_ms < self.contents[*index].expires_ms;
        self.begun(request).filter(is_held).max_by_key(|it| self.rows[*it].tokens)
    }

    /// Returns what becomes of a content that a prompt begins with.
    fn found(&self, index: usize, used: Option<usize>, request: &RequestView<'_>) -> EntryFound {
        let (content, tokens) = (&self.contents[index], self.rows[index].tokens);
        let fate = match used {
            Some(used) if used == index => Fate::Read(tokens.min(request.prompt)),
            _ if request.now_ms >= content.expires_ms => Fate::Expired,
            _ => Fate::Shorter,
        };
        let since_ms = content.expires_ms.saturating_sub_unsigned(self.rules.ttl_ms);
        let age_ms = Some(elapsed_ms(since_ms, request.now_ms));
        let slot = request.chain.links().get(content.link).map(|it| it.slot);
        EntryFound { slot, tokens, age_ms, life_ms: Some(self.rules.ttl_ms), fate }
    }

    /// Stores a content.
    fn store(&mut self, link: usize, digest: u128, tokens: Tokens, now_ms: i64) -> usize {
        let token_ms = u128::from(tokens) * u128::from(self.rules.ttl_ms);
        let expires_ms = now_ms.saturating_add_unsigned(self.rules.ttl_ms);
        self.contents.push(StoredContent { digest, link, expires_ms });
        self.rows.push(ExplicitCacheRow { at_ms: now_ms, tokens, token_ms });
        self.contents.len() - 1
    }

    /// Sets a content's clock back.
    fn renew(&mut self, index: usize, now_ms: i64) {
        let content = &mut self.contents[index];
        let expires_ms = now_ms.saturating_add_unsigned(self.rules.ttl_ms).max(content.expires_ms);
        let more_ms = expires_ms.saturating_sub(content.expires_ms).unsigned_abs();
        content.expires_ms = expires_ms;
        self.rows[index].token_ms += u128::from(self.rows[index].tokens) * u128::from(more_ms);
    }
}

impl CacheRule for StoredContents {
    fn needs_chain(&self) -> bool {
        true
    }

    fn hears_others(&self) -> bool {
        false
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let links = request.chain.links();
        let held = self.longest(request);
        let used = match (self.wanted(request, held), held) {
            (Some(at), _) => Some(self.store(at, links[at].digest, links[at].tokens, request.now_ms)),
            (None, Some(held)) => {
                if self.rules.renews {
                    self.renew(held, request.now_ms);
                }
                Some(held)
            }
            (None, None) => None,
        };
        let read = used.map_or(0, |it| self.rows[it].tokens).min(request.prompt);
        let broke_at = links.iter().find(|it| it.tokens > read).map(|it| it.slot);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at }
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let (links, life_ms) = (request.chain.links(), self.rules.ttl_ms);
        let held = self.longest(request);
        let wanted = self.wanted(request, held);
        let used = held.filter(|_| wanted.is_none());
        let mut entries: Vec<EntryFound> =
            self.begun(request).map(|it| self.found(it, used, request)).collect();
        entries.extend(wanted.map(|it| EntryFound {
            slot: Some(links[it].slot),
            tokens: links[it].tokens,
            age_ms: None,
            life_ms: Some(life_ms),
            fate: Fate::Stored(links[it].tokens.min(request.prompt)),
        }));
        entries.sort_by_key(|it| (std::cmp::Reverse(it.tokens), it.fate == Fate::Expired));
        let mark = |it: usize| MarkFound {
            slot: links[it].slot,
            tokens: links[it].tokens,
            life_ms,
            too_short_for: Some(self.rules.min_tokens).filter(|min| links[it].tokens < *min),
        };
        Finding { marks: Self::end(request).map(mark).into_iter().collect(), entries }
    }

    fn stored(&self) -> &[ExplicitCacheRow] {
        &self.rows
    }
}
