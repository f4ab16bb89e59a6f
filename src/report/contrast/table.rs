//! What changes between policies, for a terminal.

use std::fmt::Write as _;

use super::Contrast;
use super::lines::HEADINGS;
use crate::report::fit::{Column, draw};
use crate::report::prose::wrap;

/// The order in which columns are hidden: the relative difference first, then the absolute one.
const LEAVES: [Option<u8>; 7] = [None, None, None, Some(2), Some(1), None, None];

/// Returns all comparisons as text.
#[must_use]
pub fn comparisons(contrasts: &[Contrast], width: Option<usize>) -> String {
    contrasts.iter().map(|it| comparison(it, width)).collect::<Vec<_>>().join("\n")
}

fn comparison(it: &Contrast, width: Option<usize>) -> String {
    let mut text = String::new();
    wrap(&it.subject(), "", width, &mut text);
    let last = HEADINGS.len() - 1;
    let columns = HEADINGS.iter().zip(LEAVES).enumerate();
    let columns: Vec<Column> =
        columns.map(|(nth, (heading, leaves))| Column::new(heading, leaves).left(nth == last)).collect();
    let rows: Vec<Vec<String>> = it.rows().into_iter().map(Vec::from).collect();
    let drawn = draw(&columns, &rows, &vec![None; rows.len()], width);
    let _ = writeln!(text, "{}\n", drawn.text);
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
    for note in &it.notes {
        wrap(note, "Note: ", width, &mut text);
    }
    wrap(&it.verdict(), "Verdict: ", width, &mut text);
    text
}
