//! Results of suites as JUnit XML: one test case per verdict, and one per snapshot.

use super::{NewerPrices, SnapshotCheck, SuiteCheck};
use crate::guard::GuardVerdict;
use crate::prelude::*;
use crate::template;
use ctxsim_base::diag::Diagnostic;

/// A guard or a snapshot, or why a suite could not be checked.
#[derive(Default, Serialize)]
struct Case {
    name: String,
    class: String,
    /// Why it failed, in a line.
    failure: Option<String>,
    /// Why it could not be checked, in a line.
    error: Option<String>,
    /// What failed.
    r#type: &'static str,
    text: String,
}

/// Returns the document.
///
/// # Errors
/// What the template says.
pub fn check_ups_junit_xml(check_ups: &[SuiteCheck]) -> Result<String, template::Error> {
    let sum = |of: fn(&SuiteCheck) -> usize| check_ups.iter().map(of).sum::<usize>();
    let document = group! {
        "tests": sum(|it| it.errors.len() + it.verdicts.len() + it.snapshots.len()),
        "failures": sum(count_failures),
        "errors": sum(|it| it.errors.len()),
        "suites": check_ups.iter().map(suite_test_cases).listed(),
    };
    template::render_template("junit.xml", include_str!("junit.xml"), document).map(|it| it + "\n")
}

/// Counts what does not hold.
fn count_failures(checkup: &SuiteCheck) -> usize {
    let failed = checkup.verdicts.iter().filter(|it| !it.holds).count();
    failed + checkup.snapshots.iter().filter(|it| !it.is_passing()).count()
}

fn suite_test_cases(checkup: &SuiteCheck) -> Value {
    let checked = checkup.verdicts.iter().map(guard_case).chain(checkup.snapshots.iter().map(snapshot_case));
    let error = |error: &Diagnostic| Case {
        name: super::format_place(&error.place),
        class: "errors".to_owned(),
        error: Some(error.message.lines().next().unwrap_or_default().to_owned()),
        r#type: error.code.name(),
        text: super::message_with_help(error),
        ..Case::default()
    };
    let newer = checkup.newer.iter().flat_map(NewerPrices::describe_in_lines);
    let notes = checkup.notes.iter().cloned().chain(newer).listed();
    group! {
        "name": checkup.suite.clone(),
        "file": checkup.file.clone(),
        "failures": count_failures(checkup),
        "errors": checkup.errors.len(),
        // What the results were made with, by name.
        "properties": Value::serialised(&checkup.made.properties()),
        "cases": Value::serialised(&checkup.errors.iter().map(error).chain(checked).listed()),
        // What is said beside the cases.
        "note": (!notes.is_empty()).then(|| notes.join("\n")),
    }
}

fn guard_case(verdict: &GuardVerdict) -> Case {
    let [marked, place] = [verdict.place_to_annotate(), &verdict.place].map(super::format_place);
    let (finding, run) = (verdict.finding(), verdict.describe_run());
    let [policy, scenario, profile] = &verdict.run;
    Case {
        name: format!("{} ({run})", verdict.title()),
        class: format!("{scenario}.{profile}.{policy}"),
        failure: (!verdict.holds).then(|| finding.clone()),
        r#type: "guard",
        text: format!("{marked}: {finding} ({run}); the guard is at {place}"),
        ..Case::default()
    }
}

fn snapshot_case(snapshot: &SnapshotCheck) -> Case {
    Case {
        name: snapshot.file.clone(),
        class: "snapshots".to_owned(),
        failure: (!snapshot.is_passing()).then(|| snapshot.describe()),
        r#type: "snapshot",
        text: snapshot.difference_lines().join("\n"),
        ..Case::default()
    }
}
