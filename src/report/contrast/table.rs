//! What changes between policies, for a terminal.

use std::fmt::Write as _;

use super::Contrast;
use crate::grid::prose::{wrap, wrap_all};
use crate::grid::terminal::noted;

/// Returns all comparisons as text.
pub fn comparisons(contrasts: &[Contrast], width: Option<usize>) -> String {
    contrasts.iter().map(|it| comparison(it, width)).collect::<Vec<_>>().join("\n")
}

fn comparison(it: &Contrast, width: Option<usize>) -> String {
    let mut text = String::new();
    wrap(&it.subject(), "", width, &mut text);
    let _ = writeln!(text, "{}\n", noted(&it.grid(), width));
    for cause in it.causes() {
        let _ = writeln!(text, "{}:", cause.heading);
        for line in cause.lines {
            // A command that is wrapped cannot be copied.
            match line.split_once(": `ctxsim ") {
                Some((front, command)) => {
                    wrap(front, "  - ", width, &mut text);
                    let _ = writeln!(text, "    ctxsim {}", command.trim_end_matches('`'));
                }
                None => wrap(&line, "  - ", width, &mut text),
            }
        }
        text.push('\n');
    }
    wrap_all(&it.notes, "Note: ", width, &mut text);
    wrap(&it.verdict(), "Verdict: ", width, &mut text);
    text
}
