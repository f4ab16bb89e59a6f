//! What a trajectory writes of its agent and its steps.

use crate::Usage;
use crate::import::content::{Content, Measured};
use crate::import::dollars::Dollars;
use crate::import::usage::{BillReader, Shaped};
use crate::import::values::{CallRecord, Count, Flag, MessageContent, Text};
use ctxsim_base::quantity::Cost;

/// What is said of the agent.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct AgentRecord<'a> {
    /// The model that answers where a step names none.
    pub(super) model_name: Text<'a>,
    /// The tools' schemas.
    pub(super) tool_definitions: Option<Vec<Measured>>,
}

/// A step.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct StepRecord<'a> {
    /// `system`, `user` or `agent`.
    pub(super) source: Text<'a>,
    /// What is said.
    pub(super) message: MessageContent<'a>,
    /// What was thought.
    pub(super) reasoning_content: Option<Content>,
    /// The calls.
    pub(super) tool_calls: Option<Vec<Shaped<CallRecord<'a>>>>,
    /// What came back.
    pub(super) observation: Shaped<ObservationRecord<'a>>,
    /// The model that answered.
    pub(super) model_name: Text<'a>,
    /// What was billed.
    pub(super) metrics: Shaped<MetricsRecord>,
    /// When, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// Whether it repeats what stands in another trajectory.
    pub(super) is_copied_context: Flag,
    /// How many requests it was.
    llm_call_count: Option<Count>,
    extra: Shaped<AtifExtra<'a>>,
}

/// What an agent says beside a step.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct AtifExtra<'a> {
    context_management: Shaped<ManagementRecord<'a>>,
}

/// What an agent did to its history.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ManagementRecord<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
}

impl StepRecord<'_> {
    /// Returns whether the step says that the history was compacted.
    pub(super) fn compacts(&self) -> bool {
        let Shaped::Object(extra) = &self.extra else { return false };
        matches!(&extra.context_management, Shaped::Object(it) if it.kind.0 == "compaction")
    }

    /// Returns whether a model was asked.
    pub(super) fn is_request(&self) -> bool {
        !matches!(self.llm_call_count, Some(Count(Ok(0))))
    }
}

/// What came back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ObservationRecord<'a> {
    /// One result per call, or what a terminal shows.
    pub(super) results: Option<Vec<Shaped<ResultRecord<'a>>>>,
}

/// A result.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ResultRecord<'a> {
    /// The call that it answers.
    pub(super) source_call_id: Text<'a>,
    /// What it says.
    pub(super) content: MessageContent<'a>,
}

/// What was billed.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct MetricsRecord {
    /// The whole prompt.
    prompt_tokens: Option<Count>,
    /// Written by the model.
    completion_tokens: Count,
    /// Which part of the prompt was read from the cache.
    cached_tokens: Count,
    cost_usd: Dollars,
    extra: Shaped<MoreRecord>,
}

/// What an agent says of a bill in its provider's words.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
struct MoreRecord {
    cache_creation_input_tokens: Count,
}

impl MetricsRecord {
    /// Reads the numbers, and what they cost.
    pub(super) fn billed(shaped: Shaped<Self>, mut bill: BillReader<'_>) -> (Option<Usage>, Option<Cost>) {
        let record = bill.record(shaped);
        let prompt = bill.required("prompt_tokens", record.prompt_tokens);
        let output = bill.count("completion_tokens", record.completion_tokens);
        let cache_read = bill.count("cached_tokens", record.cached_tokens);
        let more = record.extra.object().unwrap_or_default();
        let written = bill.count("extra.cache_creation_input_tokens", more.cache_creation_input_tokens);
        let not_read = bill.less(prompt, "cached_tokens", cache_read);
        // What was written is a part of the prompt; an agent that counts otherwise says more than fits.
        let cache_write = if written <= not_read { written } else { 0 };
        let uncached = not_read - cache_write;
        (bill.apart(uncached, cache_read, cache_write, output), record.cost_usd.0.filter(|it| it.0 > 0))
    }
}
