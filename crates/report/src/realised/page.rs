//! A forecast and what became of it, as a page.

use super::table::{blocks, sentence};
use super::{ForecastOutcome, Realised};
use crate::advise::cents;
use crate::blocks::PageBlock;
use crate::page::{Card, Page, PagePart, PagePiece, Tone};
use crate::template;
use ctxsim_base::grid::numbers::{interval, listed_code, signed};
use ctxsim_base::list::Listed as _;

/// What the answer rests on.
const RESTS_ON: &str = "It is “as forecast” if the whole 95% interval is less than half of the forecast away from it, “less” or “more” if the \
     forecast is outside of it, and else “not yet”.";

/// Returns it as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &Realised) -> Result<String, template::Error> {
    let (tables, texts): (Vec<PageBlock>, Vec<PageBlock>) =
        blocks(it).into_iter().skip(1).partition(|it| matches!(it, PageBlock::Table(_)));
    let page = Page {
        command: "realised",
        title: format!("What became of {}", listed_code(&it.set)),
        about: format!("{}, {} later sessions.", it.agent, it.sessions),
        answers: vec![card(it)],
        rests_on: vec![RESTS_ON.to_owned()],
        parts: vec![
            PagePart::tables(tables.into_iter().map(PagePiece::from).listed()),
            PagePart::causes(texts.into_iter().map(PagePiece::from).listed()),
        ],
    };
    page.write()
}

fn card(it: &Realised) -> Card {
    let (number, tone) = match it.answer {
        ForecastOutcome::AsForecast => ("As forecast", Tone::Better),
        ForecastOutcome::More => ("More than forecast", Tone::Better),
        ForecastOutcome::Less => ("Less than forecast", Tone::Worse),
        ForecastOutcome::CannotTell => ("Not yet", Tone::Plain),
    };
    let saved = (it.sessions > 0).then(|| {
        format!("{} saved in these sessions ({})", cents(it.before_usd - it.billed_usd), signed(it.realised))
    });
    Card {
        number: number.to_owned(),
        what: saved.unwrap_or_else(|| "No later session has the change.".to_owned()),
        sure: it.interval.map(|it| format!("95% interval {}%", interval(it))),
        words: vec![sentence(it)],
        tone,
        ..Card::default()
    }
}
