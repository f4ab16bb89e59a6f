//! A first screen as a page.

use super::FirstScreen;
use super::table::{blocks, closing, dollars, read, whose_dollars};
use crate::blocks::PageBlock;
use crate::page::{Card, Page, PagePart, PagePiece};
use crate::template;
use ctxsim_base::list::Listed as _;

/// Returns a screen as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &FirstScreen) -> Result<String, template::Error> {
    let (tables, texts): (Vec<PageBlock>, Vec<PageBlock>) =
        blocks(it, it.levers.len()).into_iter().partition(|it| matches!(it, PageBlock::Table(_)));
    // What was read is what the page is about.
    let texts = texts.into_iter().skip(1).chain(closing(it)).map(PagePiece::from);
    let page = Page {
        command: "screen",
        title: "What your sessions cost".to_owned(),
        about: read(it),
        answers: vec![Card { number: dollars(it.month.usd), what: whose_dollars(it), ..Card::default() }],
        rests_on: Vec::new(),
        parts: vec![
            PagePart::tables(tables.into_iter().map(PagePiece::from).listed()),
            PagePart::causes(texts.listed()),
        ],
    };
    page.write()
}
