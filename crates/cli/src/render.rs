//! Draws what is wrong with inputs: the place, the line, a caret, and the fix.

use crate::prelude::*;
use std::ops::Range;

use crate::output::DrawnProblem;
use crate::project::Project;
use annotate_snippets::{AnnotationKind, Level, Origin, Snippet};
use ctxsim_base::diag::Place;
use ctxsim_base::foreign::{Foreign, in_lines, in_one_line, printed};

/// The most problems that are drawn; the others are counted.
const DRAWN_MAX: usize = 100;

/// The longest line that is shown whole, in bytes.
const LINE_BYTES_MAX: usize = 2_000;

/// How much of a longer line is shown around what is wrong, in bytes.
const AROUND: usize = 60;

/// What is told of a problem in a file that is not the project's.
const FOREIGN: &str = "this file has a problem; it is outside the project, so its text is not shown";

/// Prints an error to standard error.
pub(super) fn print_error(catalog: &Catalog, error: &Error) {
    let problems = error.problems();
    self::print_problems(catalog, &problems);
    if problems.len() > 1 {
        let n_problems = thousands(problems.len() as u64);
        output::print_note(format_args!("\n{n_problems} problems; nothing was run or written"));
    }
}

/// Prints problems to standard error.
pub(super) fn print_problems(catalog: &Catalog, problems: &[Diagnostic]) {
    print_problems_at_level(catalog, problems, &Level::ERROR);
}

/// Prints what is no error to standard error.
pub(super) fn print_warnings(catalog: &Catalog, warnings: &[Diagnostic]) {
    print_problems_at_level(catalog, warnings, &Level::WARNING);
}

fn print_problems_at_level(catalog: &Catalog, problems: &[Diagnostic], level: &Level<'_>) {
    let problems = redact_foreign_files(problems.to_vec());
    let shown = problems.iter().take(DRAWN_MAX);
    output::print_problems_to_stderr(&shown.map(|it| draw_diagnostic(catalog, it, level)).listed());
    if problems.len() > DRAWN_MAX {
        output::print_note(format_args!("\n… and {} more", thousands((problems.len() - DRAWN_MAX) as u64)));
    }
}

/// Returns problems as they may be told: of a file outside the project that the command line does not name, nothing that stands in
/// it. A suite may name any file of whoever checks it, and logs are read by others.
pub(super) fn redact_foreign_files(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let told = problems.into_iter().map(|problem| {
        let path = Path::new(&problem.place.file);
        // What cannot be read tells nothing, and where outputs go is on the command line.
        if problem.code == Code("file") || !path.is_file() || Project::of_working_folder().may_show_text(path)
        {
            return problem;
        }
        let verb = if Format::from_path(path).is_some() { "validate" } else { "import" };
        let help = format!("`ctxsim {verb} {}` shows it", quoted(&problem.place.file));
        let place = Place { span: None, field: String::new(), ..problem.place };
        Diagnostic { message: FOREIGN.to_owned(), place, help: Some(help), ..problem }
    });
    told.listed()
}

/// Draws one problem.
fn draw_diagnostic(catalog: &Catalog, problem: &Diagnostic, level: &Level<'_>) -> DrawnProblem {
    let place = &problem.place;
    let text = place.span.as_ref().and_then(|_| catalog.text_of_file(&place.file));
    let (path, field) = (Foreign(&place.file).to_string(), in_one_line(&place.field));
    let title = level.clone().primary_title(printed(&problem.message)).id(problem.code.name());
    let mut group = title.elements([] as [Origin<'_>; 0]);
    match (&text, &place.span) {
        (Some(text), Some(span)) if text.get(span.clone()).is_some() => {
            let shown = ShownLine::from_span(text, span);
            let mark = AnnotationKind::Primary.span(shown.span.clone()).label(field);
            let snippet = Snippet::source(shown.text.clone()).line_start(shown.number).annotation(mark);
            group = match place.line_column.filter(|_| shown.is_cut) {
                // The column is that of the whole line.
                Some((number, column)) => {
                    group.element(Origin::path(path).line(number).char_column(column)).element(snippet)
                }
                None => group.element(snippet.path(path)),
            };
        }
        _ if place.file.is_empty() => {}
        _ => {
            let field = if place.field.is_empty() { String::new() } else { format!(" {field}") };
            let at = place.line_column.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
            group = group.element(Origin::path(format!("{path}{at}{field}")));
        }
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(printed(help)));
    }
    DrawnProblem::from_group(group)
}

/// The line on which a span begins, alone: what draws it goes through all of a text.
struct ShownLine {
    /// Its number, from 1.
    number: usize,
    /// Its text, or of a long one what is around the span.
    text: String,
    /// The part of the span on it.
    span: Range<usize>,
    is_cut: bool,
}

/// Returns the last beginning of a character up to a place.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default()
}

impl ShownLine {
    fn from_span(text: &str, span: &Range<usize>) -> Self {
        // Behind the last end of a line there is nothing to see: what is missing there is missing behind the line above.
        let is_behind = span.start == text.len() && text.ends_with('\n');
        let begin = text[..span.start - usize::from(is_behind)].rfind('\n').map_or(0, |it| it + 1);
        let end = text[span.start..].find('\n').map_or(text.len(), |it| span.start + it);
        let number = text[..begin].matches('\n').count() + 1;
        let (mut shown, mut marked) = (begin..end, span.start..span.end.min(end));
        let is_cut = end - begin > LINE_BYTES_MAX;
        if is_cut {
            marked.end = floor_char_boundary(text, marked.end.min(marked.start + AROUND));
            shown.start = floor_char_boundary(text, marked.start.saturating_sub(AROUND)).max(begin);
            shown.end = floor_char_boundary(text, marked.end + AROUND).min(end);
        }
        let front = if shown.start > begin { "…" } else { "" };
        let rest = if shown.end < end { "…" } else { "" };
        // Signs are longer than the characters that they stand for.
        let mut line = format!("{front}{}", in_lines(&text[shown.start..marked.start]));
        let start = line.len();
        line += &in_lines(&text[marked.clone()]);
        let span = start..line.len();
        line += &format!("{}{rest}", in_lines(&text[marked.end..shown.end]));
        Self { number, text: line, span, is_cut }
    }
}
