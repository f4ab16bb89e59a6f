//! Draws on the next words before it is known how many of them are rejected.
//!
//! Rejection sampling makes the number of words per draw unpredictable, so each draw would have to wait for
//! the previous one. Here the words below each bar are found at once, as one bit each, and a draw is a step
//! from bit to bit. Draws that are never used are not computed.

mod runs;

use super::{AHEAD, BLOCK, Cpython, HIGH, temper, temper_high};
use runs::Letters;

/// The number of words a lookahead sees.
const SEEN: usize = u64::BITS as usize;

/// The words that come next, not yet tempered.
#[derive(Clone, Copy)]
pub struct Upcoming<'w>(pub(super) &'w [u32]);

/// Draws on the first words that come next; once these are too few, nothing that is drawn means anything.
pub struct Lookahead {
    words: [u32; SEEN],
    /// For each bit of a word's highest byte, the lowest first: the words that have it.
    planes: [u64; 8],
    /// The words that are not drawn yet; none, once they were too few.
    left: u64,
}

impl Cpython {
    /// Looks at the next words, to draw from them before it is known how many that takes.
    #[inline]
    pub fn upcoming(&mut self) -> Upcoming<'_> {
        if self.at > BLOCK {
            self.refill();
        }
        Upcoming(&self.words[self.at..self.at + AHEAD])
    }

    /// Draws so many words that were looked at.
    #[inline]
    pub fn skip(&mut self, n_words: usize) {
        debug_assert!(n_words <= AHEAD, "only what was looked at can be skipped");
        self.at += n_words;
    }
}

impl<'w> Upcoming<'w> {
    /// Looks at the first of them.
    #[inline(always)]
    pub fn lookahead(self) -> Lookahead {
        // Loops over places, because the compiler does not always inline closures of `map` and makes of `zip`.
        let (mut words, mut highest) = ([0; SEEN], [0; SEEN]);
        if let Some(states) = self.0.first_chunk::<SEEN>() {
            for at in 0..SEEN {
                words[at] = temper_high(states[at]);
                highest[at] = (words[at] >> 24) as u8;
            }
        }
        // Where fewer are left, nothing is known of any.
        let left = if self.0.len() < SEEN { 0 } else { u64::MAX };
        Lookahead { words, planes: planes(&highest), left }
    }

    /// Draws so many letters; nothing, if the words are too few.
    #[inline(always)]
    pub fn letters(&mut self, count: u32) -> Option<Letters<'w>> {
        let (letters, rest) = self.0.split_at_checked(2 * count as usize)?;
        self.0 = rest;
        Some(Letters(letters.as_chunks().0))
    }

    /// Draws `randrange(count)` of a count that is not 0; nothing, if the words are too few.
    #[inline(always)]
    pub fn below_word(&mut self, count: u32) -> Option<u32> {
        loop {
            let (word, rest) = self.0.split_first()?;
            self.0 = rest;
            let drawn = temper(*word) >> count.leading_zeros();
            if drawn < count {
                return Some(drawn);
            }
        }
    }

    /// Returns how many words were drawn.
    #[inline(always)]
    pub fn n_drawn(self) -> usize {
        AHEAD - self.0.len()
    }
}

impl Lookahead {
    /// Draws `randrange(count)` of a count that is not 0.
    ///
    /// A count that has more than eight bits, zeros at its end aside, or more than 18 with them, is too much for what is known
    /// here: it ends the lookahead, as too few words do.
    #[inline(always)]
    pub fn below_word(&mut self, count: u32) -> u32 {
        let shift = count.leading_zeros();
        let [bar, rest @ ..] = (count << shift).to_be_bytes();
        let is_known = rest == [0; 3] && count < 1 << HIGH;
        let left = if is_known { self.below(bar) & self.left } else { 0 };
        // All up to the first of them are drawn; where there is none, that is all.
        self.left = !(left ^ left.wrapping_sub(1));
        self.words[left.trailing_zeros() as usize % SEEN] >> shift
    }

    /// Returns how many words were drawn; nothing, if there were too few or none is left.
    #[inline(always)]
    pub fn n_drawn(&self) -> Option<usize> {
        (self.left != 0).then(|| self.left.trailing_zeros() as usize)
    }

    /// Returns the words whose highest byte is below a bar.
    #[inline(always)]
    fn below(&self, bar: u8) -> u64 {
        // From the lowest bit on: what is below so far, of words whose higher bits are those of the bar.
        self.planes.iter().enumerate().fold(0, |below, (bit, plane)| match bar >> bit & 1 {
            1 => below | !plane,
            _ => below & !plane,
        })
    }
}

/// Transposes 64 bytes into 8 planes, one for each bit, the lowest first.
///
/// Squares of eight bits by eight, then the square of bytes, are transposed by halves (Warren, Hacker's Delight, section 7-3).
#[inline(always)]
fn planes(bytes: &[u8; SEEN]) -> [u64; 8] {
    let mut rows = [0; 8];
    let (few, _) = bytes.as_chunks();
    for at in 0..8 {
        rows[at] = u64::from_le_bytes(few[at]);
    }
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        for row in &mut rows {
            let moved = (*row ^ (*row >> shift)) & mask;
            *row ^= moved ^ (moved << shift);
        }
    }
    for (step, mask) in [(1, 0x00ff_00ff_00ff_00ff), (2, 0x0000_ffff_0000_ffff), (4, 0x0000_0000_ffff_ffff)] {
        for nth in 0..8 {
            if nth & step == 0 {
                let moved = ((rows[nth] >> (8 * step)) ^ rows[nth + step]) & mask;
                rows[nth + step] ^= moved;
                rows[nth] ^= moved << (8 * step);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Cpython;

    #[test]
    fn planes_hold_the_bits_of_bytes_in_order() {
        let bytes: [u8; SEEN] = std::array::from_fn(|it| (it * 37 + 11) as u8);
        let planes = planes(&bytes);

        for (nth, byte) in bytes.into_iter().enumerate() {
            assert!((0..8).all(|bit| planes[bit] >> nth & 1 == u64::from(byte >> bit & 1)));
        }
    }

    #[test]
    fn what_is_drawn_ahead_is_what_is_drawn() {
        let counts = [5, 10, 4, 16, 3, 2, 1, 100, 500, 46, 81, 255, 1 << 17];
        let (mut draws, mut plain) = (Cpython::new(7), Cpython::new(7));

        for nth in 0..1_000 {
            let mut lookahead = draws.upcoming().lookahead();
            let drawn = counts.map(|it| lookahead.below_word(it));
            draws.skip(lookahead.n_drawn().unwrap());
            let mut upcoming = draws.upcoming();
            let letters = upcoming.letters(nth % 100).unwrap();
            let (runs, last) = (letters.runs_without_last(28), upcoming.below_word(524_289));
            let n_drawn = upcoming.n_drawn();
            draws.skip(n_drawn);

            assert_eq!(drawn, counts.map(|it| plain.below_word(it)));
            assert_eq!(runs, plain.runs_without_last(28, nth % 100));
            assert_eq!(last, Some(plain.below_word(524_289)));
        }
        assert_eq!(draws.bits(32), plain.bits(32));
    }

    #[test]
    fn words_that_are_too_few_or_too_little_known_give_nothing() {
        let mut draws = Cpython::new(7);
        let mut upcoming = draws.upcoming();
        let (mut few, mut little, mut wide) =
            (upcoming.lookahead(), upcoming.lookahead(), upcoming.lookahead());

        assert_eq!((0..60).map(|_| few.below_word(2)).filter(|it| *it > 1).count(), 0);
        assert_eq!(few.n_drawn(), None);
        little.below_word(257);
        assert_eq!(little.n_drawn(), None);
        wide.below_word(1 << 18);
        assert_eq!(wide.n_drawn(), None);
        assert!(upcoming.letters(129).is_none());
        assert!(upcoming.letters(128).is_some());
        assert_eq!((upcoming.below_word(1), upcoming.n_drawn()), (None, AHEAD));
    }
}
