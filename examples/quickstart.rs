//! Compares two policies on a recorded session; the README's example.

use ctxsim::{Comparison, Run};

fn main() -> Result<(), ctxsim::Error> {
    let report = Comparison::new()
        .policy("identity")
        .policy("truncate_oldest")
        .scenario("recorded/claude-code")
        .profile("anthropic/claude-opus-4.5")
        .run()?;
    let [plain, cut]: [&Run; 2] = [&report.runs()[0], &report.runs()[1]];

    // The smaller prompt costs more: each cut breaks the cached prefix.
    assert!(cut.prompt_max() < plain.prompt_max());
    assert!(cut.usd() > plain.usd());
    Ok(())
}
