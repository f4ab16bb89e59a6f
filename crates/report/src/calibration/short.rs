//! A calibration of many sessions in a few lines: all of them under each assumption, why predictions differ, and the sessions that are furthest off.

use std::cmp::Reverse;

use super::{CLASSES, ReadClass, class_name, difference, firsts, share};
use crate::prelude::*;
use crate::unforeseen;
use ctxsim_engine::calibrate::{Calibration, sum_of_sessions};

/// The most reasons and sessions that are shown together.
const ROWS_SHOWN: usize = 14;
/// The most sessions that are shown.
const SESSIONS_SHOWN: usize = 8;

/// What shows the rest.
const REST: &str = "\n`--details` shows every session under each assumption, requests that differ, and what followed compactions; `--format json` has all of them.\n";

/// Returns what all sessions come to under each assumption, and what matters of those as recorded.
pub(super) fn tables(under: &[(&str, &[Calibration])]) -> String {
    let all = under.iter().map(|(what, sessions)| (*what, sum_of_sessions(sessions))).listed();
    let mut text = together_table(&all);
    let (Some((_, sessions)), Some((_, recorded))) = (under.first(), all.first()) else { return text };
    let n_sessions = if sessions.len() > 1 { sessions.len().min(SESSIONS_SHOWN) } else { 0 };
    text += &reasons(recorded, ROWS_SHOWN - n_sessions);
    if n_sessions > 0 {
        text += &furthest(sessions);
    }
    for part in unforeseen::table(recorded).into_iter().chain(firsts(recorded)) {
        text = text + "\n" + &part;
    }
    text + REST
}

/// Returns a row for each assumption.
fn together_table(all: &[(&str, Calibration)]) -> String {
    let n = |it: &Calibration, class: ReadClass| {
        format!("{:.2}%", it.count(class) as f64 / it.pairs.len().max(1) as f64 * 100.0)
    };
    let usd = |it: &Calibration| [it.predicted_cost, it.billed_cost, it.gross_error].map(|it| it.usd());
    let columns: [Of<'_, (&str, Calibration)>; 10] = [
        ("all sessions", &|it| it.0.to_owned()),
        ("requests", &|it| thousands(it.1.pairs.len() as u64)),
        ("exact", &|it| n(&it.1, ReadClass::Exact)),
        ("within", &|it| n(&it.1, ReadClass::Within)),
        ("exceeded", &|it| n(&it.1, ReadClass::Exceeded)),
        ("missed", &|it| n(&it.1, ReadClass::Missed)),
        ("read error", &|it| format!("{:.2}%", it.1.token_error() * 100.0)),
        ("billed USD", &|it| fixed(usd(&it.1)[1], 2)),
        ("by request", &|it| share(usd(&it.1)[2], usd(&it.1)[1])),
        ("in sum", &|it| difference(usd(&it.1)[0], usd(&it.1)[1])),
    ];
    draw_whole(&Grid::of("", 1, all, &columns))
        + "USD are those of input; by request and in sum: by how much it is predicted otherwise. A session's first request is not counted.\n"
}

/// Returns why predictions differ, the most frequent reasons first.
fn reasons(all: &Calibration, shown: usize) -> String {
    let exact = |it: &(ReadClass, &str, usize)| it.0 != ReadClass::Exact;
    let mut reasons = all.reasons().into_iter().filter(exact).listed();
    reasons.order_by_key(|it| Reverse(it.2));
    let more = reasons.len().saturating_sub(shown);
    let row = |it: &(ReadClass, &str, usize)| {
        [thousands(it.2 as u64), class_name(it.0).to_owned(), it.1.to_owned()]
    };
    let rows = reasons.iter().take(shown).map(row);
    let grid = Grid::new("", 0, &["requests", "class", "why"], rows);
    let mut text = format!("\n{}", draw_whole(&grid.with(CellKind::Text, &[1, 2])));
    if more > 0 {
        text += &format!("… and {}\n", counted(more, "other reason"));
    }
    text
}

/// Returns the sessions whose input is predicted furthest from what was billed.
fn furthest(sessions: &[Calibration]) -> String {
    let mut rows = sessions.iter().listed();
    rows.order_by_key(|it| Reverse(it.gross_error));
    let more = rows.len().saturating_sub(SESSIONS_SHOWN);
    rows.truncate(SESSIONS_SHOWN);
    let of = |class: usize| move |it: &&Calibration| thousands(it.count(CLASSES[class]) as u64);
    let [exact, within, exceeded, missed] = [of(0), of(1), of(2), of(3)];
    let columns: [Of<'_, &Calibration>; 8] = [
        ("furthest off, as recorded", &|it| it.name.clone()),
        ("requests", &|it| thousands(it.pairs.len() as u64)),
        ("exact", &exact),
        ("within", &within),
        ("exceeded", &exceeded),
        ("missed", &missed),
        ("read error", &|it| format!("{:.2}%", it.token_error() * 100.0)),
        ("USD off by request", &|it| fixed(it.gross_error.usd(), 2)),
    ];
    let mut text = format!("\n{}", draw_whole(&Grid::of("", 1, &rows, &columns)));
    if more > 0 {
        text += &format!("… and {}, which are nearer\n", counted(more, "other session"));
    }
    text
}
