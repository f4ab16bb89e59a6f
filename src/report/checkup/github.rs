//! Results of suites in a GitHub workflow: the summary in Markdown, and commands that annotate lines of files.

use std::fmt::Write as _;

use super::{CheckUp, SnapshotState};
use crate::diag::Place;
use crate::grid::{Grid, markdown};
use crate::report::guards::GuardVerdict;

pub fn summary(all: &[CheckUp]) -> String {
    let mut text = String::new();
    for it in all {
        let mark = if it.holds() { "✅" } else { "❌" };
        let _ = writeln!(text, "### {mark} {}\n", it.heading());
        for error in &it.errors {
            let _ = writeln!(text, "`{}`\n\n```\n{}\n```\n", super::at(error), super::with_help(error));
        }
        let failed: Vec<_> = it.verdicts.iter().filter(|it| !it.holds).collect();
        if !failed.is_empty() {
            let row =
                |it: &&GuardVerdict| [it.guard.clone(), it.finding(), it.on(), format!("`{}`", it.at())];
            let rows = failed.iter().map(row);
            text += &markdown::table(&Grid::new("", 4, &["guard", "found", "run", "place"], rows));
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.holds()) {
            let _ = writeln!(text, "`{}`: {}\n", snapshot.file, snapshot.words());
            snapshot.lines().iter().for_each(|line| {
                let _ = writeln!(text, "- {line}");
            });
            text.push('\n');
        }
        if it.verdicts.iter().any(|it| it.holds) {
            text.push_str("<details><summary>What passed</summary>\n\n");
            for it in it.verdicts.iter().filter(|it| it.holds) {
                let _ = writeln!(text, "- {it}");
            }
            text.push_str("\n</details>\n\n");
        }
        if let Some(newer) = &it.newer {
            let _ = writeln!(text, "⚠️ {}\n", newer.sentence());
            newer.failed().for_each(|it| {
                let _ = writeln!(text, "- {it}");
            });
            text.push('\n');
        }
        let _ = writeln!(text, "<sub>With {}.</sub>\n", it.made.words());
    }
    text
}

/// Returns the commands that annotate failing lines, for the standard output of a workflow step.
pub fn annotations(all: &[CheckUp]) -> String {
    let mut text: String = all.iter().map(|it| marks(&it.verdicts)).collect();
    for it in all {
        if let Some(newer) = &it.newer {
            let place = Place { file: it.file.clone(), ..Place::default() };
            let lines = newer.lines().join("\n");
            let _ = writeln!(text, "{}", command("warning", &place, "Newer prices", &lines));
        }
        for error in &it.errors {
            let line = annotation(&error.place, "Could not be checked", &super::with_help(error));
            let _ = writeln!(text, "{line}");
        }
        for snapshot in it.snapshots.iter().filter(|it| !it.holds()) {
            let place = match snapshot.state {
                SnapshotState::Missing => Place { file: it.file.clone(), ..Place::default() },
                _ => Place { file: snapshot.file.clone(), ..Place::default() },
            };
            let lines = [vec![snapshot.words()], snapshot.lines()].concat();
            let _ = writeln!(text, "{}", annotation(&place, "Numbers changed", &lines.join("\n")));
        }
    }
    text
}

/// Returns the commands that annotate broken guards.
pub fn marks(verdicts: &[GuardVerdict]) -> String {
    let mut text = String::new();
    for verdict in verdicts.iter().filter(|it| !it.holds) {
        let message = format!("{} ({}); guard at {}", verdict.finding(), verdict.on(), verdict.at());
        let _ = writeln!(text, "{}", annotation(verdict.marked(), &verdict.guard, &message));
    }
    text
}

/// Returns the command that marks an error.
fn annotation(place: &Place, title: &str, message: &str) -> String {
    command("error", place, title, message)
}

/// Returns one command.
fn command(level: &str, place: &Place, title: &str, message: &str) -> String {
    let line = place.line_column.map_or(String::new(), |(line, column)| format!(",line={line},col={column}"));
    let (file, title) = (property(&place.file), property(title));
    format!("::{level} file={file}{line},title={title}::{}", data(message))
}

/// Returns a message as a command takes it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a property as a command takes it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
