//! One run as a row.

use super::guards::GuardVerdict;
use super::retention::RetentionCost;
use super::{ALL, Report, Run, places};
use crate::ledger::MemorySums;
use crate::measure::{Label, Tally};
use crate::row::{Column, Fields, Head, Rows, Value, columns, fields, heads, listed, row};

/// A run with what a report says of it.
#[derive(Clone, Debug)]
pub(super) struct RunOf<'a> {
    pub(super) run: &'a Run,
    pub(super) label: Option<Label>,
    /// The report, if it was checked against guards.
    pub(super) judged: Option<&'a Report>,
    /// Whether stages and guards are told in words, for a cell.
    pub(super) in_words: bool,
}

impl<'a> RunOf<'a> {
    /// Returns a run without guards.
    pub(super) fn new(run: &'a Run, label: Option<Label>) -> Self {
        Self { run, label, judged: None, in_words: false }
    }

    fn stages(&self) -> Value {
        if self.in_words { self.run.stages_in_a_cell().into() } else { Value::of(&self.run.stages_json()) }
    }

    fn guards(&self) -> Value {
        let verdicts = |it: &&Report| match self.in_words {
            true => it.verdicts_in_a_cell(self.run).into(),
            false => it.verdicts_on(self.run).map(|it: Vec<&GuardVerdict>| Value::of(&it)).into(),
        };
        self.judged.as_ref().map_or(Value::Null, verdicts)
    }
}

/// Returns the runs of a report; where stages and guards are told in words, without sums over scenarios, so that adding up a column
/// counts each run once.
#[must_use]
pub fn rows(report: &Report, in_words: bool) -> Rows {
    let runs = report.labelled().filter(|(run, _)| !in_words || run.scenario != ALL);
    let runs = runs.map(|(run, label)| RunOf { run, label, judged: Some(report), in_words });
    Rows::new::<RunOf<'_>>(Vec::new(), runs)
}

columns! { RunOf<'_>;
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
    "label": Text = |it| it.label.map(|it| Value::of(&it)),
    /// The numbers that every run has.
    "totals": Group(heads::<Tally>) = |it| fields(&it.run.tally),
    /// What is still known of planted facts; null for loads without any.
    "retention": Group(places::of_retention) = |it| it.run.retention.as_deref().map(Value::of),
    /// What that costs.
    "retention_cost": Group(heads::<RetentionCost>) = |it| RetentionCost::new(it.run).as_ref().map(fields),
    /// What an ageing memory still answers; null for loads of other kinds.
    "aging": Group(places::of_aging) = |it| it.run.aging.as_deref().map(Value::of),
    /// Calls of a memory to its service; null without any.
    "memory_calls": Group(calls_heads) = |it| memory_calls(it.run),
    /// What is assumed, in sentences.
    "assumptions": List = |it| it.run.assumed.sentences.clone(),
    /// How often each stage fired, and how often it edited anything.
    "stages": List = |it| it.stages(),
    /// The verdicts of guards, if the report was checked against any.
    "guards": List sparse = |it| it.guards(),
}

columns! { RetentionCost;
    /// Tokens of a prompt, on average.
    "tokens_per_request": Tokens = |it| it.tokens_per_request,
    /// Dollars per 1,000 messages of conversation.
    "usd_per_1000_turns": Usd = |it| it.usd_per_1000_messages,
    /// The share of needles found per such dollar.
    "accuracy_per_usd": Number = |it| it.accuracy_per_usd,
}

/// Says what calls there were, or nothing if there were none and no runner, whose summary follows.
fn memory_calls(run: &Run) -> Option<Fields> {
    let MemorySums { writes, reads, .. } = run.tally.sums.memory;
    let runner = run.runner.as_deref().map(Value::of);
    let is_any = writes + reads > 0 || runner.is_some();
    let mut calls = is_any.then(|| row(&calls(), &run.tally))?;
    if let Some(Value::Fields(of_runner)) = runner {
        calls.extend(of_runner);
    }
    Some(calls)
}

fn calls() -> [Column<Tally>; 5] {
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

fn calls_heads() -> Vec<Head> {
    calls().iter().map(Column::head).chain(places::of_runner()).collect()
}
