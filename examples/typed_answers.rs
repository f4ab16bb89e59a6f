//! The other commands in Rust: what they find is fields, a text, and the command line's JSON.

use ctxsim::Comparison;

fn main() -> Result<(), ctxsim::Error> {
    let session =
        || Comparison::new().scenario("recorded/claude-code").profile("anthropic/claude-sonnet-4.5");
    let swept =
        session().policy("clear_tool_results").vary("params.trigger.tokens", "40000,85000").sweep()?;
    let usd = |nth: usize| swept.points[nth].numbers["cost_usd.total"];
    // Clearing later is cheaper, because it breaks the prefix less often.
    assert!(usd(1) < usd(0));
    assert!(swept.json().contains("ctxsim.sweep/1"));

    let plan = session().policy("identity").policy("clear_tool_results").plan()?;
    let cheapest = &plan.sensitivity()?.loads[0].cheapest[0];
    assert_eq!(cheapest.policy.as_deref(), Some("identity"));
    Ok(())
}
