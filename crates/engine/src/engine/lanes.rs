//! The caches that answer the requests of a run, each on a lane of its own.
//!
//! Rules that differ in their steps alone know the same prefixes: what one cache finds, the others read in their own steps. That lasts
//! until one of them is asked something that another is not.

use crate::cache::{CacheRule, RequestView, cache, cache_with_settings};
use crate::prelude::*;

/// The caches of a run, in the order of its sinks.
pub(super) struct Lanes<'t>(Vec<Lane<'t>>);

/// A cache that answers the requests of a run.
pub(super) struct Lane<'t> {
    pub(super) rules: &'t CacheRules,
    answers: Answers,
    needs_chain: bool,
    /// Its last answer.
    pub(super) usage: CacheUse,
    /// Whether it hardly served the agent's last request.
    pub(super) is_cold: bool,
    /// What the agent's last request read of its prompt.
    pub(super) last_read: Tokens,
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
    pub(super) fn new(timeline: &Timeline, rules: &[&'t CacheRules]) -> Self {
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
    pub(super) fn with_cache(self, make: impl FnOnce(Box<dyn CacheRule>) -> Box<dyn CacheRule>) -> Self {
        let first = self.0.into_iter().next().and_then(|it| match it.answers {
            Answers::Own(cache) => Some(Lane::own(it.rules, make(cache))),
            Answers::InSteps(..) => None,
        });
        Self(first.into_iter().collect())
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns their rules, lane by lane.
    pub(super) fn rules(&self) -> impl Iterator<Item = &'t CacheRules> + '_ {
        self.0.iter().map(|it| it.rules)
    }

    /// Returns whether any of them asks for the prefixes of a prompt.
    #[inline]
    pub(super) fn need_chain(&self) -> bool {
        self.0.iter().any(|it| it.needs_chain)
    }

    /// Returns the cache that stands behind a lane's answers.
    #[inline]
    fn cache(&self, lane: usize) -> &dyn CacheRule {
        match &self.0[lane].answers {
            Answers::Own(cache) => &**cache,
            Answers::InSteps(of, _) => self.cache(*of),
        }
    }

    /// Returns whether a cache can serve what other sessions sent.
    #[inline]
    pub(super) fn hears_others(&self, lane: usize) -> bool {
        self.cache(lane).hears_others()
    }

    /// Returns why a cache's last answer is none, in words.
    pub(super) fn fault(&self, lane: usize) -> Option<&str> {
        self.cache(lane).fault()
    }

    /// Returns the contents that a cache stored at an hourly price.
    pub(super) fn stored(&self, lane: usize) -> &[ExplicitCacheRow] {
        self.cache(lane).stored()
    }

    /// Returns how a cache divides the prompt of a request; the lanes are asked in their order.
    #[inline(always)]
    pub(super) fn submit(&mut self, lane: usize, request: &RequestView<'_>) -> CacheUse {
        match &mut self.0[lane].answers {
            Answers::Own(cache) => cache.submit(request),
            Answers::InSteps(of, steps) => {
                let (of, steps) = (*of, *steps);
                self.cache(of).last_in_steps(steps)
            }
        }
    }

    /// Has some of the caches divide a prompt, and keeps what they say; from then on they know another prompt than the rest.
    pub(super) fn submit_to(&mut self, request: &RequestView<'_>, is_asked: impl Fn(&Lane<'t>) -> bool) {
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
    pub(super) fn is_warm(&self) -> bool {
        self.needs_chain && !self.is_cold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projection::chain::{Chain, Link};
    use ctxsim_input::LayoutSpec;
    use ctxsim_timeline::Kind;
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
