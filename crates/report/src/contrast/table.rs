//! What changes between policies, for a terminal.

use std::fmt::Write as _;

use super::{Beside, Contrast};
use ctxsim_base::grid::prose::{wrap, wrap_all};
use ctxsim_base::grid::terminal::draw_with_note;
use ctxsim_base::list::Listed as _;

/// Returns all comparisons as text.
pub fn comparisons(contrasts: &[Contrast], beside: &Beside, width: Option<usize>) -> String {
    let mut text = contrasts.iter().map(|it| comparison(it, width)).listed().join("\n");
    if contrasts.is_empty() {
        wrap(&beside.nothing_compared(), "", width, &mut text);
    }
    if !beside.lines().is_empty() {
        let _ = writeln!(text, "{}{}:", if contrasts.is_empty() { "" } else { "\n" }, beside.heading());
        wrap_all(beside.lines(), "  - ", width, &mut text);
    }
    wrap(&format!("With {}.", beside.made.words()), "", width, &mut text);
    text
}

fn comparison(it: &Contrast, width: Option<usize>) -> String {
    let mut text = String::new();
    wrap(&it.subject(), "", width, &mut text);
    let _ = writeln!(text, "{}\n", draw_with_note(&it.grid(), width));
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
