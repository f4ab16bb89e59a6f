//! What changes between policies, for a terminal.

use super::lines::CauseLines;
use super::{Beside, Contrast};
use ctxsim_base::grid::terminal::draw_with_note;
use ctxsim_base::grid::tint::{Terminal, Tint};
use ctxsim_base::list::Listed as _;

/// The most notes, unless details are asked for.
const NOTES: usize = 3;

/// The causes of a difference.
const CAUSES: usize = 7;

/// Returns all comparisons as text.
pub fn comparisons(
    contrasts: &[Contrast],
    beside: &Beside,
    is_detailed: bool,
    on: impl Into<Terminal>,
) -> String {
    let on = on.into();
    let drawn = |on: Terminal, n_causes| {
        let mut text = String::new();
        beside.loads.iter().for_each(|it| on.paragraph(Tint::Plain, "", it, &mut text));
        text += &contrasts.iter().map(|it| comparison(it, is_detailed, n_causes, on)).listed().join("\n");
        if contrasts.is_empty() {
            on.paragraph(Tint::Strong, "", &beside.nothing_compared(), &mut text);
        }
        if !beside.lines().is_empty() {
            text += &format!("{}{}:\n", if contrasts.is_empty() { "" } else { "\n" }, beside.heading());
            on.paragraphs(Tint::Plain, "  - ", beside.lines(), &mut text);
        }
        on.paragraph(Tint::Faint, "", &format!("With {}.", beside.made.words()), &mut text);
        text
    };
    if is_detailed { drawn(on, CAUSES) } else { on.fitted(0..=CAUSES, drawn) }
}

/// Writes what is better and worse, the numbers, and so many of the causes of the difference.
fn comparison(it: &Contrast, is_detailed: bool, n_causes: usize, on: Terminal) -> String {
    let mut text = String::new();
    let [answer, more] = it.verdict_parts();
    on.answer(&answer, &more, &mut text);
    text.push('\n');
    on.paragraph(Tint::Strong, "", &it.subject(), &mut text);
    text += &format!("{}\n\n", draw_with_note(&it.grid(), on));
    let causes = it.causes();
    causes.iter().take(n_causes).for_each(|it| cause(it, is_detailed, on, &mut text));
    if !on.is_quiet {
        let shown = if is_detailed { it.notes.len() } else { NOTES };
        on.paragraphs(Tint::Faint, "Note: ", it.notes.iter().take(shown), &mut text);
        let is_cut = n_causes < causes.len() || causes.iter().any(|it| it.lines.len() > it.n_brief);
        if !is_detailed && (is_cut || it.notes.len() > shown) {
            on.paragraph(
                Tint::Faint,
                "More: ",
                "--details for every change, and the requests and needs that change most.",
                &mut text,
            );
        }
    }
    text
}

/// Writes a cause: its first lines, unless all are asked for.
fn cause(it: &CauseLines, is_detailed: bool, on: Terminal, text: &mut String) {
    on.paragraph(Tint::Strong, "", it.heading, text);
    let n_shown = if is_detailed { it.lines.len() } else { it.lines.len().min(it.n_brief) };
    for line in it.lines.iter().take(n_shown) {
        // A command that is wrapped cannot be copied.
        match line.split_once(": `ctxsim ") {
            Some((front, command)) => {
                on.paragraph(Tint::Plain, "  - ", front, text);
                *text += &format!("    ctxsim {}\n", command.trim_end_matches('`'));
            }
            None => on.paragraph(Tint::Plain, "  - ", line, text),
        }
    }
    match it.lines.len() - n_shown {
        0 => {}
        n => on.paragraph(Tint::Faint, "  ", &format!("… and {n} more"), text),
    }
    if is_detailed {
        text.push('\n');
    }
}
