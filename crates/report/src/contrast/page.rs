//! What changes between policies, as a page.

use super::{ComparisonContext, Contrast, ContrastNumber};
use crate::blocks::Block;
use crate::chart::draw_chart;
use crate::chart::forest::{ForestLine, ForestPlot};
use crate::chart::names::PolicyLabels;
use crate::chart::requests;
use crate::html::{cost_change_text_and_tone, own_cost_instead_of_other};
use crate::page::{Card, Page, PagePart, PagePiece, Tone, page_parts};
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
pub fn render_contrasts_page(
    contrasts: &[Contrast],
    context: &ComparisonContext,
) -> Result<String, template::Error> {
    let is_several = contrasts.len() > 1;
    let answer = |it: &Contrast| Card { of: is_several.then(|| it.describe_subject()), ..contrast_card(it) };
    let title = match contrasts {
        [] => "No comparison".to_owned(),
        [only] => format!("{} against {}", only.candidate, only.base),
        all => counted(all.len(), "comparison"),
    };
    let what = context.explain_no_comparison();
    let none = contrasts.is_empty().then(|| Card { number: title.clone(), what, ..Card::default() });
    let blocks = |contrast: &Contrast| {
        let table = Block::Table(Grid { title: contrast.describe_subject(), ..contrast.numbers_grid() });
        let subject = is_several.then(|| Block::Text(contrast.describe_subject()));
        let parts = contrast.cost_parts_grid().map(Block::Table);
        let causes = contrast.cause_blocks().into_iter().map(Block::List);
        std::iter::once(table).chain(parts).chain(subject).chain(causes).listed()
    };
    let beside = Block::list_if_any(&context.changed_inputs_heading(), context.changed_input_lines());
    let figures = contrasts.iter().zip(1..).flat_map(|(contrast, nth)| {
        let forest = contrast_forest_plot(contrast);
        let changes = (!forest.lines.is_empty()).then(|| draw_chart(&format!("change-{nth}"), &forest));
        let names = PolicyLabels::from_names(&[&contrast.base, &contrast.candidate]);
        let bars = requests::request_charts_by_load(&contrast.traces, &names, &BTreeSet::new());
        // Of many comparisons each has its own page.
        let bars = bars.first().filter(|_| nth <= MOST_TRACED);
        bars.map(|it| draw_chart(&format!("requests-{nth}"), it)).into_iter().chain(changes)
    });
    let notes = contrasts.iter().flat_map(|it| it.notes.clone()).listed();
    let mut parts = page_parts(figures.listed(), contrasts.iter().flat_map(blocks).chain(beside));
    parts.push(PagePart::new("Assumptions", PagePiece::list("Notes", notes)));
    let made = format!("With {}.", context.made.summary_line());
    let page = Page {
        command: "compare",
        title,
        about: or_nothing(contrasts.first().filter(|_| !is_several), Contrast::describe_subject),
        answers: contrasts.iter().map(answer).chain(none).listed(),
        rests_on: contrasts.iter().flat_map(contrast_basis_lines).chain([made]).listed(),
        parts,
    };
    page.into_html()
}

fn contrast_card(contrast: &Contrast) -> Card {
    let cost = contrast.number_at(&format!("totals.{}", metric::COST));
    let change = cost.and_then(|it| it.delta.relative);
    let number = match change {
        Some(change) => cost_change_text_and_tone(change, true).0,
        None => if cost.is_some() { "Same" } else { "No verdict" }.to_owned(),
    };
    let what = or_nothing(cost.filter(|_| change.is_some()), |cost| {
        own_cost_instead_of_other([cost.delta.candidate, cost.delta.base]) + ", "
    });
    Card {
        number,
        what: format!("{what}with {} instead of {}", contrast.candidate, contrast.base),
        sure: cost.and_then(relative_interval).map(|ends| format!("95% interval {}%", interval(ends))),
        words: std::iter::once(contrast.verdict_sentence()).chain(contrast.main_causes()).listed(),
        tone: cost.map_or(Tone::Plain, |it| tone_of_standing(it.delta.standing)),
        ..Card::default()
    }
}

/// Says what a comparison rests on.
fn contrast_basis_lines(contrast: &Contrast) -> Vec<String> {
    let pairs = counted(contrast.pairs, if contrast.are_trials { "paired trial" } else { "paired session" });
    let joint = if contrast.profile == OWN { "," } else { " under" };
    let under = format!("{pairs}{joint} {} (prices of {}).", contrast.profile, contrast.as_of);
    let ends = contrast.cost_change_assumed.map(|ends| ends.map(signed).join(" to "));
    let assumed = ends.map(|it| format!("Over what is assumed, the cost differs by {it} (95%)."));
    std::iter::once(under).chain(assumed).listed()
}

/// Returns the interval of a change as shares of the base's number; of a share, that of the difference.
fn relative_interval(number: &ContrastNumber) -> Option<[f64; 2]> {
    let base = if number.is_share { 1.0 } else { number.delta.base.abs() };
    number.delta.interval.filter(|_| base > 0.0).map(|ends| ends.map(|it| it / base))
}

fn tone_of_standing(standing: Standing) -> Tone {
    match standing {
        Standing::Better => Tone::Better,
        Standing::Worse => Tone::Worse,
        Standing::Same | Standing::WithinNoise | Standing::Differs => Tone::Plain,
    }
}

/// Draws every number of the candidate against the base's.
fn contrast_forest_plot(contrast: &Contrast) -> ForestPlot {
    let decimals = contrast.usd_decimals();
    let line = |number: &ContrastNumber| {
        let is_points = number.is_share;
        let values = [number.delta.base, number.delta.candidate];
        let change = if is_points { Some(number.delta.difference) } else { number.delta.relative };
        Some(ForestLine {
            name: number.heading.clone(),
            change: change.filter(|it| it.abs() > 0.0)?,
            interval: relative_interval(number),
            interval_over: Sampled::Sessions,
            is_points,
            says: values.map(|it| number.format_number(it, decimals)).join(" → "),
            tone: tone_of_standing(number.delta.standing),
        })
    };
    ForestPlot {
        title: "Before and after".to_owned(),
        subject: contrast.describe_subject(),
        base: contrast.base.clone(),
        of: "number",
        lines: contrast.numbers.iter().filter_map(line).listed(),
    }
}
