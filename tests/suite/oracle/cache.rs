//! Cache rules over whole prompts: each request is compared with everything that earlier ones left.

mod entries;
mod pieces;

use ctxsim::input::LayoutSpec;
use ctxsim::input::profile::Steps;
use ctxsim::input::profile::cache::{CachedEnd, Hits, LoggedCache, Readable};
use ctxsim::ledger::ExplicitCacheRow;
use ctxsim::timeline::StepRow;

use super::history::{History, Said};
use crate::support::*;
use entries::{Contents, Entries};
use pieces::{Blocks, Units};

/// What the provider tells a segment by.
pub(super) type Key = (Said, u64, ShownAs, Kind);

/// A segment of a prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) key: Key,
    pub(super) kind: Kind,
    pub(super) tokens: u64,
    pub(super) slot: u32,
}

/// A request as the provider gets it.
pub(super) struct Sent<'a> {
    pub(super) prompt: Vec<Segment>,
    pub(super) layout: &'a LayoutSpec,
    pub(super) row: &'a StepRow,
    /// The first slot that the policy edited since the request before.
    pub(super) edited_from: Option<u32>,
}

impl Sent<'_> {
    pub(super) fn now_ms(&self) -> i64 {
        self.row.at_ms
    }

    pub(super) fn tokens(&self) -> u64 {
        self.prompt.iter().map(|it| it.tokens).sum()
    }

    /// Tokens up to and with the n-th segment.
    pub(super) fn end(&self, index: usize) -> u64 {
        self.prompt[..=index].iter().map(|it| it.tokens).sum()
    }

    /// The content up to and with the n-th segment.
    pub(super) fn prefix(&self, index: usize) -> Vec<Key> {
        self.prompt[..=index].iter().map(|it| it.key).collect()
    }

    /// Which segment a content ends with, if the prompt begins with it.
    pub(super) fn begins_with(&self, content: &[Key]) -> Option<usize> {
        let is_front = content.len() <= self.prompt.len()
            && content.iter().zip(&self.prompt).all(|(key, segment)| *key == segment.key);
        if is_front { content.len().checked_sub(1) } else { None }
    }

    /// The first segment up to which there are so many tokens.
    pub(super) fn covering(&self, tokens: u64) -> Option<usize> {
        (0..self.prompt.len()).find(|it| self.end(*it) >= tokens)
    }

    pub(super) fn readable_ms(&self, at: Readable, after_ms: u64) -> i64 {
        let from = match at {
            Readable::RequestStart => self.row.at_ms,
            Readable::ResponseStart => self.row.response_ms,
            Readable::ResponseEnd => self.row.end_ms,
        };
        from + i64::try_from(after_ms).unwrap()
    }
}

/// Whether so much time at most has passed.
pub(super) fn within(ttl_ms: Option<u64>, since_ms: i64, now_ms: i64) -> bool {
    ttl_ms.is_none_or(|ttl| now_ms - since_ms <= i64::try_from(ttl).unwrap_or(i64::MAX))
}

pub(super) fn whole_steps(steps: Steps, tokens: u64) -> u64 {
    if tokens < steps.min { 0 } else { tokens - (tokens - steps.min) % steps.step }
}

/// What each rule remembers.
enum Memory {
    None,
    Capped { steps: Steps, previous: u64 },
    Longest(Longest),
    Entries(Entries),
    Units(Units),
    Blocks(Blocks),
    Contents(Contents),
}

/// Prompts that are not forgotten, and what begins those of other sessions.
struct Longest {
    steps: Steps,
    ttl_ms: Option<u64>,
    logged: LoggedCache,
    earlier: Vec<(Vec<Key>, i64)>,
    front: Option<Vec<Key>>,
}

/// Everything that was sent and is not forgotten.
pub(super) struct Cache {
    memory: Memory,
    hits: Option<Hits>,
    n: u64,
}

impl Cache {
    pub(super) fn new(rules: &CacheRules) -> Self {
        let memory = match rules.plain().clone() {
            CacheRules::None => Memory::None,
            CacheRules::PrefixCap(steps) => Memory::Capped { steps, previous: 0 },
            CacheRules::PrefixInterval { steps, ttl_ms, logged } => {
                Memory::Longest(Longest { steps, ttl_ms, logged, earlier: Vec::new(), front: None })
            }
            CacheRules::Breakpoints(rules) => Memory::Entries(Entries::new(rules)),
            CacheRules::Units(rules) => Memory::Units(Units::new(rules)),
            CacheRules::Blocks(rules) => Memory::Blocks(Blocks::new(rules)),
            CacheRules::ExplicitCache(rules) => Memory::Contents(Contents::new(rules)),
            CacheRules::Qualified(_) | CacheRules::Own(..) => {
                unreachable!("plain rules are not qualified, and files name no code")
            }
        };
        Self { memory, hits: rules.hits(), n: 0 }
    }

    pub(super) fn submit(&mut self, history: &History<'_>, row: &StepRow, layout: &LayoutSpec) -> CacheUse {
        let sent = Sent { prompt: segments(history), layout, row, edited_from: history.change.first_slot };
        self.take(history, &sent)
    }

    /// Takes a request of another session, which begins with the same items.
    pub(super) fn submit_front(&mut self, history: &History<'_>, end: u32, at_ms: i64, layout: &LayoutSpec) {
        let prompt = self.front(history, end);
        if prompt.iter().map(|it| it.tokens).sum::<u64>() > 0 {
            let (response_ms, end_ms) = (at_ms, at_ms);
            let row = StepRow { at_ms, response_ms, end_ms, reply: 0..0, results: 0..0, output_tokens: 0 };
            self.take(history, &Sent { prompt, layout, row: &row, edited_from: None });
        }
    }

    /// Tokens of what other sessions send, too.
    pub(super) fn front_tokens(&self, history: &History<'_>, end: u32) -> u64 {
        self.front(history, end).iter().map(|it| it.tokens).sum()
    }

    /// The segments in front that are items of an index below the end; none where the cache does not hear of others.
    fn front(&self, history: &History<'_>, end: u32) -> Vec<Segment> {
        if matches!(self.memory, Memory::None | Memory::Capped { .. } | Memory::Contents(_)) {
            return Vec::new();
        }
        let items: Vec<u32> = (0..history.slots.len())
            .filter(|it| history.item(*it).origin < end)
            .map(|it| history.slot_of(it))
            .collect();
        segments(history).into_iter().take_while(|it| items.contains(&it.slot)).collect()
    }

    fn take(&mut self, history: &History<'_>, sent: &Sent<'_>) -> CacheUse {
        let nth = self.n;
        self.n += 1;
        let is_served = self.hits.is_none_or(|hits| {
            let is_never =
                hits.never.is_some_and(|[from, to]| from <= history.tokens() && history.tokens() <= to);
            !is_never && Seed(hits.seed).nth("cache hit", 0, nth).between(1, 1_000_000_000) <= hits.parts
        });
        let mut usage = match &mut self.memory {
            Memory::None => read(history.tokens(), 0, None),
            Memory::Capped { steps, previous } => {
                let tokens = capped(*steps, *previous, history);
                *previous = history.tokens();
                read(history.tokens(), tokens, None)
            }
            Memory::Longest(own) => longest(own, sent),
            Memory::Entries(entries) => return entries.submit(sent, is_served),
            Memory::Units(units) => units.submit(sent),
            Memory::Blocks(blocks) => blocks.submit(sent),
            Memory::Contents(contents) => contents.submit(sent),
        };
        if !is_served {
            usage.uncached += std::mem::take(&mut usage.read);
        }
        usage
    }

    pub(super) fn stored(self) -> Vec<ExplicitCacheRow> {
        if let Memory::Contents(contents) = self.memory { contents.rows() } else { Vec::new() }
    }
}

/// A prompt of which so much is read and nothing written.
pub(super) fn read(prompt: u64, read: u64, broke_at: Option<u32>) -> CacheUse {
    CacheUse { read, write: [0; 2], uncached: prompt - read, broke_at }
}

/// What the cache knows of the prompt.
fn segments(history: &History<'_>) -> Vec<Segment> {
    let known = (0..history.slots.len()).filter(|it| history.slots[*it].identity.is_visible());
    let segments = known.map(|index| {
        let (item, view) = (history.item(index), history.slots[index].identity);
        let kind = history.kind(index);
        let said = history.said(index, &view);
        let is_item = matches!(said, Said::Item(_));
        // Whoever writes summaries, memories and approvals, the user sends them.
        let from = match item.kind {
            Kind::Summary | Kind::Memory | Kind::Approval => Kind::User,
            kind => kind,
        };
        let tokens_shown = history.slots[index].view.tokens;
        Segment {
            key: if is_item {
                (said, view.tokens, view.rendition, from)
            } else {
                (said, view.tokens, ShownAs::Raw, Kind::User)
            },
            kind,
            tokens: tokens_shown,
            slot: history.slot_of(index),
        }
    });
    let mut segments: Vec<Segment> = segments.collect();
    for (slot, own) in history.own().filter(|(_, it)| it.tokens > 0) {
        // The numbers of memory's contents and of dynamic ones are counted apart.
        let (content, from) = match own.kind {
            Kind::Memory => (u64::MAX - own.content, Kind::User),
            kind => (u64::MAX / 2 - own.content, kind),
        };
        let key = (Said::Item(content), own.tokens, ShownAs::Raw, from);
        let at = segments.partition_point(|it| it.slot < slot);
        segments.insert(at, Segment { key, kind: own.kind, tokens: own.tokens, slot });
    }
    segments
}

/// The previous prompt, up to where a pass is taken to have broken it.
fn capped(steps: Steps, previous: u64, history: &History<'_>) -> u64 {
    let mut common = previous;
    for visit in &history.visits {
        common = match visit.moment {
            Moment::TurnEnd if visit.n_changed > 0 => common.min(visit.tokens_before_steps),
            Moment::TurnStart | Moment::Request if visit.n_changed > 0 || visit.is_active => {
                common.min(history.stable_tokens())
            }
            _ => common,
        };
    }
    whole_steps(steps, common).min(history.tokens())
}

/// The longest prefix that any earlier prompt shares.
fn longest(own: &mut Longest, sent: &Sent<'_>) -> CacheUse {
    // A request renews every prefix of its prompt: what no live prompt shares is forgotten.
    let last = own
        .earlier
        .last()
        .map_or(0, |it| shared(&it.0, &sent.prompt) * usize::from(shared(&it.0, &sent.prompt) == it.0.len()));
    let ttl_ms = own.ttl_ms;
    own.earlier.retain(|it| within(ttl_ms, it.1, sent.now_ms()));
    let mut common = own.earlier.iter().map(|it| shared(&it.0, &sent.prompt)).max().unwrap_or(0);
    own.earlier.push((sent.prompt.iter().map(|it| it.key).collect(), sent.now_ms()));
    if own.logged.end == CachedEnd::BeforeReplyEnd && common > 0 && common == last {
        // The reply to the last prompt is cached, up to the first part of it that is gone.
        let is_reply = |it: &Segment| matches!(it.kind, Kind::Reasoning | Kind::Assistant | Kind::ToolCall);
        while sent
            .prompt
            .get(common)
            .is_some_and(|it| is_reply(it) && it.slot == sent.prompt[common - 1].slot + 1)
        {
            common += 1;
        }
    }
    let tokens: u64 = sent.prompt[..common].iter().map(|it| it.tokens).sum();
    let left = match &own.front {
        Some(front) if sent.begins_with(front).is_some() => own.logged.front,
        Some(_) => 0,
        None => {
            let end = sent.covering(own.logged.front).filter(|_| own.logged.front > 0);
            own.front = end.map(|it| sent.prefix(it));
            0
        }
    };
    let broke_at = sent.prompt.get(common).map(|it| it.slot);
    read(sent.tokens(), whole_steps(own.steps, tokens.max(left)).min(sent.tokens()), broke_at)
}

/// How many segments a content and a prompt share at their front.
pub(super) fn shared(content: &[Key], prompt: &[Segment]) -> usize {
    content.iter().zip(prompt).take_while(|(key, segment)| **key == segment.key).count()
}
