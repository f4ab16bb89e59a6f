//! One play of a load gives each run a take: its sums and outcome, and the rows that were asked for.
//!
//! `Outcome::touched_slots` counts the slots that the engine visited. Tests measure growth by that count, never by a clock. The oracle in
//! `tests/suite/oracle/` interprets the same policies by rescanning everything at every request. It covers sessions, events and memory, and
//! must agree row by row.

mod ends;
mod findings;
mod lives;
mod load;
mod play;
mod run;
mod simulations;
mod threads;
mod world;

pub use ends::AtEnds;
pub use findings::{Curve, CurvePlaces, Curves, Findings, FindingsKind, MemoryRepair, Number, StageRepair};
pub use lives::Layouts;
pub use load::{CountedLoad, Keys, Load, SimulationKey};
pub use play::{FoldedLedger, Sinks, Take, Taken, summed};
pub use run::{
    FailedRun, FailedRuns, LoadFacts, Run, RunBasis, RunName, StageFacts, drawn, drawn_heads, of_run,
};
pub use simulations::{Ledgers, Simulations};
pub use threads::{THREADS_MAX, in_order, in_order_telling, in_turn, with_threads};
pub use world::{Fixed, LoadKind, Plays, PolicyPart, RowsOf, TrialLedger, TrialQuestion, Unread, World};

/// What is told, from any thread, while a plan runs: how much is done, of how much.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// A run's place in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The load's index, a recording of several sessions being several loads.
    pub scenario: usize,
    /// The index of the profile among those of its load.
    pub profile: usize,
    /// The policy's index.
    pub policy: usize,
}
