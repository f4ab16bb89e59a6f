//! Contents that the harness stores under a name, keeps for a time and pays for by the token-hour.
//!
//! After Gemini's explicit caching, as of 2026-09. A content ends where the policy's last breakpoint stands, or, of a
//! policy that says nothing, where the messages begin. A prompt that reaches beyond what is stored has the content made
//! first, in a call of its own that is billed as input; then it reads it. Contents are not taken away before their time.

use super::marks::{lead_end, places};
use super::{CacheRule, RequestView};
use crate::ledger::{CacheUse, StoredRow};
use crate::model::{Breakpoints, cache};
use crate::units::Tokens;

/// A content.
#[derive(Clone, Copy, Debug)]
struct Content {
    /// The prefix that it is, and which of its prompt's that was.
    digest: u128,
    link: usize,
    expires_ms: i64,
}

/// The contents that were stored; each has a row of the same index.
pub(super) struct Stored {
    rules: cache::Stored,
    contents: Vec<Content>,
    rows: Vec<StoredRow>,
}

impl Stored {
    pub(super) fn new(rules: cache::Stored) -> Self {
        Self { rules, contents: Vec::new(), rows: Vec::new() }
    }

    /// Returns where the content ends that a request wants.
    fn wanted(&self, request: &RequestView<'_>) -> Option<usize> {
        let links = request.chain.links();
        let link = if request.layout.is_silent {
            lead_end(links)
        } else {
            places(request.layout, None, &Breakpoints::default(), links, 0).last().map(|it| it.0.link)
        };
        link.filter(|it| links[*it].tokens >= self.rules.min_tokens)
    }

    /// Returns the longest content that a prompt begins with.
    fn longest(&self, request: &RequestView<'_>) -> Option<usize> {
        let links = request.chain.links();
        let is_held = |index: &usize| {
            let content = &self.contents[*index];
            request.now_ms < content.expires_ms
                && links.get(content.link).is_some_and(|it| it.digest == content.digest)
        };
        (0..self.contents.len()).filter(is_held).max_by_key(|it| self.rows[*it].tokens)
    }

    /// Stores a content.
    fn store(&mut self, link: usize, digest: u128, tokens: Tokens, now_ms: i64) -> usize {
        let token_ms = u128::from(tokens) * u128::from(self.rules.ttl_ms);
        let expires_ms = now_ms.saturating_add_unsigned(self.rules.ttl_ms);
        self.contents.push(Content { digest, link, expires_ms });
        self.rows.push(StoredRow { at_ms: now_ms, tokens, token_ms });
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

impl CacheRule for Stored {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let links = request.chain.links();
        let held = self.longest(request);
        let is_more = |it: &usize| held.is_none_or(|held| self.rows[held].tokens < links[*it].tokens);
        let wanted = self.wanted(request).filter(is_more);
        let used = match (wanted, held) {
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

    fn stored(&self) -> &[StoredRow] {
        &self.rows
    }
}
