//! Advice as a page: what a month saves, the settings that were tried, and what to paste.

use super::table::{dollars, groups, words};
use super::{Advice, AgentAdvice, Candidate};
use crate::blocks::PageBlock;
use crate::chart::forest::{Forest, ForestLine};
use crate::chart::{PageChart, figure};
use crate::page::{Card, Page, PagePart, PagePiece, Tone, kept};
use crate::template;
use crate::tune::SplitBy;
use ctxsim_base::grid::numbers::{interval, listed_code, signed};
use ctxsim_base::list::Listed as _;

/// Returns advice as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &Advice) -> Result<String, template::Error> {
    let is_several = it.agents.len() > 1;
    let answer = |it: &AgentAdvice| Card { of: is_several.then(|| it.agent.clone()), ..answer(it) };
    let figures = it.agents.iter().zip(1..).filter_map(|(it, nth)| forest(it, nth));
    let (tables, texts): (Vec<PageBlock>, Vec<PageBlock>) =
        super::table::blocks(it, true).into_iter().partition(|it| matches!(it, PageBlock::Table(_)));
    let names: Vec<&str> = it.agents.iter().map(|it| it.agent.as_str()).listed();
    let page = Page {
        command: "advise",
        title: format!(
            "Settings of {}",
            if names.is_empty() { "no known agent".to_owned() } else { names.join(", ") }
        ),
        about: it.agents.iter().map(words).listed().join(" "),
        answers: it.agents.iter().map(answer).listed(),
        rests_on: it.agents.iter().flat_map(rests_on).listed(),
        parts: vec![
            PagePart::picture(PagePiece::pictures(figures.listed())),
            PagePart::tables(tables.into_iter().map(PagePiece::from).listed()),
            PagePart::causes(texts.into_iter().map(PagePiece::from).listed()),
        ],
    };
    page.write()
}

fn sure(it: &Candidate) -> Option<String> {
    let change = it.change.map_or_else(String::new, signed);
    it.interval.map(|it| format!("{change}, 95% interval {}%", interval(it)))
}

fn answer(it: &AgentAdvice) -> Card {
    match &it.advised {
        Some(best) => Card {
            number: best.saved_month.map_or_else(|| "Change".to_owned(), dollars),
            what: format!("a month is saved by changing {}", listed_code(&best.set)),
            sure: sure(best),
            words: it.paste.first().map(|it| format!("Put this into {}:", it.at)).into_iter().listed(),
            code: it.paste.first().map(|it| it.text.clone()),
            tone: Tone::Better,
            ..Card::default()
        },
        None => Card {
            number: "Keep what you have".to_owned(),
            what: it.reason.as_ref().map_or_else(String::new, |it| format!("Nothing is advised: {it}.")),
            words: it
                .rejected
                .iter()
                .map(|it| {
                    format!(
                        "The best that was rejected is {}: {}.",
                        listed_code(&it.set),
                        sure(it).unwrap_or_default()
                    )
                })
                .listed(),
            ..Card::default()
        },
    }
}

/// Says how what is advised, or was rejected last, did on each part of the sessions.
fn rests_on(it: &AgentAdvice) -> Vec<String> {
    let Some(best) = it.advised.as_ref().or(it.rejected.as_ref()) else { return Vec::new() };
    let of = |names: [&str; 2], parts: &[crate::tune::TunePart]| {
        let words = |(name, it): (&&str, &crate::tune::TunePart)| {
            let limits = it.limits_words().map_or_else(String::new, |it| format!(" Limits: {it}."));
            format!("{name} ({}): {}.{limits}", it.sessions, it.words())
        };
        names.iter().zip(parts).map(words).listed()
    };
    let names = match it.split {
        Some(SplitBy::Project) => ["Some projects", "Projects held out"],
        _ => ["Older sessions", "Newer sessions, held out"],
    };
    let by_time = of(names, &best.by_time);
    let by_project = of(["All sessions", "Each project held out in turn"], &best.by_project);
    let cautions = (!best.cautions.is_empty())
        .then(|| format!("Of the sessions held out: {}.", best.cautions.join("; ")));
    by_time.into_iter().chain(by_project).chain(cautions).listed()
}

/// Draws what was tried against what is in force.
fn forest(it: &AgentAdvice, nth: usize) -> Option<PageChart> {
    let line = |group: &&[Candidate]| {
        let it = &group[0];
        let saved = it.saved_month.map_or_else(String::new, |it| format!("{} a month, ", dollars(it)));
        Some(ForestLine::of_cost(
            it.set.join(", "),
            it.change?,
            it.interval,
            format!("{saved}{}", kept(it.evidence_kept)),
        ))
    };
    let lines: Vec<ForestLine> = groups(it).iter().filter_map(line).listed();
    let forest = Forest {
        title: "What each setting saves".to_owned(),
        subject: it.agent.clone(),
        base: "what is in force".to_owned(),
        of: "setting",
        lines,
    };
    (!forest.lines.is_empty()).then(|| figure(&format!("settings-{nth}"), &forest))
}
