//! Results of suites in a GitHub workflow: the summary in Markdown, and commands that annotate lines of files.

use super::{CheckUp, SnapshotState};
use crate::blocks::in_markdown;
use crate::guard::GuardVerdict;
use crate::prelude::*;
use ctxsim_base::diag::Place;
use ctxsim_base::foreign::runner;

/// Returns the summary.
pub fn summary(all: &[CheckUp]) -> Markdown {
    in_markdown(&all.iter().flat_map(CheckUp::blocks).listed())
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
