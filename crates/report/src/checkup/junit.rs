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
fn failures(it: &CheckUp) -> usize {
    let failed = it.verdicts.iter().filter(|it| !it.holds).count();
    failed + it.snapshots.iter().filter(|it| !it.holds()).count()
}

fn suite(it: &CheckUp) -> Value {
    let checked = it.verdicts.iter().map(guard).chain(it.snapshots.iter().map(snapshot));
    let cases: Vec<Case> = it.errors.iter().map(error).chain(checked).listed();
    let notes = it.notes.iter().cloned().chain(it.newer.iter().flat_map(NewerPrices::lines)).listed();
    group! {
        "name": it.suite.clone(),
        "file": it.file.clone(),
        "failures": failures(it),
        "errors": it.errors.len(),
        // What the results were made with, by name.
        "properties": Value::serialised(&it.made.properties()),
        "cases": Value::serialised(&cases),
        // What is said beside the cases.
        "note": (!notes.is_empty()).then(|| notes.join("\n")),
    }
}

fn error(it: &Diagnostic) -> Case {
    Case {
        name: super::at(it),
        class: "errors".to_owned(),
        error: Some(super::first_line(it).to_owned()),
        r#type: it.code.name(),
        text: super::with_help(it),
        ..Case::default()
    }
}

fn guard(it: &GuardVerdict) -> Case {
    let marked = super::place(it.marked());
    let [policy, scenario, profile] = &it.run;
    Case {
        name: format!("{} ({})", it.title(), it.on()),
        class: format!("{scenario}.{profile}.{policy}"),
        failure: (!it.holds).then(|| it.finding()),
        r#type: "guard",
        text: format!("{marked}: {} ({}); the guard is at {}", it.finding(), it.on(), it.at()),
        ..Case::default()
    }
}

fn snapshot(it: &SnapshotCheck) -> Case {
    Case {
        name: it.file.clone(),
        class: "snapshots".to_owned(),
        failure: (!it.holds()).then(|| it.words()),
        r#type: "snapshot",
        text: it.lines().join("\n"),
        ..Case::default()
    }
}
