//! How far a prompt agrees with earlier ones: only what lies behind the first change is compared.

use indexmap::IndexMap;

use super::RequestView;

/// The prefixes of every earlier prompt, with the time at which each was last sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    ttl_ms: Option<u64>,
    /// Prefixes that the last prompt did not have.
    left: IndexMap<u128, i64>,
    /// Prefixes of the last prompt, shortest first; all were sent at `last_ms`.
    last: Vec<u128>,
    last_ms: i64,
    /// How many of them the engine's own chain had at its last request.
    n_own: usize,
}

/// How many of a prompt's prefixes are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// With the prompt before.
    pub(super) n_same: usize,
    /// With any earlier prompt that is not forgotten.
    pub(super) n_known: usize,
}

/// Returns whether something used at one time still lives at another.
pub(super) fn is_live(ttl_ms: Option<u64>, touched_ms: i64, now_ms: i64) -> bool {
    let age = u64::try_from(now_ms.saturating_sub(touched_ms)).unwrap_or(0);
    ttl_ms.is_none_or(|ttl| age <= ttl)
}

impl Prefixes {
    /// Returns a memory of prompts that forgets those not sent for so long.
    pub(super) fn new(ttl_ms: Option<u64>) -> Self {
        Self { ttl_ms, ..Self::default() }
    }

    /// Takes a prompt and says how far it was known.
    pub(super) fn submit(&mut self, request: &RequestView<'_>) -> Shared {
        let n_same = self.leave(request);
        let mut n_known = if is_live(self.ttl_ms, self.last_ms, request.now_ms) { n_same } else { 0 };
        for (index, link) in request.chain.links().iter().enumerate().skip(n_same) {
            let known = self.left.swap_remove(&link.digest);
            if known.is_some_and(|it| is_live(self.ttl_ms, it, request.now_ms)) {
                n_known = index + 1;
            }
            self.last.push(link.digest);
        }
        self.last_ms = request.now_ms;
        Shared { n_same, n_known }
    }

    /// Keeps what the last prompt had and this one has not; returns how many prefixes both have.
    fn leave(&mut self, request: &RequestView<'_>) -> usize {
        let links = request.chain.links();
        let n_same = if request.chain.is_aside() {
            let same = self.last.iter().zip(links);
            let n_same = same.take_while(|(digest, link)| **digest == link.digest).count();
            self.n_own = self.n_own.min(n_same);
            n_same
        } else {
            let n_same = request.chain.n_unchanged().min(self.n_own).min(self.last.len());
            self.n_own = links.len();
            n_same
        };
        for digest in self.last.drain(n_same..) {
            self.left.insert(digest, self.last_ms);
        }
        n_same
    }
}
