//! Explains errors in JSON texts, with their places and fixes.

use serde_json::error::Category;

use ctxsim_base::diag::{Code, Diagnostic};

/// Serde's names of value types, and readable ones.
const WORDS: [(&str, &str); 3] = [
    ("expected f64", "expected a number"),
    ("expected u64", "expected a whole number that is not negative"),
    ("expected u32", "expected a whole number that is not negative"),
];

/// Explains a JSON parser's error, with its place and a fix.
pub fn json_problem(text: &str, error: &serde_json::Error) -> Diagnostic {
    let whole = error.to_string();
    let message = whole.split(" at line ").next().unwrap_or(&whole);
    let message = match message.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected an object"),
        None => WORDS.iter().fold(message.to_owned(), |text, (from, to)| text.replace(from, to)),
    };
    let is_double = message.starts_with("duplicate field") || message.ends_with("occurs twice");
    let help = match (error.classify(), message.rsplit_once(", expected ")) {
        (Category::Eof, _) => "the file ends too early: write or download it again".to_owned(),
        _ if message.starts_with("recursion limit") => "nest at most 128 lists or objects".to_owned(),
        _ if is_double => "remove one of the two".to_owned(),
        _ if message.starts_with("missing field") => "add it".to_owned(),
        (Category::Data, Some((_, wanted))) => format!("write {wanted}"),
        _ => "write valid JSON: finite numbers, text and keys in double quotes, commas between values"
            .to_owned(),
    };
    let mut problem = Diagnostic::at(Code::Syntax, "", message).help(help);
    if error.line() > 0 {
        let (line, column) = (error.line(), error.column().max(1));
        let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let at = (start + column - 1).min(text.len());
        problem.place.line_column = Some((line, column));
        problem.place.span = text.is_char_boundary(at).then_some(at..at);
    }
    problem
}
