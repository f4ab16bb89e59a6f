//! Sentences as paragraphs of a terminal.

use crate::foreign::in_lines;
use crate::quantity::or_unlimited;

/// Writes a paragraph after a mark, its further lines indented as far. It keeps the lines that the paragraph already has, and none of its codes.
pub fn wrap(paragraph: &str, mark: &str, width: Option<usize>, text: &mut String) {
    wrap_painted(&in_lines(paragraph), mark, width, text);
}

/// Writes the same of a paragraph with words that we painted.
pub(super) fn wrap_painted(paragraph: &str, mark: &str, width: Option<usize>, text: &mut String) {
    let width = or_unlimited(width);
    let indent = " ".repeat(super::width_of(mark));
    let mut column = indent.len();
    text.push_str(mark);
    let lines = paragraph.split('\n').enumerate();
    let words = lines.flat_map(|(line, text)| {
        text.split_whitespace().enumerate().map(move |(nth, word)| (line > 0 && nth == 0, word))
    });
    for (index, (begins_line, word)) in words.enumerate() {
        let length = super::width_of(word);
        if index > 0 && (begins_line || column.saturating_add(length + 1) > width) {
            text.push('\n');
            text.push_str(&indent);
            column = indent.len();
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}

/// Writes paragraphs, each after the same mark.
pub fn wrap_all(
    paragraphs: impl IntoIterator<Item = impl AsRef<str>>,
    mark: &str,
    width: Option<usize>,
    text: &mut String,
) {
    paragraphs.into_iter().for_each(|it| wrap(it.as_ref(), mark, width, text));
}
