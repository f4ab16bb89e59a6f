//! The kinds of rows below runs, each a file with its columns.

mod need;
mod request;

use super::runs::RunOf;
use crate::prelude::*;
use ctxsim_base::quantity::ix;
use ctxsim_engine::ledger::Rows as Ledger;
use ctxsim_engine::measure::missed::Miss;
use ctxsim_engine::price::by_request::RequestCost;
use ctxsim_engine::take::{MemoryCall, RunName, drawn_heads};
use ctxsim_input::Policy;
use ctxsim_timeline::row::{Fields, Head, heads};
use ctxsim_timeline::{Recorded, Session, TurnIx};
use need::DueNeed;
pub(super) use request::{ExploredCalls, RequestInContext};

/// Returns the columns of each kind of row, under what gives the rows.
pub fn kinds() -> Vec<(&'static str, Vec<Head>)> {
    let front = [
        ("`--rows runs`: one policy on one scenario under one profile", heads::<RunOf<'_>>()),
        ("`--rows requests`: one model request", heads::<RequestInContext<'_>>()),
        ("`--rows needs`: one thing that is needed again", heads::<DueNeed<'_>>()),
        (
            "`--rows trials` of drawn needs: one sample of all needs, with the `totals` of a run",
            drawn_heads(),
        ),
        ("`--rows calls` of memories: calls of a kind in a turn", heads::<MemoryCall<'_>>()),
    ];
    front.into_iter().chain(ctxsim_worlds::rows()).listed()
}

/// The context of a run's rows.
#[derive(Clone, Copy, Debug)]
pub struct RowContext<'a> {
    /// The policy, whose stages the rows name.
    pub policy: &'a Policy,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The sessions of its timeline; a load without a timeline has one.
    pub sessions: &'a [Session],
    /// What was recorded, where anything was.
    pub recorded: Option<&'a Recorded>,
    /// What its requests missed of what was cached, by their bills, in order.
    pub misses: &'a [Miss],
    /// The profile, whose prices they pay.
    pub profile: &'a Profile,
    /// Whether each row names its run.
    pub names_run: bool,
}

impl<'a> RowContext<'a> {
    /// The context of a single run on a timeline.
    pub fn alone(
        policy: &'a Policy,
        scenario: &'a str,
        timeline: &'a Timeline,
        profile: &'a Profile,
    ) -> Self {
        let (sessions, recorded) = (&timeline.spine.sessions, timeline.recorded.as_ref());
        Self { policy, scenario, sessions, recorded, misses: &[], profile, names_run: false }
    }
}

impl RowContext<'_> {
    /// Returns the first columns of its rows: the run, if there are several.
    fn of(&self) -> Fields {
        let run = RunName { policy: &self.policy.name, scenario: self.scenario, profile: &self.profile.name };
        if self.names_run { run.fields() } else { Vec::new() }
    }

    /// Returns which session a turn belongs to, from 0.
    fn session(&self, turn: TurnIx) -> u32 {
        let before = self.sessions.partition_point(|it| it.turns.end <= turn);
        let last = self.sessions.len().saturating_sub(1);
        ix(before.min(last))
    }
}

/// Returns the requests of a run, with what they cost.
pub fn requests(rows: &Ledger, context: RowContext<'_>, costs: &[RequestCost]) -> Rows {
    Rows::new::<RequestInContext<'_>>(context.of(), request::sent(rows, context, costs))
}

/// Returns the requests of one conversation, with its length and its index among those of that length.
pub fn requests_of_conversation(
    rows: &Ledger,
    (length, trial): (u64, u64),
    context: RowContext<'_>,
    costs: &[RequestCost],
) -> Rows {
    let mut all = requests(rows, context, costs);
    all.of.extend([("length".into(), length.into()), ("trial".into(), trial.into())]);
    all
}

/// Returns the needs of a run.
pub fn needs(rows: &Ledger, context: RowContext<'_>) -> Rows {
    Rows::new::<DueNeed<'_>>(context.of(), rows.needs.iter().map(|row| DueNeed { row, context }))
}
