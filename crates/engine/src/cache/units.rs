//! Whole units left by earlier requests: a prompt reads the longest with which it begins,
//! and nothing between units.
//!
//! Follows DeepSeek's context caching guide, as of 2026-10. A request leaves a unit at the end of its prompt,
//! at the end of the model's output, and at the end of the prefix shared with an earlier prompt, as the
//! profile says. So a prompt that shares only a beginning reads nothing, but the next one that shares it
//! does. Nothing is billed as written.
//!
//! A unit's length is cut to whole steps, and it is identified by the shortest prefix that covers it. The
//! model's output is known once a later prompt shows it unedited. Every request renews the units of its
//! prompt.

use super::prefixes::{Prefixes, is_live};
use super::{CacheRule, EntryFound, Fate, Finding, RequestView, elapsed_ms, readable_ms};
use crate::prelude::*;
use ctxsim_base::digest::ByDigest;
use ctxsim_input::profile::cache;

#[derive(Clone, Copy, Debug)]
struct CacheUnit {
    tokens: Tokens,
    /// When a prompt last had it; of units that the last prompt had, this is not kept up.
    touched_ms: i64,
    readable_ms: i64,
}

/// A unit that the last prompt had.
#[derive(Clone, Copy, Debug)]
struct OwnUnit {
    /// The prefix that covers it, and which of that prefix's units it is.
    link: usize,
    digest: u128,
    tokens: Tokens,
}

/// What a request left after that a later one may show.
#[derive(Clone, Copy, Debug)]
struct UnitsLeft {
    n_links: usize,
    digest: u128,
    now_ms: i64,
    readable_ms: i64,
}

/// The units that earlier requests left.
pub(super) struct Units {
    rules: cache::UnitRules,
    /// By the prefix that covers them.
    units: ByDigest<u128, Vec<CacheUnit>>,
    /// Those that the last prompt had, by the prefix that covers them.
    own: Vec<OwnUnit>,
    prefixes: Prefixes,
    before: Option<UnitsLeft>,
}

impl Units {
    pub(super) fn new(rules: cache::UnitRules) -> Self {
        Self {
            rules,
            units: ByDigest::default(),
            own: Vec::new(),
            prefixes: Prefixes::new(rules.ttl_ms),
            before: None,
        }
    }

    /// Leaves the units that the prompt no longer has, and finds those that it has again.
    fn follow(&mut self, links: &[Link], n_same: usize, now_ms: i64) {
        let last_ms = self.before.map_or(now_ms, |it| it.now_ms);
        if !is_live(self.rules.ttl_ms, last_ms, now_ms) {
            self.units.clear();
            self.own.clear();
        }
        let n_kept = self.own.partition_point(|it| it.link < n_same);
        for own in self.own.drain(n_kept..) {
            let units = self.units.get_mut(&own.digest).into_iter().flatten();
            units.filter(|it| it.tokens == own.tokens).for_each(|it| it.touched_ms = last_ms);
        }
        for (link, it) in links.iter().enumerate().skip(n_same) {
            let Some(units) = self.units.get_mut(&it.digest) else { continue };
            units.retain(|it| is_live(self.rules.ttl_ms, it.touched_ms, now_ms));
            self.own.extend(units.iter().map(|unit| OwnUnit {
                link,
                digest: it.digest,
                tokens: unit.tokens,
            }));
        }
    }

    /// Leaves a unit at so many tokens of a prompt; one that is there stays readable from when it was.
    fn leave(&mut self, links: &[Link], end: Tokens, now_ms: i64, readable_ms: i64) {
        let tokens = self.rules.steps.floor(end);
        let link = links.partition_point(|it| it.tokens < tokens);
        let Some(covering) = links.get(link).filter(|_| tokens > 0) else { return };
        let units = self.units.entry(covering.digest).or_default();
        match units.binary_search_by_key(&tokens, |it| it.tokens) {
            Ok(at) => units[at].readable_ms = units[at].readable_ms.min(readable_ms),
            Err(at) => units.insert(at, CacheUnit { tokens, touched_ms: now_ms, readable_ms }),
        }
        let at = self.own.partition_point(|it| (it.link, it.tokens) < (link, tokens));
        if self.own.get(at).is_none_or(|it| (it.link, it.tokens) != (link, tokens)) {
            self.own.insert(at, OwnUnit { link, digest: covering.digest, tokens });
        }
    }

    /// Returns where what the model wrote after the prompt before ends, where this prompt shows it, and when that can be read.
    fn output_end(&self, request: &RequestView<'_>) -> Option<(Tokens, i64)> {
        let links = request.chain.links();
        let is_known =
            |it: &UnitsLeft| is_shown(it, links) && is_live(self.rules.ttl_ms, it.now_ms, request.now_ms);
        let before = self.before.filter(|it| self.rules.at_output_end && is_known(it))?;
        let unedited = links[..request.chain.n_unedited()].get(before.n_links..).unwrap_or_default();
        let is_reply = |it: &&Link| matches!(it.kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall);
        let n_written = unedited.iter().take_while(is_reply).count();
        n_written.checked_sub(1).map(|last| (links[before.n_links + last].tokens, before.readable_ms))
    }

    /// Returns the units that a prompt begins with, the longest first, each with the link that covers it.
    fn begun(&self, request: &RequestView<'_>) -> Vec<(usize, CacheUnit)> {
        let links = request.chain.links();
        let last_ms = self.before.map_or(request.now_ms, |it| it.now_ms);
        let mut begun: Vec<(usize, CacheUnit)> = Vec::new();
        for (link, it) in links.iter().enumerate() {
            for unit in self.units.get(&it.digest).into_iter().flatten() {
                let is_own = self.own.iter().any(|own| (own.digest, own.tokens) == (it.digest, unit.tokens));
                let touched_ms = if is_own { last_ms } else { unit.touched_ms };
                begun.push((link, CacheUnit { touched_ms, ..*unit }));
            }
        }
        if let Some((end, readable_ms)) = self.output_end(request) {
            let tokens = self.rules.steps.floor(end);
            let link = links.partition_point(|it| it.tokens < tokens);
            begun.push((link, CacheUnit { tokens, touched_ms: last_ms, readable_ms }));
        }
        begun.retain(|it| it.1.tokens > 0);
        begun.sort_by_key(|(link, it)| (std::cmp::Reverse((*link, it.tokens)), it.readable_ms));
        begun.dedup_by_key(|(link, it)| (*link, it.tokens));
        begun
    }

    /// Returns the tokens of the longest unit that can be read; edits that keep a prefix may have made it shorter.
    fn longest(&self, links: &[Link], now_ms: i64) -> Tokens {
        let readable = |own: &&OwnUnit| {
            let units = self.units.get(&own.digest).into_iter().flatten();
            units.clone().any(|it| it.tokens == own.tokens && it.readable_ms <= now_ms)
        };
        self.own.iter().rev().find(readable).map_or(0, |it| it.tokens.min(links[it.link].tokens))
    }
}

/// Returns whether a prompt begins with the one before.
fn is_shown(before: &UnitsLeft, links: &[Link]) -> bool {
    before.n_links.checked_sub(1).and_then(|it| links.get(it)).is_some_and(|it| it.digest == before.digest)
}

impl CacheRule for Units {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let (links, now_ms) = (request.chain.links(), request.now_ms);
        let shared = self.prefixes.submit(request);
        self.follow(links, shared.n_same, now_ms);
        if let Some((end, readable_ms)) = self.output_end(request) {
            self.leave(links, end, now_ms, readable_ms);
        }
        let read = self.longest(links, now_ms).min(request.prompt);
        let readable_ms = readable_ms(self.rules.readable, self.rules.readable_after_ms, request);
        let end = links.last().map_or(0, |it| it.tokens);
        if let Some(interval) = self.rules.interval_tokens {
            let multiples = (read / interval + 1..=end / interval).map(|it| it * interval);
            multiples.for_each(|it| self.leave(links, it, now_ms, readable_ms));
        }
        let known = shared.n_known.checked_sub(1).map_or(0, |it| links[it].tokens);
        if self.rules.at_common_prefix && known > read {
            self.leave(links, known, now_ms, readable_ms);
        }
        if self.rules.at_input_end {
            self.leave(links, end, now_ms, readable_ms);
        }
        let ended_ms = request.end_ms.saturating_add_unsigned(self.rules.readable_after_ms);
        self.before = Some(UnitsLeft {
            n_links: links.len(),
            digest: links.last().map_or(0, |it| it.digest),
            now_ms,
            readable_ms: readable_ms.max(ended_ms),
        });
        let broke_at = links.get(shared.n_known).map(|it| it.slot);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at }
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let links = request.chain.links();
        let mut entries: Vec<EntryFound> = Vec::new();
        for (link, unit) in self.begun(request) {
            let fate = match unit {
                it if !is_live(self.rules.ttl_ms, it.touched_ms, request.now_ms) => Fate::Expired,
                it if it.readable_ms > request.now_ms => {
                    Fate::NotReadable { in_ms: elapsed_ms(request.now_ms, it.readable_ms) }
                }
                it => Fate::Read(it.tokens.min(links[link].tokens).min(request.prompt)),
            };
            // Of every fate the longest: a profile may leave a unit at every few tokens.
            if entries.iter().all(|it| it.fate != fate) {
                let age_ms = Some(elapsed_ms(unit.touched_ms, request.now_ms));
                let (slot, tokens, life_ms) = (Some(links[link].slot), unit.tokens, self.rules.ttl_ms);
                entries.push(EntryFound { slot, tokens, age_ms, life_ms, fate });
            }
            if matches!(fate, Fate::Read(_)) {
                break;
            }
        }
        Finding { marks: Vec::new(), entries }
    }
}
