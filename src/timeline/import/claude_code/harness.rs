//! How Claude Code uses the provider's cache, by its version; measured on recorded sessions, never read from a bill.

use crate::model::TtlClass;
use crate::timeline::Harness;

/// From this version on, entries are asked to live for an hour; in the sessions at hand 2.1.17 is mixed.
const LONG_TTL_FROM: [u64; 3] = [2, 1, 22];

/// Returns how a version uses the cache.
pub(in crate::timeline::import) fn of(version: &str) -> Harness {
    let numbers: Vec<u64> = version.split('.').map_while(|it| it.parse().ok()).collect();
    let is_long = numbers.as_slice() >= LONG_TTL_FROM.as_slice();
    let ttl = if is_long { TtlClass::Long } else { TtlClass::Short };
    Harness { ttl: Some(ttl), ..Harness::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_live_for_an_hour_from_version_2_1_22_on() {
        let ttl = |version| of(version).ttl;

        assert_eq!(["", "2.0.76", "2.1.7", "2.1.21"].map(ttl), [Some(TtlClass::Short); 4]);
        assert_eq!(["2.1.22", "2.1.62", "2.2.0", "3.0"].map(ttl), [Some(TtlClass::Long); 4]);
    }
}
