//! The kinds of rows below runs, with their columns.

use super::runs::RunRow;
use crate::metric::ByTtl;
use crate::prelude::*;
use ctxsim_base::quantity::{Amount, ix};
use ctxsim_engine::ledger::pairing::RequestId;
use ctxsim_engine::ledger::{CallRow, NeedRow, RequestRow, RequestSums, Role, Rows as Ledger};
use ctxsim_engine::measure::missed::Miss;
use ctxsim_engine::measure::waiting::Waited;
use ctxsim_engine::price::{self, Models, RequestCost, request_of};
use ctxsim_engine::take::{RunName, drawn_heads};
use ctxsim_input::Policy;
use ctxsim_input::policy::Builtin;
use ctxsim_timeline::row::{Fields, Head, columns, fields, heads};
use ctxsim_timeline::{Recorded, Session, StepIx, TurnIx, Usage};

/// Returns the columns of each kind of row, under what gives the rows.
pub fn columns_by_row_kind() -> Vec<(&'static str, Vec<Head>)> {
    let front = [
        ("`--rows runs`: one policy on one scenario under one profile", heads::<RunRow<'_>>()),
        ("`--rows requests`: one model request", heads::<RequestInContext<'_>>()),
        ("`--rows needs`: one thing that is needed again", heads::<DueNeed<'_>>()),
        (
            "`--rows trials` of drawn needs: one sample of all needs, with the `totals` of a run",
            drawn_heads(),
        ),
        ("`--rows calls` of memories: calls of a kind in a turn", heads::<CallRow>()),
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
    pub fn for_single_run(
        policy: &'a Policy,
        scenario: &'a str,
        timeline: &'a Timeline,
        profile: &'a Profile,
    ) -> Self {
        let (sessions, recorded) = (&timeline.spine.sessions, timeline.recorded.as_ref());
        Self { policy, scenario, sessions, recorded, misses: &[], profile, names_run: false }
    }
    /// Returns the first columns of its rows: the run, if there are several.
    fn run_name_fields(&self) -> Fields {
        let run = RunName { policy: &self.policy.name, scenario: self.scenario, profile: &self.profile.name };
        if self.names_run { run.fields() } else { Vec::new() }
    }

    /// Returns which session a turn belongs to, from 0.
    fn session_index_of_turn(&self, turn: TurnIx) -> u32 {
        let before = self.sessions.partition_point(|it| it.turns.end <= turn);
        ix(before.min(self.sessions.len().saturating_sub(1)))
    }
}

/// Returns the requests of a run, each with what was due with it: what a step's calls need with the step's request, what a turn needs
/// with its last one; and with what it costs, where that is known of all of them.
pub fn request_rows(rows: &Ledger, context: RowContext<'_>, costs: &[RequestCost]) -> Rows {
    let mut due: BTreeMap<usize, DueNeeds> = BTreeMap::new();
    for need in &rows.needs {
        if let Some(index) = request_of(rows, need.turn_ix, need.inferred.map_or(StepIx::MAX, |it| it.step)) {
            let sum = due.entry(index).or_default();
            sum.calls += need.calls;
            sum.repeats += need.repeats;
            sum.fetched += need.calls * need.fetched as f64;
            sum.failed += need.failed;
        }
    }
    let mut explored: BTreeMap<usize, ExploredCalls> = BTreeMap::new();
    for row in &rows.explored {
        if let Some(index) = request_of(rows, row.turn_ix, row.step) {
            let sum = explored.entry(index).or_default();
            sum.calls += row.calls;
            sum.fetched += row.fetched;
        }
    }
    let ids = RequestId::of_all(&rows.requests);
    let requests = rows.requests.iter().zip(ids).enumerate().map(|(index, (row, id))| {
        let (due, explored) = (due.get(&index).copied(), explored.get(&index).copied());
        RequestInContext { row, id, due, explored, cost: costs.get(index).copied(), context }
    });
    Rows::new::<RequestInContext<'_>>(context.run_name_fields(), requests)
}

/// Returns the requests of one conversation, with its length and its index among those of that length.
pub fn conversation_request_rows(
    rows: &Ledger,
    (length, trial): (u64, u64),
    context: RowContext<'_>,
    costs: &[RequestCost],
) -> Rows {
    let mut all = request_rows(rows, context, costs);
    all.of.extend([("length".into(), length.into()), ("trial".into(), trial.into())]);
    all
}

/// Returns the needs of a run.
pub fn need_rows(rows: &Ledger, context: RowContext<'_>) -> Rows {
    Rows::new::<DueNeed<'_>>(context.run_name_fields(), rows.needs.iter().map(|row| DueNeed { row, context }))
}

/// A need with its context.
struct DueNeed<'a> {
    row: &'a NeedRow,
    context: RowContext<'a>,
}

columns! { DueNeed<'_>;
    /// The session of the recording, from 0.
    "session": Count = |it| it.context.session_index_of_turn(it.row.turn_ix),
    /// The user's turn in which it was due, from 0.
    "turn": Count = |it| it.row.turn_ix,
    /// The step of the recorded call that revealed it, or the last one of a turn that needed what users asked; null where it was declared.
    "step": Count = |it| it.row.inferred.map(|inferred| inferred.step),
    /// The rule by which that call revealed it; `running_message` and `earlier_messages` are of what users asked.
    "rule": Text = |it| it.row.inferred.map(|inferred| inferred.rule),
    /// The item that it needs.
    "item": Count = |it| it.row.inferred.map(|inferred| inferred.item),
    /// How much of the item was needed.
    "level": Text = |it| Value::serialised(&it.row.level),
    /// The probability of the need; of several messages the sum.
    "weight": Share = |it| it.row.weight,
    /// The share that the prompt met.
    "met": Share = |it| it.row.met,
    /// Calls that fetch it again.
    "expected_calls": Expected = |it| it.row.calls,
    /// Of these, beyond the first.
    "expected_repeat_calls": Expected = |it| it.row.repeats,
    /// What one such call fetches.
    "fetched_tokens": Tokens = |it| it.row.fetched,
    /// The probability that nothing recovers it.
    "expected_failures": Expected = |it| it.row.failed,
}

/// What rows call a policy's own code, which has no stages.
const OWN_CODE: &str = "code";

#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestInContext<'a> {
    pub(crate) row: &'a RequestRow,
    /// What it is in every run of its load.
    pub(crate) id: RequestId,
    /// What was due with it, if something was.
    pub(crate) due: Option<DueNeeds>,
    /// What is looked up anew before it, if something is.
    pub(crate) explored: Option<ExploredCalls>,
    /// What it and what is expected beside it costs, where that is known of the whole run.
    pub(crate) cost: Option<RequestCost>,
    pub(crate) context: RowContext<'a>,
}

/// The needs that are due with a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DueNeeds {
    calls: f64,
    repeats: f64,
    fetched: f64,
    failed: f64,
}

/// What is looked up anew before a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExploredCalls {
    pub(crate) calls: f64,
    pub(crate) fetched: f64,
}

impl RequestInContext<'_> {
    /// Returns what was recorded for the request that a step answers.
    fn recorded_usage(&self) -> Option<Usage> {
        let recorded = self.context.recorded.filter(|_| self.row.role == Role::Main && !self.row.fetches)?;
        *recorded.usage.get(usize::try_from(self.row.step).ok()?)?
    }

    /// Returns what the recorded request missed of what was cached.
    fn recorded_miss(&self) -> Option<&Miss> {
        self.recorded_usage()?;
        let misses = self.context.misses;
        misses.binary_search_by_key(&self.row.step, |it| it.step).ok().map(|at| &misses[at])
    }

    /// Returns the stage that changed the prompt.
    fn changing_stage_name(&self) -> Option<String> {
        let Self { row, context, .. } = self;
        // Its edits have the first author; what the recorded harness changed has another.
        if matches!(context.policy.code, Some(Builtin::Own(_))) && row.change.by == Some(0) {
            return Some(OWN_CODE.to_owned());
        }
        Some(context.policy.stages().get(usize::from(row.change.by?))?.name.clone())
    }

    /// Returns what the request itself costs.
    fn cost_usd(&self) -> Option<f64> {
        let models = Models::new(self.context.profile, self.context.policy.summariser());
        let alone = || price::request(self.row, &models.of(self.row.role).prices);
        self.cost.map_or_else(alone, |it| it.request()).map(Cost::usd)
    }

    /// Returns how long it takes by what was measured of its model; nothing of requests that nobody waits for.
    fn expected_wait_seconds(&self) -> Option<f64> {
        let models = Models::new(self.context.profile, self.context.policy.summariser());
        let model = self.cost.map_or_else(|| models.of(self.row.role).waiting, |it| it.waits);
        let one = RequestSums { n: 1, tokens: self.row.tokens(), ..RequestSums::default() };
        if self.row.role == Role::KeepAlive { None } else { Waited::expected(model, &one).seconds() }
    }

    /// Returns an amount beside it.
    fn extra_cost_usd(&self, amount: impl Fn(&RequestCost) -> Option<Amount>) -> Option<f64> {
        self.cost.as_ref().and_then(amount).map(Amount::usd)
    }
}

columns! { RequestInContext<'_>;
    /// The session of the recording, from 0.
    "session": Count = |it| it.context.session_index_of_turn(it.row.turn_ix),
    /// The user's turn, from 0.
    "turn": Count = |it| it.row.turn_ix,
    /// The step of the timeline, from 0.
    "step": Count = |it| it.row.step,
    /// The request's place within its step, from 0.
    "n": Count = |it| it.row.n,
    /// What it is in every run of the scenario, to pair the requests of two policies: the step, `main` (what the step answers), `fetch` (of sampled
    /// needs), `summariser` or `keep_alive`, and how many of these came before it in the step.
    "pair": Text = |it| it.id.to_string(),
    /// Who asks: `main` is the agent, `summariser` writes summaries, `keep_alive` keeps the prompt in the cache.
    "role": Text = |request| match request.row.role {
        Role::Main => "main",
        Role::Summariser => "summariser",
        Role::KeepAlive => "keep_alive",
    },
    /// Time since the timeline began.
    "t_s": Seconds = |it| it.row.at_ms as f64 / 1_000.0,
    /// The prompt.
    "prompt_tokens": Tokens = |it| it.row.prompt,
    /// Of it, read from the cache.
    "cache_read_tokens": Tokens = |it| it.row.usage.read,
    /// Of it, billed as written to the cache.
    "cache_write_tokens": Tokens = |it| it.row.usage.write[0] + it.row.usage.write[1],
    /// Writes by the entry's lifetime; only classes that were written to.
    "cache_write_by_ttl": Group(heads::<ByTtl>) = |it| fields(&ByTtl(it.row.usage.write, it.context.profile.cache.lifetimes())),
    /// Of the prompt, billed as plain input.
    "uncached_tokens": Tokens = |it| it.row.usage.uncached,
    /// What the model writes.
    "output_tokens": Tokens = |it| it.row.output,
    /// How long it takes until its last token, by what was measured of its model; null where that has no data, and of requests that nobody waits for.
    "waiting_s": Seconds = |it| it.expected_wait_seconds(),
    /// What the provider billed for the recorded request; null where nothing was recorded.
    "recorded": Group(heads::<Usage>) = |it| it.recorded_usage().as_ref().map(fields),
    /// What the recorded request did not read although it was cached, and why as far as the log says; null where nothing was missed.
    "missed": Group(heads::<Miss>) = |it| it.recorded_miss().map(fields),
    /// The first item of the prompt that changed since the last request; null if none did.
    "first_changed": Count = |it| it.row.change.first_slot,
    /// The stage that changed it, or `code`.
    "changed_by": Text = |it| it.changing_stage_name(),
    /// The first item that no earlier prompt shares, if the cache's rules know it.
    "broke_at": Count = |it| it.row.usage.broke_at,
    /// Edits since the last request.
    "actions": Count = |it| it.row.change.n_edits,
    /// What was due: needs of single results with the request of their step, others with the agent's last request of the turn; null if
    /// nothing was.
    "recovery": Group(heads::<DueNeeds>) = |it| it.due.as_ref().map(fields),
    /// What is looked up anew before it because context was removed; null if nothing is.
    "exploration": Group(heads::<ExploredCalls>) = |it| it.explored.as_ref().map(fields),
    /// The request's own cost; null where some token has no price, like those that follow. Their sums over a run are `cost_usd.base`, `cost_usd.compaction`
    /// and `cost_usd.keep_alive` together.
    "cost_usd": Usd = |it| it.cost_usd(),
    /// Expected cost of fetching again what was due with it, of carrying what was fetched, and of needs that nothing recovers; sums to
    /// `cost_usd.recovery`.
    "recovery_usd": Usd = |it| it.extra_cost_usd(|it| it.recovery),
    /// Expected cost of what is looked up anew before it, and of carrying that; sums to `cost_usd.exploration`.
    "exploration_usd": Usd = |it| it.extra_cost_usd(|it| it.exploration),
    /// Expected change because other sessions may have left its front in the cache, and longer-lived entries than the recorded ones may be missed; sums to
    /// `cost_usd.left_by_others`.
    "left_by_others_usd": Usd = |it| it.extra_cost_usd(|it| Some(it.left)),
    /// `cost_usd.reaction` of the whole run, in its last row.
    "reaction_usd": Usd = |it| it.extra_cost_usd(|it| Some(it.reaction)),
    /// `cost_usd.storage`, calls of memories and `cost_usd.penalty` of the whole run, in its last row.
    "rest_usd": Usd = |it| it.extra_cost_usd(|it| Some(it.rest)),
    /// All of these; sums to `cost_usd.total`, to the picodollar (of several trials, rows are those of the first).
    "total_usd": Usd = |it| it.extra_cost_usd(RequestCost::total),
}

columns! { ExploredCalls;
    /// Calls that look something up anew.
    "expected_calls": Expected = |it| it.calls,
    /// Tokens that they fetch.
    "expected_fetched_tokens": Tokens = |it| it.fetched,
}

columns! { DueNeeds;
    /// Calls that fetch needed evidence again.
    "expected_calls": Expected = |it| it.calls,
    /// Of these, beyond the first for one need.
    "expected_repeat_calls": Expected = |it| it.repeats,
    /// Tokens that they fetch.
    "expected_fetched_tokens": Tokens = |it| it.fetched,
    /// Needs that nothing recovers.
    "expected_failures": Expected = |it| it.failed,
}
