//! What a play keeps of a run: what prices ask for and, where it was asked for, rows and broken prefixes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::play::FoldedLedger;
use crate::explain::breaks::PrefixBreak;
use crate::ledger::{Outcome, Rows, Sums};
use crate::price::PriceRows;

/// What a play keeps of one run.
#[derive(Clone, Debug)]
pub(super) struct KeptDetail {
    /// What prices ask for.
    pub folded: FoldedLedger,
    /// Its rows, if they were asked for.
    pub rows: Option<Arc<Rows>>,
    /// Where its prefixes broke, if that was asked for; runs that share a simulation share them.
    pub breaks: Arc<[PrefixBreak]>,
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

/// A sink that keeps sums and, where asked, the requests by length and all rows.
pub(super) type Keeper = (Sums, (Option<PriceRows>, Option<Rows>));

impl KeptDetail {
    /// Takes what a sink kept.
    pub(super) fn new((sums, (prices, rows)): Keeper, outcome: Outcome, breaks: Arc<[PrefixBreak]>) -> Self {
        let fault = outcome.fault.clone();
        Self {
            rows: rows.map(|rows| Arc::new(Rows { fault, ..rows })),
            folded: (sums, prices.map(Into::into), outcome),
            breaks,
        }
    }
}
