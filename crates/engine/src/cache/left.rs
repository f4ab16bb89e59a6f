//! Prefixes that the last prompt no longer had: lists that share what they have in common.
//!
//! A policy that drops the oldest of a long prompt before each request leaves a list that long each time, and each is the end of the
//! one before. What a list adds is therefore kept in parts that end where the content says so, and of equal parts there is one: lists
//! take memory for what is new in them.

use std::rc::Rc;

use ctxsim_base::digest::ByDigest;

/// The shortest list that is cut into parts; a shorter one is one part, which is not looked for.
const LENGTH_MIN: usize = 256;

/// The most prefixes of a part.
const PART_MAX: usize = 1_024;

/// One prefix in so many ends a part.
const PART_MEAN: u64 = 64;

/// Mixes the digits of a number: 2¹²⁸ and 2⁶⁴ by the golden ratio, made odd.
const MIX: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
const MIX_64: u64 = 0x9E37_79B9_7F4A_7C15;

/// What prefixes add, one after the other.
type Part = Rc<[u128]>;

/// Lists of prefixes, by where they begin.
#[derive(Clone, Debug)]
pub(super) struct LeftLists<T> {
    lists: ByDigest<u128, PrefixList<T>>,
    /// The parts of long lists.
    parts: ByDigest<u128, Part>,
}

/// Prefixes that the last prompt did not have, each one entry longer than the one before.
#[derive(Clone, Debug)]
pub(super) struct PrefixList<T> {
    /// What each adds to the one before.
    parts: Vec<Part>,
    /// How many prefixes of the first part are not in the list.
    n_skipped: usize,
    /// What is noted of so many that follow each other.
    notes: Vec<(usize, T)>,
    /// When they were last sent.
    pub(super) touched_ms: i64,
}

impl<T> Default for LeftLists<T> {
    fn default() -> Self {
        Self { lists: ByDigest::default(), parts: ByDigest::default() }
    }
}

impl<T: Copy + PartialEq> LeftLists<T> {
    /// Keeps prefixes as a list.
    pub(super) fn keep(
        &mut self,
        key: u128,
        prefixes: impl ExactSizeIterator<Item = (u128, T)>,
        touched_ms: i64,
    ) {
        let mut adds = Vec::with_capacity(prefixes.len());
        let mut notes: Vec<(usize, T)> = Vec::new();
        for (one, note) in prefixes {
            adds.push(one);
            match notes.last_mut().filter(|it| it.1 == note) {
                Some((n, _)) => *n += 1,
                None => notes.push((1, note)),
            }
        }
        let parts = if adds.len() < LENGTH_MIN { vec![adds.into()] } else { self.cut(&adds) };
        self.put(key, PrefixList { parts, n_skipped: 0, notes, touched_ms });
    }

    /// Cuts a long list into parts, which are those of other lists where these have the same.
    fn cut(&mut self, adds: &[u128]) -> Vec<Part> {
        let is_end = |it: &u128| {
            let mixed = (*it as u64 ^ (*it >> 64) as u64).wrapping_mul(MIX_64);
            (mixed >> 32).is_multiple_of(PART_MEAN)
        };
        let ends = adds.split_inclusive(is_end).flat_map(|it| it.chunks(PART_MAX));
        let shared = |part: &[u128]| {
            let digest =
                part.iter().fold(0, |digest: u128, it| (digest.rotate_left(29) ^ it).wrapping_mul(MIX));
            let known = self.parts.entry(digest).or_insert_with(|| part.into());
            if **known == *part { Rc::clone(known) } else { part.into() }
        };
        ends.map(shared).collect()
    }

    /// Keeps a list.
    pub(super) fn put(&mut self, key: u128, list: PrefixList<T>) {
        self.lists.insert(key, list);
    }

    /// Takes the list that begins so, if there is one.
    pub(super) fn take(&mut self, key: u128) -> Option<PrefixList<T>> {
        self.lists.swap_remove(&key)
    }

    /// Returns the list that begins so, if there is one.
    pub(super) fn get(&self, key: u128) -> Option<&PrefixList<T>> {
        self.lists.get(&key)
    }

    /// Returns how many lists there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }
}

impl<T: Copy> PrefixList<T> {
    /// Returns what each adds to the one before, and what is noted of it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u128, T)> + '_ {
        let adds = self.parts.iter().flat_map(|it| it.iter().copied()).skip(self.n_skipped);
        adds.zip(self.notes.iter().flat_map(|(n, note)| std::iter::repeat_n(*note, *n)))
    }

    /// Returns it without the first so many.
    pub(super) fn without(mut self, n: usize) -> Self {
        self.n_skipped += n;
        let mut n_parts = 0;
        while let Some(part) = self.parts.get(n_parts).filter(|it| it.len() <= self.n_skipped) {
            self.n_skipped -= part.len();
            n_parts += 1;
        }
        self.parts.drain(..n_parts);
        let mut n_left = n;
        self.notes.retain_mut(|(run, _)| {
            let gone = n_left.min(*run);
            n_left -= gone;
            *run -= gone;
            *run > 0
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_128;

    fn adds(n: u32) -> Vec<u128> {
        (0..n).map(|it| xxh3_128(&it.to_le_bytes())).collect()
    }

    #[test]
    fn lists_of_which_each_is_the_end_of_another_take_memory_for_what_is_new() {
        let all = adds(5_000);
        let mut left = LeftLists::default();
        for from in 0..1_000 {
            let to = 4_000 + from;
            left.keep(from as u128, all[from..to].iter().map(|it| (*it, ())), 0);
        }

        let kept: usize = left.parts.values().map(|it| it.len()).sum();
        let listed: usize = left.lists.values().map(|it| it.parts.len()).sum();

        assert!(kept < 200_000, "{kept} of four million prefixes are kept");
        assert!(listed < 100_000, "{listed} parts are listed");
        for from in [0, 1, 500, 999] {
            let list = left.get(from as u128).unwrap();
            assert!(list.iter().map(|it| it.0).eq(all[from..4_000 + from].iter().copied()));
        }
    }

    #[test]
    fn a_list_without_its_beginning_has_the_rest_with_its_notes() {
        for n in [10, 300, 3_000] {
            let all: Vec<(u128, u32)> = adds(n).into_iter().zip((0..n).map(|it| it / 7)).collect();
            for gone in [1, 6, 7, 8, 9, n as usize - 1] {
                let mut left = LeftLists::default();
                left.keep(1, all.iter().copied(), 5);

                let rest = left.take(1).unwrap().without(gone);

                assert!(rest.iter().eq(all[gone..].iter().copied()), "{gone} of {n}");
            }
        }
    }
}
