//! The rows of a ledger in JSON, one object per request or need.

use indexmap::IndexMap;
use serde::Serialize;

use super::metric::{TTL_CLASSES, Totals};
use crate::input::policy::Code;
use crate::input::{Policy, Profile};
use crate::ledger::{RequestRow, Role, Rows};
use crate::measure::Tally;
use crate::measure::probe::Probe;
use crate::measure::trial::Trial;
use crate::price::{self, Models};
use crate::quantity::{Cost, Tokens, ix};
use crate::timeline::{Level, Recorded, Session, Timeline, TurnIx, Usage};

/// What rows call a policy's own code, which has no stages.
const OWN_CODE: &str = "code";

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

/// The run of a row.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RunName<'a> {
    /// The policy.
    pub policy: &'a str,
    /// The scenario.
    pub scenario: &'a str,
    /// The profile.
    pub profile: &'a str,
}

/// One request.
#[derive(Debug, Serialize)]
pub(super) struct RequestJson<'a> {
    session: u32,
    turn: u32,
    step: u32,
    n: u32,
    role: &'static str,
    t_s: f64,
    prompt_tokens: Tokens,
    cache_read_tokens: Tokens,
    cache_write_tokens: Tokens,
    cache_write_by_ttl: IndexMap<&'static str, Tokens>,
    uncached_tokens: Tokens,
    output_tokens: Tokens,
    recorded: Option<RecordedJson>,
    first_changed: Option<u32>,
    changed_by: Option<&'a str>,
    broke_at: Option<u32>,
    actions: u32,
    recovery: Option<RecoveryJson>,
    cost_usd: Option<f64>,
}

/// What the provider billed.
#[derive(Debug, Serialize)]
struct RecordedJson {
    prompt_tokens: Tokens,
    cache_read_tokens: Tokens,
    cache_write_tokens: Tokens,
    uncached_tokens: Tokens,
    output_tokens: Tokens,
}

/// The needs of a turn; listed with the agent's last request of the turn.
#[derive(Debug, Default, Serialize)]
pub(super) struct RecoveryJson {
    expected_calls: f64,
    expected_repeat_calls: f64,
    expected_fetched_tokens: f64,
    expected_failures: f64,
}

/// One need.
#[derive(Debug, Serialize)]
struct NeedJson {
    session: u32,
    turn: u32,
    step: Option<u32>,
    rule: Option<&'static str>,
    item: Option<u32>,
    level: Level,
    weight: f64,
    met: f64,
    expected_calls: f64,
    expected_repeat_calls: f64,
    fetched_tokens: Tokens,
    expected_failures: f64,
}

/// One trial of sampled needs.
#[derive(Debug, Serialize)]
struct DrawnJson {
    trial: usize,
    #[serde(flatten)]
    totals: Totals,
}

/// Returns the requests of a run, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn requests(rows: &Rows, context: Context<'_>) -> Result<Vec<String>, serde_json::Error> {
    let mut needs = rows.needs.iter().peekable();
    let mut lines = Vec::with_capacity(rows.requests.len());
    for (index, row) in rows.requests.iter().enumerate() {
        let is_main = row.role == Role::Main;
        let ends_turn = is_main
            && !rows.requests[index + 1..]
                .iter()
                .take_while(|it| it.turn_ix == row.turn_ix)
                .any(|it| it.role == Role::Main);
        let mut recovery = None;
        while ends_turn && let Some(need) = needs.next_if(|it| it.turn_ix <= row.turn_ix) {
            let sum: &mut RecoveryJson = recovery.get_or_insert_default();
            sum.expected_calls += need.calls;
            sum.expected_repeat_calls += need.repeats;
            sum.expected_fetched_tokens += need.calls * need.fetched as f64;
            sum.expected_failures += need.failed;
        }
        lines.push(context.line(&request(row, recovery, context))?);
    }
    Ok(lines)
}

/// Returns the requests of one conversation, one JSON object each, with its length and its index among those
/// of that length.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn requests_of_conversation(
    rows: &Rows,
    (length, trial): (u64, u64),
    context: Context<'_>,
) -> Result<Vec<String>, serde_json::Error> {
    let lines = requests(rows, Context { names_run: false, ..context })?;
    let placed = lines.iter().map(|line| {
        let fields = format!("{{\"length\":{length},\"trial\":{trial},{}", line.trim_start_matches('{'));
        if context.names_run { context.run().before(&fields) } else { Ok(fields) }
    });
    placed.collect()
}

/// Returns the needs of a run, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn needs(rows: &Rows, context: Context<'_>) -> Result<Vec<String>, serde_json::Error> {
    let objects = rows.needs.iter().map(|row| {
        context.line(&NeedJson {
            session: context.session(row.turn_ix),
            turn: row.turn_ix,
            step: row.inferred.map(|it| it.step),
            rule: row.inferred.map(|it| it.rule),
            item: row.inferred.map(|it| it.item),
            level: row.level,
            weight: row.weight,
            met: row.met,
            expected_calls: row.calls,
            expected_repeat_calls: row.repeats,
            fetched_tokens: row.fetched,
            expected_failures: row.failed,
        })
    });
    objects.collect()
}

impl RunName<'_> {
    /// Writes the run before a row's fields.
    fn before(&self, fields: &str) -> Result<String, serde_json::Error> {
        let mut line = serde_json::to_string(self)?;
        line.pop();
        line.push(',');
        line.push_str(fields.trim_start_matches('{'));
        Ok(line)
    }
}

/// Returns the trials of a run, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn trials(run: RunName<'_>, trials: &[Trial]) -> Result<Vec<String>, serde_json::Error> {
    trials.iter().map(|it| run.before(&serde_json::to_string(&it.json())?)).collect()
}

/// Returns the trials of a run with sampled needs, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn drawn(run: RunName<'_>, trials: &[Tally]) -> Result<Vec<String>, serde_json::Error> {
    let line = |(trial, tally)| {
        run.before(&serde_json::to_string(&DrawnJson { trial, totals: Totals::new(tally) })?)
    };
    trials.iter().enumerate().map(line).collect()
}

/// Returns the probes of a run, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn probes(run: RunName<'_>, probes: &[Probe]) -> Result<Vec<String>, serde_json::Error> {
    probes.iter().map(|it| run.before(&serde_json::to_string(it)?)).collect()
}

/// Writes a session stream's questions, each with its run.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn trace(run: RunName<'_>, questions: &[serde_json::Value]) -> Result<Vec<String>, serde_json::Error> {
    questions.iter().map(|it| run.before(&it.to_string())).collect()
}

impl Context<'_> {
    /// Writes a row, with its run if there are several.
    fn line(&self, row: &impl Serialize) -> Result<String, serde_json::Error> {
        let fields = serde_json::to_string(row)?;
        if !self.names_run {
            return Ok(fields);
        }
        self.run().before(&fields)
    }

    fn run(&self) -> RunName<'_> {
        RunName { policy: &self.policy.name, scenario: self.scenario, profile: &self.profile.name }
    }

    /// Returns which session a turn belongs to, from 0.
    fn session(&self, turn: TurnIx) -> u32 {
        let before = self.sessions.partition_point(|it| it.turns.end <= turn);
        let last = self.sessions.len().saturating_sub(1);
        ix(before.min(last))
    }

    /// Returns what was recorded for the agent's first request of a step.
    fn recorded(&self, row: &RequestRow) -> Option<RecordedJson> {
        let is_of_agent = row.role == Role::Main && row.n == 0;
        let usage = self.recorded.filter(|_| is_of_agent)?;
        let Usage { prompt, cache_read, cache_write, uncached, output, .. } =
            (*usage.usage.get(usize::try_from(row.step).ok()?)?)?;
        Some(RecordedJson {
            prompt_tokens: prompt,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            uncached_tokens: uncached,
            output_tokens: output,
        })
    }
}

/// Returns a request as programs read it.
pub(super) fn request<'a>(
    row: &RequestRow,
    recovery: Option<RecoveryJson>,
    context: Context<'a>,
) -> RequestJson<'a> {
    let stage = row.change.by.and_then(|it| context.policy.stages().get(usize::from(it)));
    // Its edits have the first author; what the recorded harness changed has another.
    let is_own = matches!(context.policy.code, Some(Code::Own(_))) && row.change.by == Some(0);
    let models = Models::new(context.profile, context.policy.summariser());
    let by_ttl = TTL_CLASSES.into_iter().zip(row.usage.write).filter(|(_, tokens)| *tokens > 0);
    RequestJson {
        session: context.session(row.turn_ix),
        turn: row.turn_ix,
        step: row.step,
        n: row.n,
        role: match row.role {
            Role::Main => "main",
            Role::Summariser => "summariser",
            Role::KeepAlive => "keep_alive",
        },
        t_s: row.at_ms as f64 / 1_000.0,
        prompt_tokens: row.prompt,
        cache_read_tokens: row.usage.read,
        cache_write_tokens: row.usage.write[0] + row.usage.write[1],
        cache_write_by_ttl: by_ttl.collect(),
        uncached_tokens: row.usage.uncached,
        output_tokens: row.output,
        recorded: context.recorded(row),
        first_changed: row.change.first_slot,
        changed_by: if is_own { Some(OWN_CODE) } else { stage.map(|it| it.name.as_str()) },
        broke_at: row.usage.broke_at,
        actions: row.change.n_edits,
        recovery,
        cost_usd: price::request(row, &models.of(row.role).prices).map(Cost::usd),
    }
}
