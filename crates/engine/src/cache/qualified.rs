//! Any rules plus effects that do not depend on a prompt's content: changed settings, and missed hits.
//!
//! A changed setting is mixed into the digests of all prefixes from its level on, so that all rules that
//! compare prefixes see the change; restoring the old value restores the old prefixes. A missed hit is a
//! machine that has none of the entries: the request is billed as if nothing had been found, and leaves what
//! it would have left.

use xxhash_rust::xxh3::xxh3_128;

use super::{CacheRule, Finding, RequestView, cache, cache_with_settings};
use crate::prelude::*;
use ctxsim_base::rng::Stream;
use ctxsim_input::profile::cache::{Hits, Qualified as Rules, SETTINGS};
use ctxsim_input::{PromptLevel, Settings};

/// The stream of the draws.
const PURPOSE: &str = "cache hit";

/// Which requests are served by a machine that has the entries.
#[derive(Clone, Debug)]
pub struct HitDraws {
    hits: Option<Hits>,
    draws: Stream,
}

impl HitDraws {
    /// Begins with the first request of a run.
    pub fn new(hits: Option<Hits>) -> Self {
        Self { hits, draws: Seed(hits.map_or(0, |it| it.seed)).stream(PURPOSE, 0) }
    }

    /// Returns whether the next request is, by the length of its prompt; each takes a draw.
    pub fn is_served(&mut self, prompt: Tokens) -> bool {
        let Some(hits) = self.hits else { return true };
        let is_drawn = self.draws.draw().between(1, Hits::CERTAIN) <= hits.parts;
        is_drawn && !hits.is_never(prompt)
    }
}

/// Other rules, under settings and with luck.
pub(super) struct QualifiedCache {
    inner: Box<dyn CacheRule>,
    rules: Rules,
    hit_draws: HitDraws,
    /// Whether the last request was served by one that has them.
    was_served: bool,
    /// The settings by which prompts were last told apart, and what they are mixed in as.
    settings: Settings,
    salts: Salts,
    /// The agent's last prompt as it was told apart by them, if it was.
    told: Option<Chain>,
}

/// What settings are mixed into digests as, by level: that of the tools, of the system prompt and of the messages.
#[derive(Clone, Copy, Default)]
struct Salts([u128; 3]);

impl Salts {
    fn new(rules: &Rules, settings: Settings) -> Self {
        let levels = [PromptLevel::Tools, PromptLevel::System, PromptLevel::Messages];
        Self(levels.map(|level| salt(rules.invalidates.of(settings, level))))
    }

    /// Returns a prefix as the provider distinguishes it, by content and settings.
    fn told_apart(&self, link: &Link) -> Link {
        Link { digest: link.digest ^ self.0[level(link.kind)], ..*link }
    }
}

/// Returns the level at which an entry of a prompt is told apart by settings.
pub(crate) fn level(kind: Kind) -> usize {
    match kind {
        Kind::ToolSchema => 0,
        Kind::System => 1,
        _ => 2,
    }
}

/// Returns whether fewer settings tell a prefix apart than the one before it, so that it can be known where that one is not.
pub(super) fn is_told_by_less(links: &[Link], at: usize) -> bool {
    at > 0 && level(links[at].kind) < level(links[at - 1].kind)
}

impl QualifiedCache {
    pub(super) fn new(rules: &Rules) -> Self {
        Self {
            inner: cache(&rules.rules),
            rules: rules.clone(),
            hit_draws: HitDraws::new(rules.hits),
            was_served: true,
            settings: Settings::default(),
            salts: Salts::default(),
            told: None,
        }
    }

    /// Submits a prompt as the provider distinguishes prompts, by content and settings.
    fn submit_told(&mut self, request: &RequestView<'_>) -> CacheUse {
        if request.settings != self.settings {
            (self.settings, self.told) = (request.settings, None);
            self.salts = Salts::new(&self.rules, request.settings);
        }
        let salts = self.salts;
        let tell = |link: &Link| salts.told_apart(link);
        let told = match self.told.take() {
            Some(mut told) if request.chain.is_aside() => {
                let own = told.lend_told(request.chain, tell);
                let usage = self.inner.submit(&RequestView { chain: &told, ..*request });
                told.take_back(own);
                self.told = Some(told);
                return usage;
            }
            Some(mut told) => {
                request.chain.tell_apart(&mut told, tell);
                told
            }
            None => request.chain.told_apart(tell),
        };
        let usage = self.inner.submit(&RequestView { chain: &told, ..*request });
        self.told = (!request.chain.is_aside()).then_some(told);
        usage
    }
}

/// Returns what the settings that count on a level are mixed in as; nothing, while they are as at the beginning.
fn salt(settings: Settings) -> u128 {
    if settings == Settings::default() {
        return 0;
    }
    let bytes: Vec<u8> = SETTINGS.iter().flat_map(|it| settings.get(*it).to_le_bytes()).collect();
    xxh3_128(&bytes)
}

impl CacheRule for QualifiedCache {
    fn needs_chain(&self) -> bool {
        self.inner.needs_chain()
    }

    fn hears_others(&self) -> bool {
        self.inner.hears_others()
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        // Once told apart, prompts are compared with what was told of the one before.
        let usage = if request.settings == Settings::default() && self.told.is_none() {
            self.inner.submit(request)
        } else {
            self.submit_told(request)
        };
        self.was_served = self.hit_draws.is_served(request.prompt);
        if self.was_served { usage } else { self.inner.unserved(&usage) }
    }

    fn last_in_steps(&self, steps: Steps) -> CacheUse {
        let usage = self.inner.last_in_steps(steps);
        if self.was_served { usage } else { self.inner.unserved(&usage) }
    }

    fn known_in_steps(&self, steps: Steps) -> Option<Box<dyn CacheRule>> {
        let inner = self.inner.known_in_steps(steps)?;
        let (rules, hit_draws, told) = (self.rules.clone(), self.hit_draws.clone(), self.told.clone());
        Some(Box::new(Self { inner, rules, hit_draws, told, ..*self }))
    }

    fn unserved(&self, usage: &CacheUse) -> CacheUse {
        self.inner.unserved(usage)
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let salts = Salts::new(&self.rules, request.settings);
        let chain = request.chain.told_apart(|link| salts.told_apart(link));
        self.inner.look(&RequestView { chain: &chain, ..*request })
    }

    fn fault(&self) -> Option<&str> {
        self.inner.fault()
    }

    fn stored(&self) -> &[ExplicitCacheRow] {
        self.inner.stored()
    }
}

/// Returns rules that know of settings.
pub(super) fn with_settings(rules: &CacheRules) -> QualifiedCache {
    match rules {
        CacheRules::Qualified(rules) => QualifiedCache::new(rules),
        rules => {
            let rules = rules.clone();
            QualifiedCache::new(&Rules {
                rules,
                invalidates: Default::default(),
                hits: None,
                of_models: Vec::new(),
            })
        }
    }
}

// Requests of several models: each model has entries of its own, under the rules of its own provider.

/// A cache for each model, by [`Setting::Model`].
pub(super) struct ByModel {
    caches: Vec<Box<dyn CacheRule>>,
    /// The model of the last request.
    last: usize,
}

impl ByModel {
    /// Begins with empty caches.
    pub(super) fn new(rules: &[CacheRules]) -> Self {
        Self { caches: rules.iter().map(cache_with_settings).collect(), last: 0 }
    }

    fn place(&self, request: &RequestView<'_>) -> usize {
        (request.settings.get(Setting::Model) as usize).min(self.caches.len().saturating_sub(1))
    }
}

impl CacheRule for ByModel {
    fn needs_chain(&self) -> bool {
        self.caches.iter().any(|it| it.needs_chain())
    }

    fn hears_others(&self) -> bool {
        self.caches.iter().all(|it| it.hears_others())
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let place = self.place(request);
        if std::mem::replace(&mut self.last, place) == place {
            return self.caches[place].submit(request);
        }
        // What has not changed since the request before, which was another model's, says nothing of the one that this cache saw.
        let chain = request.chain.as_new();
        self.caches[place].submit(&RequestView { chain: &chain, ..*request })
    }

    fn unserved(&self, usage: &CacheUse) -> CacheUse {
        self.caches[self.last].unserved(usage)
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        self.caches[self.place(request)].look(request)
    }

    fn fault(&self) -> Option<&str> {
        self.caches.iter().find_map(|it| it.fault())
    }

    fn stored(&self) -> &[ExplicitCacheRow] {
        self.caches.iter().map(|it| it.stored()).find(|it| !it.is_empty()).unwrap_or_default()
    }
}
