//! Problems in input files, each with a place, a code and a fix.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// What kind of problem it is, whatever the words: a stable name in kebab case, written out where the problem is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Code(pub &'static str);

impl Code {
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A problem in an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    /// What is wrong: a lowercase fragment.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The fix.
    pub help: Option<String>,
}

/// Where a problem is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file's path or name; empty if the problem is not in a file.
    pub file: String,
    /// The field path inside the file, `stages.history.until`; empty for the whole file.
    pub field: String,
    /// The bytes of the file.
    pub span: Option<Range<usize>>,
    /// Line and column of the first byte, from 1.
    pub line_column: Option<(usize, usize)>,
}

impl Diagnostic {
    /// Reports a problem of a field; `input::input::Source::locate` finds its place in the text.
    pub fn at(code: Code, field: impl Into<String>, message: impl Into<String>) -> Self {
        let place = Place { field: field.into(), ..Place::default() };
        Self { code, message: message.into(), place, help: None }
    }

    /// Adds the fix.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says in which file the problem is, or which option or value in code stands for one.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.place.file = file.into();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.file.is_empty() {
            write!(f, "{}", self.place.file)?;
            if let Some((line, column)) = self.place.line_column {
                write!(f, ":{line}:{column}")?;
            }
            f.write_str(": ")?;
        }
        if !self.place.field.is_empty() {
            write!(f, "`{}`: ", self.place.field)?;
        }
        write!(f, "{} [{}]", self.message, self.code)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// The most problems of one input that are kept: whoever mends them checks it again.
const PROBLEMS_MAX: usize = 1_000;

/// A collection of problems, so that one run reports all of them, up to a thousand.
#[derive(Debug, Default)]
pub struct Problems {
    path: Vec<String>,
    found: Vec<Diagnostic>,
}

impl Problems {
    /// Returns whether nothing was reported yet.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Runs a check one level deeper in the field path.
    pub fn within<T>(&mut self, field: impl fmt::Display, check: impl FnOnce(&mut Self) -> T) -> T {
        self.enter(&field);
        let result = check(self);
        self.path.pop();
        result
    }

    /// Runs a check of each element of a field's list, two levels deeper.
    pub fn within_each<'t, T>(&mut self, field: &str, all: &'t [T], mut check: impl FnMut(&'t T, &mut Self)) {
        for (index, it) in all.iter().enumerate() {
            self.within(format_args!("{field}.{index}"), |to| check(it, to));
        }
    }

    /// Goes one level deeper; compiled once, and not for each kind of check.
    fn enter(&mut self, field: &dyn fmt::Display) {
        self.path.push(field.to_string());
    }

    /// Runs a check of something declared at another field path, from the root.
    pub fn elsewhere<T>(&mut self, field: impl fmt::Display, check: impl FnOnce(&mut Self) -> T) -> T {
        let path = std::mem::replace(&mut self.path, vec![field.to_string()]);
        let result = check(self);
        self.path = path;
        result
    }

    /// Reports a problem of the current field, but only once.
    pub fn push(&mut self, code: Code, message: impl Into<String>, help: impl Into<String>) {
        if self.found.len() >= PROBLEMS_MAX {
            return;
        }
        let problem = Diagnostic::at(code, self.path.join("."), message).help(help);
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// Reports a problem of a field one level deeper.
    pub fn push_at(
        &mut self,
        code: Code,
        field: impl fmt::Display,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.within(field, |problems| problems.push(code, message, help));
    }

    /// Reports a number of a field one level deeper if it is out of its range.
    pub fn check_range(&mut self, code: Code, field: impl fmt::Display, value: u64, [first, last]: [u64; 2]) {
        if !(first..=last).contains(&value) {
            let help = format!("write a number from {first} to {last}");
            self.push_at(code, field, format!("{value} is out of range"), help);
        }
    }

    /// Reports a share of a field one level deeper if it is none.
    pub fn check_share(&mut self, field: impl fmt::Display, value: f64) {
        if !(0.0..=1.0).contains(&value) {
            let help = "write a number from 0.0 to 1.0";
            self.push_at(Code("probability-range"), field, "a share must be from 0 to 1", help);
        }
    }

    /// Returns the value if there are no problems.
    ///
    /// # Errors
    /// Every problem found so far.
    pub fn into_result<T>(self, value: T) -> Result<T, Vec<Diagnostic>> {
        if self.found.is_empty() { Ok(value) } else { Err(self.found) }
    }
}

/// Returns what helps with a wrong name: the nearest known one, or else something else.
pub fn near_or<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(wrong, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// Returns the known name nearest to a wrong one, if it is near enough.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wrong.chars().count() / 3).max(1);
    let ranked = known.into_iter().map(|it| (edit_distance(wrong, it), it));
    ranked.filter(|(distance, _)| *distance <= limit).min().map(|(_, it)| it)
}

/// Returns the Levenshtein distance in characters; swapping two neighbours is one edit.
fn edit_distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, from) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, to) in right.iter().enumerate() {
            let substituted = row[j] + usize::from(from != to);
            let mut distance = substituted.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *from == right[j - 1] && left[i - 1] == *to {
                distance = distance.min(before[j - 1] + 1);
            }
            next.push(distance);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        let known = ["threshold", "target", "active"];

        assert_eq!(nearest("treshold", known), Some("threshold"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest("rnu", ["list", "run"]), Some("run"));
        assert_eq!(nearest("json", ["ron", "toml"]), None, "half of a short word is too much");
    }
}
