//! The rule that gives a lever its word: one for every command, page and binding. `docs/reference/advice.md` has its error rates.
//!
//! A family is everything that is tried beside each other, fixed before any result. Each row is tested on all sessions. That it saves is
//! corrected for the family, step by step over joint draws (`joint`): the chance that any row is wrongly said to save is 5% at most. That it
//! keeps the floor is asked of each row alone, at the lower end of the widest of its intervals over sessions, time, projects and people.
//!
//! **One rule gives words** (`report/decide.rs`; `docs/reference/advice.md` says when and how often it is right). Data flows `Tally →
//! SessionEffect → TriedFamily → RowEffect → JointTest → Judgement → Lever`: `SessionEffect` is what a session comes to under one choice
//! (cost with what each assumption moves, what is kept, the task); a `TriedFamily` holds all rows that are tried beside each other;
//! `effects.rs` sums a row up (`ratio_error`, `within_strata`), `joint.rs` draws what all rows are off by together and steps down,
//! `forecast.rs` shrinks, `words.rs` has the words in their order. No interval depends on the floor, and the words are monotone in it.
//! Beside a lever stand the turns that its saving bears (`measure/more_turns.rs`, `report/lever.rs`) and what published runs tell of
//! the task (`known_task.rs` of both): no success is computed.

pub(crate) mod beside;
mod effects;
pub mod groups;
mod joint;
mod words;

use crate::prelude::*;
use ctxsim_engine::measure::assumed::{Assumed, AssumedCost};

use crate::lever::Word;
use effects::RowEffect;
use joint::JointTest;
pub use words::SESSIONS_MIN;

/// What a session comes to under one choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionEffect {
    /// `None` where a price is unknown.
    pub cost: Option<AssumedCost>,
    /// How many turns it completed, and how it ended: a session that stops elsewhere cannot be compared.
    pub ended: [u32; 2],
    /// The needed evidence that prompts hold, and all of it; `None` where nothing says what is needed.
    pub kept: Option<(f64, f64)>,
    /// The requests that show what the user asked, and all of those whose turn is running.
    pub task: (f64, f64),
    /// Whether prompts differ from those that were recorded.
    pub is_edited: bool,
    /// What as many turns again would cost at its end, in US dollars; `None` where nothing tells.
    pub again: Option<f64>,
}

/// A session under what is in force and under each row of a family.
#[derive(Clone, Debug)]
pub struct FamilySession<'s> {
    pub project: &'s str,
    /// Empty where it is unknown.
    pub person: &'s str,
    /// When its last request was, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// Which lifetimes were in force, as a number of its own for each kind.
    pub lifetimes: usize,
    /// Whether it is a sub-agent's.
    pub is_of_agent: bool,
    pub base: &'s SessionEffect,
    pub rows: Vec<&'s SessionEffect>,
}

/// What is tried in one row.
#[derive(Clone, Debug, Default)]
pub struct FamilyRow {
    /// What is set, each as a text of its own.
    pub set: Vec<String>,
    /// Of each: whether it changes main conversations, and whether sub-agents.
    pub lanes: Vec<[bool; 2]>,
    /// Whether one of them is a lifetime of cache entries, whose effect depends on what was in force.
    pub is_lifetime: bool,
    /// What it costs that is not ctxsim's to judge, in a clause; none where there is nothing.
    pub unjudged: Option<String>,
}

/// Everything that is tried beside each other.
#[derive(Clone, Debug, Default)]
pub struct TriedFamily<'s> {
    pub sessions: Vec<FamilySession<'s>>,
    pub rows: Vec<FamilyRow>,
    /// The share of the needed evidence that must be kept.
    pub floor: f64,
}

/// What the rule says of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// None where the row changes nothing.
    pub word: Option<Word>,
    /// In a sentence, what keeps it from a better word, or what the word rests on.
    pub why: String,
    /// The relative change in cost over all sessions; `None` where it cannot be compared.
    pub change: Option<f64>,
    /// Its 95% interval: at least that of the row alone, and each end corrected for the family.
    pub interval: Option<[f64; 2]>,
    /// The change to expect: shrunk, because the best of many is partly so by luck.
    pub expected: Option<f64>,
    /// How probable it is that it costs more than what is in force.
    pub p_costs: Option<f64>,
    /// The chance of a false saving anywhere in the family, if this row is said to save.
    pub p_adjusted: Option<f64>,
    /// What as many turns again would cost under it, as a share of what the base costs.
    pub again: Option<f64>,
    /// The share of the needed evidence that is kept, and its lower end, over sessions and blocks.
    pub kept: Option<f64>,
    pub kept_low: Option<f64>,
}

impl Judgement {
    /// Returns the word with what it rests on, as a sentence; nothing where nothing changes.
    pub fn words(&self) -> Option<String> {
        Some(format!("The word for it is “{}”: {}.", self.word?.text(), self.why))
    }
}

impl SessionEffect {
    /// Returns what a run came to.
    pub fn of(run: &Tally) -> Self {
        let users = &run.sums.needs.users;
        Self {
            cost: run.assumed_cost(),
            ended: [run.outcome.turns_requested, run.outcome.turns_completed],
            kept: Some(run.sums.needs.evidence()).filter(|it| it.1 > 0.0),
            task: (users.running_met, users.running),
            is_edited: run.outcome.firings.iter().any(|it| it.fired > 0),
            again: run.as_many_again(),
        }
    }
}

impl TriedFamily<'_> {
    /// Gives each row its word.
    pub fn judged(&self) -> Vec<Judgement> {
        let effects: Vec<RowEffect> = (0..self.rows.len()).map(|nth| RowEffect::new(self, nth)).listed();
        let test = JointTest::new(self, &effects);
        let shrinkage = joint::shrinkage(&effects, &test);
        let tested = effects.iter().enumerate();
        tested
            .map(|(nth, effect)| {
                words::judgement(&words::JudgedRow {
                    family: self,
                    effects: &effects,
                    nth,
                    effect,
                    p: test.of(nth),
                    shrinkage,
                })
            })
            .listed()
    }
}

/// Returns the place of what is pasted: of the rows that are *do*, the one with the largest saving at its lower end.
pub fn pasted(judged: &[Judgement]) -> Option<usize> {
    let high = |it: &Judgement| it.interval.filter(|_| it.word == Some(Word::Do)).map(|it| it[1]);
    let all = judged.iter().enumerate().filter_map(|(nth, it)| Some((high(it)?, nth)));
    all.min_by(|one, other| one.0.total_cmp(&other.0)).map(|it| it.1)
}

/// The greatest reach of an assumption in an effect.
fn largest_assumption(effect: &RowEffect) -> Option<Assumed> {
    let reach = |it: &[f64; 2]| it[0].abs().max(it[1].abs());
    let all = Assumed::ALL.into_iter().zip(&effect.moved).filter(|it| reach(it.1) > 0.0);
    all.max_by(|one, other| reach(one.1).total_cmp(&reach(other.1))).map(|it| it.0)
}
