//! Prompt caching with breakpoints: entries stand where requests marked them, and are looked up back from later marks.
//!
//! After Anthropic's prompt caching guide, as of 2026-09. Writes happen at a request's marks and nowhere else. A read
//! takes the longest entry within the lookback of a mark, counted in positions, where a run of calls is one and so is
//! a run of results. Entries age from the start of the request that wrote or read them last, reading renews them for
//! free, and none can be read before its writer's response began.

use indexmap::IndexMap;

use super::marks::{Mark, is_one_position, place};
use super::{CacheRule, EntryFound, Fate, Finding, MarkFound, RequestView};
use crate::ledger::CacheUse;
use crate::model::{Breakpoints, TtlClass};
use crate::projection::chain::Link;
use crate::spec::profile::ReadableSpec;
use crate::trace::Kind;
use crate::units::Tokens;

/// What changes a prompt's identity beside its content, by the level from which on it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// From the tools on: the model.
    pub tools: u64,
    /// From the system prompt on: web search, citations, speed.
    pub system: u64,
    /// From the messages on: the choice of tools, images, thinking.
    pub messages: u64,
}

impl Settings {
    /// Returns what of the settings counts for a prefix that ends with this kind.
    fn of(self, kind: Kind) -> Self {
        match kind {
            Kind::ToolSchema => Self { system: 0, messages: 0, ..self },
            Kind::System => Self { messages: 0, ..self },
            _ => self,
        }
    }
}

/// When a request starts and when its response does, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The request.
    pub request_ms: i64,
    /// The response.
    pub response_ms: i64,
}

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    tokens: Tokens,
    ttl: TtlClass,
    touched_ms: i64,
    readable_ms: i64,
}

/// A cache with breakpoints, and its entries by content.
#[derive(Clone, Debug)]
pub struct Cache {
    rules: Breakpoints,
    settings: Settings,
    entries: IndexMap<(u128, Settings), Entry>,
}

impl Cache {
    /// An empty cache.
    #[must_use]
    pub fn new(rules: Breakpoints) -> Self {
        Self { rules, settings: Settings::default(), entries: IndexMap::new() }
    }

    /// Says under which settings the requests that follow are made.
    pub fn set(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Divides a prompt of prefixes by its marks, which stand in order; what it has beyond them is uncached.
    pub fn divide(&mut self, links: &[Link], marks: &[Mark], prompt: Tokens, times: Times) -> CacheUse {
        let marks: Vec<Mark> =
            marks.iter().filter(|it| it.tokens >= self.rules.min_tokens && it.tokens > 0).copied().collect();
        let hit = marks.iter().rev().find_map(|mark| self.look_up(links, mark.link, times.request_ms));
        let read = hit.map_or(0, |(_, tokens)| tokens.min(prompt));
        for mark in &marks {
            if hit.is_some_and(|(link, _)| mark.link <= link) {
                self.touch(&links[mark.link], times.request_ms);
            } else {
                self.write(&links[mark.link], mark, times);
            }
        }
        if let Some((link, _)) = hit {
            self.touch(&links[link], times.request_ms);
        }
        let broke_at = links.get(hit.map_or(0, |(link, _)| link + 1)).map(|it| it.slot);
        bill(read, &marks, prompt, broke_at)
    }

    /// Returns the longest readable entry within the lookback of a mark, and its tokens.
    fn look_up(&self, links: &[Link], mark: usize, now_ms: i64) -> Option<(usize, Tokens)> {
        let seen = positions_back(links, mark)
            .take_while(|(_, position)| *position <= u64::from(self.rules.lookback_positions));
        let mut readable = seen.filter_map(|(index, _)| {
            let entry = self.live(&links[index], now_ms).filter(|it| it.readable_ms <= now_ms)?;
            Some((index, entry.tokens))
        });
        readable.next()
    }

    /// Returns what the cache knows of a prompt with these marks.
    #[must_use]
    pub fn find(&self, links: &[Link], marks: &[Mark], now_ms: i64) -> Finding {
        let counts = |it: &&Mark| it.tokens >= self.rules.min_tokens && it.tokens > 0;
        let valid: Vec<usize> = marks.iter().filter(counts).map(|it| it.link).collect();
        let hit = valid.iter().rev().find_map(|mark| self.look_up(links, *mark, now_ms)).map(|it| it.0);
        let mut nearest = vec![None; links.len()];
        for mark in &valid {
            for (index, position) in positions_back(links, *mark) {
                nearest[index] = Some(position);
            }
        }
        let entries = links.iter().enumerate().rev().filter_map(|(index, link)| {
            let entry = self.entries.get(&self.key(link))?;
            let age_ms = u64::try_from(now_ms.saturating_sub(entry.touched_ms)).unwrap_or(0);
            let life_ms = self.rules.life_ms(entry.ttl);
            let looked_at = u64::from(self.rules.lookback_positions);
            let fate = match nearest[index] {
                _ if hit == Some(index) => Fate::Read(entry.tokens),
                _ if age_ms > life_ms => Fate::Expired,
                _ if entry.readable_ms > now_ms => {
                    Fate::NotReadable { in_ms: u64::try_from(entry.readable_ms - now_ms).unwrap_or(0) }
                }
                None => Fate::NoBreakpoint,
                Some(positions) if positions > looked_at => Fate::OutOfLookback { positions, looked_at },
                Some(_) => Fate::Shorter,
            };
            let (slot, tokens) = (Some(link.slot), entry.tokens);
            Some(EntryFound { slot, tokens, age_ms: Some(age_ms), life_ms: Some(life_ms), fate })
        });
        let mark = |it: &Mark| MarkFound {
            slot: links[it.link].slot,
            tokens: it.tokens,
            life_ms: self.rules.life_ms(it.ttl),
            too_short_for: (!counts(&it)).then_some(self.rules.min_tokens),
        };
        Finding { marks: marks.iter().map(mark).collect(), entries: entries.collect() }
    }

    fn key(&self, link: &Link) -> (u128, Settings) {
        (link.digest, self.settings.of(link.kind))
    }

    /// Returns the entry at a prefix, if it still lives.
    fn live(&self, link: &Link, now_ms: i64) -> Option<&Entry> {
        let entry = self.entries.get(&self.key(link))?;
        let age = u64::try_from(now_ms.saturating_sub(entry.touched_ms)).unwrap_or(0);
        (age <= self.rules.life_ms(entry.ttl)).then_some(entry)
    }

    /// Renews the entry at a prefix, if it still lives.
    fn touch(&mut self, link: &Link, now_ms: i64) {
        if self.live(link, now_ms).is_none() {
            return;
        }
        let key = self.key(link);
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.touched_ms = entry.touched_ms.max(now_ms);
        }
    }

    /// Writes the entry at a mark; one that lives unread stays readable from when it would have been.
    fn write(&mut self, link: &Link, mark: &Mark, times: Times) {
        let from_ms = match self.rules.readable {
            ReadableSpec::ResponseStart => times.response_ms.max(times.request_ms),
            ReadableSpec::RequestStart => times.request_ms,
        };
        let readable_ms = self.live(link, times.request_ms).map_or(from_ms, |it| it.readable_ms.min(from_ms));
        let entry = Entry { tokens: mark.tokens, ttl: mark.ttl, touched_ms: times.request_ms, readable_ms };
        self.entries.insert(self.key(link), entry);
    }
}

/// Returns the prefixes from a mark back, each with its position, that of the mark being the first.
fn positions_back(links: &[Link], mark: usize) -> impl Iterator<Item = (usize, u64)> {
    let mut n_positions = 0;
    let mut later = None;
    links[..=mark].iter().enumerate().rev().map(move |(index, link)| {
        n_positions += u64::from(!later.is_some_and(|it| is_one_position(link.kind, it)));
        later = Some(link.kind);
        (index, n_positions)
    })
}

/// Bills a prompt: read up to the hit, long-lived writes up to the last long-lived mark, short-lived ones up to the last.
fn bill(read: Tokens, marks: &[Mark], prompt: Tokens, broke_at: Option<u32>) -> CacheUse {
    let last = |ttl: Option<TtlClass>| {
        let of_class = marks.iter().filter(|it| ttl.is_none_or(|ttl| it.ttl == ttl));
        of_class.map(|it| it.tokens.min(prompt)).max().unwrap_or(0).max(read)
    };
    let (long, all) = (last(Some(TtlClass::Long)), last(None));
    CacheUse { read, write: [all - long, long - read], uncached: prompt - all, broke_at }
}

impl CacheRule for Cache {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let links = request.chain.links();
        let marks = place(request.layout, request.ttl, &self.rules, links, request.tail);
        let times = Times { request_ms: request.now_ms, response_ms: request.response_ms };
        self.divide(links, &marks, request.prompt, times)
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let links = request.chain.links();
        let marks = place(request.layout, request.ttl, &self.rules, links, request.tail);
        self.find(links, &marks, request.now_ms)
    }
}
