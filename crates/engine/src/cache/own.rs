//! Cache rules that are written in code outside this crate.

use crate::prelude::*;

use super::{CacheRule, RequestView};
use crate::own::{BoxError, Kind, guard, guard_maker};
use ctxsim_input::OwnCode;

/// A provider's cache in code: each run creates its own instance, which is called for every request in order.
///
/// Its answer must account for the whole prompt: `read + write + write_long + uncached` is the prompt's size. It is checked after each request, and
/// a run whose cache breaks the rule, returns an error or panics ends with an error that names the request.
pub trait OwnRule: Send {
    /// Divides the prompt of a request, and remembers what the request leaves in the cache.
    ///
    /// # Errors
    /// Any error ends the run.
    fn submit(&mut self, request: &CacheRequest<'_>) -> Result<Division, BoxError>;
}

impl<F: FnMut(&CacheRequest<'_>) -> Result<Division, BoxError> + Send> OwnRule for F {
    fn submit(&mut self, request: &CacheRequest<'_>) -> Result<Division, BoxError> {
        self(request)
    }
}

/// What a cache knows about a request.
#[derive(Clone, Copy, Debug)]
pub struct CacheRequest<'a>(&'a RequestView<'a>);

/// A prefix of a prompt: it ends where an entry ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prefix {
    /// Its size in tokens.
    pub tokens: u64,
    /// A digest of its content: prefixes with equal digests have the same content, whichever request they belong to.
    pub digest: u128,
    /// The kind of entry it ends with.
    pub kind: Kind,
}

/// How a cache divides a prompt, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Division {
    /// Read from the cache.
    pub read: u64,
    /// Billed as written, for the provider's usual lifetime.
    pub write: u64,
    /// Billed as written, for its longer lifetime.
    pub write_long: u64,
    /// Billed as plain input.
    pub uncached: u64,
}

impl CacheRequest<'_> {
    /// Returns the size of the prompt in tokens.
    pub fn prompt_tokens(&self) -> u64 {
        self.0.prompt
    }

    /// Returns when the request starts, in milliseconds since the start of the scenario.
    pub fn now_ms(&self) -> i64 {
        self.0.now_ms
    }

    /// Returns when its response ends, in milliseconds since the start of the scenario.
    pub fn end_ms(&self) -> i64 {
        self.0.end_ms
    }

    /// Returns the prefixes of the prompt, shortest first; the last is the whole prompt.
    pub fn prefixes(&self) -> impl DoubleEndedIterator<Item = Prefix> + ExactSizeIterator {
        let links = self.0.chain.links().iter();
        links.map(|it| Prefix { tokens: it.tokens, digest: it.digest, kind: it.kind })
    }

    /// Divides the prompt into what was read, and plain input.
    pub fn reading(&self, read: u64) -> Division {
        Division { read, uncached: self.0.prompt.saturating_sub(read), ..Division::default() }
    }

    /// Divides the prompt into what was read, what is written for the usual lifetime, and plain input.
    pub fn reading_and_writing(&self, read: u64, write: u64) -> Division {
        let uncached = self.0.prompt.saturating_sub(read).saturating_sub(write);
        Division { read, write, uncached, ..Division::default() }
    }
}

/// Creates a new cache for each run.
#[derive(Clone)]
pub struct Make(Arc<dyn Fn() -> Box<dyn OwnRule> + Send + Sync>);

impl Make {
    /// Wraps a function that makes a cache.
    pub fn new<R: OwnRule + 'static>(make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(move || Box::new(make())))
    }
}

/// Adapts a cache in code to the engine.
struct OwnCache {
    rule: Result<Box<dyn OwnRule>, String>,
    fault: Option<String>,
}

/// Returns an empty cache created by code.
pub(super) fn cache(code: &OwnCode) -> Box<dyn CacheRule> {
    let make = code.factory::<Make>().cloned();
    let make = || make.map(|it| (it.0)()).ok_or_else(|| "these are not cache rules".into());
    Box::new(OwnCache { rule: guard_maker(make), fault: None })
}

impl CacheRule for OwnCache {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let answer = match &mut self.rule {
            Ok(rule) => guard("the cache", || rule.submit(&CacheRequest(request))),
            Err(why) => Err(why.clone()),
        };
        match answer {
            Ok(Division { read, write, write_long, uncached }) => {
                let links = request.chain.links();
                let behind = links.get(links.partition_point(|it| it.tokens <= read));
                CacheUse { read, write: [write, write_long], uncached, broke_at: behind.map(|it| it.slot) }
            }
            Err(why) => {
                self.rule = Err(why.clone());
                self.fault = Some(format!("the cache rules: {why}"));
                // No prompt is so large, so the run ends.
                CacheUse { read: Tokens::MAX, ..CacheUse::default() }
            }
        }
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}
