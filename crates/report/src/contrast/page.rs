//! What changes between policies, as a page.

use super::{Beside, Contrast, ContrastNumber};
use crate::blocks::Block;
use crate::chart::figure;
use crate::chart::forest::{Forest, ForestLine};
use crate::chart::names::PolicyLabels;
use crate::chart::requests;
use crate::html::{cost_verdict, of_costs};
use crate::page::{Card, Page, PagePart, PagePiece, Tone, parts};
use crate::prelude::*;
use crate::sampled::Sampled;
use crate::sections::OWN;
use crate::{metric, template};
use ctxsim_engine::measure::Standing;

/// The most comparisons whose requests are drawn.
const MOST_TRACED: usize = 3;

/// Returns all comparisons as a page.
///
/// # Errors
/// What the template says.
pub fn page(contrasts: &[Contrast], beside: &Beside) -> Result<String, template::Error> {
    let is_several = contrasts.len() > 1;
    let answer = |it: &Contrast| Card { of: is_several.then(|| it.subject()), ..answer(it) };
    let title = match contrasts {
        [] => "No comparison".to_owned(),
        [only] => format!("{} against {}", only.candidate, only.base),
        all => counted(all.len(), "comparison"),
    };
    let blocks = |contrast: &Contrast| {
        let table = Block::Table(Grid { title: contrast.subject(), ..contrast.grid() });
        let subject = is_several.then(|| Block::Text(contrast.subject()));
        let causes = contrast.causes().into_iter().map(Block::List);
        std::iter::once(table).chain(subject).chain(causes).listed()
    };
    let beside_policies = Block::list(&beside.heading(), beside.lines());
    let figures = contrasts.iter().zip(1..).flat_map(|(contrast, nth)| {
        let forest = forest(contrast);
        let changes = (!forest.lines.is_empty()).then(|| figure(&format!("change-{nth}"), &forest));
        let names = PolicyLabels::named(&[&contrast.base, &contrast.candidate]);
        let bars = requests::of_traces(&contrast.traces, &names, &BTreeSet::new());
        // Of many comparisons each has its own page.
        let bars = bars.first().filter(|_| nth <= MOST_TRACED);
        bars.map(|it| figure(&format!("requests-{nth}"), it)).into_iter().chain(changes)
    });
    let notes = contrasts.iter().flat_map(|it| it.notes.clone()).listed();
    let mut parts = parts(figures.listed(), contrasts.iter().flat_map(blocks).chain(beside_policies));
    parts.push(PagePart::assumptions(PagePiece::list("Notes", notes)));
    let made = format!("With {}.", beside.made.words());
    let page = Page {
        command: "compare",
        title,
        about: if is_several {
            String::new()
        } else {
            contrasts.first().map(Contrast::subject).unwrap_or_default()
        },
        answers: match contrasts {
            [] => vec![Card {
                number: "No comparison".to_owned(),
                what: beside.nothing_compared(),
                ..Card::default()
            }],
            all => all.iter().map(answer).listed(),
        },
        rests_on: contrasts.iter().flat_map(rests_on).chain([made]).listed(),
        parts,
    };
    page.write()
}

fn answer(contrast: &Contrast) -> Card {
    let cost = contrast.number(&format!("totals.{}", metric::COST));
    let (number, what) = cost.map_or_else(
        || ("No verdict".to_owned(), String::new()),
        |cost| match cost.delta.relative {
            Some(relative) => {
                let usd = [cost.delta.candidate, cost.delta.base];
                (cost_verdict(relative, true).0, format!("{}, ", of_costs(usd)))
            }
            None => ("Same".to_owned(), String::new()),
        },
    );
    let what = format!("{what}with {} instead of {}", contrast.candidate, contrast.base);
    let sure = cost.and_then(relative).map(|ends| format!("95% interval {}%", interval(ends)));
    let tone = cost.map_or(Tone::Plain, |it| tone(it.delta.standing));
    Card { number, what, sure, words: vec![contrast.verdict()], tone, ..Card::default() }
}

/// Says what a comparison rests on.
fn rests_on(contrast: &Contrast) -> Vec<String> {
    let pairs = match contrast.are_trials {
        true => counted(contrast.pairs, "paired trial"),
        false => counted(contrast.pairs, "paired session"),
    };
    let assumed = contrast.cost_change_assumed.map(|[low, high]| {
        format!("Over what is assumed, the cost differs by {} to {} (95%).", signed(low), signed(high))
    });
    let joint = if contrast.profile == OWN { "," } else { " under" };
    std::iter::once(format!("{pairs}{joint} {} (prices of {}).", contrast.profile, contrast.as_of))
        .chain(assumed)
        .listed()
}

/// Returns the interval of a change as shares of the base's number; of a share, that of the difference.
fn relative(number: &ContrastNumber) -> Option<[f64; 2]> {
    let base = if number.is_share() { 1.0 } else { number.delta.base.abs() };
    number.delta.interval.filter(|_| base > 0.0).map(|ends| ends.map(|it| it / base))
}

fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Better => Tone::Better,
        Standing::Worse => Tone::Worse,
        Standing::Same | Standing::WithinNoise | Standing::Differs => Tone::Plain,
    }
}

/// Draws every number of the candidate against the base's.
fn forest(contrast: &Contrast) -> Forest {
    let decimals = contrast.decimals();
    let line = |number: &ContrastNumber| {
        let is_points = number.is_share();
        let change = if is_points { Some(number.delta.difference) } else { number.delta.relative };
        Some(ForestLine {
            name: number.heading.clone(),
            change: change.filter(|it| it.abs() > 0.0)?,
            interval: relative(number),
            interval_over: Sampled::Sessions,
            is_points,
            says: [number.delta.base, number.delta.candidate]
                .map(|it| number.written(it, decimals))
                .join(" → "),
            tone: tone(number.delta.standing),
        })
    };
    Forest {
        title: "Before and after".to_owned(),
        subject: contrast.subject(),
        base: contrast.base.clone(),
        of: "number",
        lines: contrast.numbers.iter().filter_map(line).listed(),
    }
}
