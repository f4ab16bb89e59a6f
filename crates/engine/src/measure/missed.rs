//! What missed the cache although an earlier request had put it there, by recorded bills alone, and why as far as the log says.

use serde::Serialize;

use super::carried::{CarriedItems, RatesByPlace, usage};
use ctxsim_base::quantity::Tokens;
use ctxsim_input::profile::cache::Setting;
use ctxsim_input::profile::price::Prices;
use ctxsim_input::{CacheRules, Profile, TtlClass};
use ctxsim_timeline::{EventKind, StepIx, Timeline, Usage};

/// Fewer tokens are no miss: providers cache no shorter prefixes, and some read in steps.
const MISS_MIN: Tokens = 1_024;

/// Why a prompt's front was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissCause {
    /// The session began, and nobody had left tools and system prompt in the cache.
    Began,
    /// Its entries had expired.
    Paused,
    /// The harness had compacted or cleared the history.
    Compacted,
    /// Another model answered, which has a cache of its own.
    Model,
    /// Tools, system prompt, memory files or settings had changed.
    Changed,
    /// The log does not say why.
    Untold,
}

impl MissCause {
    /// Returns it in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Began => "a session began (tools and system prompt)",
            Self::Paused => "a pause outlived the entries",
            Self::Compacted => "the history was compacted or cleared",
            Self::Model => "another model answered",
            Self::Changed => "tools, system prompt or settings changed",
            Self::Untold => "nothing in the log says why",
        }
    }
}

/// A request whose prompt was cached farther than it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miss {
    pub step: StepIx,
    /// Why it was not read.
    pub cause: MissCause,
    /// Tokens that were not read.
    pub tokens: Tokens,
    /// What they cost beyond a read, in US dollars.
    pub usd: f64,
}

/// Finds the misses of a session at a profile's prices and lifetimes, in order.
pub fn missed(timeline: &Timeline, profile: &Profile) -> Vec<Miss> {
    let prices = &profile.prices;
    let spine = &timeline.spine;
    let mut all = Vec::new();
    let mut window = CarriedItems::new(timeline);
    let mut before: Option<(StepIx, Usage)> = None;
    for (session, row) in spine.sessions.iter().enumerate() {
        window.begin(session);
        for step in row.turns.clone().flat_map(|turn| spine.turns[turn as usize].steps.clone()) {
            // What was in the prompt before and still is.
            let known = window.next;
            window.reach(step);
            let Some(usage) = usage(timeline, step) else { continue };
            let sent =
                window.items.iter().filter(|it| **it < known || before.is_none() && **it < spine.n_stable);
            let sent: Tokens = sent.map(|it| Tokens::from(spine.items[*it as usize].raw)).sum();
            let cached = before.map_or(sent, |(_, it)| sent.min(cached(it, prices))).min(usage.prompt);
            let tokens = cached.saturating_sub(usage.cache_read);
            if tokens >= MISS_MIN {
                let rates = RatesByPlace::new(timeline, prices, usage);
                let paid = rates.cost(usage.cache_read, cached);
                let usd = paid - tokens as f64 * prices.usual().read().usd();
                all.push(Miss { step, cause: cause(timeline, &profile.cache, before, step), tokens, usd });
            }
            before = Some((step, usage));
        }
    }
    all
}

/// Returns how many tokens a request left in the cache: all of its prompt where writes are not billed.
fn cached(usage: Usage, prices: &Prices) -> Tokens {
    match prices.usual().write(0) {
        Some(_) => usage.cache_read + usage.cache_write,
        None => usage.prompt,
    }
}

/// Returns why a request's prompt was not read: what the log has between it and the request before.
fn cause(
    timeline: &Timeline,
    rules: &CacheRules,
    before: Option<(StepIx, Usage)>,
    step: StepIx,
) -> MissCause {
    let Some((last, usage)) = before else { return MissCause::Began };
    let events = timeline.events.iter().filter(|it| {
        let at = timeline.spine.step_at(it.at);
        at > last && at <= step
    });
    let found = |is: fn(&EventKind) -> bool| events.clone().any(|it| is(&it.kind));
    let steps = &timeline.spine.steps;
    let (last, own) = (&steps[last as usize], &steps[step as usize]);
    let [_, long] = usage.writes(timeline.harness.ttl);
    let class = if long > 0 { TtlClass::Long } else { TtlClass::Short };
    let paused_ms = u64::try_from(own.at_ms - last.end_ms.max(last.at_ms)).unwrap_or(0);
    if found(|it| matches!(it, EventKind::Change(Setting::Model, _))) {
        MissCause::Model
    } else if found(|it| matches!(it, EventKind::Reset(_))) {
        MissCause::Compacted
    } else if rules.life_ms(class).is_some_and(|it| paused_ms > it) {
        MissCause::Paused
    } else if found(|it| matches!(it, EventKind::Change(..))) {
        MissCause::Changed
    } else {
        MissCause::Untold
    }
}
