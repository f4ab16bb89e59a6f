//! A cache at whose requests somebody looks before it answers them.

use super::{CacheRule, Finding, RequestView};
use crate::ledger::{CacheUse, ExplicitCacheRow};

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
