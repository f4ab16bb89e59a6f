//! What a play keeps of a run: what prices ask for and, where it was asked for, rows and broken prefixes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::play::Folded;
use crate::explain::breaks::Found;
use crate::ledger::{
    Expected, ExplicitCacheRow, ExploredRow, KeptRow, MemoryRow, NeedRow, Outcome, ProbeRow, RequestRow,
    Rows, Sink, Sums,
};
use crate::price::PriceRows;

/// What a play keeps of one run.
#[derive(Clone, Debug)]
pub(super) struct Detail {
    /// What prices ask for.
    pub folded: Folded,
    /// Its rows, if they were asked for.
    pub rows: Option<Arc<Rows>>,
    /// Where its prefixes broke, if that was asked for; runs that share a simulation share them.
    pub breaks: Arc<[Found]>,
}

/// What is asked of the plays of a load beside what prices ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// The ledgers, by simulation and place, whose first trial keeps its rows.
    pub(super) rows: BTreeSet<(usize, usize)>,
    /// Whether broken prefixes are looked for.
    pub(super) breaks: bool,
}

impl Wanted {
    /// Returns whether more is asked of a simulation than prices ask for.
    pub(super) fn asks(&self, simulation: usize) -> bool {
        self.breaks || self.rows.range((simulation, 0)..).next().is_some_and(|it| it.0 == simulation)
    }
}

/// A sink that keeps what it was made to keep.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    sums: Sums,
    prices: Option<PriceRows>,
    rows: Option<Rows>,
}

impl Keeper {
    /// Keeps sums and, where asked, the requests by length and all rows.
    pub(super) fn new(by_length: bool, rows: bool) -> Self {
        let (prices, rows) = (by_length.then(PriceRows::default), rows.then(Rows::default));
        Self { sums: Sums::default(), prices, rows }
    }

    /// Returns what it kept.
    pub(super) fn into_detail(self, outcome: Outcome, breaks: Arc<[Found]>) -> Detail {
        let fault = outcome.fault.clone();
        Detail {
            folded: (self.sums, self.prices.map(Into::into), outcome),
            rows: self.rows.map(|rows| Arc::new(Rows { fault, ..rows })),
            breaks,
        }
    }
}

impl Sink for Keeper {
    fn request(&mut self, row: &RequestRow) {
        self.sums.request(row);
        self.prices.iter_mut().for_each(|it| it.request(row));
        self.rows.iter_mut().for_each(|it| it.request(row));
    }

    fn expected(&mut self, row: &RequestRow, beside: &Expected) {
        self.sums.expected(row, beside);
        self.rows.iter_mut().for_each(|it| it.expected(row, beside));
    }

    fn explored(&mut self, row: &ExploredRow) {
        self.sums.explored(row);
        self.rows.iter_mut().for_each(|it| it.explored(row));
    }

    fn need(&mut self, row: &NeedRow) {
        self.sums.need(row);
        self.rows.iter_mut().for_each(|it| it.need(row));
    }

    fn probe(&mut self, row: &ProbeRow) {
        self.sums.probe(row);
        self.rows.iter_mut().for_each(|it| it.probe(row));
    }

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.sums.stored(row);
        self.prices.iter_mut().for_each(|it| it.stored(row));
        self.rows.iter_mut().for_each(|it| it.stored(row));
    }

    fn memory(&mut self, row: &MemoryRow<'_>) {
        self.sums.memory(row);
        self.rows.iter_mut().for_each(|it| it.memory(row));
    }

    fn kept(&mut self, row: &KeptRow<'_>) {
        self.sums.kept(row);
        self.rows.iter_mut().for_each(|it| it.kept(row));
    }
}
