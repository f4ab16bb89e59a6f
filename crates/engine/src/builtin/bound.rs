//! What no policy that keeps every needed item can cost less than.
//!
//! Each token that a request must show is looked at for itself. At each of its requests it is read from the cache, or it is not: then it
//! is paid as new. To be read it must have been written, which may cost more than an uncached token, and the entry must have lived:
//! a pause longer than any lifetime takes a request in between that reads it, and where the harness changed a setting, no entry has it.
//! No policy's tokens can do better, so the sum of the cheapest ways of all tokens is below any policy's bill.
//!
//! What keeps it below: whatever no need asks for may be hidden as it enters, and nothing is ever written again because something before
//! it was dropped.

use crate::cache::level;
use crate::prelude::*;

use super::hindsight::{cheapest_cost, deaths, first_shown, gone};
use super::{REQUEST, Time, asked};
use ctxsim_input::profile::cache::Invalidates;
use ctxsim_input::{PromptLevel, Rates, ScheduleFor, Settings, TtlClass};
use ctxsim_timeline::TurnRow;

/// What a token costs, in picodollars.
type EntryPrice = u64;

/// Bounds that assume more and more of a policy, each in US dollars and above the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Each request reads what it must show, and pays the lowest price for what is new.
    pub reads: f64,
    /// What is read was written before, and outlived the pauses: the bound that is proven of any policy with full evidence.
    pub writes: f64,
    /// What is needed is shown whole, as it came, and so is what just came: a user's message until its turn is over, a step until the next request.
    pub newest: f64,
    /// Dropping breaks the cached prefix: the best schedule found in a cache that has an entry wherever one is of use. No bound: a better one may exist.
    pub breaks: f64,
}

/// Returns what no policy that keeps every needed item, as it came or as an excerpt where that is all that is asked, can cost less than, in US
/// dollars; nothing where prices are not flat, or a price is unknown.
pub fn bound(timeline: &Timeline, profile: &Profile) -> Option<f64> {
    let ways = Ways::new(timeline, profile)?;
    Some((ways.sum(&Needed::asked(timeline), timeline) + output(timeline, profile.prices.flat()?)?).usd())
}

/// Returns the least share of a profile's prices that others ask for anything; nothing where a price is not flat.
pub fn least_share<'p>(profile: &Profile, others: impl Iterator<Item = &'p Profile>) -> Option<f64> {
    let prices = |of: &Profile| {
        let rates = of.prices.flat()?;
        let output = rates.output.unwrap_or(rates.input);
        Some([Some(rates.input), Some(rates.read()), rates.write(0), rates.write(1), Some(output)])
    };
    let own = prices(profile)?;
    let mut least = 1.0_f64;
    for other in others {
        for (own, other) in own.iter().zip(prices(other)?) {
            let share = own.zip(other).filter(|it| it.0.0 > 0).map(|(own, other)| other.usd() / own.usd());
            least = least.min(share.unwrap_or(1.0));
        }
    }
    Some(least)
}

/// Returns the bounds by what they assume; nothing where there is none.
pub fn bounds(timeline: &Timeline, profile: &Profile) -> Option<Bounds> {
    let ways = Ways::new(timeline, profile)?;
    let asked = Needed::asked(timeline);
    let rates = profile.prices.flat()?;
    let made_for = ScheduleFor {
        read: ways.read,
        write: ways.classes.iter().map(|it| it.write).min().unwrap_or(ways.input),
        ttl_ms: ways.classes.last().and_then(|it| it.life_ms),
        rewrites_all: false,
    };
    let output = output(timeline, rates)?;
    let usd = |input: Cost| (input + output).usd();
    Some(Bounds {
        reads: usd(ways.plain().sum(&asked, timeline)),
        writes: usd(ways.sum(&asked, timeline)),
        newest: usd(ways.sum(&Needed::newest(timeline), timeline)),
        breaks: usd(Cost(cheapest_cost(timeline, &made_for, |it| ways.is_renewed(level(Kind::User), it)))),
    })
}

/// Returns what the agent's own words cost.
fn output(timeline: &Timeline, rates: &Rates) -> Option<Cost> {
    let price = rates.output?;
    Some(timeline.spine.steps.iter().fold(Cost::default(), |sum, it| sum + it.output_tokens * price))
}

/// A number of tokens of an item that requests must show, up to and without one.
#[derive(Clone, Copy, Debug)]
struct Needed {
    item: ItemIx,
    tokens: Tokens,
    end: usize,
}

impl Needed {
    /// Returns what needs and probes ask for, and what always stands there.
    fn asked(timeline: &Timeline) -> Vec<Self> {
        let spine = &timeline.spine;
        let (asked, gone) = (asked(timeline), gone(timeline));
        let mut needed = Vec::new();
        for (index, item) in (0..).zip(&spine.items) {
            let end = spine.steps.len().min(gone[index as usize]);
            if index < spine.n_stable {
                needed.push(Self { item: index, tokens: item.raw.into(), end });
                continue;
            }
            // What a call asks for is needed with its result.
            let is_call = item.kind == Kind::ToolCall && item.pair != NO_ITEM;
            let of = &asked[if is_call { item.pair } else { index } as usize];
            let excerpt = item.excerpt.saturating_add(item.handle).min(item.raw);
            let sizes = [item.handle.min(item.raw), excerpt, item.raw];
            // Each size up to the last request that asks for as much.
            let mut shown = 0;
            for (nth, size) in sizes.into_iter().enumerate() {
                let last = |(step, moment): Time| step as usize + usize::from(moment >= REQUEST);
                let end = of.until(nth).map_or(0, last).min(end);
                needed.push(Self { item: index, tokens: u32::saturating_sub(size, shown).into(), end });
                shown = shown.max(size);
            }
        }
        needed
    }

    /// Returns what a schedule in hindsight shows: whole items, from when they came until they are dead.
    fn newest(timeline: &Timeline) -> Vec<Self> {
        let spine = &timeline.spine;
        let (dead, gone) = (deaths(spine, &asked(timeline)), gone(timeline));
        let of = |(index, item): (ItemIx, &Item)| {
            let is_call = item.kind == Kind::ToolCall && item.pair != NO_ITEM;
            let dead = dead[if is_call { item.pair } else { index } as usize];
            Self {
                item: index,
                tokens: item.raw.into(),
                end: dead.min(gone[index as usize]).min(spine.steps.len()),
            }
        };
        (0..).zip(&spine.items).map(of).collect()
    }
}

/// How a token can be paid, request by request.
#[derive(Clone, Debug)]
struct Ways {
    input: EntryPrice,
    read: EntryPrice,
    /// The classes of entries, the longest-lived last.
    classes: Vec<EntryClass>,
    /// By request: milliseconds since the last one that could have renewed an entry.
    gaps_ms: Vec<u64>,
    /// By request: the levels of the prompt that no entry has, because the harness changed a setting to a value that it never had.
    renewed: Vec<[bool; 3]>,
    /// By request: whether the harness may have sent the prompt in between, which is in no bill.
    is_sent_before: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct EntryClass {
    write: EntryPrice,
    /// How long an entry lives after its last use; without an end if `None`.
    life_ms: Option<u64>,
}

impl Ways {
    fn new(timeline: &Timeline, profile: &Profile) -> Option<Self> {
        let rates = profile.prices.flat()?;
        let (input, classes) = (rates.input.0, classes(profile, rates));
        let least = classes.iter().map(|it| it.write).min()?.min(input);
        let (gaps_ms, is_sent_before) = pauses(timeline);
        Some(Self {
            input,
            read: rates.read().0.min(least),
            classes,
            gaps_ms,
            renewed: renewed(timeline, &profile.cache),
            is_sent_before,
        })
    }

    /// The same where whatever was shown once can be read for ever.
    fn plain(&self) -> Self {
        let write = self.classes.iter().map(|it| it.write).min().unwrap_or(self.input).min(self.input);
        Self {
            input: write,
            classes: vec![EntryClass { write, life_ms: None }],
            renewed: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the sum of the cheapest ways of what is needed, and of the agent's own words.
    fn sum(&self, needed: &[Needed], timeline: &Timeline) -> Cost {
        let entries = self.entries(timeline);
        let is_shown = |it: &&Needed| it.tokens > 0 && entries[it.item as usize].first < it.end;
        let mut ends: IndexMap<FirstShown, usize> = IndexMap::new();
        for it in needed.iter().filter(is_shown) {
            let end = ends.entry(entries[it.item as usize]).or_default();
            *end = it.end.max(*end);
        }
        let paths: IndexMap<FirstShown, Vec<EntryPrice>> =
            ends.into_iter().map(|(entry, end)| (entry, self.path(entry, end))).collect();
        let cost = |it: &Needed| {
            let entry = entries[it.item as usize];
            u128::from(it.tokens) * u128::from(paths[&entry][it.end - entry.first - 1])
        };
        Cost(needed.iter().filter(is_shown).map(cost).sum())
    }

    /// Returns, by item, when and how its tokens come.
    fn entries(&self, timeline: &Timeline) -> Vec<FirstShown> {
        let spine = &timeline.spine;
        let mut seen = IndexSet::new();
        let entry = |(index, item): (ItemIx, &Item)| {
            let first = first_shown(spine, index);
            let is_before = |turn: &TurnRow| item.step_ix < turn.steps.start && index >= spine.n_stable;
            let turn = spine.turns.iter().take_while(|it| (it.steps.start as usize) <= first).last();
            let may_be_sent = self.is_sent_before.get(first) == Some(&true) && turn.is_some_and(is_before);
            let level = level(item.kind);
            let may_be_cached = (!seen.insert(item.digest) || may_be_sent) && !self.is_renewed(level, first);
            FirstShown { first, level, may_be_cached }
        };
        (0..).zip(&spine.items).map(entry).collect()
    }

    /// Returns whether no entry has a level of the prompt at a request.
    fn is_renewed(&self, level: usize, request: usize) -> bool {
        self.renewed.get(request).is_some_and(|it| it[level])
    }

    /// Returns the least that a token costs up to each request that shows it, from its first to an end.
    fn path(&self, entry: FirstShown, end: usize) -> Vec<EntryPrice> {
        let mut held = HeldCost { uncached: self.input, ..HeldCost::default() };
        for (at, class) in self.classes.iter().enumerate() {
            held.cached[at] = Some(class.write);
        }
        if entry.may_be_cached {
            held = HeldCost { uncached: self.read, cached: [None, Some(self.read)] };
        }
        let mut costs = vec![held.least()];
        for request in entry.first + 1..end {
            held = self.next(held, request, entry.level);
            costs.push(held.least());
        }
        costs
    }

    /// Returns what a token has cost behind one more request, by how it is held then.
    fn next(&self, mut held: HeldCost, request: usize, level: usize) -> HeldCost {
        let least = held.least();
        if self.is_renewed(level, request) {
            let new = |at: usize| Some(least.saturating_add(self.classes.get(at)?.write));
            return HeldCost { uncached: least.saturating_add(self.input), cached: [new(0), new(1)] };
        }
        if self.is_sent_before.get(request) == Some(&true) {
            // Written by a request that is in no bill.
            held.cached[1] = Some(least);
        }
        let gap_ms = self.gaps_ms.get(request).copied().unwrap_or(0);
        let life_ms = |at: usize| self.classes.get(at).or(self.classes.last()).and_then(|it| it.life_ms);
        let read = |at: usize| {
            let n_between = match (life_ms(at), life_ms(1)) {
                (Some(own), Some(longest)) => gap_ms.saturating_sub(own).div_ceil(longest.max(own).max(1)),
                _ => 0,
            };
            Some(held.cached[at]?.saturating_add(self.read.saturating_mul(n_between.saturating_add(1))))
        };
        // What is read may be the beginning of a longer-lived entry from then on.
        let kept = [0, 1].into_iter().filter_map(read).min();
        let new = |at: usize| Some(least.saturating_add(self.classes.get(at)?.write));
        let uncached = least.saturating_add(self.input);
        HeldCost { uncached, cached: [new(0), [new(1), kept].into_iter().flatten().min()] }
    }
}

/// When a token is first shown, and whether an entry may have it by then that is in no bill of its own: because the harness had sent it, or
/// because something equal came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FirstShown {
    first: usize,
    /// The level of the prompt at which it stands.
    level: usize,
    may_be_cached: bool,
}

/// The least that a token has cost, by how it is held behind a request.
#[derive(Clone, Copy, Debug, Default)]
struct HeldCost {
    uncached: EntryPrice,
    /// In an entry that was just written with the shorter lifetime, or in any other; `None` where that cannot be.
    cached: [Option<EntryPrice>; 2],
}

impl HeldCost {
    fn least(&self) -> EntryPrice {
        self.cached.into_iter().flatten().fold(self.uncached, EntryPrice::min)
    }
}

/// Returns the classes of entries of a profile, the longest-lived last.
fn classes(profile: &Profile, rates: &Rates) -> Vec<EntryClass> {
    let write = |it: usize| rates.write(it).unwrap_or(rates.input).0;
    let least = rates.input.0.min(write(0)).min(write(1));
    match profile.cache.plain() {
        CacheRules::Breakpoints(rules) => {
            let sold = [TtlClass::Short, TtlClass::Long].into_iter();
            let sold = sold.filter(|it| rules.ttl_ms[*it as usize].is_some());
            let class = |it| EntryClass { write: write(it as usize), life_ms: Some(rules.life_ms(it)) };
            let classes: Vec<EntryClass> = sold.map(class).collect();
            if classes.is_empty() { vec![EntryClass { write: least, life_ms: None }] } else { classes }
        }
        // What is sent is cached without being asked for.
        CacheRules::PrefixInterval { ttl_ms, .. } => vec![EntryClass { write: least, life_ms: *ttl_ms }],
        _ => vec![EntryClass { write: least, life_ms: None }],
    }
}

/// Returns, by request, the pause before it, from the last request that could have renewed an entry on, and whether the harness may have sent
/// the prompt in that pause without a bill.
fn pauses(timeline: &Timeline) -> (Vec<u64>, Vec<bool>) {
    let spine = &timeline.spine;
    let mut sent_before: Vec<Option<i64>> = vec![None; spine.steps.len()];
    let turns = spine.turns.iter().enumerate().skip(1).filter(|it| !it.1.steps.is_empty());
    for (index, turn) in turns {
        let last = timeline.side_requests_after(ix::<u32>(index - 1)).last();
        sent_before[turn.steps.start as usize] = last.map(|it| it.at_ms);
    }
    let pause = |request: usize| {
        let Some(before) = request.checked_sub(1).map(|it| &spine.steps[it]) else { return 0 };
        let last_ms = sent_before[request].unwrap_or(before.at_ms);
        u64::try_from(spine.steps[request].at_ms.saturating_sub(last_ms)).unwrap_or(0)
    };
    let pauses = (0..spine.steps.len()).map(pause).collect();
    (pauses, sent_before.iter().map(Option::is_some).collect())
}

/// The levels of a prompt, from the front.
const LEVELS: [PromptLevel; 3] = [PromptLevel::Tools, PromptLevel::System, PromptLevel::Messages];

/// Returns, by request, the levels of which a cache that compares contents has no entry, because a setting that counts there has a value that
/// no request had before.
fn renewed(timeline: &Timeline, rules: &CacheRules) -> Vec<[bool; 3]> {
    let invalidates = match rules {
        CacheRules::Qualified(it) if !it.of_models.is_empty() => return Vec::new(),
        CacheRules::Qualified(it) => it.invalidates,
        _ => Invalidates::default(),
    };
    if !matches!(rules.plain(), CacheRules::Breakpoints(_) | CacheRules::PrefixInterval { .. }) {
        return Vec::new();
    }
    let mut events = timeline.events.iter().peekable();
    let (mut settings, mut seen) = (Settings::default(), IndexSet::new());
    let mut at = |request: usize| {
        while let Some(event) = events.next_if(|it| timeline.spine.step_at(it.at) as usize <= request) {
            if let EventKind::Change(setting, value) = event.kind {
                settings.set(setting, value);
            }
        }
        LEVELS.map(|level| seen.insert((level, invalidates.of(settings, level))) && request > 0)
    };
    (0..timeline.spine.steps.len()).map(&mut at).collect()
}
