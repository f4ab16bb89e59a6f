//! Results of suites as JUnit XML: one test case per verdict, and one per snapshot.

use super::{CheckUp, NewerPrices, SnapshotCheck};
use crate::guard::GuardVerdict;
use crate::prelude::*;
use crate::template;
use ctxsim_base::diag::Diagnostic;

#[derive(Serialize)]
struct JunitDocument {
    tests: usize,
    failures: usize,
    errors: usize,
    suites: Vec<JunitSuite>,
}

#[derive(Serialize)]
struct JunitSuite {
    name: String,
    file: String,
    failures: usize,
    errors: usize,
    /// What the results were made with, by name.
    properties: Vec<(String, String)>,
    cases: Vec<Case>,
    /// What is said beside the cases.
    note: Option<String>,
}

#[derive(Serialize)]
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
pub fn document(all: &[CheckUp]) -> Result<String, template::Error> {
    let suites: Vec<JunitSuite> = all.iter().map(suite).listed();
    let document = JunitDocument {
        tests: suites.iter().map(|it| it.cases.len()).sum(),
        failures: suites.iter().map(|it| it.failures).sum(),
        errors: suites.iter().map(|it| it.errors).sum(),
        suites,
    };
    template::write("junit.xml", include_str!("junit.xml"), document).map(|it| it + "\n")
}

fn suite(it: &CheckUp) -> JunitSuite {
    let checked = it.verdicts.iter().map(guard).chain(it.snapshots.iter().map(snapshot));
    let cases: Vec<Case> = it.errors.iter().map(error).chain(checked).listed();
    let failures = cases.iter().filter(|it| it.failure.is_some()).count();
    let notes = it.notes.iter().cloned().chain(it.newer.iter().flat_map(NewerPrices::lines)).listed();
    let note = (!notes.is_empty()).then(|| notes.join("\n"));
    JunitSuite {
        name: it.suite.clone(),
        file: it.file.clone(),
        failures,
        errors: it.errors.len(),
        properties: it.made.properties(),
        cases,
        note,
    }
}

fn error(it: &Diagnostic) -> Case {
    Case {
        name: super::at(it),
        class: "errors".to_owned(),
        failure: None,
        error: Some(super::first_line(it).to_owned()),
        r#type: it.code.name(),
        text: super::with_help(it),
    }
}

fn guard(it: &GuardVerdict) -> Case {
    let marked = super::place(it.marked());
    let [policy, scenario, profile] = &it.run;
    Case {
        name: format!("{} ({})", it.title(), it.on()),
        class: format!("{scenario}.{profile}.{policy}"),
        failure: (!it.holds).then(|| it.finding()),
        error: None,
        r#type: "guard",
        text: format!("{marked}: {} ({}); the guard is at {}", it.finding(), it.on(), it.at()),
    }
}

fn snapshot(it: &SnapshotCheck) -> Case {
    Case {
        name: it.file.clone(),
        class: "snapshots".to_owned(),
        failure: (!it.holds()).then(|| it.words()),
        error: None,
        r#type: "snapshot",
        text: it.lines().join("\n"),
    }
}
