//! What a span or a log record is, by the names that each emitter uses, and what it was billed.

use std::sync::LazyLock;

use super::record::OtelRecord;
use crate::import::prelude::*;
use crate::import::usage::declared_for;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordRole {
    /// A request to a model; of several records of one request, the lowest rank counts.
    Request(&'static BillNames, Rank),
    /// A call of a tool.
    Tool,
    /// An agent at work; its sums repeat what its requests were billed.
    Agent,
    /// A wrapper around requests, with their sums.
    Sum,
    /// What a user typed.
    Prompt,
    /// Anything else; it only links others.
    Other,
}

/// How far a record of a request is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A span of its own.
    Span,
    /// A log record of the emitter's own.
    OwnLog,
    /// A log record by the common names.
    CommonLog,
}

/// The attributes of a bill, each by its names, the newest first: entries of `assumptions/logs/otel.toml`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BillNames {
    input: Vec<String>,
    /// What is input, too, but counted beside it.
    also_input: Vec<String>,
    read: Vec<String>,
    written: Vec<String>,
    output: Vec<String>,
    reasoning: Vec<String>,
    /// Whether the input is without what was read and written.
    is_apart: bool,
    /// Whether the output is without the reasoning.
    adds_reasoning: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmitterNames {
    names: IndexMap<String, BillNames>,
}

static NAMES: LazyLock<EmitterNames> = LazyLock::new(|| declared_for(super::FORMAT.name));

/// Returns the role of a request that an emitter writes.
fn request(emitter: &str, rank: Rank) -> RecordRole {
    NAMES.names.get(emitter).map_or(RecordRole::Other, |it| RecordRole::Request(it, rank))
}

/// Operations that are requests to a model.
const REQUESTS: [&str; 3] = ["chat", "text_completion", "generate_content"];

impl OtelRecord {
    /// Returns what the record is.
    pub(super) fn role(&self) -> RecordRole {
        if self.is_log { self.role_of_log() } else { self.role_of_span() }
    }

    fn role_of_log(&self) -> RecordRole {
        match self.name.trim_start_matches("claude_code.") {
            "api_request" => request("claude_code", Rank::OwnLog),
            "gemini_cli.api_response" => request("gemini_cli", Rank::OwnLog),
            "gen_ai.client.inference.operation.details" => request("common", Rank::CommonLog),
            "user_prompt" | "gemini_cli.user_prompt" => RecordRole::Prompt,
            "tool_result" | "gemini_cli.tool_call" => RecordRole::Tool,
            _ => RecordRole::Other,
        }
    }

    fn role_of_span(&self) -> RecordRole {
        let operation = self.attributes.text(&["gen_ai.operation.name"]);
        let verb = self.name.split(' ').next().unwrap_or_default();
        match self.attributes.text(&["openinference.span.kind"]) {
            "LLM" if operation.is_empty() => return request("openinference", Rank::Span),
            "TOOL" => return RecordRole::Tool,
            "AGENT" => return RecordRole::Agent,
            "CHAIN" => return RecordRole::Sum,
            _ => {}
        }
        match (operation, verb) {
            (_, "claude_code.llm_request") => request("claude_code", Rank::Span),
            (_, verb) if verb.starts_with("ai.") && verb.contains(".do") => request("ai_sdk", Rank::Span),
            (_, "claude_code.tool" | "ai.toolCall") => RecordRole::Tool,
            (_, verb) if verb.starts_with("ai.") => RecordRole::Sum,
            ("invoke_agent" | "create_agent", _) | ("", "invoke_agent" | "create_agent") => RecordRole::Agent,
            ("execute_tool", _) | ("", "execute_tool") => RecordRole::Tool,
            (operation, _) if REQUESTS.contains(&operation) => request("common", Rank::Span),
            ("", "chat") => request("common", Rank::Span),
            _ => RecordRole::Other,
        }
    }

    /// Returns whether what the record reads or writes is more than the input that ought to hold it.
    pub(super) fn contradicts(&self, names: &BillNames) -> bool {
        let of = |keys: &[String]| self.attributes.count(keys).map_or(0, |it| it.1.0.unwrap_or(0));
        !names.is_apart && of(&names.read).saturating_add(of(&names.written)) > of(&names.input)
    }

    /// Returns what was billed, with how much of the output was reasoning. `is_apart` says that the input is without what was
    /// read and written, whatever the names say.
    pub(super) fn billed(
        &self,
        names: &BillNames,
        is_apart: bool,
        losses: &mut Losses,
    ) -> Option<(Usage, Tokens)> {
        let mut bill = BillReader::new(self.line, "", losses);
        bill.tell_unknown(&self.attributes.of_usage());
        let mut part =
            |keys: &[String]| self.attributes.count(keys).map(|(key, count)| bill.count(key, count));
        let input = part(&names.input);
        let also_input = part(&names.also_input).unwrap_or(0);
        let (cache_read, cache_write) = (part(&names.read).unwrap_or(0), part(&names.written).unwrap_or(0));
        let (output, reasoning) = (part(&names.output).unwrap_or(0), part(&names.reasoning).unwrap_or(0));
        let input = input?.saturating_add(also_input);
        let uncached = if names.is_apart || is_apart {
            input
        } else {
            let unread = bill.less(input, &names.input[0], cache_read);
            bill.less(unread, &names.input[0], cache_write)
        };
        let output = if names.adds_reasoning { output.saturating_add(reasoning) } else { output };
        bill.apart([uncached, cache_read, cache_write, output]).map(|it| (it, reasoning.min(output)))
    }

    /// Returns which conversation it is of; empty if it does not say.
    pub(super) fn conversation(&self) -> &str {
        self.attributes.text(&[
            "gen_ai.conversation.id",
            "session.id",
            "copilot_chat.chat_session_id",
            "copilot_chat.session_id",
            "ai.telemetry.metadata.sessionId",
        ])
    }

    /// Returns which of the user's messages it is about; empty if it does not say.
    pub(super) fn turn(&self) -> &str {
        self.attributes.text(&["github.copilot.interaction_id", "prompt.id", "prompt_id"])
    }

    /// Returns the provider's name of the reply; empty if there is none.
    pub(super) fn response(&self) -> &str {
        self.attributes.text(&["gen_ai.response.id", "ai.response.id", "request_id"])
    }

    /// Returns the model that answered, or else the one that was asked.
    pub(super) fn model(&self) -> &str {
        self.attributes.text(&[
            "gen_ai.response.model",
            "gen_ai.request.model",
            "ai.response.model",
            "ai.model.id",
            "llm.response.model_name",
            "llm.model_name",
            "model",
        ])
    }
}
