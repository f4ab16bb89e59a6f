//! How far a prompt agrees with earlier ones: only what lies after the first change is compared.

use super::{RequestView, elapsed_ms};
use crate::digest::ByDigest;

/// The prefixes of every earlier prompt, each with a note; when each was last sent is known.
#[derive(Clone, Debug)]
pub(super) struct Prefixes<T = ()> {
    ttl_ms: Option<u64>,
    /// Prefixes that the last prompt did not have.
    pub(super) left: ByDigest<u128, LeftPrefix<T>>,
    /// Prefixes of the last prompt, shortest first; all were sent at `last_ms`.
    pub(super) last: Vec<(u128, T)>,
    pub(super) last_ms: i64,
    /// How many of them the engine's own chain had at its last request.
    n_own: usize,
}

/// A prefix that the last prompt did not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftPrefix<T> {
    /// When it was last sent.
    pub(super) touched_ms: i64,
    pub(super) note: T,
}

/// How many of a prompt's prefixes are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownPrefixes {
    /// With the prompt before.
    pub(super) n_same: usize,
    /// With any earlier prompt that is not forgotten.
    pub(super) n_known: usize,
}

/// Returns whether something used at one time still lives at another.
pub(super) fn is_live(ttl_ms: Option<u64>, touched_ms: i64, now_ms: i64) -> bool {
    ttl_ms.is_none_or(|ttl| elapsed_ms(touched_ms, now_ms) <= ttl)
}

impl<T: Copy> Prefixes<T> {
    /// Returns a memory of prompts that forgets those not sent for so long.
    pub(super) fn new(ttl_ms: Option<u64>) -> Self {
        Self { ttl_ms, left: ByDigest::default(), last: Vec::new(), last_ms: 0, n_own: 0 }
    }

    /// Returns whether what was sent at some time is not forgotten.
    pub(super) fn is_live(&self, touched_ms: i64, now_ms: i64) -> bool {
        is_live(self.ttl_ms, touched_ms, now_ms)
    }

    /// Returns how long a prefix is remembered.
    pub(super) fn ttl_ms(&self) -> Option<u64> {
        self.ttl_ms
    }

    /// Takes a prompt; returns how many prefixes the one before had as well. Each other one gets a note, made
    /// of its place and of what was noted of it, if it is not forgotten.
    pub(super) fn take(
        &mut self,
        request: &RequestView<'_>,
        mut note: impl FnMut(usize, Option<T>) -> T,
    ) -> usize {
        let n_same = self.leave(request);
        for (index, link) in request.chain.links().iter().enumerate().skip(n_same) {
            let known = self.left.swap_remove(&link.digest);
            let known = known.filter(|it| self.is_live(it.touched_ms, request.now_ms));
            self.last.push((link.digest, note(index, known.map(|it| it.note))));
        }
        self.last_ms = request.now_ms;
        n_same
    }

    /// Keeps what the last prompt had and this one has not; returns how many prefixes both have, which are all of `last`.
    fn leave(&mut self, request: &RequestView<'_>) -> usize {
        let links = request.chain.links();
        let n_same = if request.chain.is_aside() {
            let same = self.last.iter().zip(links);
            let n_same = same.take_while(|((digest, _), link)| *digest == link.digest).count();
            self.n_own = self.n_own.min(n_same);
            n_same
        } else {
            let n_same = request.chain.n_unchanged().min(self.n_own).min(self.last.len());
            self.n_own = links.len();
            n_same
        };
        let touched_ms = self.last_ms;
        for (digest, note) in self.last.drain(n_same..) {
            self.left.insert(digest, LeftPrefix { touched_ms, note });
        }
        n_same
    }
}

impl Prefixes {
    /// Takes a prompt and says how far it was known.
    pub(super) fn submit(&mut self, request: &RequestView<'_>) -> KnownPrefixes {
        let was_live = self.is_live(self.last_ms, request.now_ms);
        let mut known_to = 0;
        let n_same = self.take(request, |index, known| {
            if known.is_some() {
                known_to = index + 1;
            }
        });
        KnownPrefixes { n_same, n_known: known_to.max(if was_live { n_same } else { 0 }) }
    }
}
