//! Automatic prefix caching: the longest common prefix with any earlier prompt, in whole steps above a minimum.
//!
//! Sources: OpenAI's prompt caching guide (1,024 tokens, steps of 128) and DeepSeek's context caching guide
//! (steps of 64), as of 2026-10. Nothing is billed as written. With a lifetime, every request renews all
//! prefixes of its prompt, and a prefix can be read once the response of the request that introduced it has
//! begun.
//!
//! Logs of some clients show where a request ends that is cached: some tokens before the end of its prompt, or of its reply
//! (`CachedEnd`; assumptions/harnesses.toml says where that was measured).

use super::prefixes::Prefixes;
use super::{CacheRule, EntryFound, Fate, Finding, RequestView, elapsed_ms};
use crate::prelude::*;
use ctxsim_input::profile::cache::{CachedEnd, LoggedCache};

/// The prefixes of every earlier prompt, each with the time from which on it can be read.
#[derive(Clone)]
pub(super) struct PrefixInterval {
    steps: Steps,
    logged: LoggedCache,
    /// The first prefix that holds what outlives the session's own entries: its place, and what it is.
    front: Option<(usize, u128)>,
    prefixes: Prefixes<i64>,
    /// No prefix of the last prompt is to be readable later than this.
    last_readable_ms: i64,
    /// The last prompt, how much of it could be read, and the first slot of the rest.
    last: (Tokens, Tokens, Option<SlotIx>),
}

impl PrefixInterval {
    pub(super) fn new(steps: Steps, ttl_ms: Option<u64>, logged: LoggedCache) -> Self {
        let prefixes = Prefixes::new(ttl_ms);
        Self { steps, logged, front: None, prefixes, last_readable_ms: i64::MIN, last: (0, 0, None) }
    }

    /// Returns how many prefixes of a prompt are cached that begins with the whole last prompt, of so many prefixes: where replies are
    /// cached, those of its reply are as well; some only without reasoning.
    fn with_reply(&self, links: &[Link], n_last: usize) -> usize {
        let Some(last) = n_last.checked_sub(1) else { return 0 };
        let is_reply = |it: &Link| match it.kind {
            Kind::Reasoning => self.logged.end == CachedEnd::BeforeReplyEnd,
            kind => self.logged.end.has_reply() && matches!(kind, Kind::Assistant | Kind::ToolCall),
        };
        // Where a part of it has left the prompt, nothing behind that is read.
        let follows = |pair: &&[Link]| is_reply(&pair[1]) && pair[1].slot == pair[0].slot + 1;
        n_last + links[last..].windows(2).take_while(follows).count()
    }

    /// Returns how much of a prompt other sessions keep alive: nothing at the first request, and where its front is another one by now.
    fn left_by_others(&self, links: &[Link]) -> Option<(Tokens, SlotIx)> {
        let (at, digest) = self.front?;
        Some((self.logged.front, links.get(at).filter(|it| it.digest == digest)?.slot))
    }

    /// Returns how much is read of a known prefix.
    fn read(&self, tokens: Tokens, request: &RequestView<'_>) -> Tokens {
        self.steps.floor(self.cached(tokens, request)).min(request.prompt)
    }

    /// Returns how much of a known prefix is cached.
    fn cached(&self, tokens: Tokens, request: &RequestView<'_>) -> Tokens {
        if self.logged.end == CachedEnd::Prompt { tokens } else { tokens.saturating_sub(request.tail) }
    }
}

/// Returns whether so many prefixes of a prompt are the whole of the last one.
fn is_whole(last: Option<(usize, u128)>, links: &[Link], n_known: usize) -> bool {
    last.is_some_and(|(n, digest)| n == n_known && links.get(n - 1).is_some_and(|it| it.digest == digest))
}

impl CacheRule for PrefixInterval {
    fn needs_chain(&self) -> bool {
        true
    }

    #[inline]
    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let links = request.chain.links();
        let (now_ms, response_ms) = (request.now_ms, request.response_ms);
        let was_live = self.prefixes.is_live(self.prefixes.last_ms, now_ms);
        let last = self.prefixes.whole();
        let mut common = 0;
        let mut latest_ms = self.last_readable_ms;
        let n_same = self.prefixes.take(request, |index, known| {
            let readable_ms = known.map_or(response_ms, |it: i64| it.min(response_ms));
            if known.is_some() && readable_ms <= now_ms {
                common = index + 1;
            }
            latest_ms = latest_ms.max(readable_ms);
            readable_ms
        });
        let same = &mut self.prefixes.last[..n_same];
        if was_live && common == 0 {
            common = same.iter().rposition(|it| it.note <= now_ms).map_or(0, |it| it + 1);
        }
        if !was_live || response_ms < self.last_readable_ms {
            // Known no longer, or this response starts before that of the request that brought it.
            let at_most = |before: i64| if was_live { before.min(response_ms) } else { response_ms };
            same.iter_mut().for_each(|it| it.note = at_most(it.note));
            latest_ms = self.prefixes.last.iter().map(|it| it.note).max().unwrap_or(i64::MIN);
        }
        self.last_readable_ms = latest_ms;
        let common = if is_whole(last, links, common) { self.with_reply(links, common) } else { common };
        let tokens: Tokens = common.checked_sub(1).map_or(0, |last| links[last].tokens);
        let cached = self.cached(tokens, request).max(self.left_by_others(links).map_or(0, |it| it.0));
        // What the first prompt begins with that is long enough.
        if self.front.is_none() && self.logged.front > 0 {
            let end = links.iter().position(|it| it.tokens >= self.logged.front);
            self.front = end.map(|at| (at, links[at].digest));
        }
        self.last = (request.prompt, cached, links.get(common).map(|link| link.slot));
        self.last_in_steps(self.steps)
    }

    fn last_in_steps(&self, steps: Steps) -> CacheUse {
        let (prompt, tokens, broke_at) = self.last;
        let read = steps.floor(tokens).min(prompt);
        CacheUse { read, write: [0; 2], uncached: prompt - read, broke_at }
    }

    fn known_in_steps(&self, steps: Steps) -> Option<Box<dyn CacheRule>> {
        Some(Box::new(Self { steps, ..self.clone() }))
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let prefixes = &self.prefixes;
        let mut entries: Vec<EntryFound> = Vec::new();
        let links = request.chain.links();
        let all_known: Vec<_> = prefixes.known(request.chain).collect();
        let n_known = all_known.iter().rposition(Option::is_some).map_or(0, |it| it + 1);
        let end = if is_whole(prefixes.whole(), links, n_known) {
            self.with_reply(links, n_known)
        } else {
            n_known
        };
        for (at, known) in all_known.into_iter().enumerate().rev() {
            let Some(known) = known else { continue };
            // What the reply adds was brought by the same request.
            let link = &links[if at + 1 == n_known { end - 1 } else { at }];
            let read = self.read(link.tokens, request);
            let fate = match known {
                it if !prefixes.is_live(it.touched_ms, request.now_ms) => Fate::Expired,
                it if it.note > request.now_ms => {
                    Fate::NotReadable { in_ms: elapsed_ms(request.now_ms, it.note) }
                }
                _ if read == 0 => Fate::TooShort { min_tokens: self.steps.min },
                _ => Fate::Read(read),
            };
            // Of every fate the longest: each prefix of a prompt is an entry under this rule.
            if entries.iter().all(|it| it.fate != fate) {
                let age_ms = Some(elapsed_ms(known.touched_ms, request.now_ms));
                let (slot, tokens) = (Some(link.slot), link.tokens);
                entries.push(EntryFound { slot, tokens, age_ms, life_ms: prefixes.ttl_ms(), fate });
            }
            if matches!(fate, Fate::Read(_) | Fate::TooShort { .. }) {
                break;
            }
        }
        let read = |it: &EntryFound| if let Fate::Read(tokens) = it.fate { tokens } else { 0 };
        let own = entries.iter().map(read).max().unwrap_or(0);
        if let Some((tokens, slot)) = self.left_by_others(links) {
            let read = self.steps.floor(tokens).min(request.prompt);
            if read > own {
                let fate = Fate::Read(read);
                entries.push(EntryFound { slot: Some(slot), tokens, age_ms: None, life_ms: None, fate });
            }
        }
        Finding { marks: Vec::new(), entries }
    }
}

// A reference simulator's rule: the previous prompt is cached, up to where the policy is known to have edited.
//
// Follows selfonomy/duckagent @06550f4, `benchmark/context_policy_benchmark.py`. It does not compare
// content; it only knows how much of the previous prompt the policy's passes left alone. The model's output
// is not part of that.

/// The previous prompt's length.
pub(super) struct PrefixCap {
    steps: Steps,
    previous: Tokens,
}

impl PrefixCap {
    pub(super) fn new(steps: Steps) -> Self {
        Self { steps, previous: 0 }
    }
}

impl CacheRule for PrefixCap {
    fn needs_chain(&self) -> bool {
        false
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let common = self.previous.min(request.intact_tokens);
        self.previous = request.prompt;
        let read = self.steps.floor(common).min(request.prompt);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at: None }
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        if self.previous == 0 {
            return Finding::default();
        }
        let common = self.previous.min(request.intact_tokens);
        let fate = match self.steps.floor(common).min(request.prompt) {
            0 if common >= self.steps.min => Fate::Capped(common),
            0 => Fate::TooShort { min_tokens: self.steps.min },
            _ if common < self.previous => Fate::Capped(common),
            read => Fate::Read(read),
        };
        let entry = EntryFound { slot: None, tokens: self.previous, age_ms: None, life_ms: None, fate };
        Finding { marks: Vec::new(), entries: vec![entry] }
    }
}
