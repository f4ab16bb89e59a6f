//! What is asked of a play beside its numbers, and what the play gives for one run: nobody plays again to learn more.
//!
//! **One play gives a `Take`** (`take/sinks.rs`). Whoever needs rows, trials, broken prefixes, answers or the rows that are compared with a
//! recorded bill asks for them before the play (`Sinks`), and nobody plays again to learn more: reports, comparisons, pages and calibration
//! read the same takes. A `Tally` is made once, of a ledger and of what is known beside it (`measure/beside.rs`). `tests/suite/nets.rs`
//! counts scans, imports, compilations, layouts and plays (`counts.rs`). With `--since`, `--limit` and `--model`, the index or a glance
//! (`timeline/import/index.rs`) tells which recordings take part, and only these are laid out. The caches of a play stand on lanes
//! (`engine/lanes.rs`): each answers the same requests, and those whose rules differ in their steps alone share what they know.

use crate::prelude::*;
use std::collections::BTreeSet;

use super::play::FoldedLedger;
use super::world::TrialQuestion;
use super::{Cell, Run};
use crate::explain::breaks::{Break, PrefixBreak};
use crate::ledger::Rows;
use crate::measure::Tally;
use crate::price::PriceRows;

/// What is asked of a play beside its numbers; nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sinks<'a> {
    /// The rows of the first trial, where the engine plays.
    pub rows: bool,
    /// What each trial with drawn needs came to.
    pub trials: bool,
    /// Where prefixes broke, and whose edits broke them.
    pub breaks: bool,
    /// What became of each question, where trials ask any.
    pub answers: bool,
    /// The settings of real agents that do as each policy does, with the numbers of the run.
    pub settings: bool,
    /// Whether costs stand alone: neither at the ends of what is assumed, nor beside those with and without the recorded compactions.
    pub bare: bool,
    /// A policy whose requests are compared with the recorded bill: its rows with all of the recorded compactions.
    pub billed: Option<&'a Policy>,
}

/// What one play gave for one run.
#[derive(Clone, Debug)]
pub struct Take {
    /// The run's place.
    pub cell: Cell,
    /// Its numbers.
    pub run: Run,
    /// Its rows, if they were asked for.
    pub rows: Option<Arc<Rows>>,
    /// What each of its trials came to, if that was asked for.
    pub trials: Vec<Tally>,
    /// Where its prefixes broke, if that was asked for.
    pub breaks: Vec<Break>,
    /// What became of its questions, if that was asked for.
    pub answers: Vec<TrialQuestion>,
    /// The layout that it was played in, where the engine plays items.
    pub timeline: Option<Arc<Timeline>>,
    /// Whether its requests are those of the policy that is compared with the recorded bill.
    pub is_billed: bool,
}

/// What one play of a load gave.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Run by run, in the order of a report.
    pub takes: Vec<Take>,
    /// The rows that are compared with the recorded bill, if a run of the load has them.
    pub billed: Option<Arc<Rows>>,
}

impl Take {
    /// A run of which nothing else was asked.
    pub fn of(cell: Cell, run: Run) -> Self {
        Self {
            cell,
            run,
            rows: None,
            trials: Vec::new(),
            breaks: Vec::new(),
            answers: Vec::new(),
            timeline: None,
            is_billed: false,
        }
    }

    /// Returns the rows that are compared with the recorded bill, if it has them and no limit stopped it.
    pub(super) fn billed(&self) -> Option<Arc<Rows>> {
        let outcome = &self.run.tally.outcome;
        let is_whole = outcome.failure.is_none() && outcome.fault.is_none() && outcome.limit_violations == 0;
        self.rows.clone().filter(|_| self.is_billed && is_whole)
    }
}

impl Taken {
    /// Returns the take of a run.
    pub fn of(&self, profile: usize, policy: usize) -> Option<&Take> {
        self.takes.iter().find(|it| it.cell.profile == profile && it.cell.policy == policy)
    }

    /// Returns the runs alone.
    pub fn into_runs(self) -> Vec<Run> {
        self.takes.into_iter().map(|it| it.run).collect()
    }
}

// What a play keeps of a run: what prices ask for and, where it was asked for, rows and broken prefixes.

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
