//! The hash of strings of CPython under a fixed `PYTHONHASHSEED`.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// The hash of strings under a fixed `PYTHONHASHSEED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrHash {
    keys: [u64; 2],
}

impl StrHash {
    /// Takes the value of `PYTHONHASHSEED`; 0 switches randomisation off.
    pub fn new(hash_seed: u32) -> Self {
        let mut secret = [0_u8; 16];
        if hash_seed != 0 {
            let mut state = hash_seed;
            for byte in &mut secret {
                state = state.wrapping_mul(214_013).wrapping_add(2_531_011);
                *byte = state.to_le_bytes()[2];
            }
        }
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|it| secret[at + it]));
        Self { keys: [word(0), word(8)] }
    }

    /// Returns `hash(text)`.
    pub fn hash(&self, text: &str) -> i64 {
        if text.is_empty() {
            return 0;
        }
        let mut hasher = SipHasher13::new_with_keys(self.keys[0], self.keys[1]);
        // A string is hashed as it is held: with one, two or four bytes for every character.
        if text.is_ascii() {
            hasher.write(text.as_bytes());
        } else {
            let widest = text.chars().map(u32::from).max().unwrap_or(0);
            let width = if widest < 1 << 8 { 1 } else { 2 + 2 * usize::from(widest >= 1 << 16) };
            for character in text.chars().map(u32::from) {
                hasher.write(&character.to_le_bytes()[..width]);
            }
        }
        match hasher.finish().cast_signed() {
            -1 => -2,
            hash => hash,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_hashes_as_in_cpython_under_every_hash_seed() {
        let hashed = |seed, text| StrHash::new(seed).hash(text);

        assert_eq!(hashed(0, ""), 0);
        assert_eq!(hashed(0, "database_port_a1b2c3"), -8_450_332_379_880_994_718);
        assert_eq!(hashed(0, "é"), 6_047_309_291_227_476_195);
        assert_eq!(hashed(0, "日本"), 6_243_316_497_235_261_705);
        assert_eq!(hashed(0, "😀"), -3_536_540_696_076_613_844);
        assert_eq!(hashed(1, "a"), -3_012_895_188_637_184_397);
        assert_eq!(hashed(42, "database_port_a1b2c3"), 4_758_333_474_684_086_152);
        assert_eq!(hashed(u32::MAX, "database_port_a1b2c3"), 9_031_586_954_284_864_852);
    }
}
