//! What memories over histories come to, as findings of a run: numbers and columns.

use super::{FetchSummary, tables};
use ctxsim_engine::measure::{Better, Statistic};
use ctxsim_engine::take::{Findings, FindingsKind, Number, Run};
use ctxsim_timeline::row::{Head, RowColumn, Value, listed, number_heads};

/// What is found of histories.
pub(super) static KIND: FindingsKind = FindingsKind {
    numbers: &[
        Number::share("spared", "history.memory.spared", "spared"),
        Number { better: Better::Lower, ..Number::share("misled", "history.memory.misled", "misled") },
        Number {
            is_share: false,
            better: Better::Lower,
            ..Number::share("net_usd", "history.memory.net_usd", "net USD")
        },
    ],
    is_of_memory: true,
    is_in_sections: false,
    columns: &COLUMNS,
    calls: Vec::new,
    grids: tables::grids,
    curves: tables::curves,
};

static COLUMNS: [RowColumn<Run>; 1] = listed![Run;
    /// What the sessions of a project fetched again, and what the memory would have made of it; left out for loads of other kinds.
    "history": Group(of_history) sparse = |it| it.found::<FetchSummary>().map(Value::of),
];

impl Findings for FetchSummary {
    fn kind(&self) -> &'static FindingsKind {
        &KIND
    }

    fn number(&self, name: &str) -> Option<Statistic> {
        self.number(name)
    }

    fn value(&self) -> Value {
        Value::of(self)
    }
}

/// Returns what a run can have.
fn of_history() -> Vec<Head> {
    number_heads(&Value::of(&FetchSummary::sample()), &[])
}
