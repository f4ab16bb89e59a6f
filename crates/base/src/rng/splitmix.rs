//! splitmix64, as Steele, Lea and Flood published it: one sequence of words, a few lines in any language.

/// A sequence of words that its seed begins.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// By how much its state grows with each word.
    pub(super) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

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
    fn the_first_words_are_those_of_the_published_code() {
        let mut words = SplitMix64::new(1_234_567);

        let first: Vec<u64> = (0..3).map(|_| words.next_bits()).collect();

        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!(words.next_below(0), 0);
    }
}
