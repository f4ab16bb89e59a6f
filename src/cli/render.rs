//! Draws what is wrong with inputs: the place, the line, a caret, and the fix.

use std::ops::Range;
use std::path::Path;

use crate::catalog::Catalog;
use crate::cli::project::Project;
use crate::diag::{Code, Diagnostic, Place};
use crate::error::Error;
use crate::grid::shell::quoted;
use crate::input::Format;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// What is told of a problem in a file that is not the project's.
const FOREIGN: &str = "this file has a problem; it is outside the project, so its text is not shown";

/// Prints an error to standard error.
pub(crate) fn error(catalog: &Catalog, error: &Error) {
    let problems = error.problems();
    self::problems(catalog, &problems);
    if problems.len() > 1 {
        anstream::eprintln!("\n{} problems; nothing was run or written", problems.len());
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
    let problems = tellable(problems.to_vec());
    let drawn: Vec<String> = problems.iter().map(|it| diagnostic(catalog, it, level)).collect();
    anstream::eprintln!("{}", drawn.join("\n\n"));
}

/// Returns problems as they may be told: of a file outside the project that the command line does not name, nothing that stands in
/// it. A suite may name any file of whoever checks it, and logs are read by others.
pub(crate) fn tellable(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let told = problems.into_iter().map(|problem| {
        let path = Path::new(&problem.place.file);
        // What cannot be read tells nothing, and where outputs go is on the command line.
        if problem.code == Code::File || !path.is_file() || Project::here().shows(path) {
            return problem;
        }
        let verb = if Format::of(path).is_some() { "validate" } else { "import" };
        let help = format!("`ctxsim {verb} {}` shows it", quoted(&problem.place.file));
        let place = Place { span: None, field: String::new(), ..problem.place };
        Diagnostic { message: FOREIGN.to_owned(), place, help: Some(help), ..problem }
    });
    told.collect()
}

/// Returns one problem as text.
fn diagnostic(catalog: &Catalog, problem: &Diagnostic, level: &Level<'_>) -> String {
    let place = &problem.place;
    let text = place.span.as_ref().and_then(|_| catalog.text_of(&place.file));
    let mut group = level
        .clone()
        .primary_title(problem.message.as_str())
        .id(problem.code.name())
        .elements([] as [Origin<'_>; 0]);
    match (&text, &place.span) {
        (Some(text), Some(span)) if text.get(span.clone()).is_some() => {
            let mark = AnnotationKind::Primary.span(first_line(text, span)).label(place.field.as_str());
            group = group.element(Snippet::source(text.as_ref()).path(place.file.as_str()).annotation(mark));
        }
        _ if place.file.is_empty() => {}
        _ => {
            let field = if place.field.is_empty() { String::new() } else { format!(" {}", place.field) };
            let at = place.line_column.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
            group = group.element(Origin::path(format!("{}{at}{field}", place.file)));
        }
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let groups: [Group<'_>; 1] = [group];
    Renderer::styled().render(&groups)
}

/// Returns the part of a span on its first line.
fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let end = text[span.clone()].find('\n').map_or(span.end, |it| span.start + it);
    span.start..end
}
