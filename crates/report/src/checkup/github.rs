//! Results of suites in a GitHub workflow: the summary in Markdown, and commands that annotate lines of files.

use super::{SnapshotState, SuiteCheck};
use crate::blocks::blocks_to_markdown;
use crate::guard::GuardVerdict;
use crate::prelude::*;
use ctxsim_base::diag::Place;
use ctxsim_base::foreign::runner;

/// Returns the summary.
pub fn check_ups_markdown(check_ups: &[SuiteCheck]) -> Markdown {
    blocks_to_markdown(&check_ups.iter().flat_map(SuiteCheck::to_blocks).listed())
}

/// Returns the commands that annotate failing lines, for the standard output of a workflow step.
pub fn annotation_commands(check_ups: &[SuiteCheck]) -> String {
    let mut text: String = check_ups.iter().map(|it| guard_annotation_commands(&it.verdicts)).collect();
    for it in check_ups {
        text.extend(it.notes.iter().map(|note| format!("{}\n", runner::warning(&it.file, "Note", note))));
        if let Some(newer) = &it.newer {
            let lines = newer.describe_in_lines().join("\n");
            text += &format!("{}\n", runner::warning(&it.file, "Newer prices", &lines));
        }
        for error in &it.errors {
            let line = error_command(&error.place, "Could not be checked", &super::message_with_help(error));
            text += &format!("{line}\n");
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.is_passing()) {
            let file = if snapshot.state == SnapshotState::Missing { &it.file } else { &snapshot.file };
            let lines = [vec![snapshot.describe()], snapshot.difference_lines()].concat().join("\n");
            text += &format!("{}\n", runner::error(file, None, "Numbers changed", &lines));
        }
    }
    text
}

/// Returns the commands that annotate broken guards.
pub fn guard_annotation_commands(verdicts: &[GuardVerdict]) -> String {
    let command = |verdict: &GuardVerdict| {
        let (run, place) = (verdict.describe_run(), super::format_place(&verdict.place));
        let message = format!("{} ({run}); guard at {place}", verdict.finding());
        error_command(verdict.place_to_annotate(), &verdict.guard, &message) + "\n"
    };
    verdicts.iter().filter(|it| !it.holds).map(command).collect()
}

/// Returns the command that marks an error.
fn error_command(place: &Place, title: &str, message: &str) -> String {
    runner::error(&place.file, place.line_column, title, message)
}
