//! One design for all pages: the verdict, the picture that carries it, the tables, the causes, what is assumed.
//!
//! A command fills the slots of a [`Page`]; only the template knows how they look.

use super::blocks::Block;
use super::chart::{self, PageChart};
use super::template;
use crate::prelude::*;
use ctxsim_base::grid::{self, Column};

/// Sorts, filters, and joins points with rows; a page is complete without it.
const SCRIPT: &str = include_str!("page/page.js");
/// The digest of the script by which a page allows it, and nothing else, to run.
const SCRIPT_SHA256: &str = "DnzBbaBT7YiXuuTVo7fY5pnPNDeq5rj82HK90FeX8Wk=";
/// A table of more rows scrolls in a window of its own.
const TALL: usize = 30;
/// The most rows that stand one under the other on a narrow screen; a longer table scrolls.
const MOST_CARDS: usize = 60;
/// How a page looks, apart from its charts.
const STYLE: &str = include_str!("page/page.css");

#[derive(Debug, Default, Serialize)]
pub(super) struct Page {
    /// The command that made it.
    pub(super) command: &'static str,
    pub(super) title: String,
    /// What it is about, in a sentence.
    pub(super) about: String,
    /// The verdicts, the most important first.
    pub(super) answers: Vec<Card>,
    /// What the verdicts rest on.
    pub(super) rests_on: Vec<String>,
    /// What follows, in reading order.
    pub(super) parts: Vec<PagePart>,
}

/// A verdict: one number or a few words in large type, and what they mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Card {
    /// What it is about, where there are several.
    pub(super) of: Option<String>,
    /// The number, or the word.
    pub(super) number: String,
    /// What it is a number of.
    pub(super) what: String,
    pub(super) sure: Option<String>,
    /// Everything in sentences.
    pub(super) words: Vec<String>,
    /// What to paste.
    pub(super) code: Option<String>,
    /// How it may be taken.
    pub(super) tone: Tone,
}

/// How a verdict may be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Nothing to do, or not known.
    #[default]
    Plain,
    /// For the better, and sure.
    Better,
    Worse,
}

/// A part of a page under a heading.
#[derive(Debug, Serialize)]
pub(super) struct PagePart {
    /// In small letters also its id.
    heading: &'static str,
    pieces: Vec<PagePiece>,
}

/// What a part is made of.
#[derive(Debug, Serialize)]
#[serde(tag = "is", content = "it", rename_all = "snake_case")]
pub(super) enum PagePiece {
    Head(String),
    /// A paragraph.
    Text(String),
    /// A list of sentences.
    List(Vec<String>),
    /// A text to copy as it is.
    Code(String),
    Table(PageTable),
    /// A picture with its numbers beside it.
    Lead(Box<PagePicture>),
    /// Pictures side by side.
    Charts(Vec<PagePicture>),
    /// What is opened by those who look for it.
    Fold {
        heading: String,
        pieces: Vec<PagePiece>,
    },
}

/// A table whose rows can be pointed at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct PageTable {
    id: String,
    /// What it shows.
    title: String,
    columns: Vec<Column>,
    rows: Vec<PageRow>,
    /// Whether some row has a command.
    has_commands: bool,
    /// The column of bars, which are drawn, if there is one.
    bars: Option<usize>,
    /// Whether each row becomes a card on a narrow screen.
    has_cards: bool,
    /// Whether it has a window of its own.
    is_tall: bool,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct PageRow {
    id: String,
    cells: Vec<String>,
    note: Option<String>,
    /// The command that looks into it.
    command: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct PagePicture {
    #[serde(flatten)]
    figure: PageChart,
    /// Its numbers.
    numbers: PageTable,
    svg: String,
}

/// Returns the share of evidence that something keeps, in words; nothing where it is not known.
pub(super) fn evidence_kept_text(share: Option<f64>) -> String {
    share.map_or_else(String::new, |it| format!("{} kept", percent(it)))
}

impl PagePart {
    pub(super) fn new(heading: &'static str, pieces: Vec<PagePiece>) -> Self {
        Self { heading, pieces }
    }
}

impl PagePiece {
    pub(super) fn table(grid: Grid) -> Self {
        Self::Table(PageTable::new(grid, |_| None))
    }

    /// Lists sentences under a heading, if it has words, and if there are any.
    pub(super) fn list(heading: &str, lines: Vec<String>) -> Vec<Self> {
        let head = Some(heading).filter(|it| !it.is_empty() && !lines.is_empty());
        let list = (!lines.is_empty()).then_some(Self::List(lines));
        head.map(|words| Self::Head(words.to_owned())).into_iter().chain(list).listed()
    }

    /// Pictures: one with its numbers beside it, several side by side.
    pub(super) fn pictures(mut figures: Vec<PageChart>) -> Vec<Self> {
        match figures.len() {
            1 => figures.pop().map(|it| Self::Lead(Box::new(PagePicture::new(it)))).into_iter().listed(),
            _ => Self::charts(figures),
        }
    }

    /// Folds pieces away under a heading, if there are any.
    pub(super) fn fold(heading: impl Into<String>, pieces: Vec<Self>) -> Vec<Self> {
        if pieces.is_empty() { Vec::new() } else { vec![Self::Fold { heading: heading.into(), pieces }] }
    }

    /// Pictures side by side.
    pub(super) fn charts(figures: Vec<PageChart>) -> Vec<Self> {
        let pictures = figures.into_iter().map(PagePicture::new).listed();
        if pictures.is_empty() { Vec::new() } else { vec![Self::Charts(pictures)] }
    }

    fn unfolded_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Fold { pieces, .. } => pieces.iter_mut().flat_map(Self::unfolded_mut).listed(),
            own => vec![own],
        }
    }

    /// Lays a block out.
    fn from_block(block: Block) -> Vec<Self> {
        let text = |words: String| vec![Self::Text(on_one_line(words))];
        match block {
            Block::Head(words) => vec![Self::Head(on_one_line(words))],
            Block::Checked(check) | Block::Part(check) => text(check.words),
            Block::Answer(words) | Block::Text(words) | Block::Aside(words) | Block::Made(words) => {
                text(words)
            }
            Block::Verdict(words) => text(words.concat()),
            Block::Facts(lines) | Block::Marked(_, _, lines) => vec![Self::List(lines)],
            Block::Guards(guards) => Self::list(&guards.heading, [guards.failed, guards.held].concat()),
            Block::Measured(measured) => vec![Self::table(measured.narrow)],
            Block::Sketch(_) | Block::More(_) => Vec::new(),
            Block::Compared(it) => vec![Self::table(Grid { title: it.subject, ..it.numbers })],
            Block::List(list) => Self::list(&list.heading, list.lines),
            Block::Notes(notes) => Self::list("Notes", notes),
            Block::Table(grid) => vec![Self::table(grid)],
            Block::Code(text) => vec![Self::Code(text)],
            Block::Passed { passed, .. } => Self::from_block(Block::Fold("What passed", passed)),
            Block::Fold(heading, blocks) => {
                Self::fold(heading, blocks.into_iter().flat_map(Self::from_block).listed())
            }
        }
    }
}

/// Lays the parts of a page out: pictures, the tables of blocks, and what else they say.
pub(super) fn page_parts(figures: Vec<PageChart>, blocks: impl IntoIterator<Item = Block>) -> Vec<PagePart> {
    let pieces = blocks.into_iter().flat_map(PagePiece::from_block);
    let (tables, said) = pieces.partition(|piece| matches!(piece, PagePiece::Table(_)));
    vec![
        PagePart::new("Picture", PagePiece::pictures(figures)),
        PagePart::new("Tables", tables),
        PagePart::new("Causes", said),
    ]
}

/// Returns a text as one line, as terminals show cells and paragraphs.
fn on_one_line(text: String) -> String {
    if text.contains(char::is_control) { in_one_line(&text).into_owned() } else { text }
}

impl PageTable {
    /// Makes a table with the command that looks into each row, by the row's first cell.
    pub(super) fn new(grid: Grid, command: impl Fn(&str) -> Option<String>) -> Self {
        let row = |row: grid::Row| PageRow {
            command: row.cells.first().and_then(|it| command(it)),
            cells: row.cells.into_iter().map(on_one_line).listed(),
            note: row.note.map(on_one_line),
            id: String::new(),
        };
        let rows: Vec<PageRow> = grid.rows.into_iter().map(row).listed();
        let has_commands = rows.iter().any(|it| it.command.is_some());
        let mut columns = grid.columns;
        let is_bar = |at: &usize| {
            let mut cells = rows.iter().filter_map(|it| it.cells.get(*at)).filter(|it| !it.is_empty());
            cells.clone().next().is_some() && cells.all(|it| it.chars().all(|it| it == '█'))
        };
        let bars = (0..columns.len()).find(is_bar);
        if let Some(column) = bars.and_then(|it| columns.get_mut(it)).filter(|it| it.heading.is_empty()) {
            "of the largest".clone_into(&mut column.heading);
        }
        let has_cards = columns.len() > 3 && rows.len() <= MOST_CARDS;
        let is_tall = rows.len() > TALL;
        Self { id: String::new(), title: grid.title, columns, rows, has_commands, bars, has_cards, is_tall }
    }

    /// Names the table and its rows, so that they can be pointed at.
    fn set_ids(&mut self, id: String) {
        self.rows.iter_mut().zip(1..).for_each(|(row, nth)| row.id = format!("{id}-{nth}"));
        self.id = id;
    }
}

impl PagePicture {
    fn new(figure: PageChart) -> Self {
        Self { numbers: PageTable::new(figure.table.clone(), |_| None), svg: String::new(), figure }
    }

    /// Draws it: every point leads to its row in a table on the same subject, or in the numbers of the picture.
    fn draw_svg(&mut self, tables: &[PageTable]) -> Result<(), template::Error> {
        self.numbers.set_ids(format!("{}-numbers", self.figure.name));
        let on_subject = tables.iter().filter(|it| it.title.starts_with(&self.figure.subject));
        let rows: Vec<&PageRow> = on_subject.chain([&self.numbers]).flat_map(|it| &it.rows).listed();
        let is_called = |row: &PageRow, all: &[String]| row.cells.first().is_some_and(|it| all.contains(it));
        let href = |keys: &[String]| rows.iter().find(|it| is_called(it, keys)).map(|it| it.id.clone());
        self.svg = self.figure.to_svg(Some(&href))?;
        Ok(())
    }
}

impl Page {
    /// Writes the page.
    ///
    /// # Errors
    /// What the template says.
    pub(super) fn into_html(mut self) -> Result<String, template::Error> {
        #[derive(Serialize)]
        struct Filled<'a> {
            page: &'a Page,
            style: String,
            script: &'static str,
            script_sha256: &'static str,
        }
        self.parts.retain(|it| !it.pieces.is_empty());
        let pieces = self.parts.iter_mut().flat_map(|it| &mut it.pieces);
        let mut tables = Vec::new();
        let mut pictures = Vec::new();
        for piece in pieces.flat_map(PagePiece::unfolded_mut) {
            match piece {
                PagePiece::Table(table) => {
                    table.set_ids(format!("t{}", tables.len() + 1));
                    tables.push(table.clone());
                }
                PagePiece::Lead(it) => pictures.push(&mut **it),
                PagePiece::Charts(figures) => pictures.extend(figures),
                _ => {}
            }
        }
        pictures.into_iter().try_for_each(|it| it.draw_svg(&tables))?;
        let style = STYLE.to_owned() + &chart::chart_css()?;
        let filled = Filled { page: &self, style, script: SCRIPT, script_sha256: SCRIPT_SHA256 };
        let text = format!("{}{}", grid::html::TABLE, include_str!("page/page.html"));
        template::render_template("page.html", &text, filled)
    }
}
