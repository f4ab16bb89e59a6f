//! A scenario and a profile built in code: no file is read.

use std::time::Duration;

use ctxsim::{CacheRules, Comparison, Kind, Level, Profile, Scenario};

fn main() -> Result<(), ctxsim::Error> {
    let (log, ttl) = ("error[E0308]: mismatched types\n".repeat(4_000), Duration::from_secs(300));
    let scenario = Scenario::builder("fix-a-type")
        .stable(Kind::System, "You fix compiler errors.".repeat(300))
        .turn("Build it.", |turn| {
            turn.call("bash", "cargo build", log).answer("It does not compile.");
        })
        .turn("Fix the first error.", |turn| {
            turn.pause(2 * ttl).call("edit", "src/lib.rs", "done").answer("Fixed.");
            turn.needs(1, Level::ExactEvidence, 1.0);
        })
        .build()?;
    let profile = Profile::builder("mine")
        .price(3.0, 15.0)
        .cache_read("0.30")
        .cache_write(ttl, "3.75")
        .cache(CacheRules::breakpoints(1_024, 4, 20).ttl(ttl))
        .build()?;
    let report = Comparison::new().policy("identity").scenario(&scenario).profile(profile).run()?;
    // The pause outlives the cache: the whole history is written again.
    assert!(report.runs()[0].cache_write() > report.runs()[0].prompt_max(), "{report}");
    Ok(())
}
