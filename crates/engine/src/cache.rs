//! A provider's cache: how many tokens of a prompt it reads, writes, or bills as uncached.
//!
//! Prefix digests are chained (one multiplication of the previous digest with what the slot adds). They are kept for visible slots only and
//! extended from the first change; rules that do not compare content never ask for them. A rule compares *prefixes*, never sets of
//! segments: clearing an early item leaves later items equal and every later prefix different. Edits with `prefix: keeps` change what is
//! shown, but not the content by which the cache identifies an item.
//!
//! A cache rule is a function of a prompt's prefixes, its marks and two times (`cache/`), without a timeline. What differs between
//! providers is a field of the profile. `cache/qualified.rs` has all but the content: changed settings, missed hits. `Harness` is what a
//! harness does, `Recorded` what was billed (`docs/reference/caches.md`), `RecordedModel::cache` what a client's logs show of the cache
//! (`import/harness/grid.rs`; it takes the place of the profile's rules under the model that answered), `Odds` what neither tells: it is
//! part of reports on bills alone.

mod blocks;
pub mod breakpoints;
mod explicit_cache;
mod left;
pub mod lru;
pub mod marks;
pub mod own;
mod prefix_interval;
mod prefixes;
mod qualified;
mod units;

use crate::prelude::*;

use ctxsim_input::profile::cache::Readable;
use ctxsim_input::{LayoutSpec, Settings, TtlClass};

pub use marks::OwnMark;
pub use qualified::HitDraws;
pub(crate) use qualified::level;

/// A cache's view of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestView<'a> {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// The number of tokens at its front that equal the previous prompt's, judging by the policy's passes
    /// alone: new items count as unchanged, and without passes the number is unlimited. Rules that compare
    /// content use the chain instead.
    pub intact_tokens: Tokens,
    /// The chained prefixes; empty for rules that do not need them. Whatever the prompt has beyond them is
    /// new.
    pub chain: &'a Chain,
    /// The breakpoints of the prompt.
    pub layout: &'a LayoutSpec,
    /// The log's own marks, which stand where the layout leaves them to the harness, if it shows any.
    pub marks: Option<&'a [OwnMark]>,
    /// The lifetime that the harness requests, where the layout does not say.
    pub ttl: Option<TtlClass>,
    /// Tokens at the prompt's end that are after its last breakpoint.
    pub tail: Tokens,
    /// Milliseconds since the timeline began at which the request starts.
    pub now_ms: i64,
    /// Milliseconds since the timeline began at which its response starts.
    pub response_ms: i64,
    /// Milliseconds since the timeline began at which its response ends.
    pub end_ms: i64,
    /// The request's settings.
    pub settings: Settings,
}

impl<'a> RequestView<'a> {
    /// A request of which only the prompt and its start are known; its response takes no time.
    pub fn new(prompt: Tokens, chain: &'a Chain, layout: &'a LayoutSpec, now_ms: i64) -> Self {
        Self {
            prompt,
            intact_tokens: Tokens::MAX,
            chain,
            layout,
            marks: None,
            ttl: None,
            tail: 0,
            now_ms,
            response_ms: now_ms,
            end_ms: now_ms,
            settings: Settings::default(),
        }
    }
}

/// The rules of a provider's cache, with its contents.
pub trait CacheRule {
    /// Returns whether requests must supply their chained prefixes.
    fn needs_chain(&self) -> bool;

    /// Returns whether what another session sent can be read: it can where prefixes are compared, unless the harness alone says what is
    /// stored.
    fn hears_others(&self) -> bool {
        self.needs_chain()
    }

    /// Processes a request and divides its prompt.
    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse;

    /// Returns the bill of the last request if the machine that serves it has no entries: everything read
    /// becomes uncached, unless the rules bill writes.
    fn unserved(&self, usage: &CacheUse) -> CacheUse {
        CacheUse { read: 0, uncached: usage.uncached + usage.read, ..*usage }
    }

    /// Returns what the cache knows of a request's prompt before processing it; rules without entries return
    /// nothing.
    fn look(&self, _request: &RequestView<'_>) -> Finding {
        Finding::default()
    }

    /// Returns its last answer in other steps, as rules give it [that differ in these alone](CacheRules::steps_beside).
    fn last_in_steps(&self, _steps: Steps) -> CacheUse {
        CacheUse::default()
    }

    /// Returns a cache of such rules that knows what this one knows.
    fn known_in_steps(&self, _steps: Steps) -> Option<Box<dyn CacheRule>> {
        None
    }

    /// Returns why its last answer is none, in words; rules of this house always answer.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Returns the contents stored at an hourly price, up to the end of their lifetimes.
    fn stored(&self) -> &[ExplicitCacheRow] {
        &[]
    }
}

/// Returns an empty cache that follows these rules.
pub fn cache(rules: &CacheRules) -> Box<dyn CacheRule> {
    match rules {
        CacheRules::Blocks(rules) => Box::new(blocks::BlockStore::new(rules)),
        CacheRules::None => Box::new(NoCache),
        CacheRules::PrefixCap(steps) => Box::new(prefix_interval::PrefixCap::new(*steps)),
        CacheRules::PrefixInterval { steps, ttl_ms, logged } => {
            Box::new(prefix_interval::PrefixInterval::new(*steps, *ttl_ms, *logged))
        }
        CacheRules::Breakpoints(rules) => Box::new(breakpoints::BreakpointCache::new(*rules)),
        CacheRules::Units(rules) => Box::new(units::Units::new(*rules)),
        CacheRules::ExplicitCache(rules) => Box::new(explicit_cache::StoredContents::new(*rules)),
        CacheRules::Qualified(rules) if !rules.of_models.is_empty() => {
            Box::new(qualified::ByModel::new(&rules.of_models))
        }
        CacheRules::Qualified(rules) => Box::new(qualified::QualifiedCache::new(rules)),
        CacheRules::Own(code, _) => own::cache(code),
    }
}

/// Returns an empty cache for a timeline whose requests change their settings.
pub fn cache_with_settings(rules: &CacheRules) -> Box<dyn CacheRule> {
    match rules {
        CacheRules::Qualified(it) if !it.of_models.is_empty() => cache(rules),
        rules => Box::new(qualified::with_settings(rules)),
    }
}

/// Returns from when what a request leaves can be read.
fn readable_ms(at: Readable, after_ms: u64, request: &RequestView<'_>) -> i64 {
    readable_from(at, after_ms, [request.now_ms, request.response_ms, request.end_ms])
}

/// The same, from the times of the request, its response and its end.
fn readable_from(at: Readable, after_ms: u64, [now_ms, response_ms, end_ms]: [i64; 3]) -> i64 {
    let from_ms = match at {
        Readable::RequestStart => now_ms,
        Readable::ResponseStart => response_ms.max(now_ms),
        Readable::ResponseEnd => end_ms.max(response_ms).max(now_ms),
    };
    from_ms.saturating_add_unsigned(after_ms)
}

/// Returns the time from one moment to another, or none if the other comes first.
fn elapsed_ms(from_ms: i64, to_ms: i64) -> u64 {
    u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0)
}

// The caches that answer the requests of a run, each on a lane of its own.
//
// Rules that differ in their steps alone know the same prefixes: what one cache finds, the others read in their own steps. That lasts
// until one of them is asked something that another is not.

/// The caches of a run, in the order of its sinks.
pub(crate) struct Lanes<'t>(Vec<Lane<'t>>);

/// A cache that answers the requests of a run.
pub(crate) struct Lane<'t> {
    pub(crate) rules: &'t CacheRules,
    answers: Answers,
    needs_chain: bool,
    /// Its last answer.
    pub(crate) usage: CacheUse,
    /// Whether it hardly served the agent's last request.
    pub(crate) is_cold: bool,
    /// What the agent's last request read of its prompt.
    pub(crate) last_read: Tokens,
}

/// Where a lane's answers come from.
enum Answers {
    /// A cache of its own.
    Own(Box<dyn CacheRule>),
    /// The cache of an earlier lane, read in other steps.
    InSteps(usize, Steps),
}

impl<'t> Lanes<'t> {
    /// Begins with empty caches.
    pub(crate) fn new(timeline: &Timeline, rules: &[&'t CacheRules]) -> Self {
        let has_changes = timeline.events.iter().any(|it| matches!(it.kind, EventKind::Change(..)));
        let make = if has_changes { cache_with_settings } else { cache };
        let mut lanes: Vec<Lane<'t>> = Vec::new();
        for rules in rules {
            let known = |(at, it): (usize, &Lane<'_>)| match it.answers {
                Answers::Own(_) => Some((at, rules.steps_beside(it.rules)?)),
                Answers::InSteps(..) => None,
            };
            let lane = match lanes.iter().enumerate().find_map(known) {
                Some((at, steps)) => Lane::new(rules, Answers::InSteps(at, steps), lanes[at].needs_chain),
                None => Lane::own(rules, make(rules)),
            };
            lanes.push(lane);
        }
        Self(lanes)
    }

    /// Puts another cache in the place of the first, or around it; it is the only one from then on.
    pub(crate) fn with_cache(self, make: impl FnOnce(Box<dyn CacheRule>) -> Box<dyn CacheRule>) -> Self {
        let first = self.0.into_iter().next().and_then(|it| match it.answers {
            Answers::Own(cache) => Some(Lane::own(it.rules, make(cache))),
            Answers::InSteps(..) => None,
        });
        Self(first.into_iter().collect())
    }

    /// Returns their rules, lane by lane.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &'t CacheRules> + '_ {
        self.0.iter().map(|it| it.rules)
    }

    /// Returns whether any of them asks for the prefixes of a prompt.
    #[inline]
    pub(crate) fn need_chain(&self) -> bool {
        self.0.iter().any(|it| it.needs_chain)
    }

    /// Returns the cache that stands behind a lane's answers.
    #[inline]
    pub(crate) fn cache(&self, lane: usize) -> &dyn CacheRule {
        match &self.0[lane].answers {
            Answers::Own(cache) => &**cache,
            Answers::InSteps(of, _) => self.cache(*of),
        }
    }

    /// Returns how a cache divides the prompt of a request; the lanes are asked in their order.
    #[inline(always)]
    pub(crate) fn submit(&mut self, lane: usize, request: &RequestView<'_>) -> CacheUse {
        match &mut self.0[lane].answers {
            Answers::Own(cache) => cache.submit(request),
            Answers::InSteps(of, steps) => {
                let (of, steps) = (*of, *steps);
                self.cache(of).last_in_steps(steps)
            }
        }
    }

    /// Has some of the caches divide a prompt, and keeps what they say; from then on they know another prompt than the rest.
    pub(crate) fn submit_to(&mut self, request: &RequestView<'_>, is_asked: impl Fn(&Lane<'t>) -> bool) {
        let asked: Vec<bool> = self.0.iter().map(is_asked).collect();
        for lane in 0..self.len() {
            if let Answers::InSteps(of, steps) = self.0[lane].answers
                && asked[lane] != asked[of]
                && let Some(own) = self.cache(of).known_in_steps(steps)
            {
                self.0[lane].answers = Answers::Own(own);
            }
        }
        for lane in (0..self.len()).filter(|it| asked[*it]) {
            self.0[lane].usage = self.submit(lane, request);
        }
    }
}

impl<'t> std::ops::Deref for Lanes<'t> {
    type Target = [Lane<'t>];

    #[inline]
    fn deref(&self) -> &[Lane<'t>] {
        &self.0
    }
}

impl std::ops::DerefMut for Lanes<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'t> Lane<'t> {
    fn own(rules: &'t CacheRules, cache: Box<dyn CacheRule>) -> Self {
        let needs_chain = cache.needs_chain();
        Self::new(rules, Answers::Own(cache), needs_chain)
    }

    fn new(rules: &'t CacheRules, answers: Answers, needs_chain: bool) -> Self {
        Self { rules, answers, needs_chain, usage: CacheUse::default(), is_cold: false, last_read: 0 }
    }

    /// Returns whether it compares prefixes, and served the agent's last request.
    pub(crate) fn is_warm(&self) -> bool {
        self.needs_chain && !self.is_cold
    }
}

// Whether a prompt holds images, for caches whose provider looks at that.
//
// **Images** are items (`Kind::Image`) with a size in pixels (`Timeline::images`), behind the message or the result that they are in. A
// profile's rule (`assumptions/images.toml`, `profile/images.rs`) says how many tokens that is; `take/load.rs` counts them anew as it
// does texts, and `ImagesSeen` tells caches whether a prompt shows any.

/// The images that have come, where any cache asks.
#[derive(Debug)]
pub(crate) struct ImagesSeen {
    slots: Vec<SlotIx>,
    /// The first slot that has not been looked at.
    next: SlotIx,
}

impl ImagesSeen {
    /// Begins before the first item; `None` where a load has no images, or no cache asks for them.
    pub(crate) fn new<'r>(timeline: &Timeline, rules: impl Iterator<Item = &'r CacheRules>) -> Option<Self> {
        let mut rules = rules;
        let is_asked = !timeline.images.items.is_empty() && rules.any(|it| it.heeds(Setting::Images));
        is_asked.then(|| Self { slots: Vec::new(), next: 0 })
    }

    /// Returns whether a prompt shows one; the newest are the likeliest to be there.
    pub(crate) fn are_shown(&mut self, prompt: &Prompt<'_>) -> bool {
        self.slots.extend((self.next..prompt.len()).filter(|it| prompt.kind(*it) == Kind::Image));
        self.next = prompt.len();
        self.slots.iter().rev().any(|it| {
            let slot = prompt.slot(*it);
            slot.state == State::Shown && slot.rendition == ShownAs::Raw && slot.content.is_none()
        })
    }
}

// No cache: every prompt is plain input.

/// No cache.
struct NoCache;

impl CacheRule for NoCache {
    fn needs_chain(&self) -> bool {
        false
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        CacheUse { uncached: request.prompt, ..CacheUse::default() }
    }
}

// A cache at whose requests somebody looks before it answers them.

/// A cache with somebody who looks.
pub struct Overseen<F> {
    /// The cache.
    pub inner: Box<dyn CacheRule>,
    /// Sees the cache as it is before a request, and the request.
    pub look: F,
}

impl<F: FnMut(&dyn CacheRule, &RequestView<'_>)> CacheRule for Overseen<F> {
    fn needs_chain(&self) -> bool {
        self.inner.needs_chain()
    }

    fn hears_others(&self) -> bool {
        self.inner.hears_others()
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        (self.look)(&*self.inner, request);
        self.inner.submit(request)
    }

    fn unserved(&self, usage: &CacheUse) -> CacheUse {
        self.inner.unserved(usage)
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        self.inner.look(request)
    }

    fn fault(&self) -> Option<&str> {
        self.inner.fault()
    }

    fn stored(&self) -> &[ExplicitCacheRow] {
        self.inner.stored()
    }
}

// What a cache knows of a prompt before processing it, to explain how much was read.

/// What a cache knows of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The breakpoints of the prompt, where the rule has them, in order.
    pub marks: Vec<MarkFound>,
    /// What earlier requests left that this prompt begins with, the longest first.
    pub entries: Vec<EntryFound>,
}

/// A breakpoint of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MarkFound {
    /// The slot after which it stands.
    pub slot: u32,
    /// Tokens before it.
    pub tokens: Tokens,
    /// How long its entry lives, in milliseconds.
    pub life_ms: u64,
    /// The shortest prefix that is cached, if this one is shorter: the breakpoint is then ignored.
    pub too_short_for: Option<Tokens>,
}

/// Something that an earlier request left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntryFound {
    /// The slot that ends it, where the rule knows what it holds.
    pub slot: Option<u32>,
    pub tokens: Tokens,
    /// Milliseconds since what its life is counted from, which is its last use unless nothing renews it; where the rule has a clock.
    pub age_ms: Option<u64>,
    /// How long it lives after its last use, in milliseconds, where the rule says so.
    pub life_ms: Option<u64>,
    /// What became of it.
    pub fate: Fate,
}

/// What happens to an entry when a request looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was read, so many tokens of it.
    Read(Tokens),
    /// It was not there: the harness stored it first, in a call of its own, and then so many tokens of it were read.
    Stored(Tokens),
    /// A longer one was read.
    Shorter,
    /// It had expired.
    Expired,
    /// It could not be read yet: its writer's response begins so many milliseconds later.
    NotReadable {
        /// Milliseconds from this request's start on.
        in_ms: u64,
    },
    /// It is too many positions before the next breakpoint.
    OutOfLookback {
        /// How many, that of the breakpoint counted.
        positions: u64,
        looked_at: u64,
    },
    /// No breakpoint that counts is at or after it.
    NoBreakpoint,
    /// It is shorter than the shortest that is cached.
    TooShort {
        /// The shortest that is cached.
        min_tokens: Tokens,
    },
    /// The store has let it go.
    Evicted,
    /// The rules assume that an edit broke it after a number of tokens.
    Capped(Tokens),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projection::chain::Link;
    use ctxsim_timeline::build::TimelineBuilder;

    /// Three prompts that begin alike, of entries of 1,500 tokens.
    const PROMPTS: [&[u128]; 3] = [&[1, 12, 123], &[1, 12, 124], &[1, 12, 123, 1_235]];

    fn chain(digests: &[u128]) -> Chain {
        let link = |(slot, digest): (u32, &u128)| Link {
            slot,
            tokens: 1_500 * u64::from(slot + 1),
            digest: *digest,
            kind: Kind::User,
        };
        Chain::from_links((0..).zip(digests).map(link).collect())
    }

    #[test]
    fn caches_that_share_what_they_know_answer_as_on_their_own_whichever_of_them_are_asked() {
        let rules = [1_024, 2_048, 4_096].map(|min| Steps { min, step: min / 8 });
        let rules = rules.map(|steps| CacheRules::prefix_interval(steps, None));
        let timeline = TimelineBuilder::new("empty", &[]).finish();
        let (layout, all) = (LayoutSpec::default(), rules.each_ref());
        let mut n_apart = 0;
        // By request, a bit for each cache that is asked; of the last, all are.
        for asked in (1..8).flat_map(|first| (1..8).map(move |second| [first, second, 7])) {
            let mut lanes = Lanes::new(&timeline, &all);
            let mut own = rules.each_ref().map(cache);
            for (prompt, asked) in [0, 1, 2].into_iter().zip(asked) {
                let chain = chain(PROMPTS[prompt]);
                let request = RequestView::new(1_500 * PROMPTS[prompt].len() as u64, &chain, &layout, 0);
                let is_asked = |nth: usize| asked >> nth & 1 == 1;
                let place = |it: &CacheRules| rules.iter().position(|rules| rules == it).unwrap_or(0);

                lanes.submit_to(&request, |it| is_asked(place(it.rules)));

                for nth in (0..rules.len()).filter(|it| is_asked(*it)) {
                    assert_eq!(lanes[nth].usage, own[nth].submit(&request), "{asked:?}, cache {nth}");
                }
            }
            n_apart += lanes.iter().filter(|it| matches!(it.answers, Answers::Own(_))).count() - 1;
        }
        assert!((1..98).contains(&n_apart), "some shared to the end, and some did not: {n_apart}");
    }
}
