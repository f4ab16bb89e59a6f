//! One run as a row.

use std::borrow::Cow;

use super::ALL;
use crate::prelude::*;
use ctxsim_engine::ledger::{Firing, MemorySums};
use ctxsim_engine::measure::Label;
use ctxsim_engine::take::StageFacts;
use ctxsim_timeline::row::{Columns, Fields, Head, RowColumn, fields, heads, listed, row_fields};

/// A run with what a report says of it.
#[derive(Clone, Debug)]
pub(super) struct RunRow<'a> {
    pub(super) run: &'a Run,
    pub(super) label: Option<Label>,
    /// The report, if it was checked against guards.
    pub(super) judged: Option<&'a Report>,
    /// Whether stages and guards are told in words, for a cell.
    pub(super) in_words: bool,
}

impl<'a> RunRow<'a> {
    /// Returns a run without guards.
    pub(super) fn new(run: &'a Run, label: Option<Label>) -> Self {
        Self { run, label, judged: None, in_words: false }
    }

    /// Returns how often the trigger of each stage held when it was considered, and how often it edited anything; nothing if no policy acts.
    fn stages_value(&self) -> Value {
        let stages = self.run.stages.iter().zip(&self.run.tally.outcome.firings);
        if self.in_words {
            let words = stages.map(|(it, firing)| format!("{} {}", it.name, firing.fired));
            return words.listed().join("; ").into();
        }
        let value = |(stage, firing): (&StageFacts, &Firing)| {
            group! { "stage": stage.name.clone(), "fired": firing.fired, "acted": firing.acted }
        };
        stages.map(value).listed().into()
    }

    fn guards_value(&self) -> Value {
        let Some(report) = self.judged else { return Value::Null };
        if self.in_words {
            return report.guard_verdicts_cell(self.run).into();
        }
        report.guard_verdicts_on(self.run).map(|verdicts| Value::serialised(&verdicts)).into()
    }
}

/// Returns the runs of a report; where stages and guards are told in words, without sums over scenarios, so that adding up a column
/// counts each run once.
pub fn run_rows(report: &Report, in_words: bool) -> Rows {
    let runs = report.runs_with_labels().filter(|(run, _)| !in_words || run.scenario != ALL);
    let runs = runs.map(|(run, label)| RunRow { run, label, judged: Some(report), in_words });
    Rows::new::<RunRow<'_>>(Vec::new(), runs)
}

impl Columns for RunRow<'_> {
    fn columns<'a>() -> Cow<'a, [RowColumn<Self>]>
    where
        Self: 'a,
    {
        let front = listed![Self;
        /// The policy.
        "policy": Text = |it| it.run.policy.clone(),
        /// The scenario, or `ALL` for the sum of several.
        "scenario": Text = |it| it.run.scenario.clone(),
        /// The profile.
        "profile": Text = |it| it.run.profile.clone(),
        /// The random seed.
        "seed": Count = |it| it.run.seed,
        /// How many trials were drawn.
        "trials": Count = |it| it.run.trials,
        /// How it compares with the first policy: `baseline`, `dominates`, `safe_cost_win`, `cost_only`, `same` or `loses`.
        "label": Text = |it| it.label.map(|label| Value::serialised(&label)),
        /// The numbers that every run has.
        "totals": Group(heads::<Tally>) = |it| fields(&it.run.tally),
            ];
        let back = listed![Self;
        /// Calls of a memory to its service; null without any.
        "memory_calls": Group(memory_call_heads) = |it| memory_call_fields(it.run),
        /// What is assumed, in sentences.
        "assumptions": List = |it| it.run.assumed.sentences.clone(),
        /// How often each stage fired, and how often it edited anything.
        "stages": List = |it| it.stages_value(),
        /// The verdicts of guards, if the report was checked against any.
        "guards": List sparse = |it| it.guards_value(),
            ];
        let of_worlds = ctxsim_worlds::findings().flat_map(|it| it.columns);
        let found = |own: &Self, name: &'static str| {
            let mut all = own.run.findings.iter().flat_map(|it| it.kind().columns);
            all.find(|it| it.name == name).map_or(Value::Null, |column| column.value(own.run))
        };
        front.into_iter().chain(of_worlds.map(|it| it.read_by(found))).chain(back).collect()
    }
}

/// Says what calls there were, or nothing if there were none and no runner, whose summary follows.
fn memory_call_fields(run: &Run) -> Option<Fields> {
    let MemorySums { writes, reads, .. } = run.tally.sums.memory;
    let found = run.findings.as_ref().map(|it| it.calls()).unwrap_or_default();
    let is_any = writes + reads > 0 || !found.is_empty();
    let mut calls = is_any.then(|| row_fields(&memory_call_columns(), &run.tally))?;
    calls.extend(found);
    Some(calls)
}

fn memory_call_columns() -> [RowColumn<Tally>; 5] {
    listed![Tally;
        /// Calls that write.
        "writes": Count = |it| it.sums.memory.writes,
        /// What they carry.
        "write_tokens": Tokens = |it| it.sums.memory.write_tokens,
        /// Calls that read.
        "reads": Count = |it| it.sums.memory.reads,
        /// What they carry.
        "read_tokens": Tokens = |it| it.sums.memory.read_tokens,
        /// What they cost.
        "cost_usd": Usd = |it| it.costs.memory.usd(),
    ]
}

fn memory_call_heads() -> Vec<Head> {
    let of_worlds = ctxsim_worlds::findings().flat_map(|it| (it.calls)());
    memory_call_columns().iter().map(RowColumn::head).chain(of_worlds).listed()
}
