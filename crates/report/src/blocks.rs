//! Paragraphs, tables and texts to paste, in one order for terminals and for Markdown.

use ctxsim_base::foreign::in_one_line;
use ctxsim_base::grid::markdown::Markdown;
use ctxsim_base::grid::prose::wrap;
use ctxsim_base::grid::{Grid, terminal};

/// A part of a page.
pub(super) enum PageBlock {
    Head(String),
    /// A paragraph.
    Text(String),
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

/// Writes blocks for a terminal.
pub(super) fn on_terminal(blocks: &[PageBlock], width: Option<usize>) -> String {
    let mut text = String::new();
    for (nth, block) in blocks.iter().enumerate() {
        match block {
            PageBlock::Head(head) => {
                text.push_str(if nth == 0 { "" } else { "\n" });
                wrap(&in_one_line(head), "", width, &mut text);
            }
            PageBlock::Text(words) => wrap(&in_one_line(words), "", width, &mut text),
            PageBlock::Table(grid) => {
                let title = if grid.title.is_empty() { String::new() } else { format!("{}\n", grid.title) };
                text += &format!("\n{title}{}\n\n", terminal::draw_with_note(grid, width));
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
            PageBlock::Text(words) => text.paragraph(words),
            PageBlock::Table(grid) => {
                text.table(grid);
                text.end();
            }
            PageBlock::Code(code) => text.code(code),
        }
    }
    text.ended()
}
