//! Sentences as paragraphs of a terminal.

/// Writes a paragraph after a mark, its further lines indented as far.
pub(super) fn wrap(paragraph: &str, mark: &str, width: Option<usize>, text: &mut String) {
    let width = width.unwrap_or(usize::MAX);
    let indent = " ".repeat(mark.chars().count());
    let mut column = indent.len();
    text.push_str(mark);
    for (index, word) in paragraph.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && column.saturating_add(length + 1) > width {
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
