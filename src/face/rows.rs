//! Rows as they are produced, with their cost.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Serialize;

use ctxsim_base::quantity::{Amount, Cost};
use ctxsim_engine::ledger::pairing::RequestId;
use ctxsim_engine::ledger::{self, Sink as InnerSink};
use ctxsim_engine::price::{self, Models, RequestCost};
use ctxsim_engine::take::{Cell, FailedRun, Load, Take};
use ctxsim_input::Profile;

/// Receives rows as they are produced; every method has a default.
pub trait Sink {
    /// Receives a request. Returning `Break` ends the run.
    fn request(&mut self, _row: &RequestRow) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Receives a need and how it was met. Returning `Break` ends the run.
    fn need(&mut self, _row: &NeedRow) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Which model a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The agent's model.
    Main,
    /// The model that writes summaries.
    Summariser,
    /// The agent's model, called only to keep the prompt in the cache.
    KeepAlive,
}

/// One model request; sizes are tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RequestRow {
    /// The turn, from 0.
    pub turn: u32,
    /// The step of the scenario, counted from 0; each step is one request by the agent.
    pub step: u32,
    /// The request's number within the step, counted from 0.
    pub n: u32,
    /// What it is in every run of the scenario, to pair the requests of two policies. `None` in [`Plan::stream`](crate::Plan::stream), which
    /// does not look back.
    pub pair: Option<RequestId>,
    /// Which model is called.
    pub role: Role,
    /// Milliseconds since the start of the scenario.
    pub at_ms: i64,
    /// The whole prompt: the sum of read, written and uncached tokens.
    pub prompt: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Billed as written to the cache.
    pub cache_write: u64,
    /// Billed as plain input.
    pub uncached: u64,
    /// Written by the model.
    pub output: u64,
    /// How many entries the policy changed since the previous request.
    pub edits: u32,
    /// The first entry that was changed since the previous request; `None` if none was.
    pub first_changed: Option<u32>,
    /// The first entry that no earlier prompt shares, as far as the cache's rules know it.
    pub broke_at: Option<u32>,
    /// What the request itself costs, in US dollars; `None` where some token has no price. What is expected beside it is in
    /// `total_usd`, and by part in `parts`.
    pub usd: Option<f64>,
    /// What it costs with what is expected beside it, in US dollars: the sum over a run is its [`Run::usd`](crate::Run::usd) (of several
    /// trials, rows are those of the first). `None` where some token has no price, and in [`Plan::stream`](crate::Plan::stream), because this
    /// is known when the run has ended.
    pub total_usd: Option<f64>,
    /// The same by part, exactly.
    #[serde(skip)]
    pub parts: Option<CostParts>,
    /// What the request itself costs, exactly: in picodollars, of which a US dollar has 10¹². Sums of these do not depend on their order.
    #[serde(skip)]
    pub picodollars: Option<u128>,
}

/// What a request costs with what is expected beside it, in picodollars; sums over a run are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostParts {
    /// All of it.
    pub total: i128,
    /// The request's tokens that are read from the cache.
    pub read: u128,
    /// Its tokens that are written to the cache.
    pub write: u128,
    /// Its tokens that are plain input.
    pub uncached: u128,
    /// What the model writes.
    pub output: u128,
    /// Expected: fetching again what was due with it, carrying what was fetched, and needs that nothing recovers.
    pub recovery: i128,
    /// Expected: what is looked up anew before it because context was removed, and carrying that.
    pub exploration: i128,
    /// Expected: the change because other sessions may have left its front in the cache.
    pub left_by_others: i128,
    /// Of the whole run, in its last request: what the policy's edits of fetched results change.
    pub reaction: i128,
    /// Likewise: stored caches, calls of memories, and penalties.
    pub rest: i128,
}

impl CostParts {
    fn new(cost: &RequestCost) -> Option<Self> {
        Some(Self {
            total: cost.total()?.0,
            read: cost.bill.read.0,
            write: cost.bill.write.0,
            uncached: cost.bill.uncached.0,
            output: cost.bill.output.0,
            recovery: cost.recovery?.0,
            exploration: cost.exploration?.0,
            left_by_others: cost.left.0,
            reaction: cost.reaction.0,
            rest: cost.rest.0,
        })
    }
}

/// One need of the scenario: something that later work needs from earlier evidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NeedRow {
    /// The turn in which it was due, from 0.
    pub turn: u32,
    /// Its probability, from 0 to 1.
    pub weight: f64,
    /// The share that the prompt met, 0 to 1.
    pub met: f64,
    /// Expected recovery calls.
    pub calls: f64,
    /// Tokens that one recovery call fetches.
    pub fetched: u64,
    /// Expected failures, where nothing in the prompt leads back to the evidence.
    pub failed: f64,
}

impl RequestRow {
    fn new(row: &ledger::RequestRow, profile: &Profile) -> Self {
        let cost = price::request(row, &profile.prices);
        Self {
            pair: None,
            total_usd: None,
            parts: None,
            turn: row.turn_ix,
            step: row.step,
            n: row.n,
            role: match row.role {
                ledger::Role::Main => Role::Main,
                ledger::Role::Summariser => Role::Summariser,
                ledger::Role::KeepAlive => Role::KeepAlive,
            },
            at_ms: row.at_ms,
            prompt: row.prompt,
            cache_read: row.usage.read,
            cache_write: row.usage.write[0].saturating_add(row.usage.write[1]),
            uncached: row.usage.uncached,
            output: row.output,
            edits: row.change.n_edits,
            first_changed: row.change.first_slot,
            broke_at: row.usage.broke_at,
            usd: cost.map(Cost::usd),
            picodollars: cost.map(|it| it.0),
        }
    }

    /// Prices a row of a run that has ended.
    fn priced(
        row: &ledger::RequestRow,
        request_id: RequestId,
        cost: &RequestCost,
        profile: &Profile,
    ) -> Self {
        Self {
            pair: Some(request_id),
            total_usd: cost.total().map(Amount::usd),
            parts: CostParts::new(cost),
            usd: cost.request().map(Cost::usd),
            picodollars: cost.request().map(|it| it.0),
            ..Self::new(row, profile)
        }
    }
}

impl NeedRow {
    fn new(row: &ledger::NeedRow) -> Self {
        let &ledger::NeedRow { turn_ix: turn, weight, met, calls, fetched, failed, .. } = row;
        Self { turn, weight, met, calls, fetched, failed }
    }
}

/// The rows of a run, kept while it was played.
#[derive(Debug)]
pub(super) struct KeptRows {
    pub(super) requests: Vec<RequestRow>,
    pub(super) needs: Vec<NeedRow>,
}

impl KeptRows {
    /// Takes the rows of a load's runs, in the order of a report; runs that failed are not in it.
    pub(super) fn one_per_passed_take(load: &Load, takes: &[Take]) -> Vec<Option<Arc<Self>>> {
        let passed = takes.iter().filter(|it| FailedRun::from_run(&it.run).is_none());
        passed.map(|it| Self::new(it, load).map(Arc::new)).collect()
    }

    fn new(take: &Take, load: &Load) -> Option<Self> {
        let (rows, costs) = (take.rows.as_ref()?, load.costs_by_request(take)?);
        let profile = &load.profiles[take.cell.profile];
        let all = rows.requests.iter().zip(RequestId::of_all(&rows.requests)).zip(&costs);
        Some(Self {
            requests: all.map(|((row, pair), cost)| RequestRow::priced(row, pair, cost, profile)).collect(),
            needs: rows.needs.iter().map(NeedRow::new).collect(),
        })
    }
}

/// Adapts a public sink to the engine.
pub(super) struct SinkAdapter<'l, S> {
    sink: S,
    models: Models<'l>,
    is_done: bool,
}

impl<'l, S: Sink> SinkAdapter<'l, S> {
    pub(super) fn new(sink: S, load: &'l Load, cell: Cell) -> Self {
        Self { sink, models: load.models_of(cell), is_done: false }
    }

    pub(super) fn into_sink(self) -> S {
        self.sink
    }
}

impl<S: Sink> InnerSink for SinkAdapter<'_, S> {
    fn request(&mut self, row: &ledger::RequestRow) {
        if !self.is_done {
            let row = RequestRow::new(row, self.models.of(row.role));
            self.is_done = self.sink.request(&row).is_break();
        }
    }

    fn need(&mut self, row: &ledger::NeedRow) {
        if !self.is_done {
            self.is_done = self.sink.need(&NeedRow::new(row)).is_break();
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
