//! Snapshot tests for an agent's own code, in one line (feature `testing`).
//!
//! ```
//! use ctxsim::{Comparison, testing};
//!
//! let all = testing::snapshots(Comparison::new().policy("identity").scenario("recorded/claude-code"))?;
//! assert_eq!(all[0].0, "identity@recorded-claude-code");
//! assert!(all[0].1.starts_with("prices of 2026-01-01\n"));
//! # Ok::<(), ctxsim::Error>(())
//! ```

use std::time::Duration;

use crate::face::{CacheRules, Comparison, Error, Profile};

/// Makes one `insta` snapshot for each policy on each scenario; the calling crate must depend on `insta`.
///
/// Takes a [`Comparison`]. If the comparison names no profiles, the prices are those of [`pinned`](crate::testing::pinned), which
/// never change. Panics with the error if the comparison cannot be run, as assertions do.
#[macro_export]
macro_rules! assert_snapshots {
    ($comparison:expr) => {
        match $crate::testing::snapshots($comparison) {
            Ok(all) => all.into_iter().for_each(|(name, text)| ::insta::assert_snapshot!(name, text)),
            Err(error) => ::std::panic!("{error}"),
        }
    };
}

/// Returns a snapshot of each run: its name, and its numbers under pinned prices unless the comparison names profiles.
///
/// # Errors
/// The same as for [`Comparison::run`]; also if a run fails, because snapshots of the other runs would hide that.
pub fn snapshots(comparison: Comparison) -> Result<Vec<(String, String)>, Error> {
    let report = comparison.or_profile(pinned)?.run()?;
    report.all_passed()?;
    let is_alone = report.runs().windows(2).all(|it| it[0].profile() == it[1].profile());
    let named = report.runs().iter().map(|it| {
        let profile = if is_alone { String::new() } else { format!("@{}", it.profile()) };
        let name = format!("{}@{}{profile}", it.policy(), it.scenario());
        (name.replace(['/', '\\', ':', ' '], "-"), it.snapshot().to_string())
    });
    Ok(named.collect())
}

/// Returns a profile whose prices and rules stay the same in every release: breakpoints that live for five minutes, $3 and $15 per million tokens,
/// $0.30 for cache reads and $3.75 for cache writes.
///
/// # Errors
/// None: the profile is well formed.
pub fn pinned() -> Result<Profile, Error> {
    let ttl = Duration::from_secs(300);
    Profile::builder("pinned")
        .as_of("2026-01-01")
        .price(3.0, 15.0)
        .cache_read("0.30")
        .cache_write(ttl, "3.75")
        .cache(CacheRules::breakpoints(1_024, 4, 20).ttl(ttl))
        .build()
}
