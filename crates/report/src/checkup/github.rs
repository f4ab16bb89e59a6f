//! Results of suites in a GitHub workflow: the summary in Markdown, and commands that annotate lines of files.

use super::{CheckUp, SnapshotState};
use crate::guard::GuardVerdict;
use crate::prelude::*;
use ctxsim_base::diag::Place;
use ctxsim_base::foreign::runner;

/// Returns the summary.
pub fn summary(all: &[CheckUp]) -> Markdown {
    let mut text = Markdown::default();
    for it in all {
        let mark = if it.holds() { "✅" } else { "❌" };
        text.heading(3, &format!("{mark} {}", it.heading()));
        for error in &it.errors {
            text.paragraph(&format!("`{}`", super::at(error)));
            text.code(&super::with_help(error));
        }
        let failed: Vec<_> = it.verdicts.iter().filter(|it| !it.holds).listed();
        if !failed.is_empty() {
            let row =
                |it: &&GuardVerdict| [it.guard.clone(), it.finding(), it.on(), format!("`{}`", it.at())];
            let rows = failed.iter().map(row);
            text.table(&Grid::new("", 4, &["guard", "found", "run", "place"], rows));
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.holds()) {
            text.paragraph(&format!("`{}`: {}", snapshot.file, snapshot.words()));
            for group in snapshot.groups() {
                match group.because.as_str() {
                    "" => group.lines.iter().for_each(|it| text.item(it)),
                    because => text.list(&format!("Because of {because}"), group.lines),
                }
                text.end();
            }
        }
        let held: Vec<_> = it.verdicts.iter().filter(|it| it.holds).listed();
        if !held.is_empty() {
            text.folded("What passed", |text| text.items(held.iter().map(ToString::to_string)));
            text.end();
        }
        it.notes.iter().for_each(|note| text.paragraph(&format!("⚠️ {note}.")));
        if let Some(newer) = &it.newer {
            text.paragraph(&format!("⚠️ {}", newer.sentence()));
            text.items(newer.failed().map(|it| it.to_string()));
        }
        text.small(&format!("With {}.", it.made.words()));
    }
    text
}

/// Returns the commands that annotate failing lines, for the standard output of a workflow step.
pub fn annotations(all: &[CheckUp]) -> String {
    let mut text: String = all.iter().map(|it| marks(&it.verdicts)).collect();
    for it in all {
        for note in &it.notes {
            text += &format!("{}\n", runner::warning(&it.file, "Note", note));
        }
        if let Some(newer) = &it.newer {
            let lines = newer.lines().join("\n");
            text += &format!("{}\n", runner::warning(&it.file, "Newer prices", &lines));
        }
        for error in &it.errors {
            let line = annotation(&error.place, "Could not be checked", &super::with_help(error));
            text += &format!("{line}\n");
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.holds()) {
            let place = match snapshot.state {
                SnapshotState::Missing => Place { file: it.file.clone(), ..Place::default() },
                _ => Place { file: snapshot.file.clone(), ..Place::default() },
            };
            let lines = [vec![snapshot.words()], snapshot.lines()].concat();
            text += &format!("{}\n", annotation(&place, "Numbers changed", &lines.join("\n")));
        }
    }
    text
}

/// Returns the commands that annotate broken guards.
pub fn marks(verdicts: &[GuardVerdict]) -> String {
    let mut text = String::new();
    for verdict in verdicts.iter().filter(|it| !it.holds) {
        let message = format!("{} ({}); guard at {}", verdict.finding(), verdict.on(), verdict.at());
        text += &format!("{}\n", annotation(verdict.marked(), &verdict.guard, &message));
    }
    text
}

/// Returns the command that marks an error.
fn annotation(place: &Place, title: &str, message: &str) -> String {
    runner::error(&place.file, place.line_column, title, message)
}
