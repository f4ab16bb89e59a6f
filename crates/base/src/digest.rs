//! Maps whose keys are digests: these need no hash of their own.

use std::hash::{BuildHasherDefault, Hasher};

use indexmap::IndexMap;

/// A map by digests of 64 or 128 bits.
pub type ByDigest<K, V> = IndexMap<K, V, BuildHasherDefault<AsIs>>;

/// Hashes a digest as its lowest 64 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsIs(u64);

impl Hasher for AsIs {
    /// Joins bytes of anything else; slow, but not wrong.
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    #[inline]
    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }

    #[inline]
    fn write_u128(&mut self, digest: u128) {
        self.0 = digest as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_share_their_lowest_bits_stay_apart() {
        let mut map: ByDigest<u128, u32> = ByDigest::default();

        for high in 0..100_u32 {
            map.insert(u128::from(high) << 64 | 7, high);
        }

        assert_eq!(map.get(&(3 << 64 | 7)), Some(&3));
        assert_eq!((map.len(), map.first()), (100, Some((&7, &0))));
    }
}
