//! What a trajectory writes of its agent and its steps.

use crate::import::prelude::*;

use crate::import::values::{CallRecord, Flag};

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
    pub(super) metrics: Value,
    /// When, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// Whether it repeats what stands in another trajectory.
    pub(super) is_copied_context: Flag,
    /// How many requests it was.
    llm_call_count: Option<Count>,
    /// What an agent says beside a step.
    extra: Value,
}

impl StepRecord<'_> {
    /// Returns whether the step says that the history was compacted.
    pub(super) fn compacts(&self) -> bool {
        self.extra["context_management"]["type"] == "compaction"
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
