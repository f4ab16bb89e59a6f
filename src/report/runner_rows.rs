//! The log of a memory runner in JSON: one row per call, or one per action.

use serde::Serialize;
use serde_json::{Value, json};

use super::rows::RunName;
use crate::ledger::{CallRow, Loss};
use crate::runner::{Answered, Chats, Event, Log, Ordering, Phase, What};

/// A row of a run.
#[derive(Serialize)]
struct Named<'a> {
    #[serde(flatten)]
    run: RunName<'a>,
    #[serde(flatten)]
    row: Value,
}

/// The runner of a log: its service, and whether it keeps only one document.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Whether only one document is kept; `None` without a runner.
    pub context_only: Option<bool>,
    /// The service.
    pub service: &'a str,
}

/// Returns the calls of a log, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn calls(run: RunName<'_>, of: Written<'_>, log: &Log) -> Result<Vec<String>, serde_json::Error> {
    let calls = log.events.iter().filter_map(|it| match it.what {
        What::Call(call, tokens) => Some((it, call, tokens)),
        _ => None,
    });
    let rows = calls.map(|(it, call, tokens)| {
        json!({
            "context_only": of.context_only, "user": it.user, "session": it.session, "phase": it.phase.name(),
            "t_s": it.at_ms as f64 / 1_000.0, "kind": call.name(), "service": of.service, "calls": 1, "tokens": tokens,
            "latency_ms": it.ms, "waited_ms": it.waited_ms,
        })
    });
    named(run, rows)
}

/// Returns every action, one JSON object each, starting with the agent's initialisation.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn events(run: RunName<'_>, of: Written<'_>, log: &Log) -> Result<Vec<String>, serde_json::Error> {
    named(run, log.events.iter().map(|it| event(of, it)))
}

fn event(of: Written<'_>, event: &Event) -> Value {
    let (name, more) = match event.what {
        What::Initialised => ("agent_initialised", json!({ "service": of.service })),
        What::Message(message) => ("message", json!({ "message": message })),
        What::Call(call, tokens) => (
            "call",
            json!({ "kind": call.name(), "service": of.service, "calls": 1, "tokens": tokens, "waited_ms": event.waited_ms }),
        ),
        What::Model { role, said, document_words, output, .. } => (
            "model",
            json!({ "role": role.name(), "said_tokens": said, "document_words": document_words, "output_tokens": output }),
        ),
        What::ProtectedOverCap { protected_words, cap_words } => {
            ("protected_over_cap", json!({ "protected_words": protected_words, "cap_words": cap_words }))
        }
    };
    let phase = if event.what == What::Initialised { Phase::Ingestion } else { event.phase };
    let mut row = json!({
        "context_only": of.context_only, "user": event.user, "session": event.session, "phase": phase.name(),
        "t_s": event.at_ms as f64 / 1_000.0, "ms": event.ms, "event": name,
    });
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    row
}

/// Returns the answers of a log, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn answers(
    run: RunName<'_>,
    of: Written<'_>,
    chats: &Chats,
    log: &Log,
) -> Result<Vec<String>, serde_json::Error> {
    let row = |it: &Answered| {
        let user = &chats.users[it.user as usize];
        let question = &user.questions[it.question as usize];
        let lost_in = it.loss.map(|it| match it {
            Loss::Write => "write",
            Loss::Store => "store",
            Loss::Read => "read",
            Loss::Use => "use",
            Loss::Stopped => "stopped",
        });
        json!({
            "context_only": of.context_only, "user": user.name, "question": it.question, "type": it.kind.name(),
            "after_sessions": question.after, "facts": question.needs, "is_right": it.is_right, "lost_in": lost_in,
            "passes": it.passes,
        })
    };
    named(run, log.answers.iter().map(row))
}

/// Returns which runner answers more at each value of a number, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn orderings(scenario: &str, all: &[Ordering]) -> Result<Vec<String>, serde_json::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        scenario: &'a str,
        #[serde(flatten)]
        row: &'a Ordering,
    }
    all.iter().map(|row| serde_json::to_string(&Row { scenario, row })).collect()
}

/// Returns the calls of a policy's memory, one JSON object each.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn memory_calls(run: RunName<'_>, calls: &[CallRow]) -> Result<Vec<String>, serde_json::Error> {
    let row = |it: &CallRow| {
        json!({
            "turn": it.turn_ix, "kind": it.kind.name(), "service": it.service, "calls": it.calls, "tokens": it.tokens,
        })
    };
    named(run, calls.iter().map(row))
}

fn named(run: RunName<'_>, rows: impl Iterator<Item = Value>) -> Result<Vec<String>, serde_json::Error> {
    rows.map(|row| serde_json::to_string(&Named { run, row })).collect()
}
