//! Results of suites as JUnit XML: one test case per verdict, and one per snapshot.

use super::{CheckUp, NewerPrices, SnapshotCheck};
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
pub fn document(all: &[CheckUp]) -> Result<String, template::Error> {
    let sum = |of: fn(&CheckUp) -> usize| all.iter().map(of).sum::<usize>();
    let document = group! {
        "tests": sum(|it| it.errors.len() + it.verdicts.len() + it.snapshots.len()),
        "failures": sum(failures),
        "errors": sum(|it| it.errors.len()),
        "suites": all.iter().map(suite).listed(),
    };
    template::write("junit.xml", include_str!("junit.xml"), document).map(|it| it + "\n")
}

/// Counts what does not hold.
fn failures(checkup: &CheckUp) -> usize {
    let failed = checkup.verdicts.iter().filter(|it| !it.holds).count();
    failed + checkup.snapshots.iter().filter(|it| !it.holds()).count()
}

fn suite(checkup: &CheckUp) -> Value {
    let checked = checkup.verdicts.iter().map(guard).chain(checkup.snapshots.iter().map(snapshot));
    let cases: Vec<Case> = checkup.errors.iter().map(error).chain(checked).listed();
    let notes =
        checkup.notes.iter().cloned().chain(checkup.newer.iter().flat_map(NewerPrices::lines)).listed();
    group! {
        "name": checkup.suite.clone(),
        "file": checkup.file.clone(),
        "failures": failures(checkup),
        "errors": checkup.errors.len(),
        // What the results were made with, by name.
        "properties": Value::serialised(&checkup.made.properties()),
        "cases": Value::serialised(&cases),
        // What is said beside the cases.
        "note": (!notes.is_empty()).then(|| notes.join("\n")),
    }
}

fn error(error: &Diagnostic) -> Case {
    Case {
        name: super::at(error),
        class: "errors".to_owned(),
        error: Some(error.message.lines().next().unwrap_or_default().to_owned()),
        r#type: error.code.name(),
        text: super::with_help(error),
        ..Case::default()
    }
}

fn guard(verdict: &GuardVerdict) -> Case {
    let marked = super::place(verdict.marked());
    let [policy, scenario, profile] = &verdict.run;
    Case {
        name: format!("{} ({})", verdict.title(), verdict.on()),
        class: format!("{scenario}.{profile}.{policy}"),
        failure: (!verdict.holds).then(|| verdict.finding()),
        r#type: "guard",
        text: format!("{marked}: {} ({}); the guard is at {}", verdict.finding(), verdict.on(), verdict.at()),
        ..Case::default()
    }
}

fn snapshot(snapshot: &SnapshotCheck) -> Case {
    Case {
        name: snapshot.file.clone(),
        class: "snapshots".to_owned(),
        failure: (!snapshot.holds()).then(|| snapshot.words()),
        r#type: "snapshot",
        text: snapshot.lines().join("\n"),
        ..Case::default()
    }
}
