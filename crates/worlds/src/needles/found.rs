//! Retention as findings of a run: its numbers, its columns, and what it costs.

use super::trial::{LoadTrial, NeedleHits};
use super::{Retention, tables};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Findings, FindingsKind, Number, Run};
use ctxsim_timeline::row::{Head, RowColumn, Value, columns, fields, heads, listed, number_heads};

/// What is found of planted facts.
pub(super) static KIND: FindingsKind = FindingsKind {
    numbers: &[Number::share("accuracy", "retention.accuracy.mean", "facts found")],
    is_of_memory: false,
    is_in_sections: false,
    columns: &COLUMNS,
    calls: Vec::new,
    grids: tables::grids,
    curves: tables::curves,
};

/// The same of facts that are planted in a load of items: it is a load as any other, in which something is asked.
static PLANTED: FindingsKind = FindingsKind { is_in_sections: true, ..KIND };

static COLUMNS: [RowColumn<Run>; 2] = listed![Run;
    /// What is still known of planted facts; null for loads without any.
    "retention": Group(of_retention) = |it| it.found::<Retention>().map(Value::of),
    /// What that costs.
    "retention_cost": Group(heads::<RetentionCost>) = |it| RetentionCost::new(it).as_ref().map(fields),
];

impl Findings for Retention {
    fn kind(&self) -> &'static FindingsKind {
        if self.is_planted { &PLANTED } else { &KIND }
    }

    fn number(&self, name: &str) -> Option<Statistic> {
        self.statistic(name)
    }

    fn more(&self, name: &str, base: &str) -> Option<Statistic> {
        self.paired.get(base).filter(|_| name == "accuracy").copied()
    }

    fn value(&self) -> Value {
        Value::of(self)
    }

    fn uncovered(&self, metric: &str) -> Option<&'static str> {
        self.uncovered(metric.strip_prefix("retention.")?)
    }

    fn facts_left(&self) -> Option<[u64; 2]> {
        Some([self.needles_found, self.needles_total])
    }

    fn evidence(&self) -> Option<f64> {
        Some(self.accuracy.mean)
    }
}

/// Returns what a run can have; a trial has all of it.
fn of_retention() -> Vec<Head> {
    let hits = NeedleHits { found: 1, total: 1 };
    let (explicit, implicit, quartiles) = (hits, hits, [hits; 4]);
    let trial =
        LoadTrial { length: 1, context_tokens: 1, explicit, implicit, quartiles, ..LoadTrial::default() };
    let mut retention = Retention::new(&[trial]);
    retention.paired.extend(Statistic::new([0.0].into_iter()).map(|it| (String::new(), it)));
    number_heads(&Value::of(&retention), &["by_length", "paired"])
}

/// The cost of retention in tables and JSON; null for runs that stopped early and where there is nothing to
/// divide by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RetentionCost {
    pub(super) tokens_per_request: Option<f64>,
    pub(super) usd_per_1000_messages: Option<f64>,
    pub(super) accuracy_per_usd: Option<f64>,
}

impl RetentionCost {
    /// Returns the cost of a run; `None` for loads without facts.
    pub(super) fn new(run: &Run) -> Option<Self> {
        let retention = run.found::<Retention>()?;
        let known = |it: Option<f64>| it.filter(|it| it.is_finite() && !has_stopped(run));
        let (main, usd) = (&run.tally.sums.main, run.tally.costs.total());
        let usd_per_1000_messages = usd.map(|it| it / (retention.messages as f64 / 1_000.0));
        Some(Self {
            tokens_per_request: known(Some(main.tokens.prompt() as f64 / main.n as f64)),
            usd_per_1000_messages: known(usd_per_1000_messages),
            accuracy_per_usd: known(usd_per_1000_messages.map(|it| retention.accuracy.mean / it)),
        })
    }
}

columns! { RetentionCost;
    /// Tokens of a prompt, on average.
    "tokens_per_request": Tokens = |it| it.tokens_per_request,
    /// Dollars per 1,000 messages of conversation.
    "usd_per_1000_turns": Usd = |it| it.usd_per_1000_messages,
    /// The share of needles found per such dollar.
    "accuracy_per_usd": Number = |it| it.accuracy_per_usd,
}

/// Returns whether a run stopped before its load was over.
pub(super) fn has_stopped(run: &Run) -> bool {
    run.tally.outcome.turns_completed < run.tally.outcome.turns_requested
}
