//! The words, in the order in which they are tried.

use super::TriedFamily;
use super::effects::RowEffect;
use super::joint::{LEVEL, index_without_part};
use crate::lever::{AddedSaving, Lever, Word};
use crate::prelude::*;
use ctxsim_engine::measure::floor::Floor;

/// With fewer sessions, nothing is sure.
pub const SESSIONS_MIN: usize = 10;
/// Fewer sessions say nothing of later ones: with four degrees of freedom or less, an interval reaches from nothing to several times the cost.
pub const SESSIONS_TOLD: usize = 6;
/// A saving of less of what it concerns is not worth a change, and rare losses would eat it.
const SAVING_MIN: f64 = 0.02;
/// What a user decides saves with this probability at least.
const SURELY: f64 = 0.95;
/// What is worth trying, and what is not, is as probable as this.
pub(super) const PROBABLY: f64 = 0.80;
/// What is told to be done may keep less than the floor in later sessions with this probability at most.
const FLOOR_RISK: f64 = 0.25;
/// What is tried may lose so many times what it is expected to save.
const LOSS_MOST: f64 = 4.0 / 3.0;
/// Differences of shares round by less.
const ROUNDING: f64 = 1e-9;

/// A row among the others of its family.
pub(super) struct JudgedRow<'a> {
    pub(super) family: &'a TriedFamily<'a>,
    pub(super) effects: &'a [RowEffect],
    pub(super) nth: usize,
    /// By how many of its standard errors the best row looks better than it is.
    pub(super) shrinkage: f64,
}

impl<'a> JudgedRow<'a> {
    fn effect(&self) -> &'a RowEffect {
        &self.effects[self.nth]
    }

    fn lever(&self) -> &'a Lever {
        &self.family.levers[self.nth]
    }

    /// Returns what each setting of a combination adds to the others, where what they save without it was tried.
    fn savings_of_parts(&self) -> Vec<AddedSaving> {
        let (levers, set) = (&self.family.levers, &self.lever().set);
        let parts = (0..set.len()).filter_map(|part| {
            let rest = index_without_part(levers, self.nth, part)?;
            let change = self.effect().change? - self.effects[rest].change?;
            Some(AddedSaving { set: set[part].clone(), change })
        });
        parts.listed()
    }

    /// Gives the lever its word and its numbers.
    pub(super) fn judge_lever(&self) -> Lever {
        let RowEffect { change, kept, again, is_same, chances, .. } = self.effect();
        let lever = Lever {
            change: *change,
            evidence_kept: kept.as_ref().map(|kept| kept.value),
            evidence_low: kept.as_ref().map(|_| chances.kept_low),
            floor_risk: kept.as_ref().map(|_| chances.breaks),
            adds: self.savings_of_parts(),
            again: *again,
            ..self.lever().clone()
        };
        let too_few = too_few_loads(self.family.sessions.len(), "session");
        let Some(found) = CostChange::new(self).filter(|_| too_few.is_none()) else {
            let limit = "a session stops at a limit under one and not under the other, or a price is unknown";
            let why = too_few.unwrap_or_else(|| limit.to_owned());
            let word = (!is_same).then_some(Word::CannotTell);
            return Lever { word, why, expected: lever.change, ..lever };
        };
        let (word, why) = match is_same {
            true => (None, "it changes nothing".to_owned()),
            false => choose_word_and_reason(self, &found),
        };
        Lever { word, why, interval: Some(found.interval), expected: Some(found.expected), ..lever }
    }
}

/// A row's change in cost.
struct CostChange {
    change: f64,
    /// Of as many later sessions.
    interval: [f64; 2],
    /// Shrunk.
    expected: f64,
    /// The upper end of its own 95% interval, over these sessions.
    own_high: f64,
}

impl CostChange {
    fn new(row: &JudgedRow<'_>) -> Option<Self> {
        let (effect, cost) = (row.effect(), row.effect().cost.as_ref()?);
        let [low, high] = effect.reach.interval(cost.value, effect.later);
        let shrunk = cost.value + row.shrinkage * effect.cost_standard_error()?;
        Some(Self {
            change: cost.value,
            // No sum of amounts is less than nothing.
            interval: [low.max(-1.0), high],
            expected: if cost.value < 0.0 { shrunk.min(0.0) } else { cost.value },
            own_high: cost.value + effect.cost_high_reach()?,
        })
    }
}

/// Says that so many loads, each one of what is named, say nothing of others; nothing where they do.
pub fn too_few_loads(n: usize, one: &str) -> Option<String> {
    match n {
        1 => Some(format!("one {one} says nothing about others")),
        n => (n < SESSIONS_TOLD)
            .then(|| format!("{n} {one}s say nothing about others: it takes {SESSIONS_TOLD}")),
    }
}

/// Returns the first word that holds, and what it rests on.
fn choose_word_and_reason(row: &JudgedRow<'_>, change: &CostChange) -> (Option<Word>, String) {
    let chances = &row.effect().chances;
    let Some(against) = why_not_do(row, change) else {
        let probably = if chances.breaks > LEVEL { "probably " } else { "" };
        let why = format!(
            "it is no chance that it saves, whatever else was tried beside it, and it {probably}keeps the floor"
        );
        return (Some(Word::Do), why);
    };
    let saves = 1.0 - chances.costs;
    if saves >= SURELY
        && let Some(why) = loss_left_to_user(row)
    {
        return (Some(Word::YourCall), why);
    }
    if saves >= PROBABLY && is_worth_a_try(row, change) {
        return (Some(Word::Try), against);
    }
    if chances.costs >= PROBABLY {
        return (Some(Word::Dont), format!("it probably costs more ({})", signed(change.change)));
    }
    (Some(Word::CannotTell), describe_deciding_measurement(row, change))
}

/// Returns what keeps a row from being *do*.
fn why_not_do(row: &JudgedRow<'_>, change: &CostChange) -> Option<String> {
    let (n, least) = (row.family.sessions.len(), percent(SAVING_MIN));
    if n < SESSIONS_MIN {
        return Some(format!("{} are too few to be sure: it takes {SESSIONS_MIN}", counted(n, "session")));
    }
    let chances = &row.effect().chances;
    if chances.adjusted > LEVEL {
        let beside = if row.effects.len() > 1 { " beside everything else that was tried" } else { "" };
        let ends = interval(change.interval);
        return Some(format!("it may be chance that it saves{beside} (95% interval {ends}%)"));
    }
    if let Some(why) = loss_left_to_user(row) {
        return Some(why);
    }
    if -change.expected < SAVING_MIN * row.effect().concerned {
        return Some(format!("the saving to expect is less than {least} of what it concerns"));
    }
    if row.effect().without_best >= 0.0 {
        return Some("without the session that saves most it saves nothing".to_owned());
    }
    chances.part_may_cost.map(|part| format!("{} may cost more than it adds", row.lever().set[part]))
}

/// Returns what a row costs that its user has to judge.
fn loss_left_to_user(row: &JudgedRow<'_>) -> Option<String> {
    let floor = row.family.floor;
    if let Some(task) = row.effect().task.filter(|kept| !Floor(floor).passes(Some(*kept))) {
        return Some(format!("only {} of the requests still show what you asked", percent(task)));
    }
    match &row.effect().kept {
        Some(kept) if row.effect().chances.breaks > FLOOR_RISK => {
            let [kept, low, floor] = [kept.value, row.effect().chances.kept_low, floor].map(percent);
            Some(format!(
                "prompts still hold {kept} of what the agent later needs (at least {low}), and {floor} is asked for"
            ))
        }
        None if row.effect().is_edited => {
            Some("what it loses is unknown: nothing says what is needed".to_owned())
        }
        _ => row.lever().unjudged.clone(),
    }
}

fn is_worth_a_try(row: &JudgedRow<'_>, change: &CostChange) -> bool {
    let floor = Floor(row.family.floor);
    let kept = row.effect().kept.as_ref().map(|kept| kept.value);
    let is_judged = row.lever().unjudged.is_none() && (kept.is_some() || !row.effect().is_edited);
    let loses_little = change.own_high <= LOSS_MOST * -change.change + ROUNDING;
    is_judged && loses_little && floor.keeps(kept, row.effect().task)
}

/// Says which number would decide, and how often it has to be measured.
fn describe_deciding_measurement(row: &JudgedRow<'_>, change: &CostChange) -> String {
    let (Some(cost), n) = (&row.effect().cost, row.family.sessions.len()) else { return String::new() };
    let side = usize::from(change.change < 0.0);
    // A change is told from none where its interval does not reach zero.
    let left = change.change.powi(2) - row.effect().reach.0[side].powi(2);
    if left <= 0.0 {
        let what = row.effect().largest_assumption();
        let what = what.map_or("what is assumed", |assumed| assumed.about());
        let narrower = row.effect().reach.0[side] / change.change.abs();
        let cases = (narrower * narrower).ceil();
        return format!(
            "it depends on {what}, which is assumed; to decide, it would have to be measured on {cases:.0} times as many cases"
        );
    }
    let needed = (n as f64 * cost.half_width().powi(2) / left).ceil();
    if needed > MOST_SESSIONS {
        return format!("the change ({}) is too small to be told from none", signed(change.change));
    }
    format!("about {} would tell, if they are like these", counted((needed as usize).max(n + 1), "session"))
}

/// Nobody waits for more.
const MOST_SESSIONS: f64 = 10_000.0;
