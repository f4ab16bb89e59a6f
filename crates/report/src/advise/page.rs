//! Advice as a page: what a month saves, the settings that were tried, and what to paste.

use super::bears;
use super::table::{asked_words, cents, dollar_range, why, words};
use super::{Advice, AgentAdvice};
use crate::blocks::PageBlock;
use crate::chart::forest::{Forest, ForestLine};
use crate::chart::{PageChart, figure};
use crate::lever::Lever;
use crate::page::{Card, Page, PagePart, PagePiece, Tone, kept};
use crate::template;
use ctxsim_base::list::Listed as _;

/// What all words rest on.
const RESTS_ON: &str = "Every setting and combination is tested on all sessions. Intervals hold for everything that was tried at once: over \
     sessions and blocks of time, and over what is assumed.";

/// The most settings of which the verdict says why they are not advised; the table has all.
const WHYS: usize = 3;

/// Says between which ends the bill of a month changes: what is saved is negative.
fn sure([low, high]: [f64; 2]) -> String {
    format!("95% interval {}", dollar_range([-high, -low]))
}

/// Returns advice as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &Advice) -> Result<String, template::Error> {
    let is_several = it.agents.len() > 1;
    let answer = |it: &AgentAdvice| Card { of: is_several.then(|| it.agent.clone()), ..answer(it) };
    let figures = it.agents.iter().zip(1..).filter_map(|(it, nth)| forest(it, nth));
    let (tables, texts): (Vec<PageBlock>, Vec<PageBlock>) = super::table::blocks(it, true, usize::MAX)
        .into_iter()
        .partition(|it| matches!(it, PageBlock::Table(_)));
    let names: Vec<&str> = it.agents.iter().map(|it| it.agent.as_str()).listed();
    let page = Page {
        command: "advise",
        title: format!(
            "Settings of {}",
            if names.is_empty() { "no known agent".to_owned() } else { names.join(", ") }
        ),
        about: it.agents.iter().map(words).listed().join(" "),
        answers: it.agents.iter().filter_map(asked).chain(it.agents.iter().map(answer)).listed(),
        rests_on: vec![RESTS_ON.to_owned()],
        parts: vec![
            PagePart::picture(PagePiece::pictures(figures.listed())),
            PagePart::tables(tables.into_iter().map(PagePiece::from).listed()),
            PagePart::causes(texts.into_iter().map(PagePiece::from).listed()),
        ],
    };
    page.write()
}

/// Says what the user asked for comes to.
fn asked(it: &AgentAdvice) -> Option<Card> {
    let (asked, lever) = it.asked()?;
    let word = lever.word.map_or_else(String::new, |it| format!(" ({})", it.text()));
    Some(Card {
        number: lever.saved_month.map_or_else(|| "Unknown".to_owned(), |it| cents(-it)),
        what: format!("a month with what you asked for: {}{word}", lever.title),
        sure: lever.saved_interval.map(sure),
        words: std::iter::once(asked_words(lever)).chain(bears::words(lever)).listed(),
        code: asked.paste.first().map(|it| it.text.clone()),
        ..Card::default()
    })
}

fn answer(it: &AgentAdvice) -> Card {
    let Some(best) = it.advised() else {
        let n = format!("{} settings and combinations", it.tried);
        return Card {
            number: "Nothing to paste".to_owned(),
            what: format!("Of {n}, none is certain enough to be called “do”."),
            words: it.best_levers().into_iter().filter_map(why).take(WHYS).listed(),
            ..Card::default()
        };
    };
    let pasted = it.paste.first().map(|it| format!("Put this into {}:", it.at));
    Card {
        number: best.saved_month.map_or_else(|| "Do this".to_owned(), |it| cents(-it)),
        what: format!("a month with this: {}", best.title),
        sure: best.saved_interval.map(sure),
        words: bears::words(best).into_iter().chain(pasted).listed(),
        code: it.paste.first().map(|it| it.text.clone()),
        tone: Tone::Better,
        ..Card::default()
    }
}

/// Draws what was tried against what is in force.
fn forest(it: &AgentAdvice, nth: usize) -> Option<PageChart> {
    let line = |it: &Lever| {
        let saved = it.saved_month.map(|it| format!("{} a month", cents(-it)));
        let word = it.word.map_or_else(String::new, |it| format!("{}: ", it.text()));
        Some(ForestLine::of_cost(
            format!("{word}{}", it.title),
            it.expected?,
            it.interval,
            saved.into_iter().chain(it.evidence_kept.map(|it| kept(Some(it)))).listed().join(", "),
        ))
    };
    let lines: Vec<ForestLine> = it.best_levers().into_iter().filter_map(line).listed();
    let forest = Forest {
        title: "What each setting saves".to_owned(),
        subject: it.agent.clone(),
        base: "the current settings".to_owned(),
        of: "setting",
        lines,
    };
    (!forest.lines.is_empty()).then(|| figure(&format!("settings-{nth}"), &forest))
}
