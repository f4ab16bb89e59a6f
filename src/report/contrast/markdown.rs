//! What changes between policies as Markdown: for a review, and as the summary of a workflow run.

use std::fmt::Write as _;

use super::{Beside, Contrast};
use crate::grid::markdown;

/// Returns what changes, with every cause in the open.
pub fn review(contrasts: &[Contrast], beside: &Beside) -> String {
    sections(contrasts, beside, false)
}

/// Returns the same as the summary of a workflow run: numbers first, causes after a fold.
pub fn summary(contrasts: &[Contrast], beside: &Beside) -> String {
    sections(contrasts, beside, true)
}

fn sections(contrasts: &[Contrast], beside: &Beside, is_folded: bool) -> String {
    let mut text = contrasts.iter().map(|it| section(it, is_folded)).collect::<Vec<_>>().join("\n");
    if contrasts.is_empty() {
        let _ = writeln!(text, "{}", beside.nothing_compared());
    }
    if !beside.lines().is_empty() {
        let _ = writeln!(text, "\n{}:\n", beside.heading());
        beside.lines().iter().for_each(|line| {
            let _ = writeln!(text, "- {}", escaped(line));
        });
    }
    let _ = writeln!(text, "\n<sub>With {}.</sub>", beside.made.words());
    text
}

fn section(it: &Contrast, is_folded: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "### {}\n\n**{}**\n", escaped(&it.subject()), escaped(&it.verdict()));
    text += &markdown::table(&it.grid());
    if is_folded {
        text.push_str("<details><summary>Why</summary>\n\n");
    }
    for cause in it.causes() {
        let _ = writeln!(text, "{}:\n", cause.heading);
        for line in cause.lines {
            let _ = writeln!(text, "- {line}");
        }
        text.push('\n');
    }
    if is_folded {
        text.push_str("</details>\n\n");
    }
    for note in &it.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
