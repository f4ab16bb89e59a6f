//! One line of a Claude Code session as written: flat, borrowed, and tolerant of unimportant fields.

use crate::import::losses::NOT_RECORDS;
use crate::import::prelude::*;
use crate::import::transcript::SummarySizes;
use crate::{Diagnosis, InjectedText};

/// A record, whose messages are read or only found.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(
    default,
    rename_all = "camelCase",
    bound(deserialize = "'de: 'a, C: Default + serde::Deserialize<'de>")
)]
pub(super) struct ClaudeRecord<'a, C = MessageContent<'a>> {
    /// `user`, `assistant`, or one of many that are never part of a prompt.
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Its name.
    pub(super) uuid: Text<'a>,
    /// The record that it follows.
    pub(super) parent_uuid: Text<'a>,
    /// The record that it follows over a compaction.
    pub(super) logical_parent_uuid: Text<'a>,
    /// When it was written, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// The session; of a sub-agent's records, that of the agent that started it.
    pub(super) session_id: Text<'a>,
    /// The sub-agent.
    pub(super) agent_id: Text<'a>,
    /// Whether it belongs to a sub-agent.
    pub(super) is_sidechain: Option<bool>,
    /// Whether the user did not type it.
    pub(super) is_meta: Option<bool>,
    /// Whether it is a summary of what was before.
    pub(super) is_compact_summary: Option<bool>,
    /// Of a `system` record.
    pub(super) subtype: Text<'a>,
    /// What was said.
    pub(super) message: Option<ClaudeMessage<'a, C>>,
    /// The working folder.
    pub(super) cwd: Text<'a>,
    /// The harness's version.
    pub(super) version: Text<'a>,
    /// The request's name, for replies without a name of their own.
    pub(super) request_id: Text<'a>,
    /// The call that a record of the user's side follows from.
    #[serde(rename = "sourceToolUseID")]
    pub(super) source_tool_use_id: Text<'a>,
    /// Whether what it holds is read as a record of a sub-agent's session, so that nothing of it is left out.
    #[serde(skip)]
    pub(super) is_read_as_agents: bool,
    /// Of a `progress` record.
    pub(super) data: Option<&'a RawValue>,
    /// What a call gave back, as the harness has it.
    pub(super) tool_use_result: Option<&'a RawValue>,
    /// Of an `attachment` record.
    pub(super) attachment: Option<&'a RawValue>,
    /// Of a `system` record about compacted history; what a command prints names it otherwise.
    #[serde(alias = "compact_metadata")]
    compact_metadata: Option<&'a RawValue>,
    /// Of a `system` record about cleared results.
    microcompact_metadata: Option<&'a RawValue>,
}

/// What a `progress` record tells of a sub-agent at work: one of the records of its session.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(
    default,
    rename_all = "camelCase",
    bound(deserialize = "'de: 'a, C: Default + serde::Deserialize<'de>")
)]
struct ProgressRecord<'a, C> {
    /// `agent_progress`, where it tells of a sub-agent.
    #[serde(rename = "type")]
    kind: Text<'a>,
    agent_id: Text<'a>,
    message: Option<ClaudeRecord<'a, C>>,
}

impl<'a, C: Default + serde::Deserialize<'a>> ClaudeRecord<'a, C> {
    /// Returns the record of a sub-agent's session that a `progress` record holds: older versions log these nowhere else.
    pub(super) fn of_agent(&self, line: usize, losses: &mut Losses) -> Option<Self> {
        let text = self.data.filter(|_| self.kind.0 == "progress")?.get();
        // Most records of progress are of commands and hooks.
        if !text.contains(AGENT_PROGRESS) {
            return None;
        }
        let ProgressRecord { kind, agent_id, message } = match serde_json::from_str(text) {
            Ok(record) => record,
            Err(error) => {
                losses.add(line, format!("{NOT_RECORDS}: {}", json::reason(&error)));
                return None;
            }
        };
        let record = message.filter(|_| kind.0 == AGENT_PROGRESS)?;
        Some(Self {
            is_sidechain: Some(true),
            agent_id,
            session_id: self.session_id.clone(),
            cwd: self.cwd.clone(),
            version: self.version.clone(),
            timestamp: if record.timestamp.0.is_empty() { self.timestamp.clone() } else { record.timestamp },
            ..record
        })
    }

    /// Returns the last reply of a sub-agent that a call gave back, as a record of its session.
    pub(super) fn last_of_agent(&self) -> Option<Self> {
        let text = self.tool_use_result?.get();
        if !text.contains(AGENT_TOTALS) {
            return None;
        }
        // What other tools give back has any shape.
        let result = Members::of(self.tool_use_result?)?;
        let agent_id = result.text("agentId");
        let message = ClaudeMessage::<'a, C> {
            content: result.get("content").unwrap_or_default(),
            usage: result.raw("usage"),
            // A model is named where the log holds no other request of the sub-agent.
            model: Text(result.text("resolvedModel")),
            ..ClaudeMessage::default()
        };
        let is_known = !agent_id.is_empty() && message.usage.is_some_and(|it| it.get().starts_with('{'));
        is_known.then(|| Self {
            kind: Text("assistant".into()),
            is_sidechain: Some(true),
            agent_id: Text(agent_id),
            session_id: self.session_id.clone(),
            version: self.version.clone(),
            timestamp: self.timestamp.clone(),
            message: Some(message),
            ..Self::default()
        })
    }
}

impl ClaudeRecord<'_> {
    /// Returns what started the session, as a hook's record says: `startup`, `clear`, `resume`, `compact`.
    pub(super) fn started_by(&self) -> Option<String> {
        let text = self.data.or(self.attachment)?.get();
        // Most records of hooks are about something else, and some are long.
        if !text.contains(SESSION_START) {
            return None;
        }
        let hook: Value = serde_json::from_str(text).ok()?;
        hook["hookName"].as_str()?.strip_prefix(SESSION_START).map(str::to_owned)
    }

    /// Returns what an attachment adds to the prompt, and about how many characters that is; `None` where it adds nothing.
    pub(super) fn injects(&self) -> Option<(InjectedText, u32)> {
        let text = self.attachment?.get();
        let what = InjectedText::of_attachment(&Members::of(self.attachment?)?.text("type"))?;
        u32::try_from(text.len()).ok().map(|it| (what, it))
    }

    /// Returns whether the user asked for the history to be compacted, and the sizes that the harness states, if it says that it was compacted.
    pub(super) fn compacts(&self, at_ms: Option<i64>) -> Option<(bool, SummarySizes)> {
        let record = value(Some(self.compact_metadata?));
        let count = |names: [&str; 2]| names.iter().find_map(|it| Count::of(record.get(*it)?).known());
        let took_ms = count(["durationMs", "duration_ms"]).unwrap_or(0);
        let sizes = SummarySizes {
            before: count(["preTokens", "pre_tokens"]).filter(|it| *it > 0),
            after: count(["postTokens", "post_tokens"]).filter(|it| *it > 0),
            at_ms: at_ms.map(|it| it.saturating_sub_unsigned(took_ms)),
            is_step: false,
        };
        Some((record["trigger"] == "manual", sizes))
    }

    /// Returns the calls whose results the harness cleared.
    pub(super) fn cleared(&self) -> Vec<String> {
        list(&value(self.microcompact_metadata)["compactedToolIds"])
            .iter()
            .map(|it| it.as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// Reads a value that few records have; null where there is none.
fn value(raw: Option<&RawValue>) -> Value {
    raw.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default()
}

/// What the type of progress is called that tells of a sub-agent.
const AGENT_PROGRESS: &str = "agent_progress";

/// What the sum of a sub-agent's last request is called where a call gives it back.
pub(super) const AGENT_TOTALS: &str = "\"totalTokens\"";

/// How the names of hooks at the start of a session begin.
const SESSION_START: &str = "SessionStart:";

/// What was said.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a, C: Default + serde::Deserialize<'de>"))]
pub(super) struct ClaudeMessage<'a, C = MessageContent<'a>> {
    /// The reply's name; its lines share it.
    pub(super) id: Text<'a>,
    /// The model; `<synthetic>` for text that no model wrote.
    pub(super) model: Text<'a>,
    /// Its parts.
    pub(super) content: C,
    /// What the provider billed.
    pub(super) usage: Option<&'a RawValue>,
    /// What it says of its cache, where it was asked.
    diagnostics: Value,
}

impl ClaudeMessage<'_> {
    /// Returns why the provider says that it did not read what it had cached.
    pub(super) fn diagnosis(&self) -> Option<Diagnosis> {
        Diagnosis::named(self.diagnostics["cache_miss_reason"]["type"].as_str()?)
    }
}
