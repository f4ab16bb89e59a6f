//! Draws what is wrong with inputs: the place, the line, a caret, and the fix.

use std::ops::Range;

use crate::catalog::Catalog;
use crate::cli::output;
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::foreign::{Foreign, line, lines};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// Prints an error to standard error.
pub(crate) fn error(catalog: &Catalog, error: &Error) {
    let problems = error.problems();
    self::problems(catalog, &problems);
    if problems.len() > 1 {
        output::tell(&format!("\n{} problems; nothing was run or written", problems.len()));
    }
}

/// Prints problems to standard error.
pub(crate) fn problems(catalog: &Catalog, problems: &[Diagnostic]) {
    told(catalog, problems, &Level::ERROR);
}

/// Prints what is no error to standard error.
pub(crate) fn warnings(catalog: &Catalog, warnings: &[Diagnostic]) {
    told(catalog, warnings, &Level::WARNING);
}

fn told(catalog: &Catalog, problems: &[Diagnostic], level: &Level<'_>) {
    let drawn: Vec<String> = problems.iter().map(|it| diagnostic(catalog, it, level)).collect();
    output::tell(&drawn.join("\n\n"));
}

/// Returns one problem as text.
fn diagnostic(catalog: &Catalog, problem: &Diagnostic, level: &Level<'_>) -> String {
    let place = &problem.place;
    let text = place.span.as_ref().and_then(|_| catalog.text_of(&place.file));
    let (path, field) = (Foreign(&place.file).to_string(), line(&place.field));
    let mut group = level
        .clone()
        .primary_title(lines(&problem.message))
        .id(problem.code.name())
        .elements([] as [Origin<'_>; 0]);
    match (&text, &place.span) {
        (Some(text), Some(span)) if text.get(span.clone()).is_some() => {
            let mark = AnnotationKind::Primary.span(first_line(text, span)).label(field);
            group = group.element(Snippet::source(text.as_ref()).path(path).annotation(mark));
        }
        _ if place.file.is_empty() => {}
        _ => {
            let field = if place.field.is_empty() { String::new() } else { format!(" {field}") };
            let at = place.line_column.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
            group = group.element(Origin::path(format!("{path}{at}{field}")));
        }
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(lines(help)));
    }
    let groups: [Group<'_>; 1] = [group];
    Renderer::styled().render(&groups)
}

/// Returns the part of a span on its first line.
fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let end = text[span.clone()].find('\n').map_or(span.end, |it| span.start + it);
    span.start..end
}
