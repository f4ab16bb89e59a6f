//! A scenario and a profile built in code: no file is read.

use std::time::Duration;

use ctxsim::{CacheRules, Comparison, Kind, Level, Profile, Scenario};

fn main() -> Result<(), ctxsim::Error> {
    let log = "error[E0308]: mismatched types\n".repeat(4_000);
    let scenario = Scenario::builder("fix-a-type")
        .stable(Kind::System, "You fix compiler errors.".repeat(300))
        .turn("Build it.", |turn| {
            turn.call("bash", r#"{"command":"cargo build"}"#, log).answer("It does not compile.");
        })
        .turn("Fix the first error.", |turn| {
            turn.pause(Duration::from_secs(600));
            turn.call("edit", r#"{"path":"src/lib.rs"}"#, "done").answer("Fixed.");
            turn.needs(1, Level::ExactEvidence, 1.0);
        })
        .build()?;
    let five_minutes = Duration::from_secs(300);
    let profile = Profile::builder("mine")
        .context(200_000)
        .price(3.0, 15.0)
        .cache_read("0.30")
        .cache_write(five_minutes, "3.75")
        .cache(CacheRules::breakpoints(1_024, 4, 20).ttl(five_minutes))
        .build()?;
    let report = Comparison::new().policy("identity").scenario(&scenario).profile(profile).run()?;
    let run = report.get("identity", "fix-a-type", "mine");
    // The pause outlives the cache: the whole history is written again.
    assert!(run.is_some_and(|it| it.cache_write() > it.prompt_max()), "{report}");
    Ok(())
}
