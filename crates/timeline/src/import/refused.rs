//! Logs of agents that are known and cannot be read, by the members of their records: each is refused by its name and with the reason.

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::content::{ignores_the_rest, skip_list};
use ctxsim_base::diag::Diagnostic;

/// A log that cannot be read.
struct RefusedLog {
    /// Whose it is.
    name: &'static str,
    /// The members that one record has, all of them.
    has: &'static [&'static str],
    /// Members of which it has none.
    lacks: &'static [&'static str],
    /// What its `type` or its `role` is, if that matters.
    says: &'static [&'static str],
    /// Why it cannot be read.
    why: &'static str,
    /// What to do.
    instead: &'static str,
}

/// The usual reason.
const NO_USAGE: &str = "it has no usage per request, only totals or none";

/// What to do about it.
const OTHER_SOURCE: &str =
    "record the requests themselves: at a gateway such as LiteLLM, or with the agent's OpenTelemetry export";

/// What to do about what was made of another log.
const FIRST_LOG: &str = "use the log that it was made of";

/// What to do about a file of Kimi's that is not the log.
const KIMI_WIRE: &str = "use `wire.jsonl` from the same folder";

/// What to do about a conversation of OpenHands.
const COMPLETIONS: &str = "switch on `log_completions`, and use the files in its folder";

/// Why some formats have no reader.
const NO_FILE: &str = "no file was available against which to check a reader";
const NO_LOG: &str = "no log from use was available against which to check a reader";

/// All of them; the first that fits is named.
const REFUSED: [RefusedLog; 26] = [
    RefusedLog::of("a provider's usage", &["data", "has_more"])
        .because("it has sums by day and no requests")
        .instead("compare logs with it: `ctxsim import LOGS --against FILE`"),
    RefusedLog::of("Kimi", &["role"])
        .says(&["_checkpoint", "_system_prompt"])
        .because("`context.jsonl` has no usage")
        .instead(KIMI_WIRE),
    RefusedLog::of("Kimi", &["approval", "additional_dirs"])
        .because("`state.json` holds no requests")
        .instead(KIMI_WIRE),
    RefusedLog::of("Cursor", &["role", "message"]).lacks(&["type", "uuid", "sessionId", "usage"]),
    RefusedLog::of("Droid", &["type", "id", "owner"]).says(&["session_start"]),
    RefusedLog::of("Hermes", &["session_id", "role", "content"]).lacks(&["usage", "response"]),
    RefusedLog::of("Hermes", &["session", "messages"]).lacks(&["usage", "response"]),
    RefusedLog::of("Letta Code", &["kind", "captured_at"]),
    RefusedLog::of("Grok Build", &["method", "params", "timestamp"]),
    RefusedLog::of("Grok Build", &["primaryModelId", "contextTokensUsed"]),
    RefusedLog::of("Grok Build", &["current_model_id", "info"]),
    RefusedLog::of("Antigravity", &["step_index", "source", "type"]),
    RefusedLog::of("Antigravity", &["conversationId", "rows"]),
    RefusedLog::of("Open Design", &["id", "event", "timestamp", "data"]),
    RefusedLog::of("GitHub Copilot Chat", &["requests"])
        .instead("switch on `github.copilot.chat.otel.enabled`, and use its export"),
    RefusedLog::of("an OpenHands conversation", &["kind", "source", "timestamp"]).instead(COMPLETIONS),
    RefusedLog::of("an OpenHands conversation", &["agent", "execution_status", "stats"]).instead(COMPLETIONS),
    RefusedLog::of("Cline or Roo Code", &["ts", "type", "say"]).because(NO_FILE),
    RefusedLog::of("Cline or Roo Code", &["ts", "type", "ask"]).because(NO_FILE),
    RefusedLog::of("Qwen Code", &["uuid", "parentUuid", "usageMetadata"]).because(NO_LOG),
    RefusedLog::of("Amp", &["v", "id", "created", "messages"]).because(NO_LOG),
    RefusedLog::of("Goose", &["working_dir", "message_count"]),
    RefusedLog::of("Goose", &["working_dir", "conversation"]),
    RefusedLog::of("letta's trajectories", &["role", "source"]).says(&["meta"]).instead(FIRST_LOG),
    RefusedLog::of("VibeCodingTracker", &["extensionName", "insightsVersion"]).instead(FIRST_LOG),
    RefusedLog::of("mini-swe-agent", &["messages", "info", "trajectory_format"]).says(&["mini-swe-agent"]),
];

/// Databases, by a name that their tables or columns have.
const DATABASES: [(&str, RefusedLog); 4] = [
    (
        "assistant_usage_events",
        RefusedLog::database("Copilot CLI")
            .instead("use `events.jsonl` from `~/.copilot/session-state/SESSION`, or the export that `COPILOT_OTEL_FILE_EXPORTER_PATH` switches on"),
    ),
    (
        "span_attributes",
        RefusedLog::database("VS Code's agent traces")
            .instead("switch on `github.copilot.chat.otel.enabled`, and use the file of `github.copilot.chat.otel.outfile`"),
    ),
    ("cursorDiskKV", RefusedLog::of("Cursor", &[])),
    ("accumulated_total_tokens", RefusedLog::of("Goose", &[])),
];

/// How the chat histories of Aider begin.
const AIDER: &str = "# aider chat started at";

/// How many lines at the front, and bytes of it, are searched.
const LINES_MAX: usize = 5;
const BYTES_MAX: usize = 64 << 10;

impl RefusedLog {
    const fn of(name: &'static str, has: &'static [&'static str]) -> Self {
        Self { name, has, lacks: &[], says: &[], why: NO_USAGE, instead: OTHER_SOURCE }
    }

    const fn database(name: &'static str) -> Self {
        Self::of(name, &[]).because("none of the tables of its database is known to hold requests")
    }

    const fn lacks(self, lacks: &'static [&'static str]) -> Self {
        Self { lacks, ..self }
    }

    const fn says(self, says: &'static [&'static str]) -> Self {
        Self { says, ..self }
    }

    const fn because(self, why: &'static str) -> Self {
        Self { why, ..self }
    }

    const fn instead(self, instead: &'static str) -> Self {
        Self { instead, ..self }
    }

    fn fits(&self, record: &RefusedRecord) -> bool {
        let is_there = |key: &&str| record.keys.iter().any(|it| it == key);
        let says = self.says.iter().any(|it| record.said.iter().any(|said| said.starts_with(it)));
        self.has.iter().all(is_there) && !self.lacks.iter().any(is_there) && (says || self.says.is_empty())
    }

    fn problem(&self) -> Diagnostic {
        let message = format!("a log of {} cannot be read: {}", self.name, self.why);
        Diagnostic::at(ctxsim_base::diag::Code("recording-refused"), "", message).help(self.instead)
    }
}

/// Returns why a database with these names is refused, if it is one of an agent that is known.
pub(super) fn database(names: &str) -> Option<Diagnostic> {
    DATABASES.iter().find(|it| names.contains(it.0)).map(|found| found.1.problem())
}

/// Returns why another database is refused.
pub(super) fn other_database() -> Diagnostic {
    RefusedLog::database("an unknown agent").problem()
}

/// Returns why a recording with this front is refused, if it is of an agent whose logs cannot be read.
pub(super) fn refused(head: &str) -> Option<Diagnostic> {
    let mut end = head.len().min(BYTES_MAX);
    while !head.is_char_boundary(end) {
        end -= 1;
    }
    let front = head[..end].trim_ascii_start();
    if front.starts_with(AIDER) {
        return Some(RefusedLog::of("Aider", &[]).problem());
    }
    // A log of mini-swe-agent that keeps the providers' responses has their usage.
    let has_usage = || head.contains("\"usage\"");
    let lines = front.lines().take(LINES_MAX).filter(|it| it.starts_with('{'));
    let first = std::iter::once(front).filter(|it| it.starts_with(['{', '[']));
    let records: Vec<RefusedRecord> = first.chain(lines).flat_map(RefusedRecord::read).collect();
    let found = REFUSED.iter().find(|it| records.iter().any(|record| it.fits(record)))?;
    (found.name != "mini-swe-agent" || !has_usage()).then(|| found.problem())
}

/// The members of a record.
#[derive(Debug, Default)]
struct RefusedRecord {
    keys: Vec<String>,
    /// What those of them say that tell types of records apart.
    said: Vec<String>,
}

/// Members that tell types of records apart.
const TYPES: [&str; 3] = ["type", "role", "trajectory_format"];

/// Members under which documents keep their records.
const LISTS: [&str; 2] = ["items", "records"];

/// The most records of a list that are looked at, and how deep lists may lie in one another.
const RECORDS_MAX: usize = 5;
const DEPTH_MAX: usize = 3;

impl RefusedRecord {
    /// Reads an object, or what is in a list, as far as it goes: the front of a document may be cut.
    fn read(text: &str) -> Vec<Self> {
        let mut found = vec![Self::default()];
        let mut reader = serde_json::Deserializer::from_str(text);
        let _ = MemberReading(&mut found, DEPTH_MAX).deserialize(&mut reader);
        found
    }
}

/// Reads the members of records into a list, of which the last is the open one.
struct MemberReading<'f>(&'f mut Vec<RefusedRecord>, usize);

impl<'de> DeserializeSeed<'de> for MemberReading<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MemberReading<'_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(found, depth) = self;
        let index = found.len() - 1;
        while let Some(key) = map.next_key::<String>()? {
            let is_type = TYPES.contains(&key.as_str());
            let is_list = LISTS.contains(&key.as_str());
            found[index].keys.push(key);
            if is_type {
                let said = map.next_value::<serde_json::Value>()?;
                found[index].said.extend(said.as_str().map(str::to_owned));
            } else if is_list && depth > 0 {
                found.push(RefusedRecord::default());
                map.next_value_seed(MemberReading(found, depth - 1))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self(found, depth) = self;
        for _ in 0..RECORDS_MAX {
            found.push(RefusedRecord::default());
            if depth == 0 || list.next_element_seed(MemberReading(found, depth - 1))?.is_none() {
                break;
            }
        }
        skip_list(list)
    }

    ignores_the_rest!((); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_unit);
}
