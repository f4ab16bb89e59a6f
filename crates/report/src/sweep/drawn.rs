//! A sweep, for a terminal and as a page: the knee, the front, every point, and the change over what is varied.

use ctxsim_base::grid::shell::quoted;

use super::{Objective, PointNumbers, Sweep, SweepPoint, short_overrides};
use crate::blocks::Block;
use crate::found::{Candidate, SearchResultCharts, SearchResultText};
use crate::metric::COST;
use crate::page::{Card, Page, PagePart, PagePiece, PageTable, Tone, evidence_kept_text};
use crate::prelude::*;
use crate::sampled::Sampled;
use crate::template;
use crate::{counts_by_value, distinct};

/// The most points of the front that are shown by default.
const SHOWN: usize = 20;

/// Returns a sweep as text: the knee, the front, and counts of points.
pub fn terminal_text(sweep: &Sweep, shows_all: bool, terminal: impl Into<Terminal>) -> String {
    let head = &sweep.head;
    let mut answer = vec![Block::Answer(knee_sentence(sweep))];
    if let Some(knee) = sweep.knee {
        let set = sweep.points[knee].set.iter().map(|it| format!("--set '{it}'")).listed().join(" ");
        let (base, policy) = (&head.base, &head.policy);
        answer.push(Block::Code(format!("ctxsim compare --base {base} --candidate {policy} {set}")));
    }
    let n_points = counted(sweep.points.len(), "point");
    let front = match sweep.front.len() {
        0 => "none on the front".to_owned(),
        n => format!("{n} on the front, listed below {}", head.base),
    };
    let mut counts = counts_by_value(sweep.points.iter().map(label_text));
    counts.sort_by(|_, a, _, b| b.cmp(a));
    let counts = counts.iter().map(|(label, n)| format!("`{label}` {n}")).listed();
    let title = format!("{} varied against {}: {n_points}, {front}", head.policy, head.base);
    SearchResultText {
        answer,
        table: Grid { title, ..points_grid(sweep, &sweep.front) },
        has_base: true,
        most: SHOWN,
        shows_all_by: "ctxsim sweep --details",
        notes: vec![format!("Labels against {}: {}.", head.base, counts.join(", "))],
    }
    .draw(shows_all, terminal.into())
}

/// Returns a sweep as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(sweep: &Sweep) -> Result<String, template::Error> {
    let head = &sweep.head;
    let mut points = points_grid(sweep, &(0..sweep.points.len()).listed());
    points.title = format!("Every point of {} against {}", head.policy, head.base);
    for ((nth, point), row) in sweep.points.iter().enumerate().zip(points.rows.iter_mut().skip(1)) {
        row.cells[0] = short_overrides(&point.set);
        let mark = if sweep.knee == Some(nth) { "knee" } else { "front" };
        row.note = sweep.front.contains(&nth).then(|| mark.to_owned());
    }
    let points = PageTable::new(points, |name| {
        let point = sweep.points.iter().find(|it| short_overrides(&it.set) == name)?;
        Some(compare_command(sweep, point))
    });
    let rests_on = [("Loads", &head.scenarios), ("Profiles", &head.profiles)].into_iter();
    let rests_on = rests_on.filter(|it| !it.1.is_empty());
    let varied = head.vary.iter().map(|(path, values)| format!("{path}: {}", values.join(", "))).listed();
    let set = PagePiece::list("Set at every point", head.set.clone());
    Page {
        command: "sweep",
        title: format!("{} varied against {}", head.policy, head.base),
        about: format!("{}, {} on the front.", counted(sweep.points.len(), "point"), sweep.front.len()),
        answers: vec![knee_card(sweep)],
        rests_on: rests_on.map(|(what, all)| format!("{what}: {}.", all.join(", "))).listed(),
        parts: vec![
            PagePart::new("Picture", PagePiece::pictures(result_charts(sweep).all_charts())),
            PagePart::new("Tables", vec![PagePiece::Table(points)]),
            PagePart::new("Assumptions", PagePiece::list("Varied", varied).into_iter().chain(set).listed()),
        ],
    }
    .into_html()
}

/// Says what the knee is, or why there is none.
fn knee_sentence(sweep: &Sweep) -> String {
    let base = &sweep.head.base;
    if let Some(knee) = sweep.knee {
        let point = &sweep.points[knee];
        let bound = |ends| format!("; if every assumption erred the same way, {}%", interval(ends));
        let bound = point.bound.map_or_else(String::new, bound);
        let sure = |ends| format!(" Its change in cost against {base}: {ends}{bound}.");
        let sure = point.cost_change_interval_text().map_or_else(String::new, sure);
        let n_tried = counted(sweep.head.points, "point");
        let alone = text_if(sweep.head.points > 1 && point.interval.is_some(), || {
            format!(
                " It is of this point alone, and {n_tried} were tried: `ctxsim tune` judges the best by sessions held out."
            )
        });
        format!("Knee: the front's point closest to the best value of every objective.{sure}{alone}")
    } else if !sweep.front.is_empty() {
        let stopped = sweep.points.iter().any(|it| !it.base.completed_all_turns());
        let keep = if stopped { ", which stopped at a limit." } else { ": keep it." };
        format!("No point that does the same work is cheaper than {base}{keep}")
    } else if sweep.head.guards.is_empty() {
        "Every point stopped at a limit: vary something else.".to_owned()
    } else {
        let guards = sweep.head.guards.iter().map(|it| format!("`{it}`")).listed().join(" and ");
        format!("No point keeps {guards}: relax a bound, or vary something else.")
    }
}

/// Returns the knee as the verdict of a page.
fn knee_card(sweep: &Sweep) -> Card {
    let base = &sweep.head.base;
    let told = knee_sentence(sweep);
    let knee = sweep.knee.map(|nth| &sweep.points[nth]);
    let Some((point, change)) = knee.and_then(|it| Some((it, relative_cost_change(it)?))) else {
        return Card { number: format!("Keep {base}"), what: told, ..Card::default() };
    };
    let is_open = point.interval.is_some_and(|[low, high]| low * high < 0.0);
    // One session says nothing of others, however sure it is what it costs.
    let is_known = !is_open && point.interval_over == Sampled::Sessions;
    let open = is_open.then(|| format!("Whether it is cheaper than {base} cannot be told."));
    let kept = evidence_kept_text(point.numbers.get("evidence_kept"));
    let (at, label) = (short_overrides(&point.set), label_text(point));
    Card {
        number: signed(change),
        what: format!("at {at}, the knee of the front: {kept}, {label}"),
        sure: point.cost_change_interval_text(),
        words: open.into_iter().chain([told]).listed(),
        code: Some(compare_command(sweep, point)),
        tone: if is_known && change < 0.0 { Tone::Better } else { Tone::Plain },
        ..Card::default()
    }
}

/// Returns the command that compares a point with the base, and says why its cost differs.
fn compare_command(sweep: &Sweep, point: &SweepPoint) -> String {
    let head = &sweep.head;
    let listed = |option: &str, all: &[String]| {
        all.iter().map(|it| format!(" {option}{}", quoted(it))).collect::<String>()
    };
    let options = listed("--set ", &point.set) + &listed("--profile ", &head.profiles);
    let loads = listed("", &head.scenarios);
    format!("ctxsim compare --base {} --candidate {}{options}{loads}", head.base, head.policy)
}

/// Returns by how much a point's cost differs from the base's.
fn relative_cost_change(point: &SweepPoint) -> Option<f64> {
    let (own, base) = point.numbers.get(COST).zip(point.base.get(COST)).filter(|it| it.1 > 0.0)?;
    point.does_same_work_as_base().then_some(own / base - 1.0)
}

/// Returns the base and some points as a table.
fn points_grid(sweep: &Sweep, points: &[usize]) -> Grid {
    let head = &sweep.head;
    let costs = sweep.points.iter().filter_map(|it| it.numbers.get(COST));
    let decimals = numbers::decimals(costs.fold(0.0, f64::max));
    let has = |place: &str| sweep.points.iter().any(|it| it.numbers.get(place).is_some());
    let asked = head.objectives.iter().copied().chain(head.guards.iter().map(|it| it.of));
    let mut objectives = distinct(Objective::ALL.into_iter().chain(asked));
    objectives.retain(|of| sweep.points.iter().any(|it| of.value_at_point(&it.numbers).is_some()));
    let of_objectives = objectives.iter().map(|of| of.column_heading(has));
    let headings = [""].into_iter().chain(of_objectives).chain(["Δ cost", "against base"]).listed();
    let row = |name: String, numbers: &PointNumbers, change: Option<f64>, label: String| {
        let cell = |of: &Objective| or_none(of.value_at_point(numbers), |it| of.format_number(it, decimals));
        let cells = objectives.iter().map(cell).chain([or_none(change, signed), label]);
        std::iter::once(name).chain(cells).listed()
    };
    let mut rows = Vec::new();
    if let Some(first) = sweep.points.first() {
        let change = first.base.get(COST).filter(|it| *it > 0.0).map(|_| 0.0);
        rows.push(row(head.base.clone(), &first.base, change, "base".to_owned()));
    }
    for nth in points {
        let point = &sweep.points[*nth];
        let name = short_overrides(&point.set) + if sweep.knee == Some(*nth) { " (knee)" } else { "" };
        rows.push(row(name, &point.numbers, relative_cost_change(point), label_text(point)));
    }
    Grid::new("", 1, &headings, rows).with(CellKind::Name, &[headings.len() - 1])
}

/// Describes how a point compares with the base.
fn label_text(point: &SweepPoint) -> String {
    if !point.does_all_or_base_work() {
        return "stopped elsewhere".to_owned();
    }
    if !point.does_same_work_as_base() {
        return "the base stopped".to_owned();
    }
    let word = point.label.and_then(|it| serde_json::to_value(it).ok());
    or_none(word.as_ref().and_then(|it| it.as_str()), |label| label.replace('_', " "))
}

/// Returns what all points that do the work cost and keep, and by how much their costs differ from the base's.
pub(super) fn result_charts(sweep: &Sweep) -> SearchResultCharts<'_> {
    let candidate = |(nth, point): (usize, &SweepPoint)| Candidate {
        name: short_overrides(&point.set),
        usd: point.numbers.get(COST).filter(|_| point.does_all_or_base_work()),
        kept: point.numbers.get("evidence_kept"),
        change: relative_cost_change(point),
        interval: point.interval,
        interval_over: point.interval_over,
        mark: (sweep.knee == Some(nth)).then_some("knee"),
    };
    let first = sweep.points.first();
    SearchResultCharts {
        base: &sweep.head.base,
        base_usd: first.and_then(|it| it.base.get(COST)),
        base_kept: first.and_then(|it| it.base.get("evidence_kept")),
        subject: format!("{} varied, {} points", sweep.head.policy, sweep.points.len()),
        changes_of: sweep.head.vary.iter().map(|(path, _)| path.as_str()).listed().join(", "),
        one: "value",
        candidates: sweep.points.iter().enumerate().map(candidate).listed(),
    }
}
