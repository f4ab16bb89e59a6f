//! CPython's `random.Random` and its hash of strings, so that published Python benchmarks can be replayed.
//!
//! Sequential by nature: a draw depends on all earlier draws. Checked against CPython 3.11.

#[cfg(feature = "worlds")]
mod ahead;
#[cfg(feature = "worlds")]
mod hash;

use std::fmt;

#[cfg(feature = "worlds")]
pub use ahead::Lookahead;
#[cfg(feature = "worlds")]
pub use hash::StrHash;

/// Words of one turn of the twister.
const BLOCK: usize = 624;
/// The number of words that can be inspected before drawing.
const AHEAD: usize = 256;

/// A generator that draws what `random.Random(seed)` draws.
#[derive(Clone)]
pub struct Cpython {
    /// What the block before left, then the block; as the twister has them, not yet tempered.
    words: [u32; AHEAD + BLOCK],
    at: usize,
}

impl Cpython {
    /// Begins as `random.Random(seed)` does.
    pub fn new(seed: u128) -> Self {
        let words: [u32; 4] = std::array::from_fn(|nth| (seed >> (32 * nth)) as u32);
        let n_words = words.iter().rposition(|it| *it > 0).unwrap_or(0) + 1;
        let mut new = Self { words: [0; AHEAD + BLOCK], at: AHEAD + BLOCK };
        new.words[AHEAD..].copy_from_slice(&state(&words[..n_words]));
        // Whoever makes a generator draws from it; clones need not make the first block each.
        new.refill();
        new
    }

    /// Makes the next block and puts it after the words that are left, of which there are [`AHEAD`] at most.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        let left = self.words.len() - self.at;
        let begin = AHEAD - left;
        self.words.copy_within(self.at.., begin);
        self.at = begin;
        twist(&mut self.words[AHEAD..]);
    }

    /// Draws a word.
    #[inline]
    fn word(&mut self) -> u32 {
        if self.at >= self.words.len() {
            self.refill();
        }
        let word = self.words[self.at];
        self.at += 1;
        temper(word)
    }

    /// Draws `random()`: a number from 0 to below 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        let high = self.word();
        unit(high, self.word())
    }

    /// Draws `getrandbits(bits)`, with at most 64 bits.
    #[inline]
    pub fn bits(&mut self, bits: u32) -> u64 {
        match bits {
            0 => 0,
            1..=32 => u64::from(self.word() >> (32 - bits)),
            _ => {
                let low = u64::from(self.word());
                let high = u64::from(self.word() >> (64 - bits.min(64)));
                low | (high << 32)
            }
        }
    }

    /// Draws `randrange(count)`; returns 0 without a draw if there is nothing to choose from.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        match u32::try_from(count) {
            Ok(0) => 0,
            Ok(count) => u64::from(self.below_word(count)),
            Err(_) => self.below_words(count),
        }
    }

    /// Draws `randrange(count)` of a count that one word holds and that is not 0.
    ///
    /// Where the count is written in the code, all that follows from it is worked out when the code is compiled.
    #[inline(always)]
    pub fn below_word(&mut self, count: u32) -> u32 {
        // The highest bits of a word are drawn: as many as the count has.
        let shift = count.leading_zeros();
        loop {
            let drawn = self.word() >> shift;
            if drawn < count {
                return drawn;
            }
        }
    }

    /// Draws `randrange(count)` of a count that takes two words.
    fn below_words(&mut self, count: u64) -> u64 {
        let bits = u64::BITS - count.leading_zeros();
        loop {
            let drawn = self.bits(bits);
            if drawn < count {
                return drawn;
            }
        }
    }

    /// Draws `randint(first, last)`; returns the first if they are reversed or too far apart.
    #[inline]
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        match last.checked_sub(first).and_then(|it| it.checked_add(1)) {
            Some(count) => first + self.below(count),
            None => first,
        }
    }

    /// Draws `choices(range(population), k=k)` and counts its runs of anything but the last of the
    /// population: the words of a text, if that is the blank.
    pub fn runs_without_last(&mut self, population: u32, k: u32) -> u64 {
        let last = f64::from(population) - 1.0;
        let (mut runs, mut was_last) = (0, true);
        for _ in 0..k {
            let is_last = self.unit() * f64::from(population) >= last;
            runs += u64::from(was_last && !is_last);
            was_last = is_last;
        }
        runs
    }

    /// Draws `uniform(from, to)`.
    #[inline]
    pub fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    /// Draws `sample(range(population), k)`; at most the whole population.
    pub fn sample(&mut self, population: u64, k: u64) -> Vec<u64> {
        let k = k.min(population);
        let capacity = usize::try_from(k).unwrap_or(0);
        let mut drawn = Vec::with_capacity(capacity);
        if population <= pool_size_max(k) {
            let mut pool: Vec<u64> = (0..population).collect();
            for taken in 0..k {
                let left = population - taken;
                let at = usize::try_from(self.below(left)).unwrap_or(0);
                drawn.push(pool[at]);
                pool[at] = pool[usize::try_from(left - 1).unwrap_or(0)];
            }
            return drawn;
        }
        let mut seen = std::collections::BTreeSet::new();
        while drawn.len() < capacity {
            let at = self.below(population);
            if seen.insert(at) {
                drawn.push(at);
            }
        }
        drawn
    }
}

impl fmt::Debug for Cpython {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cpython").finish_non_exhaustive()
    }
}

/// Returns the number from 0 up to, but without, 1 that two words make.
#[inline]
fn unit(high: u32, low: u32) -> f64 {
    (f64::from(high >> 5) * 67_108_864.0 + f64::from(low >> 6)) * (1.0 / 9_007_199_254_740_992.0)
}

/// Tempers a word of the twister's state, as its authors have it.
#[inline]
fn temper(state: u32) -> u32 {
    let word = temper_high(state);
    word ^ (word >> HIGH)
}

/// How many of a word's highest bits are tempered before the last step.
const HIGH: u32 = 18;

/// Tempers a word but for its lowest bits.
#[inline]
fn temper_high(state: u32) -> u32 {
    let mut word = state;
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c_5680;
    word ^ ((word << 15) & 0xefc6_0000)
}

/// Returns the largest population that `sample` copies rather than remembers what it has drawn.
fn pool_size_max(k: u64) -> u64 {
    let mut size = 21;
    if k > 5 {
        let mut power: u64 = 1;
        while power < k.saturating_mul(3) {
            power = power.saturating_mul(4);
        }
        size += power;
    }
    size
}

// The twister's state for a seed, as its authors' `init_by_array` sets it up.
//
// It begins with a state that is the same for all seeds, which is worked out when the code is compiled.

/// The state of `init_genrand(19650218)`.
const COMMON: [u32; BLOCK] = {
    let mut state = [19_650_218; BLOCK];
    let mut at = 1;
    while at < BLOCK {
        state[at] = mixed(state[at - 1], 1_812_433_253).wrapping_add(at as u32);
        at += 1;
    }
    state
};

/// Returns the state for a key of at least one word and fewer than a state has.
fn state(key: &[u32]) -> [u32; BLOCK] {
    let mut state = COMMON;
    let mut before = state[0];
    // Once around and one place more with the key, then on from there to the end, and the first place last.
    for (at, (nth, word)) in (1..BLOCK).chain([1]).zip((0_u32..).zip(key).cycle()) {
        before = (state[at] ^ mixed(before, 1_664_525)).wrapping_add(*word).wrapping_add(nth);
        state[at] = before;
    }
    for at in (2..BLOCK).chain([1]) {
        before = (state[at] ^ mixed(before, 1_566_083_941)).wrapping_sub(at as u32);
        state[at] = before;
    }
    state[0] = 1 << 31;
    state
}

const fn mixed(word: u32, factor: u32) -> u32 {
    (word ^ (word >> 30)).wrapping_mul(factor)
}

// One turn of the twister: the next block of words, after the recurrence of Matsumoto and Nishimura (1998).

/// How many words further on the one stands that a word is combined with.
const FAR: usize = 397;

/// Replaces a block by the next one.
///
/// A block is turned in three parts. None of them changes the words that it is combined with, so the compiler can turn several
/// words at once.
fn twist(block: &mut [u32]) {
    let n_near = block.len() - FAR;
    let (first, rest) = block.split_at_mut(n_near);
    turn(first, &rest[FAR - n_near..], rest[0]);
    let (second, third) = rest.split_at_mut(n_near);
    turn(second, first, third[0]);
    turn(third, second, first[0]);
}

/// Turns some words, which one more word follows.
fn turn(words: &mut [u32], far: &[u32], next: u32) {
    let last = words.len() - 1;
    let far = &far[..=last];
    for at in 0..last {
        words[at] = far[at] ^ turned(words[at], words[at + 1]);
    }
    words[last] = far[last] ^ turned(words[last], next);
}

/// Joins the highest bit of a word with the other bits of the next one.
#[inline]
fn turned(word: u32, next: u32) -> u32 {
    let joined = (word & (1 << 31)) | (next & !(1 << 31));
    joined >> 1 ^ (joined & 1).wrapping_neg() & 0x9908_b0df
}

#[cfg(test)]
mod tests {
    use super::*;
    use mt19937::MT19937;
    use rand::Rng as _;

    #[test]
    fn the_draws_are_those_of_cpython() {
        let mut draws = Cpython::new(42);

        assert_eq!(
            [1, 7, 31, 32, 33, 64].map(|it| draws.bits(it)),
            [1, 14, 53_710_184, 3_184_935_163, 1_181_241_943, 2_574_020_394_472_462_046]
        );
        let spans = [(0, 0), (1, 6), (0, 1 << 31), (3_000, 9_999), (0, 10)];
        assert_eq!(spans.map(|(first, last)| draws.between(first, last)), [0, 6, 373_399_426, 7_837, 6]);
        assert_eq!([7; 5].map(|it| draws.below(it)), [0, 0, 0, 1, 1]);
        assert_eq!(draws.sample(50, 5), [32, 38, 1, 35, 12]);
        assert_eq!(draws.sample(1_000, 8), [733, 665, 718, 558, 429, 225, 459, 603]);
        assert_eq!(draws.sample(30, 10), [8, 25, 27, 0, 24, 5, 22, 13, 10, 29]);
        // `choices(range(28), k=6)` gives 4, 26, 9, 2, 2, 23.
        assert_eq!(draws.runs_without_last(28, 6), 1);
        assert_eq!(draws.unit().to_bits(), 0x3fe3_51b9_410e_de8e);
        assert_eq!(draws.unit().to_bits(), 0x3fe9_d3fe_ac2c_7e45);
        assert_eq!(draws.uniform(85.0, 100.0).to_bits(), 0x4057_fc8a_e247_2188);
    }

    #[test]
    fn other_seeds_draw_what_cpython_draws() {
        let first = |seed: u128| {
            let mut draws = Cpython::new(seed);
            [1, 7, 31, 32, 33, 64].map(|it| draws.bits(it))
        };

        assert_eq!(
            first(0),
            [1, 49, 1_627_694_678, 3_823_568_514, 1_806_341_205, 17_809_683_713_383_489_082]
        );
        assert_eq!(first((1 << 31) + 7)[2..4], [2_093_465_581, 3_838_293_963]);
        assert_eq!(
            first((1 << 64) + 5)[2..],
            [1_889_267_325, 2_436_623_347, 2_211_635_562, 6_403_523_678_659_866_535]
        );
        let positions = Cpython::new(42).sample(1_000, 100);
        let sum: u64 = (1..).zip(&positions).map(|(nth, position)| nth * position).sum();
        assert_eq!((positions[..5].to_vec(), sum), (vec![654, 114, 25, 759, 281], 2_543_515));
    }

    #[test]
    fn many_draws_across_blocks_are_those_of_cpython() {
        let mut draws = Cpython::new(42);
        assert_eq!(draws.runs_without_last(28, 5_000), 182);
        assert_eq!(draws.clone().unit().to_bits(), draws.unit().to_bits());
        assert_eq!(draws.unit(), 0.562_634_337_666_607_8);

        let mut draws = Cpython::new(42);
        let runs = (0..100).map(|nth| u64::from(nth) * draws.runs_without_last(3, 7 * nth));
        assert_eq!((runs.sum::<u64>(), draws.bits(32)), (512_208, 2_489_938_079));

        let mut draws = Cpython::new(7);
        let sum: u64 = (1..=5_000).map(|nth| nth * draws.below(5)).sum();
        assert_eq!((sum, draws.bits(32)), (24_473_736, 315_460_942));

        let mut draws = Cpython::new(7);
        let counts = [3, 4, 5, 10, 100, 500].into_iter().cycle().take(2_400);
        let sum: u64 = (0..).zip(counts).map(|(nth, count)| nth % 7 * draws.below(count)).sum();
        assert_eq!((sum, draws.bits(32)), (355_443, 2_568_683_274));
        let wide = 1 << 40;
        let mut draws = Cpython::new(7);
        assert_eq!([wide; 3].map(|it| draws.below(it)), [868_231_286_071, 105_874_957_392, 208_460_025_899]);
    }

    #[test]
    fn odd_requests_draw_nothing_or_the_nearest_thing() {
        let mut draws = Cpython::new(7);

        assert_eq!((draws.below(0), draws.between(9, 3), draws.bits(0)), (0, 9, 0));
        assert_eq!((draws.runs_without_last(1, 9), draws.runs_without_last(28, 0)), (0, 0));
        assert_eq!(draws.sample(3, 10).len(), 3);
    }

    #[test]
    fn the_state_is_that_of_the_generator_itself() {
        for key in [&[0][..], &[42], &[u32::MAX], &[7, 1], &[0, u32::MAX], &[1, 2, 3]] {
            let twister = mt19937::MT19937::new_with_slice_seed(key);

            assert_eq!(&state(key), twister.get_state(), "{key:?}");
        }
    }

    #[test]
    fn a_turn_is_that_of_the_generator_itself() {
        let mut twister = MT19937::new_with_slice_seed(&[7]);
        let mut block = twister.get_state().to_vec();

        for _ in 0..3 {
            super::twist(&mut block);
            // The first word of a block turns all of it.
            twister.set_index(block.len());
            twister.next_u32();
            assert_eq!(block, twister.get_state());
        }
    }
}
