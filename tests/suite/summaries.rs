//! What model-written summaries keep, by published rates, beside what reports count.

use ctxsim::input::scenario::summaries::FactKind;
use ctxsim::ledger::NeedRow;
use ctxsim::take::Sinks;

use crate::support::*;

const POLICIES: [&str; 3] = ["identity", "agents/openai/agents_session", "sliding_window"];

fn plan() -> Plan {
    let comparison = Comparison { own_models: true, ..comparing(&POLICIES, &["recorded/claude-code"], &[]) };
    planned(&comparison)
}

#[test]
fn what_summaries_may_still_say_is_each_need_s_weight_at_the_rate_of_what_it_names() {
    let plan = plan();
    let load = plan.open(&plan.scenarios[0]).unwrap().remove(0);

    let taken = load.takes(&Sinks { rows: true, ..Sinks::default() }, &|_, _| {});

    let rows = &taken.of(0, 1).unwrap().rows.as_ref().unwrap().needs;
    let told: Vec<&NeedRow> = rows.iter().filter(|it| it.told.is_some()).collect();
    assert!(!told.is_empty(), "{}", told.len());
    assert!(told.iter().all(|it| it.met < 1.0 && it.inferred.unwrap().rule == "literals"));
    // Each was named by the call, and is counted at its own rate.
    let timeline = load.timeline().unwrap();
    let rate = |row: &NeedRow| match row.told.unwrap() {
        FactKind::Path => 0.098,
        FactKind::Number => 0.019,
    };
    for row in told.iter().filter(|it| it.told == Some(FactKind::Path)) {
        assert!(timeline.texts.text(row.inferred.unwrap().item).unwrap().contains('/'));
    }
    let more: f64 = told.iter().map(|it| it.weight * (1.0 - it.met) * rate(it)).sum();
    let tally = &taken.of(0, 1).unwrap().run.tally;
    let ([value, low, high], kept) = (tally.evidence_told().unwrap(), tally.evidence_kept().unwrap());
    assert!((value - kept - more / tally.sums.needs.evidence().1).abs() < 1e-12, "{value} {kept} {more}");
    assert!((low - kept).abs() < 1e-12 && high > value);
}

#[test]
fn where_no_model_wrote_a_summary_nothing_is_told() {
    let report = plan().report(Some(1), &|_, _| {}).unwrap();
    let told = |policy: usize| report.runs[policy].tally.evidence_told();

    assert!(told(0).is_none() && told(1).is_some() && told(2).is_none());
    let note = report.note_on_summary_losses().unwrap();
    assert!(note.contains("agents_session") && !note.contains("sliding_window"), "{note}");
    // What is counted, and what is fetched again, is as it is without the rates.
    assert!(report.runs[1].tally.evidence_kept().unwrap() < told(1).unwrap()[0]);
}
