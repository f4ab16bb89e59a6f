//! How a memory aged, as findings of a run: its numbers and its columns.

use std::sync::Arc;

use super::{AgingSummary, card, tables};
use ctxsim_engine::measure::{Better, Statistic};
use ctxsim_engine::take::{Findings, FindingsKind, Number, Run, StageRepair};
use ctxsim_timeline::row::{Head, RowColumn, Value, listed, number_heads};

/// What is found of ageing memories.
pub(super) static KIND: FindingsKind = FindingsKind {
    numbers: &[
        Number::share("mean", "aging.mean.mean", "mean score"),
        Number::share("final", "aging.final.mean", "final score"),
        Number { is_share: false, ..Number::share("half_life", "aging.half_life.mean", "half-life") },
        Number {
            is_share: false,
            better: Better::Lower,
            ..Number::share("accumulator_error", "aging.accumulator_error.mean", "error in totals")
        },
        Number::share("version_accuracy", "aging.version_accuracy.mean", "versions right"),
        Number::share("binding", "aging.binding.mean", "bindings right"),
        Number::share("chain_recall", "aging.chain_recall.mean", "chains right"),
        Number {
            better: Better::Lower,
            ..Number::share("violation_rate", "aging.violation_rate.mean", "violations")
        },
        Number::share("shock", "aging.shock.mean", "shock"),
    ],
    is_of_memory: true,
    is_in_sections: false,
    columns: &COLUMNS,
    calls: Vec::new,
    grids: tables::grids,
    curves: tables::curves,
};

static COLUMNS: [RowColumn<Run>; 1] = listed![Run;
    /// What an ageing memory still answers; null for loads of other kinds.
    "aging": Group(of_aging) = |it| it.found::<AgingSummary>().map(Value::of),
];

impl Findings for AgingSummary {
    fn kind(&self) -> &'static FindingsKind {
        &KIND
    }

    fn number(&self, name: &str) -> Option<Statistic> {
        self.number(name).copied()
    }

    fn more(&self, name: &str, base: &str) -> Option<Statistic> {
        self.paired.get(base)?.get(name).copied()
    }

    fn repair(&self) -> Option<&StageRepair> {
        self.repair.as_ref()?.get()
    }

    fn without_repair(&self) -> Option<Arc<dyn Findings>> {
        Some(Arc::new(Self { repair: None, ..self.clone() }))
    }

    fn value(&self) -> Value {
        Value::of(self)
    }

    fn card(&self, run: &Run, suite: Option<&str>, notes: &[String]) -> Option<serde_json::Value> {
        Some(card::card(run, self, suite, notes))
    }
}

/// Returns what a run can have.
fn of_aging() -> Vec<Head> {
    number_heads(&Value::of(&AgingSummary::sample()), &["paired", "span", "span_all_hops", "depth", "hop"])
}
