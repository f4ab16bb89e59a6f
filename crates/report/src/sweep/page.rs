//! A sweep as a page: the knee, the front, the change over what is varied, and every point.

use super::table::{grid, label, words};
use super::{Sweep, SweepPoint, short};
use crate::chart::figure;
use crate::chart::forest::{Forest, ForestLine};
use crate::metric::COST;
use crate::page::{Card, Page, PagePart, PagePiece, Tone, kept};
use crate::sampled::Sampled;
use crate::template;
use ctxsim_base::grid::numbers::{counted, interval, signed};
use ctxsim_base::grid::shell::quoted;
use ctxsim_base::list::Listed as _;

/// Returns a sweep as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &Sweep) -> Result<String, template::Error> {
    let head = &it.head;
    let curve = curve(it).map(|it| figure("varied", &it));
    let figures = it.figure().into_iter().chain(curve).listed();
    let all: Vec<usize> = (0..it.points.len()).listed();
    let mut points = grid(it, &all, &|_| String::new());
    points.title = format!("Every point of {} against {}", head.policy, head.base);
    for (row, nth) in points.rows.iter_mut().skip(1).zip(&all) {
        row.note = mark(it, *nth).map(str::to_owned);
    }
    let points = PagePiece::table_with(points, |name| {
        it.points.iter().find(|it| short(&it.set) == name).map(|point| command(it, point))
    });
    let varied = head.vary.iter().map(|(path, values)| format!("{path}: {}", values.join(", "))).listed();
    let set = PagePiece::list("Set at every point", head.set.clone());
    let page = Page {
        command: "sweep",
        title: format!("{} varied against {}", head.policy, head.base),
        about: format!("{}, {} on the front.", counted(it.points.len(), "point"), it.front.len()),
        answers: vec![answer(it)],
        rests_on: rests_on(it),
        parts: vec![
            PagePart::picture(PagePiece::pictures(figures)),
            PagePart::tables(vec![points]),
            PagePart::assumptions(PagePiece::list("Varied", varied).into_iter().chain(set).listed()),
        ],
    };
    page.write()
}

fn mark(it: &Sweep, nth: usize) -> Option<&'static str> {
    if it.knee == Some(nth) { Some("knee") } else { it.front.contains(&nth).then_some("front") }
}

/// Returns by how much a point's cost differs from the base's.
fn change(it: &SweepPoint) -> Option<f64> {
    let (own, base) = it.numbers.get(COST).zip(it.base.get(COST)).filter(|it| it.1 > 0.0)?;
    it.is_same_work().then_some(own / base - 1.0)
}

/// Returns the share of evidence that a point keeps, in words.
fn kept_by(it: &SweepPoint) -> String {
    kept(it.numbers.get("evidence_kept"))
}

fn answer(it: &Sweep) -> Card {
    let told = words(it);
    let Some((nth, change)) = it.knee.and_then(|nth| Some((nth, change(&it.points[nth])?))) else {
        return Card { number: format!("Keep {}", it.head.base), what: told, ..Card::default() };
    };
    let point = &it.points[nth];
    let is_open = point.interval.is_some_and(|[low, high]| low * high < 0.0);
    // One session says nothing of others, however sure it is what it costs.
    let is_known = !is_open && point.interval_over == Sampled::Sessions;
    let open = is_open.then(|| format!("Whether it is cheaper than {} cannot be told.", it.head.base));
    Card {
        number: signed(change),
        what: format!(
            "at {}, the knee of the front: {}",
            short(&point.set),
            [kept_by(point), label(point)].join(", ")
        ),
        sure: point.interval.map(|ends| point.interval_over.named(&format!("{}%", interval(ends)))),
        words: open.into_iter().chain([told]).listed(),
        code: Some(command(it, point)),
        tone: if is_known && change < 0.0 { Tone::Better } else { Tone::Plain },
        ..Card::default()
    }
}

/// Returns the command that compares a point with the base, and says why its cost differs.
fn command(it: &Sweep, point: &SweepPoint) -> String {
    let set = point.set.iter().map(|it| format!(" --set {}", quoted(it))).collect::<String>();
    let profiles = it.head.profiles.iter().map(|it| format!(" --profile {}", quoted(it))).collect::<String>();
    let loads = it.head.scenarios.iter().map(|it| format!(" {}", quoted(it))).collect::<String>();
    format!("ctxsim compare --base {} --candidate {}{set}{profiles}{loads}", it.head.base, it.head.policy)
}

fn rests_on(it: &Sweep) -> Vec<String> {
    let named =
        |what: &str, all: &[String]| (!all.is_empty()).then(|| format!("{what}: {}.", all.join(", ")));
    let head = &it.head;
    let all = [named("Loads", &head.scenarios), named("Profiles", &head.profiles)];
    all.into_iter().flatten().listed()
}

/// Draws the change in cost over the values of what is varied, in their order.
fn curve(it: &Sweep) -> Option<Forest> {
    let line = |(nth, point): (usize, &SweepPoint)| {
        let name =
            mark(it, nth).filter(|it| *it == "knee").map_or_else(String::new, |knee| format!(" ({knee})"));
        let name = short(&point.set) + &name;
        let line = ForestLine::of_cost(name, change(point)?, point.interval, kept_by(point));
        Some(ForestLine { interval_over: point.interval_over, ..line })
    };
    let lines: Vec<ForestLine> = it.points.iter().enumerate().filter_map(line).listed();
    (lines.len() > 1).then(|| Forest {
        title: "Change in cost over the values".to_owned(),
        subject: it.head.vary.iter().map(|(path, _)| path.as_str()).listed().join(", "),
        base: it.head.base.clone(),
        of: "value",
        lines,
    })
}
