//! How far a prompt agrees with earlier ones: only what lies after the first change is compared.
//!
//! A prefix's digest is made of the one before, so prompts that share one share all that come before it. What a change drops from a prompt
//! is therefore kept as one list, which is found by what grew first and cut where a later prompt parts from it: a change costs as
//! many look-ups as there are lists that the new prompt goes through, however long they are.

use super::left::{LeftLists, PrefixList};
use super::qualified::is_told_by_less;
use super::{RequestView, elapsed_ms};
use crate::prelude::*;
use crate::projection::chain::grown;

/// The prefixes of every earlier prompt, each with a note; when each was last sent is known.
#[derive(Clone, Debug)]
pub(super) struct Prefixes<T = ()> {
    ttl_ms: Option<u64>,
    /// Prefixes that the last prompt did not have, by where each list [grows](key).
    left: LeftLists<T>,
    /// Prefixes of the last prompt, shortest first; all were sent at `last_ms`.
    pub(super) last: Vec<SentPrefix<T>>,
    pub(super) last_ms: i64,
    /// Where in it lists begin anew: prefixes that can be known though the one before is not.
    cuts: Vec<usize>,
    /// How many of them the engine's own chain had at its last request.
    n_own: usize,
}

/// A prefix of the last prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentPrefix<T> {
    digest: u128,
    /// What it adds to the one before.
    adds: u128,
    pub(super) note: T,
}

/// A prefix of an earlier prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownPrefix<T> {
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

/// Returns under what a list is kept that begins at a place of a prompt: what grows there from the prefix before; where fewer settings
/// tell prefixes apart than before, or nothing comes before, the prefix itself.
fn key(links: &[Link], adds: &[u128], at: usize) -> Option<u128> {
    let link = links.get(at)?;
    let before = at.checked_sub(1).filter(|_| !is_told_by_less(links, at));
    Some(before.map_or(link.digest, |it| growing(links[it].digest, adds[at])))
}

/// Returns what grows from a prefix, which is never taken for a prefix.
fn growing(before: u128, adds: u128) -> u128 {
    !grown(before, adds)
}

impl<T: Copy + PartialEq> Prefixes<T> {
    /// Returns a memory of prompts that forgets those not sent for so long.
    pub(super) fn new(ttl_ms: Option<u64>) -> Self {
        let (left, last, cuts) = (LeftLists::default(), Vec::new(), Vec::new());
        Self { ttl_ms, left, last, last_ms: 0, cuts, n_own: 0 }
    }

    /// Returns whether what was sent at some time is not forgotten.
    pub(super) fn is_live(&self, touched_ms: i64, now_ms: i64) -> bool {
        is_live(self.ttl_ms, touched_ms, now_ms)
    }

    /// Returns how many prefixes the last prompt had, and what represents the whole of it.
    pub(super) fn whole(&self) -> Option<(usize, u128)> {
        self.last.last().map(|it| (self.last.len(), it.digest))
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
        self.last_ms = request.now_ms;
        let (links, adds) = (request.chain.links(), request.chain.adds());
        self.last.reserve(links.len() - n_same);
        self.cuts.extend((n_same.max(1)..links.len()).filter(|it| is_told_by_less(links, *it)));
        let mut at = n_same;
        while let Some(key) = key(links, adds, at) {
            if let Some(list) = self.left.take(key) {
                at = self.join(list, request.chain, &mut note);
            } else {
                // What grows from a prefix that nobody sent was not sent either.
                let next_cut = self.cuts.partition_point(|it| *it <= at);
                let end = self.cuts.get(next_cut).map_or(links.len(), |it| *it);
                self.last.extend((at..end).map(|it| SentPrefix {
                    digest: links[it].digest,
                    adds: adds[it],
                    note: note(it, None),
                }));
                at = end;
            }
        }
        n_same
    }

    /// Takes back what a prompt has of a list, and keeps the rest as a list of its own; returns where the prompt parts from it.
    fn join(
        &mut self,
        list: PrefixList<T>,
        chain: &Chain,
        mut note: impl FnMut(usize, Option<T>) -> T,
    ) -> usize {
        let (links, adds, from) = (chain.links(), chain.adds(), self.last.len());
        let is_live = self.is_live(list.touched_ms, self.last_ms);
        // The first is what it was found by.
        let shared = list.iter().zip(&adds[from..]);
        let n_shared = shared.take_while(|((own, _), adds)| own == *adds).count().max(1);
        self.last.extend(list.iter().take(n_shared).zip(from..).map(|((adds, noted), at)| SentPrefix {
            digest: links[at].digest,
            adds,
            note: note(at, is_live.then_some(noted)),
        }));
        let end = self.last.len();
        let rest = list.without(n_shared);
        let first = rest.iter().next();
        if let Some((first, _)) = first {
            self.left.put(growing(links[end - 1].digest, first), rest);
        }
        end
    }

    /// Keeps what the last prompt had and this one has not; returns how many prefixes both have, which are all of `last`.
    fn leave(&mut self, request: &RequestView<'_>) -> usize {
        let links = request.chain.links();
        let mut n_same = request.chain.n_unchanged().min(self.n_own).min(self.last.len());
        if request.chain.is_aside() {
            let unsure = self.last[n_same..].iter().zip(&links[n_same..]);
            n_same += unsure.take_while(|(sent, link)| sent.digest == link.digest).count();
            self.n_own = self.n_own.min(n_same);
        } else {
            self.n_own = links.len();
        }
        let n_cuts = self.cuts.partition_point(|it| *it < n_same);
        for cut in self.cuts.split_off(n_cuts).into_iter().rev() {
            self.drop_from(cut, true);
        }
        self.drop_from(n_same, false);
        n_same
    }

    /// Keeps what the last prompt had from here on as a list; a cut is known by itself.
    fn drop_from(&mut self, from: usize, is_cut: bool) {
        let Some(first) = self.last.get(from) else { return };
        let before = from.checked_sub(1).filter(|_| !is_cut);
        let key = before.map_or(first.digest, |it| growing(self.last[it].digest, first.adds));
        self.left.keep(key, self.last.drain(from..).map(|it| (it.adds, it.note)), self.last_ms);
    }

    /// Returns which prefixes of a prompt earlier ones had, forgotten or not.
    pub(super) fn known<'a>(&'a self, chain: &'a Chain) -> impl Iterator<Item = Option<KnownPrefix<T>>> + 'a {
        let (links, adds) = (chain.links(), chain.adds());
        let mut list = None;
        links.iter().enumerate().map(move |(index, link)| {
            if let Some(sent) = self.last.get(index).filter(|it| it.digest == link.digest) {
                list = None;
                return Some(KnownPrefix { touched_ms: self.last_ms, note: sent.note });
            }
            let next = list.as_mut().and_then(|(it, _)| Iterator::next(it));
            let next = next.filter(|it: &(u128, T)| it.0 == adds[index]).or_else(|| {
                let found = key(links, adds, index).and_then(|it| self.left.get(it));
                list = found.map(|it| (it.iter(), it.touched_ms));
                list.as_mut()?.0.next()
            });
            let touched_ms = list.as_ref()?.1;
            next.map(|(_, note)| KnownPrefix { touched_ms, note })
        })
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;
    use crate::projection::chain::Chain;
    use ctxsim_input::LayoutSpec;
    use ctxsim_timeline::Kind;

    const KINDS: [Kind; 3] = [Kind::ToolSchema, Kind::System, Kind::User];

    /// What settings are mixed in as, by level: those that count on a level count on all that come behind.
    const SALTS: [[u128; 3]; 4] = [[0; 3], [0, 0, 1 << 70], [0, 2 << 70, 2 << 70], [3 << 70; 3]];

    /// A prompt: what it says, under which settings, so long after the one before, and whether the agent sends it for itself.
    type Said = (Vec<(usize, u8)>, usize, i64, bool);

    fn links((said, settings, ..): &Said) -> Vec<Link> {
        let mut digest = 0_u128;
        let mut link = |(slot, (kind, words)): (u32, &(usize, u8))| {
            digest = xxh3_128(&[&digest.to_le_bytes()[..], &[*kind as u8, *words]].concat());
            Link { slot, tokens: 1, digest: digest ^ SALTS[*settings][*kind], kind: KINDS[*kind] }
        };
        (0..).zip(said).map(&mut link).collect()
    }

    /// A chain that compares what it says with the prompt before, or one that takes everything for new.
    fn chain(links: Vec<Link>, is_own: bool) -> Chain {
        let mut own = Chain::default();
        let chain = Chain::from_links(links);
        chain.tell_apart(&mut own, |it| *it);
        if is_own { own } else { chain }
    }

    proptest! {
        #[test]
        fn prefixes_are_known_as_in_a_plain_map_of_all_that_was_sent(
            prompts in prop::collection::vec(
                (prop::collection::vec((0_usize..3, 0_u8..2), 0..9), 0_usize..4, 0_i64..6, any::<bool>()),
                1..30,
            ),
            ttl_ms in prop::option::of(0_u64..20),
        ) {
            let layout = LayoutSpec::default();
            let mut prefixes: Prefixes<usize> = Prefixes::new(ttl_ms);
            let mut sent: BTreeMap<u128, (i64, usize)> = BTreeMap::new();
            let mut now_ms = 0;
            for (number, said) in prompts.iter().enumerate() {
                now_ms += said.2;
                let chain = chain(links(said), said.3);
                let request = RequestView::new(1, &chain, &layout, now_ms);
                let all: Vec<_> = chain.links().iter().map(|it| sent.get(&it.digest).copied()).collect();
                let known = prefixes.known(&chain).map(|it| it.map(|it| (it.touched_ms, it.note)));
                prop_assert_eq!(known.collect::<Vec<_>>(), all.clone());

                let mut told = vec![None; all.len()];
                let n_same = prefixes.take(&request, |index, known| {
                    told[index] = known;
                    known.unwrap_or(number)
                });

                for (index, link) in chain.links().iter().enumerate() {
                    let note = all[index].filter(|it| index < n_same || is_live(ttl_ms, it.0, now_ms)).map(|it| it.1);
                    prop_assert_eq!(told[index], note.filter(|_| index >= n_same));
                    sent.insert(link.digest, (now_ms, note.unwrap_or(number)));
                }
                let last: Vec<_> = prefixes.last.iter().map(|it| (it.digest, it.note)).collect();
                let noted: Vec<_> = chain.links().iter().map(|it| (it.digest, sent[&it.digest].1)).collect();
                prop_assert_eq!(last, noted);
            }
        }

        #[test]
        fn a_prompt_that_is_sent_again_after_others_takes_one_look_up(length in 1_usize..200) {
            let say = |first: u8| (vec![(2, first); length], 0, 1, true);
            let layout = LayoutSpec::default();
            let mut prefixes: Prefixes = Prefixes::new(None);
            for first in [0, 1, 0, 1, 0] {
                let chain = chain(links(&say(first)), true);
                prefixes.submit(&RequestView::new(1, &chain, &layout, 0));
            }

            prop_assert_eq!(prefixes.left.len(), 1);
        }
    }
}
