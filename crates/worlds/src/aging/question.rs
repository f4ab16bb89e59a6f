//! One question of a session stream, with its answers.

use crate::aging::AnsweredQuestion;
use ctxsim_timeline::row::columns;

/// A question, and how it was answered as the agent is, with perfect retrieval and with perfect context.
#[derive(Clone, Debug, PartialEq)]
pub struct AgingQuestion {
    /// The question's answers.
    pub asked: AnsweredQuestion,
    /// What it asks: `fact`, `chain`, `binding` or `total`.
    pub asks: &'static str,
    /// The facts that it is about.
    pub facts: Vec<u32>,
    /// Whether it counts.
    pub is_scored: bool,
    /// The total that is right, if it asks for one.
    pub gold_total: Option<i64>,
}

// In the order of their names, as these rows always were.
columns! { AgingQuestion;
    /// What is asked: `fact`, `chain`, `binding` or `total`.
    "asks": Text = |it| it.asks,
    /// Always `probe`.
    "event": Text = |_it| "probe",
    /// The facts that the question is about.
    "facts": List = |it| it.facts.clone(),
    /// The total that is right, if one is asked for.
    "gold_total": Number = |it| it.gold_total,
    /// Of a question over several facts: which of them were stated.
    "hops": List = |it| it.asked.answers[0].hops.clone(),
    /// Whether a fact was stated that could be confused with the target.
    "is_confused": Flag = |it| it.asked.answers[0].is_confused,
    /// Whether the question counts.
    "is_scored": Flag = |it| it.is_scored,
    /// Whether an old version was stated.
    "is_stale": Flag = |it| it.asked.answers[0].is_stale,
    /// Whether the answer is right.
    "p1": Flag = |it| it.asked.answers[0].is_right,
    /// The same with perfect retrieval.
    "p2": Flag = |it| it.asked.answers[1].is_right,
    /// The same with perfect context.
    "p3": Flag = |it| it.asked.answers[2].is_right,
    /// The place of the question among those of the stream, from 0.
    "probe": Count = |it| it.asked.probe,
    /// The session that asks it.
    "session": Count = |it| it.asked.session,
    /// The total that was stated.
    "stated_total": Number = |it| it.asked.answers[0].total,
}
