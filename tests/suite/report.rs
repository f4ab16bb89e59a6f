//! Reports: what stands in the tables and in the JSON.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::path::Path;

use ctxsim::app::{Comparison, Plan};
use ctxsim::catalog::bundled_catalog;
use ctxsim::report::sections::Detail;
use ctxsim::report::table::TableLayout;
use ctxsim::report::{Report, Skipped, json, markdown, table};

fn report() -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small");
    let catalog = bundled_catalog().with_folder(&folder).unwrap();
    let comparison = Comparison {
        suite: Some("small".to_owned()),
        scenarios: vec!["one".to_owned()],
        profiles: vec!["plain".to_owned()],
        ..Comparison::default()
    };
    Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap()
}

fn assert_written(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn a_report_is_written_as_json() {
    assert_written("json", &json::document(&report()).unwrap());
}

#[test]
fn a_report_is_written_as_markdown() {
    assert_written("markdown", &markdown::report(&report(), Detail::Groups));
}

#[test]
fn a_table_fits_its_terminal() {
    for width in [72, 80, 100, 120, 200] {
        let text = table::report(
            &report(),
            TableLayout { on: Some(width).into(), detail: Detail::Scenarios, ..TableLayout::default() },
        );

        let widest = text.lines().map(|it| it.chars().count()).max();
        assert!(widest <= Some(width), "{widest:?} columns in {width}:\n{text}");
        let hides = text.contains("Note: columns hidden to fit");
        assert!((width > 80 || hides) && (width < 200 || !hides), "{width} columns:\n{text}");
    }
}

#[test]
fn counts_of_what_was_skipped_have_separators() {
    let skipped = |n: usize, reason: &str| vec![Skipped::not_asked("", reason.to_owned()); n];
    let all = [skipped(7, "the same content"), skipped(1_320, "no request")].concat();

    assert_eq!(Skipped::counted(&all), "no request (1,320); the same content (7)");
}
