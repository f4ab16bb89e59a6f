//! What a provider caches of a client's requests, as its logs show: lengths on a grid, and all but some tokens at the end.

use ctxsim_input::CacheRules;
use ctxsim_input::profile::Steps;
use ctxsim_input::profile::cache::{CachedEnd, LoggedCache};
use ctxsim_input::text::duration::Duration;

use super::{Cases, VersionRange, is_of_models};
use crate::import::prelude::*;

/// So many reads tell a grid, and so many requests how many tokens at the end are not cached.
const READS_MIN: usize = 5;

/// The shortest prefix that OpenAI caches.
const SHORTEST: Tokens = 1_024;

/// Which lengths are cached of a client's prompts under some models.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GridRule {
    /// Patterns of models' ids.
    models: Vec<String>,
    #[serde(default)]
    versions: VersionRange,
    /// Whether it is about reviews that another session asks for, and about them alone.
    #[serde(default)]
    reviews: bool,
    /// Cached lengths are this and whole steps.
    offset: Tokens,
    step: Tokens,
    /// So many tokens at the end are not cached.
    unread: Tokens,
    /// Whether replies are cached with the prompt: all, or those without reasoning.
    replies: Option<CachedEnd>,
    /// How long an entry lives after its last use.
    lifetime: Duration,
    /// In how many cases what the first request read was read after the session's own entries had expired; nothing where that is not known.
    pub(super) front_stays: Option<Cases>,
    /// Reads that lie on the grid, and all that read something.
    pub(super) seen: Cases,
}

impl GridRule {
    fn steps(&self) -> Steps {
        Steps::beyond(self.offset, self.step, SHORTEST)
    }

    /// Returns whether a read is one of the lengths.
    fn has(&self, read: Tokens) -> bool {
        self.steps().floor(read) == read
    }

    /// Returns the rules of the cache in a session whose first request read so much.
    fn rules(&self, first_read: Tokens) -> CacheRules {
        let end = self.replies.unwrap_or(CachedEnd::BeforeEnd);
        let front = if self.front_stays.is_some() { first_read } else { 0 };
        let logged = LoggedCache { end, front };
        CacheRules::PrefixInterval { steps: self.steps(), ttl_ms: Some(self.lifetime.0), logged }
    }

    /// Returns the fewest and the most tokens at the end that are not cached, as a request shows that follows another in its turn; nothing
    /// where it fell.
    fn shown(&self, before: &Exchange, request: &Exchange) -> Option<[i64; 2]> {
        let with_reply = self.replies.filter(|it| before.reasoning == 0 || *it == CachedEnd::BeforeReplyEnd);
        let (before, read) = (before.usage?, request.usage?.cache_read);
        let cached = before.prompt + with_reply.map_or(0, |_| before.output);
        let expected = self.steps().floor(cached.saturating_sub(self.unread));
        let is_near = read > 0 && expected > 0 && expected.abs_diff(read) <= self.step;
        let most = i64::try_from(cached).ok()? - i64::try_from(read).ok()?;
        is_near.then_some([most - i64::try_from(self.step).ok()? + 1, most])
    }

    fn sentence(&self, model: &str, is_told: bool) -> String {
        let Self { offset, step, seen, .. } = self;
        let how = if is_told { "as the session's first reads tell" } else { "as the client's logs show" };
        format!("Under {model}, what is cached is {offset} tokens and whole steps of {step}, {how}: {seen}.")
    }
}

/// What is cached of one session's requests.
#[derive(Debug, Default)]
pub(in crate::import) struct ClientCache {
    /// By model.
    rules: Vec<(String, CacheRules)>,
    /// By request: how many tokens at the end of what it begins with are not cached.
    unread: Vec<Tokens>,
    pub(super) sentences: Vec<String>,
}

impl ClientCache {
    /// Finds the rules of each model that answers in a session.
    pub(super) fn new(declared: &[GridRule], exchanges: &[Exchange], is_review: bool) -> Self {
        let mut cache = Self { unread: vec![0; exchanges.len()], ..Self::default() };
        if declared.is_empty() {
            return cache;
        }
        let models = exchanges.iter().map(|it| it.model.as_str()).filter(|it| !it.is_empty());
        for model in models.collect::<IndexSet<&str>>() {
            if let Some((rule, is_told)) = found(declared, exchanges, model, is_review) {
                let first = exchanges.iter().find(|it| it.model == model).and_then(|it| it.usage);
                cache.rules.push((model.to_owned(), rule.rules(first.map_or(0, |it| it.cache_read))));
                cache.sentences.push(rule.sentence(model, is_told));
                cache.learn(rule, exchanges, model);
            }
        }
        cache
    }

    /// Returns the rules under a model, where they are known.
    pub(in crate::import) fn of_model(&self, model: &str) -> Option<&CacheRules> {
        self.rules.iter().find(|it| it.0 == model).map(|found| &found.1)
    }

    /// Returns how many tokens at the end of what a request begins with are not cached.
    pub(in crate::import) fn unread(&self, request: usize) -> Tokens {
        self.unread.get(request).copied().unwrap_or(0)
    }

    /// Learns from the earlier bills of a session how many tokens at the end are not cached.
    fn learn(&mut self, rule: &GridRule, exchanges: &[Exchange], model: &str) {
        let mut learnt = LearntEnd::new(rule.unread);
        for (at, exchange) in exchanges.iter().enumerate().filter(|it| it.1.model == model) {
            self.unread[at] = learnt.tokens();
            let before = at.checked_sub(1).map(|it| &exchanges[it]);
            let goes_on = exchange.begins.is_none() && exchange.compacts.is_none();
            if let Some(before) = before.filter(|it| it.model == model && goes_on) {
                learnt.add(rule.shown(before, exchange));
            }
        }
        let [declared, last] = [rule.unread, learnt.tokens()];
        if declared != last {
            self.sentences.push(format!(
                "Under {model}, {declared} tokens at the end of a prompt are usually not cached; the session's bills tell {last} in the end."
            ));
        }
    }
}

/// Returns the grid of a model in a session: the one that all of its first reads lie on, if the declared one is not it; and whether they
/// told it.
fn found<'r>(
    declared: &'r [GridRule],
    exchanges: &[Exchange],
    model: &str,
    is_review: bool,
) -> Option<(&'r GridRule, bool)> {
    let own: Vec<&Exchange> = exchanges.iter().filter(|it| it.model == model).collect();
    let version = own.first()?.version;
    let is_of_model = |it: &&GridRule| is_of_models(&it.models, model);
    let fits = |it: &&GridRule| is_of_model(it) && it.versions.include(version) && it.reviews == is_review;
    let usual = declared.iter().find(fits);
    let reads = own.iter().filter_map(|it| Some(it.usage?.cache_read)).filter(|it| *it > 0);
    let first: Vec<Tokens> = reads.take(READS_MIN).collect();
    let n_on = |it: &GridRule| first.iter().filter(|read| it.has(**read)).count();
    if first.len() < READS_MIN || usual.is_some_and(|it| n_on(it) == first.len()) {
        return usual.map(|it| (it, false));
    }
    let told = declared.iter().filter(|it| n_on(it) == first.len());
    let told = told.max_by_key(|it| (it.step, is_of_model(it)));
    told.map(|it| (it, true)).or(usual.filter(|it| n_on(it) > 0).map(|it| (it, false)))
}

/// How many tokens at the end are not cached: what most requests show, and what is declared where they show nothing else.
struct LearntEnd {
    declared: i64,
    best: i64,
    shown: Vec<[i64; 2]>,
}

impl LearntEnd {
    fn new(declared: Tokens) -> Self {
        let declared = i64::try_from(declared).unwrap_or(0);
        Self { declared, best: declared, shown: Vec::new() }
    }

    fn tokens(&self) -> Tokens {
        let best = if self.shown.len() < READS_MIN { self.declared } else { self.best };
        Tokens::try_from(best).unwrap_or(0)
    }

    /// Takes what a request shows. What it agrees with stays the best.
    fn add(&mut self, shown: Option<[i64; 2]>) {
        let Some([fewest, most]) = shown else { return };
        self.shown.push([fewest, most]);
        if (fewest..=most).contains(&self.best) {
            return;
        }
        let n_agreeing =
            |tokens: i64| self.shown.iter().filter(|it| (it[0]..=it[1]).contains(&tokens)).count();
        let ends = self.shown.iter().flatten().copied().chain([self.declared]);
        let best = ends.filter(|it| *it >= 0).max_by_key(|it| (n_agreeing(*it), -(it - self.declared).abs()));
        self.best = best.unwrap_or(self.declared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Usage;

    fn rule(offset: Tokens, step: Tokens, unread: Tokens) -> GridRule {
        let models = vec!["gpt-*".to_owned()];
        let (versions, lifetime) = (VersionRange::default(), Duration(3_600_000));
        let (reviews, replies, front_stays, seen) = (false, None, None, Cases(5, 5));
        GridRule { models, versions, reviews, offset, step, unread, replies, lifetime, front_stays, seen }
    }

    /// Requests of one turn, by prompt and read.
    fn turn(requests: &[[Tokens; 2]]) -> Vec<Exchange> {
        let exchange = |[prompt, read]: &[Tokens; 2]| Exchange {
            model: "gpt-5.5".to_owned(),
            usage: Some(Usage { prompt: *prompt, cache_read: *read, ..Usage::default() }),
            ..Exchange::default()
        };
        requests.iter().map(exchange).collect()
    }

    const GROWING: [[Tokens; 2]; 7] = [
        [10_000, 0],
        [11_000, 9_600],
        [12_000, 10_624],
        [13_000, 11_648],
        [14_000, 12_672],
        [15_000, 13_696],
        [16_000, 14_720],
    ];

    #[test]
    fn the_first_reads_of_a_session_tell_a_grid_that_is_not_the_declared_one() {
        let rules = [rule(0, 512, 2), rule(384, 512, 2), rule(0, 128, 2)];
        let exchanges = turn(&GROWING);

        let (told, is_told) = found(&rules, &exchanges, "gpt-5.5", false).unwrap();

        assert_eq!((told.offset, told.step, is_told), (384, 512, true));
        let (kept, is_told) = found(&rules, &exchanges[..5], "gpt-5.5", false).unwrap();
        assert_eq!((kept.offset, is_told), (0, false), "four reads are too few");
    }

    #[test]
    fn reads_on_no_grid_leave_the_profile_its_own_rules() {
        let exchanges = turn(&GROWING.map(|[prompt, read]| [prompt, read.saturating_sub(1)]));

        assert!(found(&[rule(384, 512, 2)], &exchanges, "gpt-5.5", false).is_none());
    }

    #[test]
    fn what_is_not_cached_at_the_end_is_learnt_from_earlier_bills_alone_and_one_that_differs_changes_nothing()
    {
        let rule = rule(384, 512, 2);
        let prompts: Vec<Tokens> = (0..30).map(|nth| 10_000 + 1_337 * nth).collect();
        let read = |before: Tokens, unread: Tokens| rule.steps().floor(before - unread);
        let mut requests: Vec<[Tokens; 2]> = vec![[prompts[0], 0]];
        requests.extend(prompts.windows(2).map(|it| [it[1], read(it[0], 250)]));
        requests[12][1] -= 512;
        let mut cache = ClientCache { unread: vec![0; requests.len()], ..ClientCache::default() };

        cache.learn(&rule, &turn(&requests), "gpt-5.5");

        assert_eq!(cache.unread[..6], [2; 6], "not before five requests show it");
        let is_right = |at: &usize| read(prompts[at - 1], cache.unread(*at)) == read(prompts[at - 1], 250);
        assert!((20..30).all(|at| is_right(&at)), "{:?}", cache.unread);
        assert!(!(1..6).all(|at| is_right(&at)), "the declared number is wrong for this session");
    }
}
