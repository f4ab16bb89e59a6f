//! What a harness did to the cache in one session, as far as its rules and the log tell.

use super::grid::{ClientCache, GridRule};
use super::{AfterExpiry, Cases, HarnessRewrite, is_of_models};
use crate::import::prelude::*;
use crate::import::sizes::{Allotment, Reset};
use crate::odds::{Foreseen, Odds, Trigger};
use crate::{Occasion, TimelineBuilder};

/// So many lifetimes are told.
const LIFETIMES_SAID: usize = 3;

/// What a harness did to the cache in one session.
#[derive(Debug, Default)]
pub(in crate::import) struct Conduct {
    /// What the first prompt hides, in pieces from the front.
    pub(in crate::import) front: Vec<(Kind, Tokens)>,
    /// How many of these tokens other sessions send, too.
    pub(in crate::import) shared: Tokens,
    /// How long entries are asked to live, each with the first request that asks for it.
    lifetimes: Vec<(usize, TtlClass)>,
    /// Requests whose messages were written again, each with what changed before them.
    rewrites: Vec<(usize, Setting)>,
    /// Requests before which the messages are taken to be written again though their history stayed.
    foreseen: Vec<Foreseen>,
    /// Requests before which others' sessions had sent so many pieces of the front.
    fronts_sent: Vec<(usize, usize)>,
    /// What is cached of its requests, where the client's logs show it.
    pub(in crate::import) cache: ClientCache,
    /// What the rules that fired say, in sentences.
    pub(in crate::import) sentences: Vec<String>,
}

impl Conduct {
    /// Applies the rules of a session's harness.
    pub(in crate::import) fn new(
        transcript: &Transcript,
        format: &str,
        allotment: &Allotment,
        leads: &Leads,
    ) -> Self {
        let (front, shared) = (leads.pieces(allotment.overhead), leads.shared.unwrap_or(0));
        let exchanges = transcript.exchanges.as_slice();
        let grids = HarnessRules::of(format).map_or(&[] as &[GridRule], |it| it.grids.as_slice());
        let cache = ClientCache::new(grids, exchanges, transcript.is_review);
        let of_cache = cache.sentences.clone();
        let mut conduct = Self { front, shared, cache, sentences: of_cache, ..Self::default() };
        let Some(rules) = HarnessRules::of(transcript.harness) else { return conduct };
        let fired = fired(rules, exchanges, &allotment.resets, leads.is_cold);
        let setting = |(request, rule): &(usize, &HarnessRewrite)| {
            let changed = if rule.reads_nothing { Setting::Tools } else { leads.setting(*request) };
            (*request, changed)
        };
        conduct.rewrites = fired.iter().map(setting).collect();
        let foreseen = fired.iter().filter(|it| it.1.on != Trigger::Reset);
        conduct.foreseen = foreseen
            .map(|(request, rule)| Foreseen {
                step: ix(*request),
                because: rule.on,
                comes: rule.comes.unwrap_or(rule.seen).chance(),
            })
            .collect();
        let lifetimes = lifetimes(rules, exchanges);
        // Of many changes, how many there are.
        conduct.sentences.extend(lifetimes.iter().take(LIFETIMES_SAID).map(LifetimeFrom::sentence));
        if let Some(more @ 1..) = lifetimes.len().checked_sub(LIFETIMES_SAID) {
            conduct.sentences.push(format!("Further changes of the lifetime that it requests: {more}."));
        }
        conduct.sentences.extend(sentences(&fired));
        conduct.lifetimes = lifetimes.iter().map(|it| (it.from, it.class)).collect();
        if let Some(rule) = rules.front.as_ref().and_then(|it| it.after_expiry.as_ref()) {
            conduct.keep_front(rule, exchanges, leads);
        }
        conduct
    }

    /// Applies what is known of fronts that outlive a session's own entries.
    fn keep_front(&mut self, rule: &AfterExpiry, exchanges: &[Exchange], leads: &Leads) {
        let pairs =
            exchanges.windows(2).enumerate().filter(|(_, pair)| rule.versions.include(pair[1].version));
        let expired = pairs.filter(|(before, pair)| {
            let expires_ms = pair[0].end_ms.zip(self.lifetime_at(*before));
            let expires_ms = expires_ms.map(|(end, class)| end.saturating_add_unsigned(class.usual_ms()));
            pair[1].at_ms.zip(expires_ms).is_some_and(|(at, expires)| at > expires)
        });
        // How much of them earlier requests read, by their bills: the last one that fell to no more, else the first.
        let fell = |request| leads.fell.iter().rfind(|it| it.0 < request && it.1 <= rule.tokens_max);
        let read_before =
            |request| leads.later_at(request).max(leads.read).filter(|it| *it <= rule.tokens_max);
        let front = |request| fell(request).map(|it| it.1).or_else(|| read_before(request));
        let changes_tools = |request| self.rewrites.contains(&(request, Setting::Tools));
        let kept = expired.map(|it| it.0 + 1).filter(|request| !changes_tools(*request));
        let kept: Vec<(usize, Tokens)> =
            kept.filter_map(|request| Some((request, front(request)?))).collect();
        kept.iter().for_each(|it| cut(&mut self.front, it.1));
        self.fronts_sent = kept.iter().map(|it| (it.0, self.n_pieces(it.1))).filter(|it| it.1 > 0).collect();
        let stays = |request: usize| self.fronts_sent.iter().any(|it| it.0 == request);
        self.foreseen.retain(|it| !stays(it.step as usize));
        let comes = rule.seen.chance();
        let stay = |it: &(usize, usize)| Foreseen { step: ix(it.0), because: Trigger::FrontStays, comes };
        self.foreseen.extend(self.fronts_sent.iter().map(stay));
        self.foreseen.order_by_key(|it| it.step);
        if !self.fronts_sent.is_empty() {
            self.sentences.push(format!(
                "Pauses that the session's entries did not outlive, but tools and system prompt did, because many sessions send the \
                 same: {} ({}).",
                self.fronts_sent.len(),
                rule.seen
            ));
        }
    }

    /// Returns how long entries are asked to live by a request.
    pub(in crate::import) fn lifetime_at(&self, request: usize) -> Option<TtlClass> {
        let later = self.lifetimes.partition_point(|it| it.0 <= request);
        self.lifetimes[..later].last().map(|it| it.1)
    }

    /// Returns how many of the pieces end within so many tokens.
    pub(in crate::import) fn n_pieces(&self, tokens: Tokens) -> usize {
        let ends = self.front.iter().scan(0, |end: &mut Tokens, it| {
            *end += it.1;
            Some(*end)
        });
        ends.take_while(|it| *it <= tokens).count()
    }

    /// Returns how long entries are asked to live at first.
    pub(in crate::import) fn ttl(&self) -> Option<TtlClass> {
        self.lifetimes.first().map(|it| it.1)
    }

    /// Returns what no log of a format tells of the bill.
    pub(in crate::import) fn odds(&self, format: &str, transcript: &Transcript) -> Option<Odds> {
        let first = transcript.exchanges.first();
        let (version, model) = first.map_or((Version::default(), ""), |it| (it.version, it.model.as_str()));
        let odds = HarnessRules::odds(format, version, model, transcript.is_review)?;
        Some(Odds { rewrites: self.foreseen.clone(), ..odds })
    }

    /// Tells the builder what changed before a request.
    pub(in crate::import) fn tell(&self, request: usize, builder: &mut TimelineBuilder) {
        if let Ok(at) = self.rewrites.binary_search_by_key(&request, |it| it.0) {
            builder.change(self.rewrites[at].1, ix::<u32>(at).saturating_add(1));
        }
        if let Some((_, ttl)) = self.lifetimes.iter().skip(1).find(|it| it.0 == request) {
            builder.lifetime(*ttl);
        }
        if let Some((_, n)) = self.fronts_sent.iter().find(|it| it.0 == request) {
            builder.front_sent(ix(*n));
        }
    }
}

/// Where tools and system prompt end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::import) struct Leads {
    /// As the first request tells, or as is usual.
    first: Tokens,
    /// Another end, for requests after the first of these and up to the last: as a rewrite tells, for those after it, or as is usual for the version.
    later: Option<(Range<usize>, Tokens)>,
    /// As other sessions tell, or as is usual: what these send, too. Nothing where no other is known.
    shared: Option<Tokens>,
    /// What the first request read of them, by its bill.
    read: Option<Tokens>,
    /// Whether it read nothing.
    is_cold: bool,
    /// What later requests read that fell far behind what the one before had cached.
    fell: Vec<(usize, Tokens)>,
}

/// Ends a piece within so many tokens.
fn cut(pieces: &mut Vec<(Kind, Tokens)>, mut left: Tokens) {
    for at in 0..pieces.len() {
        let (kind, tokens) = pieces[at];
        if left > 0 && left < tokens {
            pieces[at].1 = left;
            return pieces.insert(at + 1, (kind, tokens - left));
        }
        left = left.saturating_sub(tokens);
    }
}

impl Leads {
    /// Finds where they end in a session; `asks_bills` says whether earlier requests' bills tell how much survives.
    pub(in crate::import) fn new(transcript: &Transcript, allotment: &Allotment, asks_bills: bool) -> Self {
        let (hidden, exchanges) = (allotment.overhead, transcript.exchanges.as_slice());
        let mut leads = Self { first: hidden, ..Self::default() };
        let (Some(rules), Some(first)) = (HarnessRules::of(transcript.harness), exchanges.first()) else {
            return leads;
        };
        let neighbours = &transcript.neighbours;
        let told = neighbours.front_tokens.filter(|it| (1..=hidden).contains(it));
        let lead = rules.leads.iter().find(|it| it.versions.include(first.version));
        let usual = || lead.map(|it| it.share.share_of(hidden).min(it.tokens_max));
        leads.first = told.or_else(usual).unwrap_or(hidden);
        leads.shared = neighbours.tell_front().then_some(leads.first);
        if asks_bills {
            // The size after rewrites, where it is the same in all sessions of a version.
            let same = lead.filter(|it| it.share == Decimal::ONE && it.tokens_max <= hidden);
            leads.is_cold = first.usage.is_some_and(|it| it.cache_read == 0);
            let fired = fired(rules, exchanges, &allotment.resets, leads.is_cold);
            leads.ask(exchanges, &fired, hidden, same.map(|it| it.tokens_max));
            let share = rules.front.as_ref().map_or(Decimal::ZERO, |it| it.fall_share);
            let fell = exchanges.windows(2).zip(1..).filter_map(|(pair, request)| {
                let (before, read) = (pair[0].usage?, pair[1].usage?.cache_read);
                (1..share.share_of(before.cached()).min(hidden)).contains(&read).then_some((request, read))
            });
            leads.fell = fell.collect();
        }
        leads
    }

    /// Asks the bills: what the first request read, and what the first rewrite read that was served. Where a version has the same size
    /// after rewrites in all sessions, that is known before, though first requests may read less.
    fn ask(
        &mut self,
        exchanges: &[Exchange],
        fired: &[(usize, &HarnessRewrite)],
        hidden: Tokens,
        after_a_fall: Option<Tokens>,
    ) {
        let read = |request: usize| {
            Some(exchanges.get(request)?.usage?.cache_read).filter(|it| (1..=hidden).contains(it))
        };
        self.read = read(0);
        self.first = self.read.unwrap_or(self.first);
        let told = fired.iter().find_map(|(request, rule)| match rule.reads_beside {
            // Known before the request is billed.
            beside if beside > 0 && self.read.is_some() => {
                Some((request.saturating_sub(1), self.read?.saturating_add(beside)))
            }
            _ => Some((*request, read(*request)?)),
        });
        let later = match (after_a_fall, told) {
            (Some(usual), Some((at, told))) if told == self.first => Some((0..at, usual)),
            (Some(usual), None) => Some((0..usize::MAX, usual)),
            (Some(usual), Some((_, told))) if told == usual => Some((0..usize::MAX, usual)),
            (_, told) => told.map(|(at, told)| (at..usize::MAX, told)),
        };
        self.later = later.filter(|it| it.1 != self.first && it.1 <= hidden);
    }

    /// Returns the other end, where it holds for a request.
    fn later_at(&self, request: usize) -> Option<Tokens> {
        let (within, end) = self.later.as_ref()?;
        (within.start < request && request <= within.end).then_some(*end)
    }

    /// Returns the pieces that what is hidden falls into: tools and system prompt up to each end, the rest in the first message. What
    /// other sessions share ends a piece, too.
    fn pieces(&self, hidden: Tokens) -> Vec<(Kind, Tokens)> {
        let mut ends: Vec<Tokens> = self.later.iter().map(|it| it.1).chain([self.first]).collect();
        ends.sort_unstable();
        let kinds: &[Kind] =
            if ends.len() == 1 { &[Kind::System] } else { &[Kind::ToolSchema, Kind::System] };
        ends.push(hidden);
        let mut from = 0;
        let mut pieces = Vec::with_capacity(3);
        for (kind, end) in kinds.iter().chain([&Kind::User]).zip(ends) {
            let end = end.min(hidden).max(from);
            pieces.push((*kind, end - from));
            from = end;
        }
        pieces.retain(|it| it.1 > 0);
        cut(&mut pieces, self.shared.unwrap_or(0));
        pieces
    }

    /// Returns what changes where the messages are written again before a request: all after the end that is
    /// known then.
    fn setting(&self, request: usize) -> Setting {
        match &self.later {
            Some((_, later)) if self.later_at(request).is_some() == (*later < self.first) => Setting::System,
            _ => Setting::Preamble,
        }
    }
}

/// A turn, as far as the rules ask.
#[derive(Default)]
struct ConductTurn<'a> {
    has_skill: bool,
    calls: Vec<&'a str>,
    is_rewritten: bool,
}

/// Returns the requests whose messages were written again, in order, each with the rule.
fn fired<'r>(
    rules: &'r HarnessRules,
    exchanges: &[Exchange],
    resets: &[Reset],
    is_cold: bool,
) -> Vec<(usize, &'r HarnessRewrite)> {
    let mut fired = Vec::new();
    // A reset with a first part that goes took the end of the prompt alone.
    let is_reset = |request: usize| resets.iter().any(|it| it.exchange == request && it.from.is_none());
    let (mut before, mut turn) = (ConductTurn::default(), ConductTurn::default());
    for (index, exchange) in exchanges.iter().enumerate() {
        let begins = index > 0 && exchange.begins.is_some();
        if begins {
            before = std::mem::take(&mut turn);
        }
        let has = |occasion| exchange.before.contains(&occasion);
        turn.has_skill |= has(Occasion::Skill);
        let fits = |rule: &&HarnessRewrite| {
            let is_due = match rule.on {
                Trigger::Reset => is_reset(index) || !exchange.cleared.is_empty(),
                Trigger::Skill => has(Occasion::Skill),
                Trigger::TurnAfterSkill => begins && before.has_skill,
                Trigger::TurnAfterCall => {
                    begins && before.calls.iter().any(|call| rule.tools.iter().any(|it| it == call))
                }
                Trigger::Restart => has(Occasion::Restart),
                Trigger::ToolsFound => has(Occasion::ToolsFound),
                Trigger::RemoteControl => has(Occasion::RemoteControl),
                Trigger::FrontStays => false,
            };
            is_due
                && rule.versions.include(exchange.version)
                && is_of_models(&rule.models, &exchange.model)
                && rule.first_read != Some(is_cold)
                && !(rule.once_a_turn && turn.is_rewritten)
        };
        if let Some(rule) = rules.rewrites.iter().find(fits).filter(|_| index > 0) {
            fired.push((index, rule));
            turn.is_rewritten = true;
        }
        let calls = exchange.reply.iter().filter(|it| it.kind == Kind::ToolCall);
        turn.calls.extend(calls.map(|it| it.tool.as_str()));
    }
    fired
}

/// How long entries are asked to live from a request on.
struct LifetimeFrom {
    from: usize,
    class: TtlClass,
    /// In how many cases its version was seen to ask so, or nothing if the session's own writes say it.
    seen: Option<Cases>,
}

impl LifetimeFrom {
    fn sentence(&self) -> String {
        let life = match self.class {
            TtlClass::Short => "less than an hour",
            TtlClass::Long => "an hour",
        };
        let from = if self.from == 0 { String::new() } else { format!(", from request {} on", self.from) };
        match self.seen {
            Some(seen) => format!("The harness requests a cache lifetime of {life}{from}: {seen}."),
            None => format!("The harness requests a cache lifetime of {life}{from}, as its writes say."),
        }
    }
}

/// Returns how long the log says that a request asks entries to live.
fn stated(exchange: &Exchange) -> Option<TtlClass> {
    let usage = exchange.usage.filter(|it| it.cache_write > 0)?;
    Some(if usage.cache_write_long? > 0 { TtlClass::Long } else { TtlClass::Short })
}

/// Returns how long entries are asked to live, whenever that changes: as each write says; where it says nothing, as the one before, and
/// as the first one before that; by version, where none does.
fn lifetimes(rules: &HarnessRules, exchanges: &[Exchange]) -> Vec<LifetimeFrom> {
    let mut last = exchanges.iter().find_map(stated);
    let mut lifetimes: Vec<LifetimeFrom> = Vec::new();
    for (from, exchange) in exchanges.iter().enumerate() {
        last = stated(exchange).or(last);
        let of_version = || rules.lifetimes.iter().find(|it| it.versions.include(exchange.version));
        let by_version = || of_version().map(|it| (TtlClass::from_ms(it.ttl.0), Some(it.seen)));
        let Some((class, seen)) = last.map(|it| (it, None)).or_else(by_version) else { continue };
        if lifetimes.last().is_none_or(|it| it.class != class) {
            lifetimes.push(LifetimeFrom { from, class, seen });
        }
    }
    lifetimes
}

/// Says which rules fired, how often, and how often they were seen to hold.
fn sentences(fired: &[(usize, &HarnessRewrite)]) -> Vec<String> {
    let mut by_rule: IndexMap<&'static str, (usize, &HarnessRewrite)> = IndexMap::new();
    for (_, rule) in fired {
        by_rule.entry(rule.on.words()).or_insert((0, rule)).0 += 1;
    }
    let sentence = |(words, (n, rule)): (&str, (usize, &HarnessRewrite))| {
        format!(
            "Requests before which the harness rewrote the messages, so that only tools and system prompt \
                can be read, because {words}: {n} ({}).",
            rule.seen
        )
    };
    by_rule.into_iter().map(sentence).collect()
}
