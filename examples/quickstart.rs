//! Compares two policies on a recorded session; the README's example.

use ctxsim::{Comparison, Run};

fn main() -> Result<(), ctxsim::Error> {
    let report = Comparison::new()
        .policy("identity")
        .policy("clear_tool_results")
        .scenario("recorded/claude-code")
        .profile("anthropic/claude-sonnet-4.5")
        .run()?;
    let [plain, clearing]: [&Run; 2] = [&report.runs()[0], &report.runs()[1]];

    // The smaller prompt costs more: each clearing breaks the cached prefix.
    assert!(clearing.prompt_max() < plain.prompt_max());
    assert!(clearing.usd() > plain.usd());
    Ok(())
}
