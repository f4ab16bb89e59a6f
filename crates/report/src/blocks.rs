//! Paragraphs, tables and texts to paste, in one order for terminals and for Markdown.

use ctxsim_base::foreign::in_one_line;
use ctxsim_base::grid::markdown::Markdown;
use ctxsim_base::grid::tint::{Terminal, Tint};
use ctxsim_base::grid::{Grid, terminal};

/// A part of a page.
pub(super) enum PageBlock {
    /// What is read first.
    Answer(String),
    Head(String),
    /// A paragraph.
    Text(String),
    /// What may be skipped.
    Aside(String),
    Table(Grid),
    /// A text to copy as it is.
    Code(String),
}

impl PageBlock {
    /// Makes a paragraph.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// Writes blocks for a terminal, a gap behind each table.
pub(super) fn on_terminal(blocks: &[PageBlock], gap: &str, on: Terminal) -> String {
    let mut text = String::new();
    for (nth, block) in blocks.iter().enumerate() {
        match block {
            PageBlock::Head(head) => {
                text.push_str(if nth == 0 { "" } else { "\n" });
                on.paragraph(Tint::Strong, "", &in_one_line(head), &mut text);
            }
            PageBlock::Answer(words) => on.paragraph(Tint::Strong, "", &in_one_line(words), &mut text),
            PageBlock::Text(words) => on.paragraph(Tint::Plain, "", &in_one_line(words), &mut text),
            PageBlock::Aside(_) if on.is_quiet => {}
            PageBlock::Aside(words) => on.paragraph(Tint::Faint, "", &in_one_line(words), &mut text),
            PageBlock::Table(grid) => {
                text.push('\n');
                if !grid.title.is_empty() {
                    on.paragraph(Tint::Strong, "", &grid.title, &mut text);
                }
                text += &format!("{}\n{gap}", terminal::draw_with_note(grid, on));
            }
            PageBlock::Code(code) => {
                text.push('\n');
                code.lines().for_each(|it| text += &format!("    {it}\n"));
                text.push('\n');
            }
        }
    }
    text
}

/// Writes blocks as Markdown.
pub(super) fn in_markdown(blocks: &[PageBlock]) -> Markdown {
    let mut text = Markdown::default();
    for it in blocks {
        match it {
            PageBlock::Head(head) => text.heading(2, head),
            PageBlock::Answer(words) | PageBlock::Text(words) | PageBlock::Aside(words) => {
                text.paragraph(words);
            }
            PageBlock::Table(grid) => {
                text.table(grid);
                text.end();
            }
            PageBlock::Code(code) => text.code(code),
        }
    }
    text.ended()
}
