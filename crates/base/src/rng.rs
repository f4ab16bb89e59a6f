//! Named random streams from one seed: a draw in one place never shifts a draw in another.

mod cpython;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use cpython::Cpython;
#[cfg(feature = "worlds")]
pub use cpython::{Lookahead, StrHash};

/// The source of all draws of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the stream of draws of one thing for one purpose, starting with its first draw.
    pub fn stream(self, purpose: &str, id: u64) -> Stream {
        Stream { key: xxh3_64_with_seed(purpose.as_bytes(), self.0), id, n: 0 }
    }

    /// Returns a separate seed for one of several things.
    pub fn child(self, purpose: &str, id: u64) -> Self {
        Self(self.nth(purpose, id, 0).bits())
    }

    /// Returns the n-th draw, from 0, of the same stream.
    pub fn nth(self, purpose: &str, id: u64, n: u64) -> Draw {
        self.stream(purpose, id).nth(id, n)
    }
}

/// Successive draws: the n-th one depends only on seed, purpose, id and n.
#[derive(Clone, Debug)]
pub struct Stream {
    key: u64,
    id: u64,
    n: u64,
}

impl Stream {
    /// Returns the next draw.
    #[inline]
    pub fn draw(&mut self) -> Draw {
        let seed = self.seed();
        self.n = self.n.wrapping_add(1);
        Draw(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns the n-th draw, from 0, that any thing makes for the same purpose.
    #[inline]
    pub fn nth(&self, id: u64, n: u64) -> Draw {
        Self { id, n, ..*self }.draw()
    }

    /// Returns the bits of the n-th draw, from 0, that any thing makes for the same purpose, without the rest of the draw.
    #[inline]
    pub fn bits_of(&self, id: u64, n: u64) -> u64 {
        // The first word of the generator takes the first and the last of the four words that it is seeded with.
        let seed = Self { id, n, ..*self }.seed();
        let first = SplitMix64::new(seed).next_bits();
        let last = SplitMix64::new(seed.wrapping_add(SplitMix64::STEP.wrapping_mul(3))).next_bits();
        first.wrapping_add(last).rotate_left(23).wrapping_add(first)
    }

    /// Returns the same as a number from 0 to below 1.
    #[inline]
    pub fn unit_of(&self, id: u64, n: u64) -> f64 {
        unit(self.bits_of(id, n))
    }

    /// Returns what the draw at this place is made from.
    #[inline]
    fn seed(&self) -> u64 {
        let mut place = [0; 16];
        place[..8].copy_from_slice(&self.id.to_le_bytes());
        place[8..].copy_from_slice(&self.n.to_le_bytes());
        xxh3_64_with_seed(&place, self.key)
    }

    /// Draws a number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        self.draw().unit()
    }

    /// Draws whether something with this probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.draw().unit() < probability
    }

    /// Draws a whole number between two, inclusive; returns the first if they are reversed.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        self.draw().between(first, last)
    }

    /// Draws one of several things, or nothing from an empty list.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        let last = things.len().checked_sub(1)?;
        let index = self.between(0, last as u64);
        things.get(usize::try_from(index).ok()?)
    }
}

/// Returns bits as a number from 0 to below 1.
#[inline]
fn unit(bits: u64) -> f64 {
    // The 53 highest bits fill the fraction of a float exactly.
    (bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// One draw; however many words it uses, the next draw of its stream is the same.
#[derive(Clone, Debug)]
pub struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// Returns the draw as 64 random bits.
    pub fn bits(mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns the draw as a number from 0 to below 1.
    pub fn unit(self) -> f64 {
        unit(self.bits())
    }

    /// Returns the draw as a whole number between two, inclusive; returns the first if they are reversed.
    pub fn between(mut self, first: u64, last: u64) -> u64 {
        self.next_between(first, last)
    }

    /// Takes the next 64 random bits of a draw that has many parts.
    #[inline]
    pub fn next_bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Takes the next number from 0 up to, but without, 1 of a draw that has many parts.
    #[inline]
    pub fn next_unit(&mut self) -> f64 {
        unit(self.next_bits())
    }

    /// Takes the next whole number between two, both included, of a draw that has many parts.
    #[inline]
    pub fn next_between(&mut self, first: u64, last: u64) -> u64 {
        let Some(reach) = last.checked_sub(first) else { return first };
        let Some(count) = reach.checked_add(1) else { return self.0.next_u64() };
        // Words beyond the last whole multiple are refused, so that no number is favoured.
        let refused = (u64::MAX % count + 1) % count;
        loop {
            let word = self.0.next_u64();
            if word <= u64::MAX - refused {
                return first + word % count;
            }
        }
    }

    /// Takes the next whole number below a count of a draw that has many parts; 0 below 0.
    #[inline]
    pub fn next_below(&mut self, count: u64) -> u64 {
        // A word times the count, in units of 2^64; words of an incomplete share are refused, so that none is favoured.
        let mut product = u128::from(self.0.next_u64()) * u128::from(count);
        if (product as u64) < count {
            let refused = count.wrapping_neg() % count;
            while (product as u64) < refused {
                product = u128::from(self.0.next_u64()) * u128::from(count);
            }
        }
        (product >> 64) as u64
    }
}

// splitmix64, as Steele, Lea and Flood published it: one sequence of words, a few lines in any language.

/// A sequence of words that its seed begins.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// By how much its state grows with each word.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Begins a sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Takes the next 64 bits.
    #[inline]
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Takes the next number below a count, 0 below 0: the remainder of a word, as those do who write it in one line.
    pub fn next_below(&mut self, count: u64) -> u64 {
        self.next_bits().checked_rem(count).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_draws_are_pinned() {
        let mut stream = Seed(42).stream("pinned", 7);
        let bits: Vec<u64> = (0..3).map(|_| stream.draw().bits()).collect();

        assert_eq!(bits, [15_541_262_052_191_242_539, 9_399_951_832_713_964_423, 10_188_980_711_624_913_313]);
        assert_eq!(Seed(42).stream("pinned", 7).unit().to_string(), "0.8424935040076137");
        assert_eq!(Seed(42).stream("pinned", 7).between(1, 6), 4);
    }

    #[test]
    fn a_draw_is_the_same_out_of_turn() {
        let mut stream = Seed(1).stream("order", 3);
        let in_turn: Vec<u64> = (0..5).map(|_| stream.draw().bits()).collect();

        let out_of_turn: Vec<u64> = (0..5).rev().map(|n| Seed(1).nth("order", 3, n).bits()).collect();

        assert!(in_turn.iter().eq(out_of_turn.iter().rev()));
    }

    #[test]
    fn the_bits_of_a_draw_are_the_same_without_the_rest_of_it() {
        let stream = Seed(77).stream("bits", 0);
        for (id, n) in (0..100).flat_map(|id| [(id, 0), (id, u64::MAX - id), (u64::MAX, id)]) {
            assert_eq!(stream.bits_of(id, n), stream.nth(id, n).bits());
            assert_eq!(stream.unit_of(id, n).to_bits(), stream.nth(id, n).unit().to_bits());
        }
    }

    #[test]
    fn seed_purpose_and_id_lead_to_different_draws() {
        let first = |seed, purpose, id| Seed(seed).nth(purpose, id, 0).bits();
        let draws = [first(1, "a", 1), first(2, "a", 1), first(1, "b", 1), first(1, "a", 2)];

        for (index, draw) in draws.iter().enumerate() {
            assert!(!draws[..index].contains(draw));
        }
    }

    #[test]
    fn a_range_is_met_evenly_and_never_left() {
        let mut stream = Seed(5).stream("dice", 0);
        let mut met = [0_u32; 6];
        for _ in 0..6_000 {
            let eyes = stream.between(1, 6);
            met[usize::try_from(eyes).unwrap() - 1] += 1;
        }

        assert!(met.iter().all(|it| (900..1_100).contains(it)), "{met:?}");
        assert_eq!(stream.between(9, 3), 9);
        let mut draw = stream.draw();
        let mut met = [0_u32; 6];
        for _ in 0..6_000 {
            met[usize::try_from(draw.next_below(6)).unwrap()] += 1;
        }
        assert!(met.iter().all(|it| (900..1_100).contains(it)), "{met:?}");
        assert_eq!((draw.next_below(0), draw.next_below(1)), (0, 0));
        assert_eq!(stream.pick::<u8>(&[]), None);
        let _ = stream.between(0, u64::MAX);
    }

    #[test]
    fn the_first_words_are_those_of_the_published_code() {
        let mut words = SplitMix64::new(1_234_567);

        let first: Vec<u64> = (0..3).map(|_| words.next_bits()).collect();

        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!(words.next_below(0), 0);
    }
}
