//! What is still known of planted facts at the end of a load.

use ctxsim_base::quantity::Tokens;
use ctxsim_engine::ledger::{
    ExpectedRow, ExplicitCacheRow, ExploredRow, Loss, MemoryRow, NeedRow, Outcome, ProbeRow, RequestRow,
    Sink, Sums,
};
use ctxsim_input::policy::memory::State;
use ctxsim_timeline::row::{ColumnUnit, Value, columns, heads_named};

/// The quarters of a load, as named by the Context Decay Benchmark.
pub const QUARTILES: [&str; 4] =
    ["early (0-25%)", "mid-early (25-50%)", "mid-late (50-75%)", "late (75-100%)"];
/// The names of needle states, in the order of [`State`].
pub const STATES: [&str; 5] = ["exact", "preview", "summarised", "recoverable", "lost"];
/// The names of a memory's lossy parts in reports, in the order of [`Loss`].
pub const LOSSES: [&str; 5] = ["write", "store", "read", "use", "stopped"];

/// Returns a state's name in reports.
pub fn state_name(state: State) -> &'static str {
    STATES[state as usize]
}

/// Returns a loss's name in reports.
pub fn loss_name(loss: Loss) -> &'static str {
    LOSSES[loss as usize]
}

/// Needles of some kind: how many were found, out of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedleHits {
    pub found: u32,
    pub total: u32,
}

impl NeedleHits {
    fn add(&mut self, is_found: bool) {
        self.found += u32::from(is_found);
        self.total += 1;
    }

    /// Returns the share that was found, or nothing if there is none of the kind.
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| f64::from(self.found) / f64::from(self.total))
    }

    /// Returns the share found; an empty kind counts as 0, as in the Context Decay Benchmark.
    pub fn as_published(self) -> f64 {
        self.share().unwrap_or(0.0)
    }
}

/// What a policy retained of one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadTrial {
    /// Turns of the load.
    pub length: u64,
    /// The index of the load among those of that length, from 0.
    pub trial: u64,
    /// Tokens of the prompt at the end, including the memory.
    pub context_tokens: Tokens,
    /// Tokens of the load.
    pub total_tokens: Tokens,
    /// Explicit needles.
    pub explicit: NeedleHits,
    /// Implicit needles.
    pub implicit: NeedleHits,
    /// Needles by the quarter in which they were stated.
    pub quartiles: [NeedleHits; 4],
    /// Needles by state, in the order of [`STATES`].
    pub states: [u32; 5],
    /// Missing needles by what lost them, in the order of [`LOSSES`].
    pub losses: [u32; 5],
}

/// The sums of a run and its probes.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialSink {
    /// The sums that are priced.
    pub sums: Sums,
    /// The probes.
    pub trial: LoadTrial,
}

impl Sink for TrialSink {
    // Where a row is made, most of it is known to be zero.
    #[inline(always)]
    fn request(&mut self, row: &RequestRow) {
        self.sums.request(row);
    }

    fn expected(&mut self, row: &RequestRow, beside: &ExpectedRow) {
        self.sums.expected(row, beside);
    }

    fn explored(&mut self, row: &ExploredRow) {
        self.sums.explored(row);
    }

    #[inline]
    fn need(&mut self, row: &NeedRow) {
        self.sums.need(row);
    }

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.sums.stored(row);
    }

    fn memory(&mut self, row: &MemoryRow<'_>) {
        self.sums.memory(row);
    }

    fn probe(&mut self, row: &ProbeRow) {
        let trial = &mut self.trial;
        if row.is_explicit {
            trial.explicit.add(row.is_found);
        } else {
            trial.implicit.add(row.is_found);
        }
        trial.quartiles[usize::from(row.quartile).min(3)].add(row.is_found);
        trial.states[row.state as usize] += 1;
        if let Some(loss) = row.loss {
            trial.losses[loss as usize] += 1;
        }
    }
}

impl LoadTrial {
    /// Completes the probes' numbers with the outcome of the load and the run.
    #[must_use]
    pub fn of(self, length: u64, trial: u64, total_tokens: Tokens, outcome: &Outcome) -> Self {
        let context_tokens = outcome.end_tokens + outcome.end_memory_tokens;
        Self { length, trial, context_tokens, total_tokens, ..self }
    }

    pub fn needles(&self) -> NeedleHits {
        NeedleHits {
            found: self.explicit.found + self.implicit.found,
            total: self.explicit.total + self.implicit.total,
        }
    }

    /// Returns the ratio of load to prompt; `None` for an empty prompt.
    pub fn compression_ratio(&self) -> Option<f64> {
        (self.context_tokens > 0).then(|| self.total_tokens as f64 / self.context_tokens as f64)
    }

    /// Returns the needles found for each 1,000 tokens of the prompt; 0 for an empty prompt.
    pub fn info_density(&self) -> f64 {
        if self.context_tokens == 0 {
            return 0.0;
        }
        f64::from(self.needles().found) / self.context_tokens as f64 * 1_000.0
    }
}

// The first eleven columns and `depth_accuracy` are those of the published script.
columns! { LoadTrial;
    /// Messages of the conversation.
    "conv_length": Count = |it| it.length,
    /// The index of the conversation among those of that length, from 0.
    "trial": Count = |it| it.trial,
    /// The share of needles found.
    "retrieval_accuracy": Share = |it| it.needles().as_published(),
    /// The same for explicit needles; 0 without any, as published.
    "explicit_accuracy": Share = |it| it.explicit.as_published(),
    /// The same for implicit needles.
    "implicit_accuracy": Share = |it| it.implicit.as_published(),
    /// The prompt at the end, with the memory.
    "context_tokens": Tokens = |it| it.context_tokens,
    /// The conversation.
    "total_tokens": Tokens = |it| it.total_tokens,
    /// The conversation over the prompt; null for an empty prompt.
    "compression_ratio": Number = |it| it.compression_ratio(),
    /// Needles found for each 1,000 tokens of the prompt.
    "info_density": Number = |it| it.info_density(),
    /// Needles planted.
    "needles_total": Count = |it| it.needles().total,
    /// Of these, found.
    "needles_found": Count = |it| it.needles().found,
    /// The share found, by quarter of the conversation; 0 without any, as published.
    "depth_accuracy": Group(|| heads_named(&QUARTILES, ColumnUnit::Share)) =
        |it| Value::from_iter(QUARTILES.into_iter().zip(it.quartiles.map(NeedleHits::as_published))),
    /// Needles by quarter.
    "depth_needles": Group(|| heads_named(&QUARTILES, ColumnUnit::Count)) =
        |it| Value::from_iter(QUARTILES.into_iter().zip(it.quartiles.map(|hits| hits.total))),
    /// Needles by state.
    "states": Group(|| heads_named(&STATES, ColumnUnit::Count)) =
        |it| Value::from_iter(STATES.into_iter().zip(it.states)),
    /// Missing needles, by what lost them.
    "lost_in": Group(|| heads_named(&LOSSES, ColumnUnit::Count)) =
        |it| Value::from_iter(LOSSES.into_iter().zip(it.losses)),
}
