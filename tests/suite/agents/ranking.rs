//! The suite `field` ranks every preset and says why each costs what it does.

use ctxsim::report::run_blocks;

use super::*;

/// Runs the suite on one of its scenarios.
fn report(scenario: &str, profiles: &[&str]) -> Report {
    let comparison = Comparison { suite: Some("field".to_owned()), ..comparing(&[], &[scenario], profiles) };
    reported(&comparison)
}

#[test]
fn every_preset_is_ranked_by_its_cost_and_has_one_line_of_reason() {
    for report in [report("recorded/claude-code", &[]), report("field/triage_long", &["field/sonnet-5"])] {
        let [section] = &report.sections(Detail::Groups)[..] else { panic!("one table is expected") };

        assert_eq!(section.lines[0].policy, "identity");
        assert!(section.lines.len() > names().len());
        let changes: Vec<f64> =
            section.lines[1..].iter().filter_map(|it| section.relative_cost_change(it)).collect();
        assert!(changes.is_sorted() && changes[0] < 0.0, "{changes:?}");
        for line in &section.lines[1..] {
            let note = line.note().unwrap_or_else(|| panic!("{} has no reason", line.policy));
            let says = ["acted ", "no stage acted: ", "never fired", "changed nothing", "no stages"];
            assert!(says.iter().any(|it| note.contains(it)), "{}: {note}", line.policy);
        }
        assert!(section.lines[0].note().is_none());
    }
}

#[test]
fn the_parts_that_a_reason_names_make_up_the_change() {
    let report = report("field/triage_long", &["field/sonnet-5"]);
    let [section] = &report.sections(Detail::Groups)[..] else { panic!("one table is expected") };
    let line = section.lines.iter().find(|it| it.policy == "agents/anthropic/boundary_prune").unwrap();

    // The oracle's prune: 4,016,994 tokens read become 1,562,622, and 166,718 written become 169,356.
    assert_eq!(line.reason.as_deref(), Some("acted 19 times: cache reads −37.7% and cache writes +0.5%"));
    assert_eq!(
        section.relative_cost_change(line).map(ctxsim::grid::numbers::signed).as_deref(),
        Some("−37.2%")
    );
    let text = run_blocks::report_markdown(&report, Detail::Groups);
    assert!(text.contains("boundary_prune (acted 19 times: cache reads −37.7%"), "{text}");
}
