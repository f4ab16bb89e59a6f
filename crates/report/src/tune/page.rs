//! What tuning found, as a page: whether a variant is recommended, how all of them did on what was held out, and why.

use super::table::{against, block_grids, grid, of_whom, varied};
use super::{TunePart as Results, Tuned, TunedPoint, variant_name};
use crate::chart::forest::{Forest, ForestLine};
use crate::chart::frontier::{ADVISED, BASE, Frontier, KEPT, Point};
use crate::chart::names::PolicyLabel;
use crate::chart::{PageChart, figure};
use crate::page::{Card, Page, PagePart, PagePiece, Tone, kept};
use crate::template;
use ctxsim_base::grid::numbers::{counted, interval, signed};
use ctxsim_base::list::Listed as _;

/// Variants that cost so many times what the base does are in the numbers alone.
const DEAR: f64 = 1.5;
/// The most variants whose change is drawn.
const MOST_DRAWN: usize = 12;

/// Returns what was found as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &Tuned) -> Result<String, template::Error> {
    let sessions: usize = it.parts.iter().map(|it| it.sessions).sum();
    let [frontier, forest] = [frontier(it), forest(it)];
    let mut table = grid(it, usize::MAX);
    table.title = "Every variant, the best first".to_owned();
    let page = Page {
        command: "tune",
        title: format!("{} tuned against {}", it.policy, it.base),
        about: format!("{} on {}.", counted(it.variants, "variant"), counted(sessions, "session")),
        answers: vec![answer(it)],
        rests_on: it
            .parts
            .iter()
            .enumerate()
            .map(|(nth, part)| rests_on(it, nth, part))
            .chain(it.by_project.as_ref().map(in_turn))
            .chain(caution(it))
            .chain(it.optimism.map(against))
            .listed(),
        parts: vec![
            PagePart::picture(PagePiece::pictures(frontier.into_iter().chain(forest).listed())),
            PagePart::tables(std::iter::once(table).chain(block_grids(it)).map(PagePiece::table).listed()),
            PagePart::causes(PagePiece::list("What was tried", varied(it))),
        ],
    };
    page.write()
}

/// Says how the best variant did on a part of the sessions.
fn rests_on(it: &Tuned, nth: usize, part: &Results) -> String {
    let what = match (it.parts.len(), nth) {
        (1, _) => "All",
        (_, 0) => "Chosen on",
        _ => "Held out",
    };
    format!("{what}: {}, {}.{}", counted(part.sessions, "session"), part.words(), limits(part))
}

/// Says what its limits are over.
fn limits(part: &Results) -> String {
    part.limits_words().map_or_else(String::new, |it| format!(" Limits: {it}."))
}

/// Says how the choice does on each project that it was not made on.
fn in_turn(part: &Results) -> String {
    let n = counted(part.projects, "project");
    format!("Each of {n} held out in turn: {}.{}", part.words(), limits(part))
}

/// Says where blocks are too few.
fn caution(it: &Tuned) -> Option<String> {
    (!it.cautions.is_empty()).then(|| format!("{} {}.", of_whom(it), it.cautions.join("; ")))
}

/// Returns the results on what was held out, else on everything.
fn judged(parts: &[Results]) -> Option<&Results> {
    parts.last()
}

fn answer(it: &Tuned) -> Card {
    let out = judged(&it.parts);
    let change = out.and_then(Results::change);
    let sure = out
        .and_then(|it| it.spread?.interval)
        .map(|it| format!("95% interval {}% on the sessions held out", interval(it)));
    let kept = out.and_then(Results::retention).map_or_else(String::new, |it| format!("; {it}"));
    match &it.reason {
        Some(reason) => Card {
            number: format!("Keep {}", it.base),
            what: format!("Nothing is recommended: {reason}."),
            words: change
                .map(|change| {
                    format!(
                        "The best that was rejected is {}: {}{kept}.",
                        variant_name(&it.chosen),
                        signed(change)
                    )
                })
                .into_iter()
                .listed(),
            sure: sure.map(|it| format!("The best: {it}")),
            ..Card::default()
        },
        None => Card {
            number: change.map_or_else(String::new, signed),
            what: format!("with {}{kept}: the held-out sessions confirm it", variant_name(&it.chosen)),
            sure,
            code: Some(it.chosen.join("\n")).filter(|it| !it.is_empty()),
            tone: Tone::Better,
            ..Card::default()
        },
    }
}

/// Returns variants that differ in their results, the best first.
fn distinct(it: &Tuned) -> impl Iterator<Item = (usize, &TunedPoint)> {
    it.points.chunk_by(|one, other| one.parts == other.parts).filter_map(|it| it.first()).enumerate()
}

/// Draws what variants cost and keep on the sessions held out.
fn frontier(it: &Tuned) -> Option<PageChart> {
    let first = judged(&it.points.first()?.parts)?;
    let base = Point {
        mark: Some(BASE),
        ..Point::new(PolicyLabel::new(&it.base, 0), first.base_cost?, first.base_kept?)
    };
    let points = distinct(it).filter_map(|(nth, point)| {
        let part = judged(&point.parts)?;
        let (usd, own) = (part.base_cost?, part.cost?);
        if nth > 0 && own > DEAR * usd {
            return None;
        }
        let ends = part.spread.and_then(|it| it.interval).map(|ends| ends.map(|end| usd * (1.0 + end)));
        let mark = (nth == 0).then_some(if it.is_recommended { ADVISED } else { "best" });
        let own = Point::new(PolicyLabel::new(&variant_name(&point.set), nth + 1), own, part.evidence_kept?);
        Some(Point { usd_interval: ends, mark, ..own })
    });
    let n_dear =
        distinct(it).filter(|it| judged(&it.1.parts).is_some_and(|it| it.change() > Some(DEAR - 1.0)));
    let dear = match n_dear.count() {
        0 => String::new(),
        n => format!("; {} that cost +50% and more are in the table", counted(n, "variant")),
    };
    let subject = format!("{}, {}{dear}", it.policy, held_out(it));
    let frontier = Frontier::new(subject, KEPT, std::iter::once(base).chain(points).listed(), Vec::new());
    let frontier = frontier.numbered();
    (frontier.points.len() > 1).then(|| figure("frontier", &frontier))
}

fn held_out(it: &Tuned) -> &'static str {
    if it.parts.len() > 1 { "on the sessions held out" } else { "on all sessions" }
}

/// Draws the change in cost of each variant.
fn forest(it: &Tuned) -> Option<PageChart> {
    let lines = distinct(it).take(MOST_DRAWN).filter_map(|(_, point)| {
        let part = judged(&point.parts)?;
        let says = kept(part.evidence_kept);
        Some(ForestLine::of_cost(
            variant_name(&point.set),
            part.change()?,
            part.spread.and_then(|it| it.interval),
            says,
        ))
    });
    let forest = Forest {
        title: "Change in cost of the best variants".to_owned(),
        subject: held_out(it).to_owned(),
        base: it.base.clone(),
        of: "variant",
        lines: lines.listed(),
    };
    (!forest.lines.is_empty()).then(|| figure("variants", &forest))
}
