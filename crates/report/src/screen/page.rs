//! A first screen as a page.

use super::table::{blocks, closing, dollars, read, whose_dollars};
use super::{BillPart, FirstScreen};
use crate::blocks::PageBlock;
use crate::chart::days::BillByDay;
use crate::chart::{PageChart, figure};
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
            PagePart::picture(PagePiece::pictures(by_day(it).into_iter().listed())),
            PagePart::tables(tables.into_iter().map(PagePiece::from).listed()),
            PagePart::causes(texts.listed()),
        ],
    };
    page.write()
}

/// What a part is called where there is little room.
fn short(part: BillPart) -> &'static str {
    match part {
        BillPart::History => "history (cache reads)",
        BillPart::New => "new content",
        BillPart::AfterPauses => "again after pauses",
        BillPart::AfterOtherMisses => "again after other misses",
        BillPart::Answers => "answers",
        BillPart::Other => "compaction, branches",
    }
}

/// Draws the bill by day, where logs tell of more than one.
fn by_day(it: &FirstScreen) -> Option<PageChart> {
    let parts = |it: &super::PartCosts| BillPart::ALL.map(|part| it.of(part).usd()).to_vec();
    let chart = BillByDay {
        subject: "at list prices".to_owned(),
        parts: BillPart::ALL.map(short).to_vec(),
        days: it.days.iter().map(|(day, costs)| (*day, parts(costs))).collect(),
    };
    (chart.days.len() > 1).then(|| figure("days", &chart))
}
