//! Commands of a GitHub runner, which obeys what stands at the beginning of a line of either output: one writer, and what keeps others from it.

use std::borrow::Cow;

use super::{in_lines, in_one_line};

/// What a command begins with, after any blanks.
const COMMAND: &str = "::";
/// What a command of the older form begins with, wherever it stands in a line.
pub(super) const OLD_COMMAND: &str = "##[";

/// Returns the command that annotates a line of a file with an error.
pub fn error(file: &str, line_column: Option<(usize, usize)>, title: &str, message: &str) -> String {
    annotation("error", (file, line_column), title, message)
}

/// Returns the command that annotates a file with a warning.
pub fn warning(file: &str, title: &str, message: &str) -> String {
    annotation("warning", (file, None), title, message)
}

/// Returns a command that annotates a line of a file.
fn annotation(
    level: &'static str,
    (file, line_column): (&str, Option<(usize, usize)>),
    title: &str,
    message: &str,
) -> String {
    let at = line_column.map_or(String::new(), |(line, column)| format!(",line={line},col={column}"));
    format!("::{level} file={}{at},title={}::{}", property(file), property(title), data(&in_lines(message)))
}

/// Returns a message as a command takes it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a property as a command takes it.
fn property(text: &str) -> String {
    data(&in_one_line(text)).replace(':', "%3A").replace(',', "%2C")
}

/// Returns text that is no command: other signs stand for those that begin one.
pub fn disarmed(text: &str) -> Cow<'_, str> {
    spelt(text, ":\u{2236}", "##\u{ff3b}").map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns text with what begins a command, of today's and of the older form, spelt in another way; nothing if it has none.
pub(super) fn spelt(text: &str, command: &str, old_command: &str) -> Option<String> {
    let is_command = |it: &str| it.trim_start().starts_with(COMMAND);
    if !(text.contains(OLD_COMMAND) || text.contains(COMMAND) && text.lines().any(is_command)) {
        return None;
    }
    let text = text.replace(OLD_COMMAND, old_command);
    let spelt = |it: &str| if is_command(it) { it.replacen(COMMAND, command, 1) } else { it.to_owned() };
    Some(text.split_inclusive('\n').map(spelt).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_where_it_is_meant_to() {
        let told = error("a:b,c\n%.toml", Some((1, 2)), "t::x", "50% of\n::error::y");

        assert_eq!(
            told,
            "::error file=a%3Ab%2Cc\u{240a}%25.toml,line=1,col=2,title=t%3A%3Ax::50%25 of%0A::error::y"
        );
    }

    #[test]
    fn text_gives_no_command_and_colons_within_a_line_stay() {
        let text = "std::env\n  ::error::pwn\n::add-mask::x\na ##[group]b\n";

        let shown = disarmed(text);

        let is_command = |it: &str| it.trim_start().starts_with(COMMAND) || it.contains(OLD_COMMAND);
        assert!(
            !shown.lines().any(is_command) && shown.starts_with("std::env\n") && shown.lines().count() == 4
        );
        assert!(matches!(disarmed("std::env"), Cow::Borrowed(_)));
    }
}
