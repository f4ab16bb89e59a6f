//! The words, in the order in which they are tried.

use super::effects::RowEffect;
use super::joint::{LEVEL, RowChances};
use super::{Judgement, TriedFamily, largest_assumption};
use crate::lever::Word;
use crate::prelude::*;
use ctxsim_engine::measure::floor::Floor;
use ctxsim_engine::measure::student;

/// With fewer sessions, nothing is sure.
pub const SESSIONS_MIN: usize = 10;
/// A saving of less of what it concerns is not worth a change, and rare losses would eat it.
const SAVING_MIN: f64 = 0.02;
/// What a user decides saves with this probability at least.
const SURELY: f64 = 0.95;
/// What is worth trying, and what is not, is as probable as this.
const PROBABLY: f64 = 0.80;
/// What is tried may lose so many times what it is expected to save.
const LOSS_MOST: f64 = 4.0 / 3.0;
/// Differences of shares round by less.
const ROUNDING: f64 = 1e-9;

/// A row among the others.
pub(super) struct JudgedRow<'a> {
    pub(super) family: &'a TriedFamily<'a>,
    pub(super) effects: &'a [RowEffect],
    pub(super) nth: usize,
    pub(super) effect: &'a RowEffect,
    pub(super) p: RowChances,
    /// By how many of its standard errors the best row looks better than it is.
    pub(super) shrinkage: f64,
}

impl JudgedRow<'_> {
    /// Returns the share that it keeps with 95%.
    fn kept_low(&self) -> Option<f64> {
        let kept = self.effect.kept.as_ref()?;
        Some((kept.value - self.p.kept_reach * kept.error).max(0.0))
    }
}

/// Gives a row its word.
pub(super) fn judgement(row: &JudgedRow<'_>) -> Judgement {
    let kept = row.effect.kept.as_ref();
    let alone = Judgement {
        kept: kept.map(|it| it.value),
        kept_low: row.kept_low(),
        again: row.effect.again,
        ..Judgement::default()
    };
    let Some(found) = Found::new(row) else {
        let why = match row.family.sessions.len() {
            1 => "one session says nothing about others",
            _ => "a session stops at a limit under one and not under the other, or a price is unknown",
        };
        let word = (!row.effect.is_same).then_some(Word::CannotTell);
        return Judgement { word, why: why.to_owned(), ..alone };
    };
    let (word, why) = match row.effect.is_same {
        true => (None, "it changes nothing".to_owned()),
        false => word(row, &found),
    };
    Judgement {
        word,
        why,
        change: Some(found.change),
        interval: Some(found.interval),
        expected: Some(found.expected),
        p_costs: Some(row.p.costs),
        p_adjusted: Some(row.p.adjusted),
        ..alone
    }
}

/// A row's change in cost.
struct Found {
    change: f64,
    /// Corrected for the family.
    interval: [f64; 2],
    /// Shrunk.
    expected: f64,
    /// The upper end of its own 95% interval.
    own_high: f64,
}

impl Found {
    fn new(row: &JudgedRow<'_>) -> Option<Self> {
        let cost = row.effect.cost.as_ref()?;
        let widths = row.effect.half_widths()?;
        let own = student(cost.freedom);
        let [down, up] = widths.map(|it| it * row.p.reach.max(own) / own);
        let shrunk = cost.value + row.shrinkage * row.effect.error()?;
        Some(Self {
            change: cost.value,
            interval: [(cost.value - down).max(-1.0), cost.value + up],
            expected: if cost.value < 0.0 { shrunk.min(0.0) } else { cost.value },
            own_high: cost.value + widths[1],
        })
    }
}

fn word(row: &JudgedRow<'_>, found: &Found) -> (Option<Word>, String) {
    let against = not_do(row, found);
    let Some(against) = against else {
        let why = "it saves and keeps the floor, whatever else was tried beside it".to_owned();
        return (Some(Word::Do), why);
    };
    let saves = 1.0 - row.p.costs;
    if saves >= SURELY
        && let Some(why) = left_to_user(row)
    {
        let why = if found.interval[1] >= 0.0 { format!("{why}; {against}") } else { why };
        return (Some(Word::YourCall), why);
    }
    if saves >= PROBABLY && is_worth_a_try(row, found) {
        return (Some(Word::Try), against);
    }
    if row.p.costs >= PROBABLY {
        return (Some(Word::Dont), format!("it probably costs more ({})", signed(found.change)));
    }
    (Some(Word::CannotTell), would_decide(row, found))
}

/// Returns what keeps a row from being *do*.
fn not_do(row: &JudgedRow<'_>, found: &Found) -> Option<String> {
    let (n, least) = (row.family.sessions.len(), percent(SAVING_MIN));
    if n < SESSIONS_MIN {
        return Some(format!("{} are too few to be sure: it takes {SESSIONS_MIN}", counted(n, "session")));
    }
    if found.interval[1] >= 0.0 {
        let of = if row.effects.len() > 1 { ", beside everything else that was tried," } else { "" };
        return Some(format!("its 95% interval{of} includes no saving ({}%)", interval(found.interval)));
    }
    if let Some(why) = left_to_user(row) {
        return Some(why);
    }
    if -found.expected < SAVING_MIN * row.effect.concerned {
        return Some(format!("the saving to expect is less than {least} of what it concerns"));
    }
    if row.p.adjusted > LEVEL {
        let why = "beside everything else that was tried, it is not certain enough that it saves";
        return Some(why.to_owned());
    }
    if row.effect.without_best >= 0.0 {
        return Some("without the session that saves most it saves nothing".to_owned());
    }
    idle(row).map(|lever| format!("{lever} adds less than {least}"))
}

/// Returns the setting of a combination that brings too little of its own.
fn idle<'a>(row: &JudgedRow<'a>) -> Option<&'a str> {
    let own = &row.family.rows[row.nth];
    let change = |nth: usize| Some(row.effects[nth].cost.as_ref()?.value);
    let without = |lever: &String| {
        let rest: Vec<&String> = own.set.iter().filter(|it| *it != lever).listed();
        if rest.is_empty() {
            return None;
        }
        let is_rest = |it: &super::FamilyRow| it.set.iter().eq(rest.iter().copied());
        change(row.family.rows.iter().position(is_rest)?)
    };
    let adds_little = |lever: &&String| {
        without(lever).zip(change(row.nth)).is_some_and(|(without, with)| without - with < SAVING_MIN)
    };
    own.set.iter().find(adds_little).map(String::as_str)
}

/// Returns what a row costs that its user has to judge.
fn left_to_user(row: &JudgedRow<'_>) -> Option<String> {
    let floor = row.family.floor;
    if let Some(task) = row.effect.task.filter(|it| !Floor(floor).passes(Some(*it))) {
        return Some(format!("only {} of the requests still show what you asked", percent(task)));
    }
    match &row.effect.kept {
        Some(kept) if row.p.breaks > LEVEL => {
            let low = row.kept_low().unwrap_or_default();
            let [kept, low, floor] = [kept.value, low, floor].map(percent);
            Some(format!(
                "prompts still hold {kept} of what the agent later needs (at least {low}), and {floor} is asked for"
            ))
        }
        None if row.effect.is_edited => {
            Some("what it loses is unknown: nothing says what is needed".to_owned())
        }
        _ => row.family.rows[row.nth].unjudged.clone(),
    }
}

fn is_worth_a_try(row: &JudgedRow<'_>, found: &Found) -> bool {
    let floor = Floor(row.family.floor);
    let kept = row.effect.kept.as_ref().map(|it| it.value);
    let is_judged = row.family.rows[row.nth].unjudged.is_none() && (kept.is_some() || !row.effect.is_edited);
    is_judged && floor.keeps(kept, row.effect.task) && found.own_high <= LOSS_MOST * -found.change + ROUNDING
}

/// Says which number would decide, and how often it has to be measured.
fn would_decide(row: &JudgedRow<'_>, found: &Found) -> String {
    let (Some(cost), n) = (&row.effect.cost, row.family.sessions.len()) else { return String::new() };
    let side = usize::from(found.change < 0.0);
    // A change is told from none where its interval does not reach zero.
    let left = found.change.powi(2) - row.effect.reach.0[side].powi(2);
    if left <= 0.0 {
        let what = largest_assumption(row.effect).map_or("what is assumed", |it| it.about());
        let narrower = row.effect.reach.0[side] / found.change.abs();
        let cases = (narrower * narrower).ceil();
        return format!(
            "it depends on {what}, which is assumed; to decide, it would have to be measured on {cases:.0} times as many cases"
        );
    }
    let needed = (n as f64 * cost.half_width().powi(2) / left).ceil();
    if needed > MOST_SESSIONS {
        return format!("the change ({}) is too small to be told from none", signed(found.change));
    }
    format!("about {} would tell, if they are like these", counted((needed as usize).max(n + 1), "session"))
}

/// Nobody waits for more.
const MOST_SESSIONS: f64 = 10_000.0;
