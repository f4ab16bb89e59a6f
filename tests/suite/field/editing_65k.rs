//! Context editing at 65,000 tokens on a recorded session: fewer tokens, and twice the bill (`docs/studies/field-notes.md`).
//!
//! The recording is too large for the test data; `CTXSIM_REFERENCE` names a folder that has it.

use crate::support::*;

/// The session under no policy, and under the provider's clearing with a minimum.
fn played(at_least: u64) -> Option<[Tally; 2]> {
    let root = std::env::var_os("CTXSIM_REFERENCE")?;
    let file = Path::new(&root).join("recorded/claude-code/entireio-cli_45-b48f42ab1f-0.jsonl");
    let comparison = Comparison {
        set: vec![
            "params.trigger.tokens=65000".to_owned(),
            "params.keep.count=6".to_owned(),
            format!("params.clear_at_least.tokens={at_least}"),
        ],
        ..comparing(
            &["identity", "agents/anthropic/clear_tool_uses"],
            &[&file.display().to_string()],
            &["anthropic/claude-opus-4.5"],
        )
    };
    let report = reported(&comparison);
    report.runs.into_iter().map(|it| it.tally).collect::<Vec<_>>().try_into().ok()
}

#[test]
fn thirty_nine_clears_send_fewer_tokens_and_double_the_bill() {
    let Some([keeps, cleared]) = played(0) else { return };

    assert_eq!(cleared.outcome.firings[0].acted, 39);
    let tokens =
        |it: &Tally| [it.sums.main.tokens.prompt(), it.sums.main.tokens.read, it.sums.main.tokens.write[0]];
    assert_eq!(tokens(&keeps), [8_835_281, 8_492_607, 340_126]);
    assert_eq!(tokens(&cleared), [6_154_651, 4_413_933, 1_738_170]);
    let usd = [&keeps, &cleared].map(|it| (it.costs.base().usd() * 100.0).round());
    assert_eq!(usd, [732.0, 1_402.0]);
}

#[test]
fn a_minimum_brings_the_saving_back() {
    for (at_least, n_clears, tokens, cents) in [(5_000, 6, 6_274_477, 666.0), (30_000, 1, 7_230_865, 634.0)] {
        let Some([_, cleared]) = played(at_least) else { return };

        assert_eq!(cleared.outcome.firings[0].acted, n_clears);
        assert_eq!(cleared.sums.main.tokens.prompt(), tokens);
        assert_eq!((cleared.costs.base().usd() * 100.0).round(), cents);
    }
}
