//! Requests of several models: each model has entries of its own, under the rules of its own provider.

use super::{CacheRule, Finding, RequestView, cache_with_settings};
use crate::ledger::{CacheUse, ExplicitCacheRow};
use ctxsim_input::CacheRules;
use ctxsim_input::profile::cache::Setting;

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
