//! Breakpoints and stored contents: what was written is a list, and is searched from its front.

use ctxsim::input::policy::{Breakpoint, BreakpointCond, LevelEnd, PromptPlace, Size};
use ctxsim::input::profile::cache::ExplicitCache;
use ctxsim::input::profile::cache::{Automatic, LookbackUnit, Lookup};
use ctxsim::input::{Breakpoints, TtlClass};
use ctxsim::ledger::{CacheUse, ExplicitCacheRow};
use ctxsim::timeline::Kind;

use super::{Key, Segment, Sent, read, within};

/// A breakpoint: the segment behind which it stands, its lifetime, and whether it is the automatic one.
#[derive(Clone, Copy, PartialEq)]
struct Mark {
    at: usize,
    class: TtlClass,
    is_automatic: bool,
}

struct Entry {
    content: Vec<Key>,
    /// As they were written.
    tokens: u64,
    class: TtlClass,
    written_ms: i64,
    touched_ms: i64,
    readable_ms: i64,
}

pub(super) struct Entries {
    rules: Breakpoints,
    all: Vec<Entry>,
}

fn is_front(kind: Kind) -> bool {
    matches!(kind, Kind::ToolSchema | Kind::System)
}

fn is_models(kind: Kind) -> bool {
    matches!(kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall)
}

/// How many segments stand before all messages.
fn n_lead(prompt: &[Segment]) -> usize {
    let n_memory = prompt.iter().take_while(|it| it.kind == Kind::Memory).count();
    let n_front = prompt[n_memory..].iter().take_while(|it| is_front(it.kind)).count();
    if n_front == 0 { 0 } else { n_memory + n_front }
}

/// Where messages end, from the front on; they begin behind the last tool or system prompt.
fn messages(prompt: &[Segment]) -> Vec<usize> {
    let first = prompt.iter().rposition(|it| is_front(it.kind)).map_or(0, |it| it + 1);
    let ends = |index: &usize| {
        prompt.get(index + 1).is_none_or(|next| is_models(next.kind) != is_models(prompt[*index].kind))
    };
    (first..prompt.len()).filter(ends).collect()
}

/// What a segment is part of: an image of a result or of what the user says.
fn block(prompt: &[Segment], at: usize) -> Kind {
    let before = (0..=at).rev().map(|it| prompt[it].kind).find(|it| *it != Kind::Image);
    match (prompt[at].kind, before) {
        (Kind::Image, Some(Kind::ToolResult)) => Kind::ToolResult,
        (Kind::Image, _) => Kind::User,
        (kind, _) => kind,
    }
}

/// Where messages end that carry an automatic breakpoint.
fn eligible(prompt: &[Segment]) -> Vec<usize> {
    let group = |at: usize| match block(prompt, at) {
        Kind::ToolResult => 1,
        Kind::User | Kind::Summary | Kind::Memory | Kind::Approval => 2,
        _ => 0,
    };
    let ends = |index: &usize| {
        let own = group(*index);
        own > 0 && (index + 1 == prompt.len() || group(index + 1) != own)
    };
    (0..prompt.len()).filter(ends).collect()
}

/// What the layout asks of a prompt of this size; what the harness marks, if it says nothing.
fn asked(sent: &Sent<'_>) -> Vec<(PromptPlace, Option<TtlClass>)> {
    let Some(written) = &sent.layout.breakpoints else {
        let levels = [LevelEnd::Tools, LevelEnd::System].map(PromptPlace::EndOf);
        return levels
            .into_iter()
            .chain([PromptPlace::LastMessages { n: 2, offset: 0 }])
            .map(|it| (it, None))
            .collect();
    };
    let holds = |it: &Breakpoint| match &it.when {
        Some(BreakpointCond::Prompt(bound)) => match (&bound.below, &bound.at_least) {
            (Some(Size::Tokens(most)), None) => sent.tokens() < *most,
            (None, Some(Size::Tokens(least))) => sent.tokens() >= *least,
            _ => unreachable!("bounds are drawn so"),
        },
        None => true,
    };
    let mut asked = Vec::new();
    for (nth, it) in written.iter().enumerate() {
        let is_last = !written[nth + 1..].iter().any(|later| later.at == it.at);
        match (holds(it), it.ttl) {
            (true, ttl) => asked.push((it.at, ttl.map(|it| TtlClass::from_ms(it.0)))),
            (false, Some(_)) if is_last => asked.push((it.at, None)),
            (false, _) => {}
        }
    }
    asked
}

fn marks(rules: &Breakpoints, sent: &Sent<'_>) -> Vec<Mark> {
    let prompt = &sent.prompt;
    let asked: Vec<(PromptPlace, Option<TtlClass>)> = if sent.layout.is_silent() && rules.is_implicit {
        vec![(PromptPlace::Automatic, None)]
    } else {
        asked(sent)
    };
    let lead = n_lead(prompt);
    let offered = |class: TtlClass| rules.ttl_ms[class as usize].is_some();
    let usual = if offered(TtlClass::Short) { TtlClass::Short } else { TtlClass::Long };
    let mut marks: Vec<Mark> = Vec::new();
    if sent.layout.is_silent() && rules.is_implicit && rules.marks_lead && lead > 0 {
        marks.push(Mark { at: lead - 1, class: usual, is_automatic: false });
    }
    for (place, ttl) in asked {
        let places: Vec<usize> = match place {
            PromptPlace::EndOf(level) => {
                let kind = if level == LevelEnd::Tools { Kind::ToolSchema } else { Kind::System };
                prompt[..lead].iter().rposition(|it| it.kind == kind).into_iter().collect()
            }
            PromptPlace::LastMessages { n, offset } => {
                messages(prompt).into_iter().rev().skip(offset.into()).take(n.into()).collect()
            }
            PromptPlace::BeforeTurn(back) => {
                let said = |at: usize| block(prompt, at) == Kind::User;
                let turns: Vec<usize> =
                    (0..prompt.len()).filter(|it| said(*it) && (*it == 0 || !said(it - 1))).collect();
                let turn = turns.len().checked_sub(1 + usize::from(back)).map(|it| turns[it]);
                turn.and_then(|it| it.checked_sub(1)).into_iter().collect()
            }
            PromptPlace::Automatic if rules.automatic == Automatic::LastBlock => {
                prompt.iter().rposition(|it| it.kind != Kind::Reasoning).into_iter().collect()
            }
            PromptPlace::Automatic => {
                eligible(prompt).last().copied().or(lead.checked_sub(1)).into_iter().collect()
            }
        };
        let class = ttl.filter(|it| offered(*it)).unwrap_or(usual);
        for at in places {
            if marks.iter().all(|it| it.at != at) {
                marks.push(Mark { at, class, is_automatic: place == PromptPlace::Automatic });
            }
        }
    }
    marks.sort_by_key(|it| it.at);
    marks
}

/// The segments within the lookback of a mark.
fn looked_at(rules: &Breakpoints, prompt: &[Segment], mark: usize) -> Vec<usize> {
    let mut positions: Vec<Vec<usize>> = Vec::new();
    for index in (0..=mark).rev() {
        let kind = prompt[index].kind;
        let runs =
            matches!(kind, Kind::ToolCall | Kind::ToolResult) && rules.lookback_unit == LookbackUnit::Run;
        let later = positions.last().and_then(|it| it.last()).map(|it| prompt[*it].kind);
        let is_within = (kind, later) == (Kind::ToolResult, Some(Kind::Image));
        let is_behind = (kind, later) == (Kind::Image, Some(Kind::ToolResult))
            && rules.lookback_unit == LookbackUnit::Run;
        match positions.last_mut() {
            Some(run) if is_within || is_behind || runs && later == Some(kind) => run.push(index),
            _ => positions.push(vec![index]),
        }
    }
    positions.truncate(rules.lookback_positions.into());
    positions.concat()
}

/// The places at which entries are looked for, wherever marks may write.
fn looked_up(lookup: &Lookup, prompt: &[Segment], marks: &[Mark]) -> Vec<usize> {
    let explicit: Vec<usize> = marks.iter().filter(|it| !it.is_automatic).map(|it| it.at).collect();
    let mut places: Vec<usize> = explicit.iter().take(lookup.first.into()).copied().collect();
    places.extend(explicit.iter().rev().take(lookup.latest.into()));
    if let Some(automatic) = marks.iter().find(|it| it.is_automatic) {
        places.push(automatic.at);
        let earlier = eligible(prompt).into_iter().rev().filter(|it| *it < automatic.at);
        places.extend(earlier.take(lookup.message_ends.into()));
        places.extend(n_lead(prompt).checked_sub(1).filter(|_| lookup.lead));
    }
    places
}

impl Entries {
    pub(super) fn new(rules: Breakpoints) -> Self {
        Self { rules, all: Vec::new() }
    }

    /// The live entry at a segment.
    fn at(&self, sent: &Sent<'_>, index: usize) -> Option<usize> {
        let content = sent.prefix(index);
        self.all.iter().position(|it| {
            let life_ms = self.rules.ttl_ms[it.class as usize].unwrap_or(0) + self.rules.grace_ms;
            it.content == content
                && within(Some(life_ms), it.touched_ms, sent.now_ms())
                && within(self.rules.max_age_ms, it.written_ms, sent.now_ms())
        })
    }

    pub(super) fn submit(&mut self, sent: &Sent<'_>, is_served: bool) -> CacheUse {
        let (prompt, now_ms) = (&sent.prompt, sent.now_ms());
        let all = marks(&self.rules, sent);
        let n_over = all.len().saturating_sub(self.rules.breakpoints_max.into());
        let enough = |it: &&Mark| sent.end(it.at) >= self.rules.min_tokens.max(1);
        let valid: Vec<Mark> = all[n_over..].iter().filter(enough).copied().collect();
        let readable =
            |index: usize| self.at(sent, index).is_some_and(|it| self.all[it].readable_ms <= now_ms);
        let hit = match &self.rules.lookup {
            Some(lookup) => looked_up(lookup, prompt, &all).into_iter().filter(|it| readable(*it)).max(),
            None => valid.iter().rev().find_map(|mark| {
                looked_at(&self.rules, prompt, mark.at).into_iter().filter(|it| readable(*it)).max()
            }),
        };
        let readable_ms = sent.readable_ms(self.rules.readable, self.rules.readable_after_ms);
        for mark in &valid {
            match self.at(sent, mark.at) {
                Some(entry) if hit.is_some_and(|it| mark.at <= it) => self.renew(entry, now_ms),
                None if hit.is_some_and(|it| mark.at <= it) => {}
                live => {
                    let readable_ms =
                        live.map_or(readable_ms, |it| self.all[it].readable_ms.min(readable_ms));
                    let content = sent.prefix(mark.at);
                    self.all.retain(|it| it.content != content);
                    let (written_ms, touched_ms) = (now_ms, now_ms);
                    let (tokens, class) = (sent.end(mark.at), mark.class);
                    self.all.push(Entry { content, tokens, class, written_ms, touched_ms, readable_ms });
                }
            }
        }
        let mut a = 0;
        if let Some(entry) = hit.and_then(|it| self.at(sent, it)) {
            self.renew(entry, now_ms);
            a = if is_served { self.all[entry].tokens.min(sent.tokens()) } else { 0 };
        }
        // The guide's three places: A, the hit; B, the last long-lived mark behind it; C, the last mark.
        let long = valid.iter().filter(|it| it.class == TtlClass::Long).map(|it| sent.end(it.at)).max();
        let b = long.unwrap_or(a).max(a);
        let c = valid.iter().map(|it| sent.end(it.at)).max().unwrap_or(b).max(b);
        let broke_at = prompt.get(hit.map_or(0, |it| it + 1)).map(|it| it.slot);
        CacheUse { read: a, write: [c - b, b - a], uncached: sent.tokens() - c, broke_at }
    }

    fn renew(&mut self, entry: usize, now_ms: i64) {
        if self.rules.renews {
            self.all[entry].touched_ms = now_ms;
        }
    }
}

struct Content {
    content: Vec<Key>,
    tokens: u64,
    /// When it was made, and when it was used.
    times_ms: Vec<i64>,
}

pub(super) struct Contents {
    rules: ExplicitCache,
    all: Vec<Content>,
}

impl Contents {
    pub(super) fn new(rules: ExplicitCache) -> Self {
        Self { rules, all: Vec::new() }
    }

    /// When a content's time ends.
    fn expires_ms(&self, content: &Content) -> i64 {
        let since = if self.rules.renews { content.times_ms.last() } else { content.times_ms.first() };
        since.unwrap() + i64::try_from(self.rules.ttl_ms).unwrap()
    }

    pub(super) fn submit(&mut self, sent: &Sent<'_>) -> CacheUse {
        let wanted = if sent.layout.is_silent() {
            n_lead(&sent.prompt).checked_sub(1)
        } else {
            marks(&Breakpoints::default(), sent).last().map(|it| it.at)
        };
        let wanted = wanted.filter(|it| sent.end(*it) >= self.rules.min_tokens);
        let held =
            |it: &&Content| self.expires_ms(it) > sent.now_ms() && sent.begins_with(&it.content).is_some();
        let held = self.all.iter().filter(held).map(|it| it.tokens).max();
        let tokens = match (wanted, held) {
            (Some(at), held) if held.is_none_or(|held| held < sent.end(at)) => {
                let (content, tokens) = (sent.prefix(at), sent.end(at));
                self.all.push(Content { content, tokens, times_ms: vec![sent.now_ms()] });
                tokens
            }
            (_, Some(tokens)) => {
                let used = (0..self.all.len()).rfind(|it| {
                    let it = &self.all[*it];
                    it.tokens == tokens
                        && self.expires_ms(it) > sent.now_ms()
                        && sent.begins_with(&it.content).is_some()
                });
                self.all[used.unwrap()].times_ms.push(sent.now_ms());
                tokens
            }
            (_, None) => 0,
        };
        let tokens = tokens.min(sent.tokens());
        let broke_at =
            (0..sent.prompt.len()).find(|it| sent.end(*it) > tokens).map(|it| sent.prompt[it].slot);
        read(sent.tokens(), tokens, broke_at)
    }

    pub(super) fn rows(self) -> Vec<ExplicitCacheRow> {
        let row = |it: &Content| {
            let kept_ms = self.expires_ms(it) - it.times_ms[0];
            let token_ms = u128::from(it.tokens) * u128::from(kept_ms.unsigned_abs());
            ExplicitCacheRow { at_ms: it.times_ms[0], tokens: it.tokens, token_ms }
        };
        self.all.iter().map(row).collect()
    }
}
