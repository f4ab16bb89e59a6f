//! The first stream of a load in detail: its graph of facts, and every question with its answers.

use serde_json::{Value, json};

use super::stream::Ask;
use super::{Aging, AgingPlayer, AgingStream, AnsweredQuestion, written};
use crate::graph::{Graph, export};
use ctxsim_engine::take::{Cell, Load};
use ctxsim_timeline::row::columns;

impl Aging {
    /// Returns the graph of facts of its first stream, and the stream as a scenario reads it back.
    pub fn fact_graph(&self) -> Value {
        let stream = self.stream(0);
        let graph = export(&stream.graph);
        let written = written::write(&stream);
        json!({ "scenario": self.name, "trial": 0, "dependency_graph": graph, "stream": written })
    }

    /// Returns what the first stream asks each policy, with its answers.
    pub fn trace(&self, load: &Load) -> Vec<(Cell, Vec<AgingQuestion>)> {
        let stream = self.stream(0);
        let player = AgingPlayer::new(self, &stream, true);
        let of = |cell: Cell| {
            let log = player.policy(&load.policies[cell.policy], &self.model);
            log.asked.into_iter().map(|it| question(&stream, it)).collect()
        };
        load.own_cells().filter(|it| it.profile == 0).map(|cell| (cell, of(cell))).collect()
    }
}

/// Returns a question with its answers.
fn question(stream: &AgingStream, asked: AnsweredQuestion) -> AgingQuestion {
    let probe = &stream.probes[asked.probe];
    let (asks, facts) = describe(&stream.graph, &probe.ask);
    let gold_total = match probe.ask {
        Ask::Total { accumulator, at } => Some(stream.graph.total(accumulator as usize, at)),
        _ => None,
    };
    AgingQuestion { asked, asks, facts, is_scored: probe.is_scored, gold_total }
}

/// Returns what a question asks, and which facts it is about.
fn describe(graph: &Graph, ask: &Ask) -> (&'static str, Vec<u32>) {
    match ask {
        Ask::Any { facts, .. } => ("fact", facts.clone()),
        Ask::Chain(edge) => ("chain", graph.edges[*edge as usize].facts.clone()),
        Ask::Binding { fact } => ("binding", vec![*fact]),
        Ask::Total { accumulator, at } => {
            ("total", graph.accumulators[*accumulator as usize].due(*at).map(|it| it.fact).collect())
        }
    }
}

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
