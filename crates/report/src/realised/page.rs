//! A forecast and what became of it, as a page.

use super::table::{blocks, sentence};
use super::{ForecastOutcome, Realised};
use crate::advise::cents;
use crate::blocks::PageBlock;
use crate::chart::forest::{Forest, ForestLine};
use crate::chart::{PageChart, figure};
use crate::page::{Card, Page, PagePart, PagePiece, Tone};
use crate::template;
use ctxsim_base::grid::numbers::{counted, interval, listed, signed};
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
        title: format!("What became of {}", listed(&it.set)),
        about: format!("{}, {} later sessions.", it.agent, it.sessions),
        answers: vec![card(it)],
        rests_on: vec![RESTS_ON.to_owned()],
        parts: vec![
            PagePart::picture(PagePiece::pictures(forest(it).into_iter().listed())),
            PagePart::tables(tables.into_iter().map(PagePiece::from).listed()),
            PagePart::causes(texts.into_iter().map(PagePiece::from).listed()),
        ],
    };
    page.write()
}

/// Draws what came about beside what was forecast.
fn forest(it: &Realised) -> Option<PageChart> {
    let line = |name: &str, change: f64, ends: Option<[f64; 2]>, note: String| {
        ForestLine::of_cost(name.to_owned(), change, ends, note)
    };
    let n = counted(usize::try_from(it.sessions).unwrap_or_default(), "later session");
    let forest = Forest {
        title: "What it changed".to_owned(),
        subject: it.agent.clone(),
        base: "the earlier settings".to_owned(),
        of: "change",
        lines: vec![
            line("came about", it.realised, it.interval, format!("in {n}")),
            line("forecast for these sessions", it.forecast, None, String::new()),
            line("forecast for the earlier ones", it.promised, None, String::new()),
        ],
    };
    (it.sessions > 0 && it.realised.is_finite()).then(|| figure("realised", &forest))
}

fn card(it: &Realised) -> Card {
    let (number, tone) = match it.answer {
        _ if !it.is_shown => ("No sign of the change", Tone::Plain),
        ForecastOutcome::AsForecast => ("As forecast", Tone::Better),
        ForecastOutcome::More => ("More than forecast", Tone::Better),
        ForecastOutcome::Less => ("Less than forecast", Tone::Worse),
        ForecastOutcome::CannotTell if it.more_sessions.is_none() => ("Cannot be told", Tone::Plain),
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
