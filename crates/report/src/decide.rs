//! The rule that gives a lever its word: one for every command, page and binding. `docs/reference/advice.md` has its error rates.
//!
//! A family is everything that is tried beside each other, fixed before any result. Each row is tested on all sessions. That it saves is
//! corrected for the family, step by step over joint draws (`joint`): the chance that any row is wrongly said to save is 5% at most. What it
//! keeps is asked of each row alone, for as many later sessions: the chance that these hold less than the floor is a quarter at most, and of
//! the rows that pass, the one is pasted whose saving is worth most when that chance is counted in (`Lever::worth`).
//!
//! **One rule gives words** (`report/decide.rs`; `docs/reference/advice.md` says when and how often it is right). Data flows `Tally →
//! SessionEffect → TriedFamily → RowEffect → Lever`: `SessionEffect` is what a session comes to under one choice
//! (cost with what each assumption moves, what is kept, the task); a `TriedFamily` holds all levers that are tried beside each other, a row each;
//! `effects.rs` sums a row up and has its two errors, `joint.rs` draws what all rows are off by together, steps down and
//! shrinks, `words.rs` has the words in their order. No interval depends on the floor, and the words are monotone in it.
//! Beside a lever stand the turns that its saving bears (`measure/more_turns.rs`, `report/lever.rs`) and what published runs tell of
//! the task (`known_task.rs` of both): no success is computed.

pub(crate) mod beside;
mod effects;
pub mod groups;
mod joint;
mod words;

use crate::lever::{Lever, Word};
use crate::prelude::*;
use ctxsim_engine::measure::assumed::AssumedCost;
use effects::RowEffect;
use words::JudgedRow;
pub use words::{SESSIONS_MIN, SESSIONS_TOLD, too_few_loads};

/// What a session comes to under one choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionEffect {
    /// `None` where a price is unknown.
    pub cost: Option<AssumedCost>,
    /// How many turns it completed, and how it ended: a session that stops elsewhere cannot be compared.
    pub ended: [u32; 2],
    /// The needed evidence that prompts hold, and all of it; `None` where nothing says what is needed.
    pub kept: Option<(f64, f64)>,
    /// By how much less of it is held at the worse end of what is assumed of needs.
    pub kept_assumed: f64,
    /// The requests that show what the user asked, and all of those whose turn is running.
    pub task: (f64, f64),
    /// Whether prompts differ from those that were recorded.
    pub is_edited: bool,
    /// What as many turns again would cost at its end, in US dollars; `None` where nothing tells.
    pub again: Option<f64>,
}

/// A session under what is in force and under each lever of a family.
#[derive(Clone, Debug)]
pub struct FamilySession<'s> {
    pub project: &'s str,
    /// Empty where it is unknown.
    pub person: &'s str,
    /// When its last request was, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// Whether it is a sub-agent's.
    pub is_of_agent: bool,
    /// Its part of the month's bill, in US dollars; `None` where it is unknown.
    pub month_usd: Option<f64>,
    pub base: &'s SessionEffect,
    pub rows: Vec<&'s SessionEffect>,
}

/// Everything that is tried beside each other.
#[derive(Clone, Debug, Default)]
pub struct TriedFamily<'s> {
    pub sessions: Vec<FamilySession<'s>>,
    /// What is tried, each as a lever without a word.
    pub levers: Vec<Lever>,
    /// The share of the needed evidence that must be kept.
    pub floor: f64,
}

impl SessionEffect {
    /// Returns what a run came to.
    pub fn from_tally(run: &Tally) -> Self {
        let (users, kept) = (&run.sums.needs.users, run.sums.needs.evidence());
        Self {
            cost: run.assumed_cost(),
            ended: [run.outcome.turns_requested, run.outcome.turns_completed],
            kept: Some(kept).filter(|(_, needed)| *needed > 0.0),
            kept_assumed: (kept.0 - run.sums.needs.evidence_ends()[0].min(1.0) * kept.1).max(0.0),
            task: (users.running_met, users.running),
            is_edited: run.outcome.firings.iter().any(|it| it.fired > 0),
            again: run.as_many_again(),
        }
    }
}

impl TriedFamily<'_> {
    /// Gives each lever its word and its numbers.
    pub fn judge_levers(&self) -> Vec<Lever> {
        let mut effects = (0..self.levers.len()).map(|nth| RowEffect::new(self, nth)).listed();
        let shrinkage = joint::set_chances_and_overestimate(self, &mut effects);
        let row = |nth: usize| JudgedRow { family: self, effects: &effects, nth, shrinkage };
        (0..effects.len()).map(|nth| row(nth).judge_lever()).listed()
    }
}

/// Returns the place of what is pasted: of the levers that are *do*, the one whose saving is worth most.
pub fn index_of_best_do(judged: &[Lever]) -> Option<usize> {
    let are_done = (0..judged.len()).filter(|nth| judged[*nth].word == Some(Word::Do));
    are_done.max_by(|one, other| judged[*one].worth().total_cmp(&judged[*other].worth()))
}
