//! Tests for an agent's own code (feature `testing`): snapshots in one line, and the laws of context policies.
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

use crate::face::{CacheRules, Comparison, Error, Profile, Scenario};

/// Laws, and what policies do to them.
pub use ctxsim_app::laws::{LawCounterexample, LawKit, LawReport, LawState, LawVerdict, PolicyLaws};
pub use ctxsim_input::policy::Law;

/// Tries the policies of a comparison on random sessions, and reports which laws of context policies each keeps.
///
/// Under a profile without limits, as [`pinned`] is, prompts are limited to 200,000 tokens. Scenarios of the comparison are not used. Each
/// law that is broken comes with a small session ([`LawCounterexample::scenario`], a TOML file that `ctxsim run` reads).
///
/// ```
/// use ctxsim::testing::{self, Law, LawKit};
/// use ctxsim::{BoxError, CodePolicy, Comparison, Cx, Entry, Kind, Part};
///
/// // Drops the user's messages.
/// let bare = |_: &Cx<'_>, history: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> {
///     Ok(history.iter().filter(|it| it.kind != Kind::User).map(|it| Part::keep(it.id)).collect())
/// };
/// let laws = testing::laws(Comparison::new().policy(CodePolicy::view("bare", move |_| bare)), LawKit::default())?;
/// let broken: Vec<Law> = laws.broken_laws().map(|it| it.1).collect();
/// assert_eq!(broken, [Law::KeepsTask, Law::Bounded], "{laws}");
/// # Ok::<(), ctxsim::Error>(())
/// ```
///
/// # Errors
/// The same as for [`Comparison::plan`]; also if the code of a policy fails.
pub fn laws(comparison: Comparison, kit: LawKit) -> Result<LawReport, Error> {
    // A plan needs one; laws are tried on others.
    let scenario = Scenario::builder("laws")
        .turn("Do it.", |turn| {
            turn.answer("Done.");
        })
        .build()?;
    let comparison = comparison.only_on_scenario(scenario).with_profile_if_none(pinned)?;
    Ok(kit.check_policies(comparison.plan()?.as_app_plan())?)
}

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
/// The same as for [`Comparison::run`]; also if a run fails or a guard is broken, because snapshots of the other runs would hide that.
pub fn snapshots(comparison: Comparison) -> Result<Vec<(String, String)>, Error> {
    let report = comparison.with_profile_if_none(pinned)?.run()?;
    report.all_passed()?;
    let is_alone = report.runs().windows(2).all(|it| it[0].profile() == it[1].profile());
    let named = report.runs().iter().map(|run| {
        let profile = if is_alone { String::new() } else { format!("@{}", run.profile()) };
        let name = format!("{}@{}{profile}", run.policy(), run.scenario());
        (name.replace(['/', '\\', ':', ' '], "-"), run.snapshot().to_string())
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
