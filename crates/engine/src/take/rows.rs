//! Rows that every world can have: those of trials with drawn needs, and calls of memories to their services.

use super::world::RowsOf;
use super::{Cell, Load, Progress};
use crate::ledger::CallRow;
use crate::measure::Tally;
use ctxsim_timeline::row::{ColumnUnit, Columns, Fields, Head, Rows, columns, heads, row_fields};

/// The run of a row.
#[derive(Clone, Copy, Debug)]
pub struct RunName<'a> {
    pub policy: &'a str,
    pub scenario: &'a str,
    pub profile: &'a str,
}

impl RunName<'_> {
    /// Returns the first columns of its rows.
    pub fn fields(&self) -> Fields {
        let names = [("policy", self.policy), ("scenario", self.scenario), ("profile", self.profile)];
        names.map(|(name, it)| (name.into(), it.to_owned().into())).into()
    }
}

/// Returns the rows of a run that name it: trials, probes, questions of a session stream.
pub fn of_run<R: Columns>(run: RunName<'_>, all: &[R]) -> Rows {
    Rows::new::<R>(run.fields(), all)
}

/// Returns the trials of a run with sampled needs.
pub fn drawn(run: RunName<'_>, trials: &[Tally]) -> Rows {
    let columns = Tally::columns();
    let one = |(trial, tally): (usize, &Tally)| {
        let mut fields: Fields = vec![("trial".into(), trial.into())];
        fields.extend(row_fields(&columns, tally));
        fields
    };
    Rows { of: run.fields(), rows: trials.iter().enumerate().map(one).collect() }
}

/// Returns their columns.
pub fn drawn_heads() -> Vec<Head> {
    let trial = Head { name: "trial".to_owned(), unit: ColumnUnit::Count, doc: "The sample, from 0." };
    std::iter::once(trial).chain(heads::<Tally>()).collect()
}

/// A call of a policy's memory.
#[derive(Debug)]
pub struct MemoryCall<'a>(&'a CallRow);

columns! { MemoryCall<'_>;
    /// How many.
    "calls": Count = |it| it.0.calls,
    /// What they are for.
    "kind": Text = |it| it.0.kind.name(),
    /// The service.
    "service": Text = |it| it.0.service.clone(),
    /// What they carry.
    "tokens": Tokens = |it| it.0.tokens,
    /// The turn in which they were made, or the last turn before them.
    "turn": Count = |it| it.0.turn_ix,
}

impl Load {
    pub fn run_name(&self, cell: Cell) -> RunName<'_> {
        RunName {
            policy: &self.policies[cell.policy].name,
            scenario: &self.name,
            profile: &self.profiles[cell.profile].name,
        }
    }

    /// Plays it and returns rows of some kind: what its world has, what its memory service has, and what every load can have.
    pub fn rows_of(&self, of: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        let mut all = self.world.rows(self, of, progress);
        if let Some(service) = self.service() {
            all.extend(service.rows(self, of, progress));
        }
        match of {
            RowsOf::Trials => {
                all.extend(self.drawn(progress).iter().map(|(cell, it)| drawn(self.run_name(*cell), it)));
            }
            RowsOf::Calls => all.extend(self.rows(progress).iter().map(|(cell, it)| {
                Rows::new::<MemoryCall<'_>>(self.run_name(*cell).fields(), it.calls.iter().map(MemoryCall))
            })),
            _ => {}
        }
        all
    }
}
