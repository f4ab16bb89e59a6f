//! Prompt caching with breakpoints: entries are at the breakpoints of requests,
//! and are looked up back from later ones.
//!
//! Follows Anthropic's prompt caching guide, as of 2026-09. Writes happen only at a request's breakpoints. A
//! read uses the longest entry within the lookback of a breakpoint, counted in positions, where a run of
//! calls is one position, as is a run of results. An entry's lifetime counts from the start of the request
//! that last wrote or read it, reads renew it for free, and it cannot be read before its writer's response
//! began. Differences of other providers are numbers of the rules: where entries are looked up, what renews
//! them, when they can be read, where an automatic breakpoint is.

use super::marks::{Asked, CacheMark, is_one_position, look_ups, place};
use super::{
    CacheRule, EntryFound, Fate, Finding, MarkFound, RequestView, elapsed_ms, readable_from, readable_ms,
};
use crate::prelude::*;
use ctxsim_base::digest::ByDigest;
use ctxsim_input::{Breakpoints, TtlClass};

/// When a request starts and when its response does, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub request_ms: i64,
    pub response_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CacheEntry {
    tokens: Tokens,
    ttl: TtlClass,
    written_ms: i64,
    touched_ms: i64,
    readable_ms: i64,
}

/// When a request starts, and from when on what it writes can be read.
#[derive(Clone, Copy, Debug)]
struct EntryClock {
    now_ms: i64,
    readable_ms: i64,
}

/// A cache with breakpoints, and its entries by content.
#[derive(Clone, Debug)]
pub struct BreakpointCache {
    rules: Breakpoints,
    entries: ByDigest<u128, CacheEntry>,
    /// By the number of a link: whether an entry was ever written there. Equal digests are of equally many links, so that nothing
    /// needs to be looked up elsewhere.
    is_written: Vec<bool>,
    /// Where the last request's marks end, by class.
    ends: [Tokens; 2],
}

impl BreakpointCache {
    /// An empty cache.
    pub fn new(rules: Breakpoints) -> Self {
        Self { rules, entries: ByDigest::default(), is_written: Vec::new(), ends: [0; 2] }
    }

    /// Divides a prompt of prefixes by its marks, which are in order; what it has beyond them is uncached.
    ///
    /// A response is taken to end when it starts.
    pub fn divide(&mut self, links: &[Link], marks: &[CacheMark], prompt: Tokens, times: Times) -> CacheUse {
        let moments = [times.request_ms, times.response_ms, times.response_ms];
        let readable_ms = readable_from(self.rules.readable, self.rules.readable_after_ms, moments);
        let marks = self.cacheable(marks);
        let clock = EntryClock { now_ms: times.request_ms, readable_ms };
        let hit = marks.iter().rev().find_map(|mark| self.look_back(links, mark.link, clock.now_ms));
        self.settle(links, &marks, hit, prompt, clock)
    }

    /// Returns the marks with enough before them.
    fn cacheable(&self, marks: &[CacheMark]) -> Vec<CacheMark> {
        marks.iter().filter(|it| it.tokens >= self.rules.min_tokens && it.tokens > 0).copied().collect()
    }

    /// Reads up to the hit, writes at the marks after it, and bills.
    fn settle(
        &mut self,
        links: &[Link],
        marks: &[CacheMark],
        hit: Option<(usize, Tokens)>,
        prompt: Tokens,
        clock: EntryClock,
    ) -> CacheUse {
        let read = hit.map_or(0, |(_, tokens)| tokens.min(prompt));
        for mark in marks {
            if hit.is_some_and(|(link, _)| mark.link <= link) {
                self.touch(&links[mark.link], clock.now_ms);
            } else {
                self.write(&links[mark.link], mark, clock);
            }
        }
        if let Some((link, _)) = hit {
            self.touch(&links[link], clock.now_ms);
        }
        let broke_at = links.get(hit.map_or(0, |(link, _)| link + 1)).map(|it| it.slot);
        self.ends = ends(marks, prompt);
        bill(read, self.ends, prompt, broke_at)
    }

    /// Returns the longest readable entry within the lookback of a mark, and its tokens.
    fn look_back(&self, links: &[Link], mark: usize, now_ms: i64) -> Option<(usize, Tokens)> {
        let looked_at = u64::from(self.rules.lookback_positions);
        self.positions_back(links, mark)
            .take_while(|(_, position)| *position <= looked_at)
            .filter(|(index, _)| self.is_written.get(*index) == Some(&true))
            .find_map(|(index, _)| Some((index, self.readable(&links[index], now_ms)?)))
    }

    /// Returns the prefixes from a mark back, each with its position, that of the mark being the first.
    #[inline(always)]
    fn positions_back(&self, links: &[Link], mark: usize) -> impl Iterator<Item = (usize, u64)> {
        let unit = self.rules.lookback_unit;
        let mut n_positions = 0;
        let mut later = None;
        links[..=mark].iter().enumerate().rev().map(move |(index, link)| {
            n_positions += u64::from(!later.is_some_and(|it| is_one_position(unit, link.kind, it)));
            later = Some(link.kind);
            (index, n_positions)
        })
    }

    /// Returns what becomes of the entry at a prefix, if there is one; `position` is its place before a mark
    /// that counts, if one is at or after it and looks back. The entry that is read has the prompt that it is
    /// read for.
    fn found(
        &self,
        link: &Link,
        position: Option<u64>,
        read_for: Option<Tokens>,
        now_ms: i64,
    ) -> Option<EntryFound> {
        let entry = self.entries.get(&link.digest)?;
        let looked_at = u64::from(self.rules.lookback_positions);
        let (mut age, mut life_ms) = (elapsed_ms(entry.touched_ms, now_ms), self.rules.life_ms(entry.ttl));
        let fate = match (read_for, position) {
            (Some(prompt), _) => Fate::Read(entry.tokens.min(prompt)),
            _ if self.live(link, now_ms).is_none() => {
                if let Some(max_age_ms) = self.rules.max_age_ms.filter(|_| age <= life_ms) {
                    (age, life_ms) = (elapsed_ms(entry.written_ms, now_ms), max_age_ms);
                }
                Fate::Expired
            }
            _ if entry.readable_ms > now_ms => {
                Fate::NotReadable { in_ms: elapsed_ms(now_ms, entry.readable_ms) }
            }
            (_, None) => Fate::NoBreakpoint,
            (_, Some(positions)) if positions > looked_at => Fate::OutOfLookback { positions, looked_at },
            (_, Some(_)) => Fate::Shorter,
        };
        let (slot, tokens) = (Some(link.slot), entry.tokens);
        Some(EntryFound { slot, tokens, age_ms: Some(age), life_ms: Some(life_ms), fate })
    }

    /// Returns the tokens of the entry at a prefix, as they were written, if it can be read.
    #[inline(always)]
    fn readable(&self, link: &Link, now_ms: i64) -> Option<Tokens> {
        self.live(link, now_ms).filter(|it| it.readable_ms <= now_ms).map(|it| it.tokens)
    }

    /// Returns the entry at a prefix, if it still lives.
    #[inline(always)]
    fn live(&self, link: &Link, now_ms: i64) -> Option<&CacheEntry> {
        self.entries.get(&link.digest).filter(|it| it.is_live(&self.rules, now_ms))
    }

    /// Renews the entry at a prefix, if it still lives.
    fn touch(&mut self, link: &Link, now_ms: i64) {
        if !self.rules.renews {
            return;
        }
        let entry = self.entries.get_mut(&link.digest).filter(|it| it.is_live(&self.rules, now_ms));
        if let Some(entry) = entry {
            entry.touched_ms = entry.touched_ms.max(now_ms);
        }
    }

    /// Writes the entry at a mark; one that lives unread stays readable from when it would have been.
    fn write(&mut self, link: &Link, mark: &CacheMark, clock: EntryClock) {
        let live = self.live(link, clock.now_ms);
        let readable_ms = live.map_or(clock.readable_ms, |it| it.readable_ms.min(clock.readable_ms));
        let (written_ms, touched_ms) = (clock.now_ms, clock.now_ms);
        let entry = CacheEntry { tokens: mark.tokens, ttl: mark.ttl, written_ms, touched_ms, readable_ms };
        self.entries.insert(link.digest, entry);
        if self.is_written.len() <= mark.link {
            self.is_written.resize(mark.link + 1, false);
        }
        self.is_written[mark.link] = true;
    }
}

impl CacheEntry {
    /// Returns whether it still lives.
    #[inline(always)]
    fn is_live(&self, rules: &Breakpoints, now_ms: i64) -> bool {
        elapsed_ms(self.touched_ms, now_ms) <= rules.life_ms(self.ttl)
            && rules.max_age_ms.is_none_or(|it| elapsed_ms(self.written_ms, now_ms) <= it)
    }
}

/// Returns where the last mark of all and the last long-lived one stand: short, long.
fn ends(marks: &[CacheMark], prompt: Tokens) -> [Tokens; 2] {
    let last = |of_class: &dyn Fn(&&CacheMark) -> bool| {
        marks.iter().filter(of_class).map(|it| it.tokens.min(prompt)).max().unwrap_or(0)
    };
    [last(&|_| true), last(&|it| it.ttl == TtlClass::Long)]
}

/// Bills a prompt: read up to the hit, long-lived writes up to the last long-lived mark, short-lived ones up to the last.
fn bill(read: Tokens, ends: [Tokens; 2], prompt: Tokens, broke_at: Option<u32>) -> CacheUse {
    let [all, long] = ends.map(|it| it.max(read));
    CacheUse { read, write: [all - long, long - read], uncached: prompt - all, broke_at }
}

impl CacheRule for BreakpointCache {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let links = request.chain.links();
        let marks = place(Asked::by_request(request), &self.rules, request.chain, request.tail);
        let marks = self.cacheable(&marks);
        let now_ms = request.now_ms;
        let readable_ms = readable_ms(self.rules.readable, self.rules.readable_after_ms, request);
        let hit = match &self.rules.lookup {
            None => marks.iter().rev().find_map(|mark| self.look_back(links, mark.link, now_ms)),
            Some(lookup) => look_ups(Asked::by_request(request), &self.rules, lookup, request.chain)
                .into_iter()
                .find_map(|it| Some((it, self.readable(&links[it], now_ms)?))),
        };
        self.settle(links, &marks, hit, request.prompt, EntryClock { now_ms, readable_ms })
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let (links, now_ms) = (request.chain.links(), request.now_ms);
        let marks = place(Asked::by_request(request), &self.rules, request.chain, request.tail);
        let cacheable = self.cacheable(&marks);
        let mut positions = vec![None; links.len()];
        let hit = match &self.rules.lookup {
            None => {
                for mark in &cacheable {
                    for (index, position) in self.positions_back(links, mark.link) {
                        positions[index] = Some(position);
                    }
                }
                cacheable.iter().rev().find_map(|it| self.look_back(links, it.link, now_ms)).map(|it| it.0)
            }
            Some(lookup) => {
                let places = look_ups(Asked::by_request(request), &self.rules, lookup, request.chain);
                places.iter().for_each(|it| positions[*it] = Some(1));
                places.into_iter().find(|it| self.readable(&links[*it], now_ms).is_some())
            }
        };
        let entries = links.iter().enumerate().rev();
        let read_for = |at| (hit == Some(at)).then_some(request.prompt);
        let entries = entries.filter_map(|(at, link)| self.found(link, positions[at], read_for(at), now_ms));
        let counts = |it: &CacheMark| cacheable.iter().any(|other| other.link == it.link);
        let mark = |it: &CacheMark| MarkFound {
            slot: links[it.link].slot,
            tokens: it.tokens,
            life_ms: self.rules.life_ms(it.ttl),
            too_short_for: (!counts(it)).then_some(self.rules.min_tokens),
        };
        Finding { marks: marks.iter().map(mark).collect(), entries: entries.collect() }
    }

    fn unserved(&self, usage: &CacheUse) -> CacheUse {
        bill(0, self.ends, usage.read + usage.write[0] + usage.write[1] + usage.uncached, usage.broke_at)
    }
}
