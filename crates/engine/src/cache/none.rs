//! No cache: every prompt is plain input.

use super::{CacheRule, RequestView};
use crate::ledger::CacheUse;

/// No cache.
pub(super) struct None;

impl CacheRule for None {
    fn needs_chain(&self) -> bool {
        false
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        CacheUse { uncached: request.prompt, ..CacheUse::default() }
    }
}
