//! The first stream of a load in detail: its graph of facts, and every question with its answers.

use serde_json::{Value, json};

use crate::aging::stream::Ask;
use crate::aging::written;
use crate::aging::{Aging, AgingPlayer, AgingQuestion, AgingStream, AnsweredQuestion};
use crate::graph::{Graph, export};
use ctxsim_engine::take::{Cell, Load};

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
            let deltas = &graph.accumulators[*accumulator as usize].deltas;
            ("total", deltas.iter().filter(|it| it.session <= *at).map(|delta| delta.fact).collect())
        }
    }
}
