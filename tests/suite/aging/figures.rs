//! The published figures of ageing beside ours: suites of thousands of streams, for which there is no room in a short test run.

use std::collections::BTreeMap;

use ctxsim::Catalog;
use ctxsim::compare::{Comparison, Plan};
use ctxsim::input::suite::FigureKind;
use ctxsim::report::FigureLine;

/// Figures of the suite that must miss their band, so that something follows from those that meet theirs.
const CONTROLS: [&str; 3] = ["control_survival_s1_50", "control_bare_gists_lag_8_10", "control_uncrowded_12"];

#[test]
fn figures_lie_in_their_bands_and_negative_controls_outside_theirs() {
    if std::env::var_os("CTXSIM_REFERENCE").is_none() {
        return;
    }
    let comparison = Comparison { suite: Some("aging-responses".to_owned()), ..Comparison::default() };
    let plan = Plan::new(&Catalog::bundled(), &comparison).unwrap();
    let report = plan.report(None, &|_, _| {}).unwrap();
    let lines = report.figure_lines();
    let by_name: BTreeMap<&str, &FigureLine> = lines.iter().map(|it| (it.name.as_str(), it)).collect();

    for line in &lines {
        let is_control = CONTROLS.contains(&line.name.as_str());
        if let Some(within) = line.within {
            assert_eq!(within, !is_control, "{}: {:?} in {:?}", line.name, line.ours, line.band);
        }
        assert!(line.kind != FigureKind::Miss || line.within.is_none(), "{} has a band", line.name);
    }
    assert!(by_name.len() == lines.len() && by_name.contains_key("s1_final_8_lossy"));
    assert!(report.guard_verdicts.iter().all(|it| it.holds), "{:?}", report.guard_verdicts);
}
