//! Automatic prefix caching: the longest common prefix with any earlier prompt, from a minimum on in whole steps.
//!
//! Sources: OpenAI's prompt caching guide (1,024 tokens, steps of 128) and DeepSeek's context caching guide (steps of
//! 64), as of 2026-10. Nothing is billed as written. Where a lifetime is given, every request renews all prefixes of
//! its prompt, and a prefix can be read once the response of the request that brought it has begun.

use indexmap::IndexMap;

use super::{CacheRule, EntryFound, Fate, Finding, RequestView};
use crate::ledger::CacheUse;
use crate::model::profile::Steps;
use crate::units::Tokens;

/// When a prefix was last sent, and from when on it can be read.
#[derive(Clone, Copy, Debug)]
struct Known {
    touched_ms: i64,
    readable_ms: i64,
}

/// The prefixes of every earlier prompt.
pub(super) struct PrefixInterval {
    steps: Steps,
    ttl_ms: Option<u64>,
    /// Prefixes that the last prompt did not have.
    left: IndexMap<u128, Known>,
    /// Prefixes of the last prompt, each with the time from which on it can be read; all were sent at `last_ms`.
    last: Vec<(u128, i64)>,
    last_ms: i64,
    /// No prefix of the last prompt is to be readable later than this.
    last_readable_ms: i64,
    /// How many of them the engine's own chain had at its last request.
    n_own: usize,
}

impl PrefixInterval {
    pub(super) fn new(steps: Steps, ttl_ms: Option<u64>) -> Self {
        Self {
            steps,
            ttl_ms,
            left: IndexMap::new(),
            last: Vec::new(),
            last_ms: 0,
            last_readable_ms: i64::MIN,
            n_own: 0,
        }
    }

    fn is_live(&self, touched_ms: i64, now_ms: i64) -> bool {
        let age = u64::try_from(now_ms.saturating_sub(touched_ms)).unwrap_or(0);
        self.ttl_ms.is_none_or(|ttl| age <= ttl)
    }

    /// Keeps what the last prompt had and this one has not; returns how many prefixes both have.
    fn leave(&mut self, request: &RequestView<'_>) -> usize {
        let links = request.chain.links();
        let same = self.last.iter().zip(links);
        let n_same = if request.chain.is_aside() {
            let n_same = same.take_while(|((digest, _), link)| *digest == link.digest).count();
            self.n_own = self.n_own.min(n_same);
            n_same
        } else {
            let n_same = request.chain.n_unchanged().min(self.n_own);
            self.n_own = links.len();
            n_same
        };
        let touched_ms = self.last_ms;
        for (digest, readable_ms) in self.last.drain(n_same.min(self.last.len())..) {
            self.left.insert(digest, Known { touched_ms, readable_ms });
        }
        self.last.len()
    }
}

impl CacheRule for PrefixInterval {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let links = request.chain.links();
        let n_same = self.leave(request);
        let is_live = self.is_live(self.last_ms, request.now_ms);
        let is_readable = |it: &(u128, i64)| it.1 <= request.now_ms;
        let mut common =
            if is_live { self.last.iter().rposition(is_readable).map_or(0, |it| it + 1) } else { 0 };
        if !is_live || request.response_ms < self.last_readable_ms {
            // Known no longer, or this response starts before that of the request that brought it.
            let at_most =
                |before: i64| if is_live { before.min(request.response_ms) } else { request.response_ms };
            self.last.iter_mut().for_each(|it| it.1 = at_most(it.1));
            self.last_readable_ms = self.last.iter().map(|it| it.1).max().unwrap_or(i64::MIN);
        }
        for (index, link) in links.iter().enumerate().skip(n_same) {
            let known = self.left.swap_remove(&link.digest);
            let known = known.filter(|it| self.is_live(it.touched_ms, request.now_ms));
            let readable_ms = known.map_or(request.response_ms, |it| it.readable_ms.min(request.response_ms));
            if known.is_some() && readable_ms <= request.now_ms {
                common = index + 1;
            }
            self.last_readable_ms = self.last_readable_ms.max(readable_ms);
            self.last.push((link.digest, readable_ms));
        }
        self.last_ms = request.now_ms;
        let tokens: Tokens = common.checked_sub(1).map_or(0, |last| links[last].tokens);
        let read = self.steps.floor(tokens).min(request.prompt);
        let broke_at = links.get(common).map(|link| link.slot);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at }
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let mut entries: Vec<EntryFound> = Vec::new();
        for (index, link) in request.chain.links().iter().enumerate().rev() {
            let of_last = self.last.get(index).filter(|(digest, _)| *digest == link.digest);
            let of_last = of_last.map(|it| Known { touched_ms: self.last_ms, readable_ms: it.1 });
            let Some(known) = of_last.or_else(|| self.left.get(&link.digest).copied()) else { continue };
            let read = self.steps.floor(link.tokens).min(request.prompt);
            let fate = match known {
                it if !self.is_live(it.touched_ms, request.now_ms) => Fate::Expired,
                it if it.readable_ms > request.now_ms => {
                    Fate::NotReadable { in_ms: u64::try_from(it.readable_ms - request.now_ms).unwrap_or(0) }
                }
                _ if read == 0 => Fate::TooShort { min_tokens: self.steps.min },
                _ => Fate::Read(read),
            };
            // Of every fate the longest: each prefix of a prompt is an entry under this rule.
            if entries.iter().all(|it| it.fate != fate) {
                let age_ms = u64::try_from(request.now_ms.saturating_sub(known.touched_ms)).ok();
                let (slot, tokens) = (Some(link.slot), link.tokens);
                entries.push(EntryFound { slot, tokens, age_ms, life_ms: self.ttl_ms, fate });
            }
            if matches!(fate, Fate::Read(_) | Fate::TooShort { .. }) {
                break;
            }
        }
        Finding { marks: Vec::new(), entries }
    }
}
