//! A sweep for a terminal: the front, the knee, and counts of points.

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::{Objective, PointNumbers, Sweep, short};
use crate::metric;
use ctxsim_base::grid::numbers::{self, NONE, counted, interval, or_none};
use ctxsim_base::grid::terminal::draw_with_note;
use ctxsim_base::grid::tint::{Terminal, Tint};
use ctxsim_base::grid::{CellKind, Grid, Hue};
use ctxsim_base::list::Listed as _;

/// The most points of the front that are shown by default.
const SHOWN: usize = 20;

/// Returns a sweep as text: the knee, the front, and counts of points.
pub fn sweep(it: &Sweep, shows_all: bool, on: impl Into<Terminal>) -> String {
    let on = on.into();
    let mut text = String::new();
    let head = &it.head;
    on.paragraph(Tint::Strong, "", &words(it), &mut text);
    if let Some(knee) = it.knee {
        let set = it.points[knee].set.iter().map(|it| format!("--set '{it}'")).listed().join(" ");
        let _ = writeln!(text, "  ctxsim compare --base {} --candidate {} {set}", head.base, head.policy);
    }
    text.push('\n');
    let what = format!("{} varied against {}: {}", head.policy, head.base, counted(it.points.len(), "point"));
    let front = match it.front.len() {
        0 => "none on the front".to_owned(),
        n => format!("{n} on the front, listed below {}", head.base),
    };
    on.paragraph(Tint::Strong, "", &format!("{what}, {front}"), &mut text);
    let n_shown = if shows_all { it.front.len() } else { SHOWN };
    let shown: Vec<usize> = it.front.iter().copied().take(n_shown).listed();
    let knee = |at: usize| if it.knee == Some(at) { " (knee)".to_owned() } else { String::new() };
    let n_more = it.front.len().saturating_sub(n_shown);
    let front = grid(it, &shown, &knee).leaving_out(n_more, "ctxsim sweep --details");
    let _ = writeln!(text, "{}", draw_with_note(&front, on));
    let mut counts: IndexMap<String, usize> = IndexMap::new();
    it.points.iter().for_each(|it| *counts.entry(label(it)).or_default() += 1);
    counts.sort_by(|_, a, _, b| b.cmp(a));
    let counts: Vec<String> = counts.iter().map(|(label, n)| format!("`{label}` {n}")).listed();
    let counts = format!("Labels against {}: {}.", head.base, counts.join(", "));
    on.paragraph(Tint::Faint, "", &counts, &mut text);
    text
}

/// Says what the knee is, or why there is none.
pub(super) fn words(it: &Sweep) -> String {
    let base = &it.head.base;
    if let Some(knee) = it.knee {
        let point = &it.points[knee];
        let bound = point.bound.map_or_else(String::new, |it| {
            format!("; if every assumption erred the same way, {}%", interval(it))
        });
        let sure = point.interval.map_or_else(String::new, |ends| {
            let ends = point.interval_over.named(&format!("{}%", interval(ends)));
            format!(" Its change in cost against {base}: {ends}{bound}.")
        });
        format!("Knee: the front's point closest to the best value of every objective.{sure}")
    } else if it.front.is_empty() {
        match it.head.guards.as_slice() {
            [] => "Every point stopped at a limit: vary something else.".to_owned(),
            all => {
                let all = all.iter().map(|it| format!("`{it}`")).listed().join(" and ");
                format!("No point keeps {all}: relax a bound, or vary something else.")
            }
        }
    } else if it.points.iter().all(|it| it.base.is_complete()) {
        format!("No point that does the same work is cheaper than {base}: keep it.")
    } else {
        format!("No point that does the same work is cheaper than {base}, which stopped at a limit.")
    }
}

/// Returns the number of decimals of amounts.
fn decimals(it: &Sweep) -> usize {
    let costs = it.points.iter().filter_map(|it| it.numbers.get(metric::COST));
    numbers::decimals(costs.fold(0.0, f64::max))
}

/// Returns the base and some points as a table; a mark stands behind a point's name.
pub(super) fn grid(it: &Sweep, points: &[usize], mark: &dyn Fn(usize) -> String) -> Grid {
    let (head, decimals) = (&it.head, decimals(it));
    let also = head.objectives.iter().chain(head.guards.iter().map(|it| &it.of)).copied();
    let also = also.filter(|it| matches!(it, Objective::Found(_)));
    let has = |place: &str| it.points.iter().any(|it| it.numbers.get(place).is_some());
    let mut objectives = Objective::ALL.into_iter().listed();
    also.for_each(|of| {
        if !objectives.contains(&of) {
            objectives.push(of);
        }
    });
    objectives.retain(|of| it.points.iter().any(|it| of.number(&it.numbers).is_some()));
    let of_objectives = objectives.iter().map(|of| of.heading(has));
    let headings: Vec<&str> =
        [""].into_iter().chain(of_objectives).chain(["Δ cost", "against base"]).listed();
    let row = |name: String, numbers: &PointNumbers, base: Option<&PointNumbers>, label: String| {
        let mut row = vec![name];
        row.extend(
            objectives
                .iter()
                .map(|of| of.number(numbers).map_or_else(|| NONE.to_owned(), |it| of.shown(it, decimals))),
        );
        let change = numbers.get(metric::COST).zip(base.and_then(|it| it.get(metric::COST)));
        row.push(
            change.and_then(|(own, base)| numbers::change(own, base)).unwrap_or_else(|| NONE.to_owned()),
        );
        row.push(label);
        row
    };
    let mut rows = Vec::new();
    if let Some(first) = it.points.first() {
        rows.push(row(head.base.clone(), &first.base, Some(&first.base), "base".to_owned()));
    }
    for at in points {
        let point = &it.points[*at];
        let base = Some(&point.base).filter(|_| point.is_same_work());
        rows.push(row(short(&point.set) + &mark(*at), &point.numbers, base, label(point)));
    }
    Grid::new("", 1, &headings, rows).with(CellKind::Name, &[headings.len() - 1]).hued(Hue::Less, &["Δ cost"])
}

/// Describes how a point compares with the base.
pub(super) fn label(point: &super::SweepPoint) -> String {
    if !point.does_the_work() {
        return "stopped elsewhere".to_owned();
    }
    if !point.is_same_work() {
        return "the base stopped".to_owned();
    }
    let word = point.label.and_then(|it| serde_json::to_value(it).ok());
    or_none(word.as_ref().and_then(|it| it.as_str()), |label| label.replace('_', " "))
}
