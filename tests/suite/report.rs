//! Reports: what stands in the tables and in the JSON.

use ctxsim::report::run_blocks::RunLayout;
use ctxsim::report::{SkippedFile, json, run_blocks};

use crate::support::*;

fn report() -> Report {
    let folder = root().join("tests/data/small");
    let catalog = bundled_catalog().with_folder(&folder).unwrap();
    let comparison = Comparison { suite: Some("small".to_owned()), ..comparing(&[], &["one"], &["plain"]) };
    Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap()
}

fn assert_written(name: &str, text: &str) {
    assert_snapshot("report", name, text);
}

#[test]
fn a_report_is_written_as_json() {
    assert_written("json", &json::report_json(&report()).unwrap());
}

#[test]
fn a_report_is_written_as_markdown() {
    assert_written("markdown", &run_blocks::report_markdown(&report(), Detail::Groups));
}

#[test]
fn a_table_fits_its_terminal() {
    for width in [72, 80, 100, 120, 200] {
        let text = run_blocks::report_text(
            &report(),
            RunLayout { on: Some(width).into(), detail: Detail::Scenarios, ..RunLayout::default() },
        );

        let widest = text.lines().map(|it| it.chars().count()).max();
        assert!(widest <= Some(width), "{widest:?} columns in {width}:\n{text}");
        let hides = text.contains("Note: columns hidden to fit");
        assert!((width > 80 || hides) && (width < 200 || !hides), "{width} columns:\n{text}");
    }
}

#[test]
fn counts_of_what_was_skipped_have_separators() {
    let skipped = |n: usize, reason: &str| vec![SkippedFile::not_asked("", reason.to_owned()); n];
    let all = [skipped(7, "the same content"), skipped(1_320, "no request")].concat();

    assert_eq!(SkippedFile::counts_by_reason(&all), "no request (1,320); the same content (7)");
}
