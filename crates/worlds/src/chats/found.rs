//! What a memory runner did and answered, as findings of a run.

use super::{ChatSummary, tables};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Findings, FindingsKind, Number, StageRepair};
use ctxsim_timeline::row::{Fields, Head, Value, number_heads};

/// What is found of memory runners.
pub(super) static KIND: FindingsKind = FindingsKind {
    numbers: &[
        Number::share("overall", "memory_calls.accuracy.overall.mean", "right answers"),
        Number::share("single_fact", "memory_calls.accuracy.single_fact.mean", "single facts"),
        Number::share("knowledge_update", "memory_calls.accuracy.knowledge_update.mean", "updates"),
        Number::share("counting", "memory_calls.accuracy.counting.mean", "counting"),
        Number::share("timeline", "memory_calls.accuracy.timeline.mean", "timeline"),
        Number::share("abstention", "memory_calls.accuracy.abstention.mean", "abstention"),
    ],
    is_of_memory: true,
    is_in_sections: false,
    columns: &[],
    calls: of_runner,
    grids: tables::grids,
    curves: |_| Vec::new(),
};

impl Findings for ChatSummary {
    fn kind(&self) -> &'static FindingsKind {
        &KIND
    }

    fn number(&self, name: &str) -> Option<Statistic> {
        self.accuracy.get(name).copied()
    }

    fn more(&self, name: &str, base: &str) -> Option<Statistic> {
        self.paired.get(base)?.get(name).copied()
    }

    fn repair(&self) -> Option<&StageRepair> {
        self.repair.as_ref()?.get()
    }

    fn value(&self) -> Value {
        Value::of(self)
    }

    fn calls(&self) -> Fields {
        if let Value::Fields(it) = self.value() { it } else { Vec::new() }
    }
}

/// Returns what a run can have.
fn of_runner() -> Vec<Head> {
    number_heads(&Value::of(&ChatSummary::sample()), &["paired"])
}
