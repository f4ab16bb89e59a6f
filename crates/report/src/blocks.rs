//! What a verb says, as blocks in the order in which they are read, and the two writers of text that draw them: for a terminal and in Markdown.
//! Pages draw the same blocks (`page`).

use crate::prelude::*;
use ctxsim_base::grid::terminal;

/// What begins the words that say how to see more; on a terminal, their further lines are indented as far.
const MORE: &str = "More: ";

/// A part of what a verb says.
pub(super) enum Block {
    /// What is read first.
    Answer(String),
    /// An answer on one subject, and the numbers behind it.
    Compared(ComparedBlock),
    Head(String),
    /// What a check came to, in a line.
    Checked(CheckedBlock),
    /// One part of a check.
    Part(CheckedBlock),
    /// A paragraph.
    Text(String),
    /// What may be skipped.
    Aside(String),
    List(ListBlock),
    /// What else to know, a paragraph each.
    Notes(Vec<String>),
    Table(Grid),
    /// A text to copy as it is.
    Code(String),
    /// What is opened by those who look for it; terminals show it where it stands.
    Fold(&'static str, Vec<Block>),
    /// What all of it was made with.
    Made(String),
}

/// An answer on one subject, and the numbers behind it.
pub(super) struct ComparedBlock {
    pub(super) subject: String,
    pub(super) answer: String,
    /// What else there is to say.
    pub(super) more: String,
    pub(super) numbers: Grid,
}

/// Whether something holds, and what else there is to say of it, a paragraph each.
pub(super) struct CheckedBlock {
    pub(super) holds: bool,
    pub(super) words: String,
    pub(super) more: Vec<String>,
}

/// Sentences under a heading.
pub(super) struct ListBlock {
    pub(super) heading: String,
    pub(super) lines: Vec<String>,
    /// How many of them a terminal shows; without a number all, with space around.
    pub(super) most: Option<usize>,
}

impl Block {
    /// Makes a paragraph.
    pub(super) fn paragraph(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Lists sentences under a heading, if there are any.
    pub(super) fn list_if_any(heading: &str, lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self::List(ListBlock { heading: heading.to_owned(), lines, most: None }))
    }
}

/// Writes blocks for a terminal, a gap behind each table.
pub(super) fn draw_blocks(blocks: &[Block], gap: &str, terminal: Terminal) -> String {
    let mut text = String::new();
    for block in blocks {
        draw_block(block, gap, terminal, &mut text);
    }
    text
}

fn draw_block(block: &Block, gap: &str, terminal: Terminal, text: &mut String) {
    let is_first = text.is_empty();
    match block {
        Block::Head(head) => {
            text.push_str(if is_first { "" } else { "\n" });
            terminal.paragraph(Tint::Strong, "", &in_one_line(head), text);
        }
        Block::Answer(words) => terminal.paragraph(Tint::Strong, "", &in_one_line(words), text),
        Block::Checked(check) => terminal.paragraph(Tint::Strong, "", &check.words, text),
        Block::Part(CheckedBlock { holds, words, more }) => {
            let (tint, mark) = if *holds { (Tint::Good, "  ok   ") } else { (Tint::Bad, "  FAIL ") };
            wrap(words, &terminal.paint(tint, mark), terminal.width, text);
            terminal.paragraphs(Tint::Plain, "       ", more, text);
        }
        Block::Compared(ComparedBlock { subject, answer, more, numbers }) => {
            text.push_str(if is_first { "" } else { "\n" });
            terminal.answer(answer, more, text);
            text.push('\n');
            terminal.paragraph(Tint::Strong, "", subject, text);
            *text += &format!("{}\n\n", terminal::draw_with_note(numbers, terminal));
        }
        Block::Text(words) => terminal.paragraph(Tint::Plain, "", &in_one_line(words), text),
        Block::Aside(_) | Block::Notes(_) if terminal.is_quiet => {}
        Block::Aside(words) => {
            let words = in_one_line(words);
            let mark = if words.starts_with(MORE) { MORE } else { "" };
            terminal.paragraph(Tint::Faint, mark, &words[mark.len()..], text);
        }
        Block::Notes(notes) => terminal.paragraphs(Tint::Faint, "Note: ", notes, text),
        Block::List(list) => list.draw(terminal, text),
        Block::Table(grid) => {
            text.push_str(if text.ends_with("\n\n") { "" } else { "\n" });
            if !grid.title.is_empty() {
                terminal.paragraph(Tint::Strong, "", &grid.title, text);
            }
            *text += &format!("{}\n{gap}", terminal::draw_with_note(grid, terminal));
        }
        Block::Code(code) => {
            text.push('\n');
            code.lines().for_each(|line| *text += &format!("    {line}\n"));
            text.push('\n');
        }
        Block::Fold(_, blocks) => blocks.iter().for_each(|block| draw_block(block, gap, terminal, text)),
        Block::Made(words) => terminal.paragraph(Tint::Faint, "", words, text),
    }
}

impl ListBlock {
    fn draw(&self, terminal: Terminal, text: &mut String) {
        let is_whole = self.most.is_none();
        if is_whole && !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        terminal.paragraph(Tint::Strong, "", &self.heading, text);
        let (shown, rest) =
            self.lines.split_at(self.most.map_or(self.lines.len(), |most| most.min(self.lines.len())));
        for line in shown {
            // A command that is wrapped cannot be copied.
            match line.split_once(": `ctxsim ") {
                Some((front, command)) => {
                    terminal.paragraph(Tint::Plain, "  - ", front, text);
                    *text += &format!("    ctxsim {}\n", command.trim_end_matches('`'));
                }
                None => terminal.paragraph(Tint::Plain, "  - ", line, text),
            }
        }
        if !rest.is_empty() {
            terminal.paragraph(Tint::Faint, "  ", &format!("… and {} more", rest.len()), text);
        }
        text.push_str(if is_whole { "\n" } else { "" });
    }
}

/// Writes blocks as Markdown.
pub(super) fn blocks_to_markdown(blocks: &[Block]) -> Markdown {
    let mut text = Markdown::default();
    blocks.iter().for_each(|block| write_block_markdown(block, &mut text));
    text.ended()
}

fn write_block_markdown(block: &Block, text: &mut Markdown) {
    match block {
        Block::Head(head) => text.heading(2, head),
        Block::Answer(words) | Block::Text(words) | Block::Aside(words) => text.paragraph(words),
        Block::Checked(CheckedBlock { holds, words, .. }) => {
            text.heading(3, &format!("{} {words}", if *holds { "✅" } else { "❌" }));
        }
        Block::Part(CheckedBlock { holds, words, more }) => {
            let said = std::iter::once(words).chain(more).map(String::as_str).listed().join("\n");
            text.items([if *holds { said } else { format!("❌ {said}") }]);
        }
        Block::Compared(ComparedBlock { subject, answer, more, numbers }) => {
            text.heading(3, subject);
            text.strong(&format!("{answer}{more}"));
            text.table(numbers);
            text.end();
        }
        // In Markdown every heading of a list has its colon.
        Block::List(list) => text.list(list.heading.trim_end_matches(':'), &list.lines),
        Block::Notes(notes) => text.items(notes),
        Block::Table(grid) => {
            text.table(grid);
            text.end();
        }
        Block::Code(code) => text.code(code),
        Block::Fold(heading, blocks) => {
            text.folded(heading, |text| blocks.iter().for_each(|block| write_block_markdown(block, text)));
            text.end();
        }
        Block::Made(words) => text.small(words),
    }
}
