//! Compares two policies on a recorded session: the example in the README.

use ctxsim::{Catalog, Comparison, Plan};

pub(crate) fn main() -> Result<(), ctxsim::Error> {
    let comparison = Comparison {
        policies: vec!["identity".into(), "clear_tool_results".into()],
        scenarios: vec!["recorded/claude-code".into()],
        profiles: vec!["duckagent/openai-gpt-5.4".into()],
        ..Comparison::default()
    };
    let report = Plan::new(&Catalog::bundled(), &comparison)?.report(None, &|_, _| {})?;

    let longest: Vec<u64> = report.runs.iter().map(|it| it.tally.sums.main.prompt_max).collect();
    assert_eq!(longest, [108_982, 99_771]);
    Ok(())
}
