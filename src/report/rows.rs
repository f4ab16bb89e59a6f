//! The kinds of rows below runs, each a file with its columns.

mod need;
mod question;
mod request;
mod service;

use super::runs::RunOf;
use crate::input::{Policy, Profile};
use crate::ledger::Rows as Ledger;
use crate::measure::Tally;
use crate::measure::probe::Probe;
use crate::measure::trial::Trial;
use crate::quantity::ix;
use crate::row::{Columns, Fields, Head, Rows, Unit, heads, row};
use crate::timeline::{Recorded, Session, Timeline, TurnIx};
use need::Due;
use service::{Action, Answer, Called, MemoryCall, Ordered};

pub use question::Question;
pub(super) use request::Sent;
pub use service::{Runner, actions, answers, calls, memory_calls, orderings};

/// Returns the columns of each kind of row, under what gives the rows.
#[must_use]
pub fn kinds() -> [(&'static str, Vec<Head>); 12] {
    [
        ("`--rows runs`: one policy on one scenario under one profile", heads::<RunOf<'_>>()),
        ("`--rows requests`: one model request", heads::<Sent<'_>>()),
        ("`--rows needs`: one thing that is needed again", heads::<Due<'_>>()),
        ("`--rows trials` of conversations: one conversation", heads::<Trial>()),
        (
            "`--rows trials` of drawn needs: one sample of all needs, with the `totals` of a run",
            drawn_heads(),
        ),
        ("`--rows probes` of conversations: one question about a fact", heads::<Probe>()),
        ("`--rows probes` of session streams: one question", heads::<Question>()),
        ("`--rows probes` of chats: one question", heads::<Answer<'_>>()),
        ("`--rows calls` of memory runners: one call to the service", heads::<Called<'_>>()),
        ("`--rows calls` of memories: calls of a kind in a turn", heads::<MemoryCall<'_>>()),
        (
            "`--rows log`: one action of a memory runner; what an action does not have is left out",
            heads::<Action<'_>>(),
        ),
        ("`--rows orderings`: one changed assumption", heads::<Ordered<'_>>()),
    ]
}

/// The context of a run's rows.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The policy, whose stages the rows name.
    pub policy: &'a Policy,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The sessions of its timeline; a load without a timeline has one.
    pub sessions: &'a [Session],
    /// What was recorded, where anything was.
    pub recorded: Option<&'a Recorded>,
    /// The profile, whose prices they pay.
    pub profile: &'a Profile,
    /// Whether each row names its run.
    pub names_run: bool,
}

impl<'a> Context<'a> {
    /// The context of a single run on a timeline.
    #[must_use]
    pub fn alone(
        policy: &'a Policy,
        scenario: &'a str,
        timeline: &'a Timeline,
        profile: &'a Profile,
    ) -> Self {
        let (sessions, recorded) = (&timeline.spine.sessions, timeline.recorded.as_ref());
        Self { policy, scenario, sessions, recorded, profile, names_run: false }
    }
}

impl Context<'_> {
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

/// The run of a row.
#[derive(Clone, Copy, Debug)]
pub struct RunName<'a> {
    /// The policy.
    pub policy: &'a str,
    /// The scenario.
    pub scenario: &'a str,
    /// The profile.
    pub profile: &'a str,
}

impl RunName<'_> {
    fn fields(&self) -> Fields {
        let names = [("policy", self.policy), ("scenario", self.scenario), ("profile", self.profile)];
        names.map(|(name, it)| (name.into(), it.to_owned().into())).into()
    }
}

/// Returns the requests of a run.
#[must_use]
pub fn requests(rows: &Ledger, context: Context<'_>) -> Rows {
    Rows::new::<Sent<'_>>(context.of(), request::sent(rows, context))
}

/// Returns the requests of one conversation, with its length and its index among those of that length.
#[must_use]
pub fn requests_of_conversation(rows: &Ledger, (length, trial): (u64, u64), context: Context<'_>) -> Rows {
    let mut all = requests(rows, context);
    all.of.extend([("length".into(), length.into()), ("trial".into(), trial.into())]);
    all
}

/// Returns the needs of a run.
#[must_use]
pub fn needs(rows: &Ledger, context: Context<'_>) -> Rows {
    Rows::new::<Due<'_>>(context.of(), rows.needs.iter().map(|row| Due { row, context }))
}

/// Returns the rows of a run that name it: trials, probes, questions of a session stream.
#[must_use]
pub fn of_run<R: Columns>(run: RunName<'_>, all: &[R]) -> Rows {
    Rows::new::<R>(run.fields(), all)
}

/// Returns the trials of a run with sampled needs.
#[must_use]
pub fn drawn(run: RunName<'_>, trials: &[Tally]) -> Rows {
    let columns = Tally::columns();
    let one = |(trial, tally): (usize, &Tally)| {
        let mut fields: Fields = vec![("trial".into(), trial.into())];
        fields.extend(row(columns, tally));
        fields
    };
    Rows { of: run.fields(), heads: drawn_heads(), rows: trials.iter().enumerate().map(one).collect() }
}

fn drawn_heads() -> Vec<Head> {
    let trial = Head { name: "trial".to_owned(), unit: Unit::Count, doc: "The sample, from 0." };
    std::iter::once(trial).chain(heads::<Tally>()).collect()
}
