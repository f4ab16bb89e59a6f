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
    /// What is read first, and behind it what else there is to say.
    Verdict([String; 2]),
    /// An answer on one subject, and the numbers behind it.
    Compared(ComparedBlock),
    Head(String),
    /// What a check came to, in a line.
    Checked(CheckedBlock),
    /// One part of a check.
    Part(CheckedBlock),
    /// A paragraph.
    Text(String),
    /// Paragraphs on one matter, with space around them.
    Facts(Vec<String>),
    /// What may be skipped.
    Aside(String),
    List(ListBlock),
    /// What else to know, a paragraph each.
    Notes(Vec<String>),
    /// Paragraphs that begin with what they are.
    Marked(&'static str, Tint, Vec<String>),
    Table(Grid),
    Measured(MeasuredBlock),
    Guards(GuardsBlock),
    /// A sketch of characters, which only a terminal shows.
    Sketch(String),
    /// A text to copy as it is.
    Code(String),
    /// What is opened by those who look for it; terminals show it where it stands.
    Fold(&'static str, Vec<Block>),
    /// The parts of a check that passed, folded; beside what failed, a terminal says how many.
    Passed {
        passed: Vec<Block>,
        brief: Option<Box<Block>>,
    },
    /// What all of it was made with.
    Made(String),
    /// What a terminal leaves out, and how to see it; nothing where all is there.
    More(Option<Vec<String>>),
}

/// A table that can be written with shorter numbers and names, and a sentence on the rows that it leaves out.
pub(super) struct MeasuredBlock {
    pub(super) whole: Grid,
    /// The same for a terminal: with short names, and with short numbers, too, where it is narrow.
    pub(super) wide: Grid,
    pub(super) narrow: Grid,
    pub(super) others: Option<String>,
}

/// Guards that failed and that hold, in words.
pub(super) struct GuardsBlock {
    pub(super) heading: String,
    pub(super) failed: Vec<String>,
    pub(super) held: Vec<String>,
}

/// An answer on one subject, and the numbers behind it.
pub(super) struct ComparedBlock {
    pub(super) subject: String,
    pub(super) answer: String,
    /// What else there is to say.
    pub(super) more: String,
    /// What moves it most, a sentence each.
    pub(super) causes: Vec<String>,
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
    let tells_hidden = !blocks.iter().any(|block| matches!(block, Block::More(_)));
    let mut drawing = Drawing { gap, terminal, text: String::new(), hidden: Vec::new(), tells_hidden };
    blocks.iter().for_each(|block| drawing.draw(block));
    drawing.text
}

/// What is drawn on a terminal.
struct Drawing<'g> {
    /// What stands behind each table.
    gap: &'g str,
    terminal: Terminal,
    text: String,
    /// The headings of columns that had no room.
    hidden: Vec<String>,
    /// Whether each table says what it hides; else one sentence does, at the end.
    tells_hidden: bool,
}

impl Drawing<'_> {
    fn draw(&mut self, block: &Block) {
        let terminal = self.terminal;
        match block {
            Block::Head(head) => {
                self.text.push_str(if self.text.is_empty() { "" } else { "\n" });
                self.paragraph(Tint::Strong, "", &in_one_line(head));
            }
            Block::Verdict([answer, more]) => terminal.answer(answer, more, &mut self.text),
            Block::Answer(words) => self.paragraph(Tint::Strong, "", &in_one_line(words)),
            Block::Checked(check) => self.paragraph(Tint::Strong, "", &check.words),
            Block::Part(CheckedBlock { holds, words, more }) => {
                let (tint, mark) = if *holds { (Tint::Good, "  ok   ") } else { (Tint::Bad, "  FAIL ") };
                wrap(words, &terminal.paint(tint, mark), terminal.width, &mut self.text);
                self.paragraphs(Tint::Plain, "       ", more);
            }
            Block::Compared(compared) => self.comparison(compared),
            Block::Text(words) => self.paragraph(Tint::Plain, "", &in_one_line(words)),
            Block::Facts(facts) => {
                self.leave_blank_line();
                self.paragraphs(Tint::Plain, "", facts);
                self.leave_blank_line();
            }
            Block::Aside(_) | Block::Notes(_) | Block::More(_) if terminal.is_quiet => {}
            Block::Aside(words) => {
                let words = in_one_line(words);
                let mark = if words.starts_with(MORE) { MORE } else { "" };
                self.paragraph(Tint::Faint, mark, &words[mark.len()..]);
            }
            Block::Notes(notes) => self.paragraphs(Tint::Faint, "Note: ", notes),
            Block::Marked(mark, tint, lines) => self.paragraphs(*tint, mark, lines),
            Block::List(list) => self.list(list),
            Block::Table(grid) => {
                self.text.push_str(if self.text.ends_with("\n\n") { "" } else { "\n" });
                self.paragraphs(Tint::Strong, "", Some(&grid.title).filter(|title| !title.is_empty()));
                self.table(grid);
                self.text.push_str(self.gap);
            }
            Block::Measured(MeasuredBlock { wide, narrow, others, .. }) => {
                self.leave_blank_line();
                self.paragraph(Tint::Strong, "", &wide.title);
                self.table(if terminal::fits(wide, terminal.width) { wide } else { narrow });
                self.paragraphs(Tint::Faint, "", others);
                self.leave_blank_line();
            }
            Block::Guards(GuardsBlock { heading, failed, held }) => {
                self.paragraph(Tint::Strong, "", &format!("{heading}:"));
                self.paragraphs(Tint::Bad, "  ", failed);
                self.paragraphs(Tint::Plain, "  ", held);
                self.leave_blank_line();
            }
            Block::Sketch(sketch) => {
                self.text.push_str(sketch);
                self.leave_blank_line();
            }
            Block::Code(code) => {
                self.text.push('\n');
                code.lines().for_each(|line| self.text += &format!("    {line}\n"));
                self.text.push('\n');
            }
            Block::Fold(_, blocks) => blocks.iter().for_each(|block| self.draw(block)),
            Block::Passed { brief: Some(brief), .. } => self.draw(brief),
            Block::Passed { passed, brief: None } => passed.iter().for_each(|block| self.draw(block)),
            Block::Made(words) => self.paragraph(Tint::Faint, "", words),
            Block::More(left_out) => self.draw_more_hint(left_out.as_deref()),
        }
    }

    fn comparison(&mut self, compared: &ComparedBlock) {
        let ComparedBlock { subject, answer, more, causes, numbers } = compared;
        self.text.push_str(if self.text.is_empty() { "" } else { "\n" });
        self.terminal.answer(answer, more, &mut self.text);
        self.paragraphs(Tint::Plain, "  - ", causes);
        self.text.push('\n');
        self.paragraph(Tint::Strong, "", subject);
        self.table(numbers);
        self.text.push('\n');
    }

    fn paragraph(&mut self, tint: Tint, mark: &str, words: &str) {
        self.terminal.paragraph(tint, mark, words, &mut self.text);
    }

    fn paragraphs(&mut self, tint: Tint, mark: &str, all: impl IntoIterator<Item = impl AsRef<str>>) {
        self.terminal.paragraphs(tint, mark, all, &mut self.text);
    }

    /// Leaves one line empty, unless nothing is above it.
    fn leave_blank_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn table(&mut self, grid: &Grid) {
        if self.tells_hidden {
            self.text += &terminal::draw_with_note(grid, self.terminal);
        } else {
            let drawn = terminal::draw(grid, self.terminal);
            self.hidden.extend(drawn.hidden);
            self.text += &drawn.text;
        }
        self.text.push('\n');
    }

    fn list(&mut self, list: &ListBlock) {
        let is_whole = list.most.is_none();
        if is_whole {
            self.leave_blank_line();
        }
        self.paragraph(Tint::Strong, "", &list.heading);
        let (shown, rest) =
            list.lines.split_at(list.most.map_or(list.lines.len(), |most| most.min(list.lines.len())));
        for line in shown {
            // A command that is wrapped cannot be copied.
            match line.split_once(": `ctxsim ") {
                Some((front, command)) => {
                    self.paragraph(Tint::Plain, "  - ", front);
                    self.text += &format!("    ctxsim {}\n", command.trim_end_matches('`'));
                }
                None => self.paragraph(Tint::Plain, "  - ", line),
            }
        }
        if !rest.is_empty() {
            self.paragraph(Tint::Faint, "  ", &format!("… and {} more", rest.len()));
        }
        self.text.push_str(if is_whole { "\n" } else { "" });
    }

    /// Says how to see what is left out, columns that had no room too; without a list all is there, and columns are named.
    fn draw_more_hint(&mut self, left_out: Option<&[String]>) {
        let hidden = std::mem::take(&mut self.hidden);
        let n = super::distinct(hidden.iter()).len();
        let words = match left_out {
            None => {
                self.paragraphs(Tint::Faint, "Note: ", terminal::hidden_note(hidden));
                let rows = "--rows requests for each request, --format json for each field";
                format!("--columns for other numbers, {rows}.")
            }
            Some(parts) => {
                let fit = || format!("--columns or --width for {} that did not fit", counted(n, "column"));
                let others = if n > 0 { fit() } else { "--columns for other numbers".to_owned() };
                format!("--details for {}; {others}.", listed(parts))
            }
        };
        self.paragraph(Tint::Faint, MORE, &words);
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
        Block::Verdict([answer, more]) => text.paragraph(&format!("{answer}{more}")),
        Block::Facts(facts) => facts.iter().for_each(|fact| text.paragraph(fact)),
        Block::Marked(mark, _, lines) => {
            lines.iter().for_each(|line| text.paragraph(&format!("{mark}{line}")));
        }
        Block::Measured(MeasuredBlock { whole, others, .. }) => {
            text.table(whole);
            others.iter().for_each(|words| text.paragraph(words));
        }
        Block::Guards(GuardsBlock { heading, failed, held }) => {
            text.strong(heading);
            text.items(failed.iter().map(|line| format!("❌ {line}")).chain(held.iter().cloned()));
        }
        Block::Sketch(_) | Block::More(_) => {}
        Block::Checked(CheckedBlock { holds, words, .. }) => {
            text.heading(3, &format!("{} {words}", if *holds { "✅" } else { "❌" }));
        }
        Block::Part(CheckedBlock { holds, words, more }) => {
            let said = std::iter::once(words).chain(more).map(String::as_str).listed().join("\n");
            text.items([if *holds { said } else { format!("❌ {said}") }]);
        }
        Block::Compared(ComparedBlock { subject, answer, more, causes, numbers }) => {
            text.heading(3, subject);
            text.strong(answer);
            if !more.is_empty() {
                text.paragraph(more.trim_start());
            }
            text.items(causes);
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
        Block::Passed { passed, .. } => write_folded_markdown("What passed", passed, text),
        Block::Fold(heading, blocks) => write_folded_markdown(heading, blocks, text),
        Block::Made(words) => text.small(words),
    }
}

fn write_folded_markdown(heading: &'static str, blocks: &[Block], text: &mut Markdown) {
    text.folded(heading, |text| blocks.iter().for_each(|block| write_block_markdown(block, text)));
    text.end();
}
