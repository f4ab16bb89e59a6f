//! What changes between policies as Markdown: for a review, and as the summary of a workflow run.

use std::fmt::Write as _;

use super::Contrast;
use crate::grid::markdown;

/// Returns what changes, with every cause in the open.
pub fn review(contrasts: &[Contrast]) -> String {
    contrasts.iter().map(|it| section(it, false)).collect::<Vec<_>>().join("\n")
}

/// Returns the same as the summary of a workflow run: numbers first, causes after a fold.
pub fn summary(contrasts: &[Contrast]) -> String {
    contrasts.iter().map(|it| section(it, true)).collect::<Vec<_>>().join("\n")
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
