//! A first screen as a page.

use super::table::{blocks, closing, dollars, read, shown_parts, whose_dollars};
use super::{AgentLever, BillPart, FirstScreen};
use crate::blocks::PageBlock;
use crate::chart::days::BillByDay;
use crate::chart::waterfall::{WaterKind, WaterStep, Waterfall};
use crate::chart::{PageChart, figure};
use crate::lever::Word;
use crate::page::{Card, Page, PagePart, PagePiece};
use crate::template;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::month::Basis;

/// Returns a screen as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &FirstScreen) -> Result<String, template::Error> {
    let (tables, texts): (Vec<PageBlock>, Vec<PageBlock>) =
        blocks(it, it.levers.len()).into_iter().partition(|it| matches!(it, PageBlock::Table(_)));
    // What was read is what the page is about.
    let texts = texts.into_iter().skip(1).chain(closing(it)).map(PagePiece::from);
    let figures: Vec<PageChart> = by_day(it).into_iter().chain(waterfall(it)).listed();
    let page = Page {
        command: "screen",
        title: "What your sessions cost".to_owned(),
        about: read(it),
        answers: vec![Card { number: dollars(it.month.usd), what: whose_dollars(it), ..Card::default() }],
        rests_on: Vec::new(),
        parts: vec![
            PagePart::picture(PagePiece::charts(figures)),
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

/// Draws what the bill is made of, and what is left of it with the lever that is advised, where both are of a month.
fn waterfall(it: &FirstScreen) -> Option<PageChart> {
    let is_month = it.month.of != Basis::AllSessions;
    let part = |(it, usd): (&super::MonthPart, f64)| WaterStep {
        name: short(it.part).to_owned(),
        usd,
        is: WaterKind::Part,
    };
    let total = |name: &str, usd| WaterStep { name: name.to_owned(), usd, is: WaterKind::Total };
    let usd = it.month.usd.usd();
    let mut steps = shown_parts(it).into_iter().map(part).listed();
    steps.push(total(if is_month { "your bill of a month" } else { "your bill" }, usd));
    // What is advised, else the largest saving that is the reader's to choose.
    let of = |words: &[Word]| {
        let is_of = |it: &&AgentLever| {
            it.lever.word.is_some_and(|it| words.contains(&it)) && it.lever.saved_month > Some(0.0)
        };
        it.levers.iter().filter(|_| is_month).find(is_of)
    };
    let best = of(&[Word::Do]).or_else(|| of(&[Word::YourCall, Word::Try]));
    if let Some((lever, saved)) = best.and_then(|it| Some((&it.lever, it.lever.saved_month?))) {
        let word = lever.word.map_or_else(String::new, |it| format!("{}: ", it.text()));
        steps.push(WaterStep { name: word + &lever.title, usd: -saved, is: WaterKind::Change });
        steps.push(total("what would be left", usd - saved));
    }
    let title = "Where the bill goes, and what one change would leave of it";
    let title = if best.is_some() { title } else { "Where the bill goes" };
    let chart = Waterfall { title: title.to_owned(), subject: "at list prices".to_owned(), steps };
    (usd > 0.0).then(|| figure("waterfall", &chart))
}
