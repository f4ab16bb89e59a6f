//! The names that each source of rows gives its fields; a source is one entry.

use std::sync::LazyLock;

use super::look;
use crate::import::prelude::*;

/// What a source calls its fields. Of several names, the first that a row has counts; dots lead into objects.
#[derive(Debug, Default)]
pub(super) struct RowShape {
    /// Fields that each of its rows has: one of each group.
    has: &'static [&'static [&'static str]],
    /// The field that tells requests from other rows, and what it says of them; all rows are requests where it says nothing.
    pub(super) only: (&'static str, &'static [&'static str]),
    /// What names a session together.
    pub(super) session: &'static [&'static str],
    pub(super) start: &'static [&'static str],
    /// When the reply began, or how many milliseconds after the start.
    pub(super) first: &'static [&'static str],
    /// When it ended, or how many milliseconds after the start.
    pub(super) end: &'static [&'static str],
    pub(super) model: &'static [&'static str],
    pub(super) tokens_in: &'static [&'static str],
    pub(super) read: &'static [&'static str],
    pub(super) written: &'static [&'static str],
    pub(super) tokens_out: &'static [&'static str],
    pub(super) reasoning: &'static [&'static str],
    /// Whether input is without what was read and written, and output without the reasoning.
    pub(super) is_apart: bool,
    pub(super) cost: &'static [&'static str],
    pub(super) stop: &'static [&'static str],
    pub(super) n_messages: &'static [&'static str],
    /// The messages that were sent, and what came back.
    pub(super) input: &'static [&'static str],
    pub(super) output: &'static [&'static str],
}

impl RowShape {
    /// Returns whether a row is one of this source's.
    pub(super) fn fits(&self, row: &Value) -> bool {
        let has = |name: &&str| row.get(*name).is_some() || look(row, &[*name]).is_some();
        self.has.iter().all(|names| names.iter().any(has))
    }
}

pub(super) static SHAPES: LazyLock<[RowShape; 6]> = LazyLock::new(|| {
    [
        // Langfuse: input and output are without what is counted beside them.
        RowShape {
            has: &[
                &["traceId", "trace_id"],
                &["usageDetails", "usage_details"],
                &["startTime", "start_time"],
                &["type"],
            ],
            only: ("type", &["GENERATION"]),
            session: &["sessionId", "session_id", "traceId", "trace_id"],
            start: &["startTime", "start_time"],
            first: &["completionStartTime", "completion_start_time"],
            end: &["endTime", "end_time"],
            model: &["model", "providedModelName", "provided_model_name"],
            tokens_in: &["usageDetails.input", "usage_details.input"],
            read: &[
                "usageDetails.cache_read_input_tokens",
                "usageDetails.input_cached_tokens",
                "usageDetails.input_cache_read",
                "usage_details.cache_read_input_tokens",
                "usage_details.input_cached_tokens",
                "usage_details.input_cache_read",
            ],
            written: &[
                "usageDetails.cache_creation_input_tokens",
                "usageDetails.input_cache_creation",
                "usage_details.cache_creation_input_tokens",
                "usage_details.input_cache_creation",
            ],
            tokens_out: &["usageDetails.output", "usage_details.output"],
            reasoning: &[
                "usageDetails.output_reasoning_tokens",
                "usageDetails.output_reasoning",
                "usage_details.output_reasoning_tokens",
                "usage_details.output_reasoning",
            ],
            is_apart: true,
            cost: &["costDetails.total", "cost_details.total", "totalCost", "calculatedTotalCost"],
            input: &["input"],
            output: &["output"],
            ..RowShape::default()
        },
        // LangSmith.
        RowShape {
            has: &[&["run_type"], &["trace_id"], &["start_time"]],
            only: ("run_type", &["llm"]),
            session: &["extra.metadata.thread_id", "extra.metadata.session_id", "thread_id", "trace_id"],
            start: &["start_time"],
            first: &["first_token_time"],
            end: &["end_time"],
            model: &[
                "extra.metadata.ls_model_name",
                "extra.invocation_params.model",
                "extra.invocation_params.model_name",
            ],
            tokens_in: &[
                "prompt_tokens",
                "outputs.usage_metadata.input_tokens",
                "extra.metadata.usage_metadata.input_tokens",
            ],
            read: &[
                "prompt_token_details.cache_read",
                "outputs.usage_metadata.input_token_details.cache_read",
                "extra.metadata.usage_metadata.input_token_details.cache_read",
            ],
            written: &[
                "prompt_token_details.cache_creation",
                "outputs.usage_metadata.input_token_details.cache_creation",
                "extra.metadata.usage_metadata.input_token_details.cache_creation",
            ],
            tokens_out: &[
                "completion_tokens",
                "outputs.usage_metadata.output_tokens",
                "extra.metadata.usage_metadata.output_tokens",
            ],
            reasoning: &[
                "completion_token_details.reasoning",
                "outputs.usage_metadata.output_token_details.reasoning",
                "extra.metadata.usage_metadata.output_token_details.reasoning",
            ],
            cost: &["total_cost"],
            input: &["inputs"],
            output: &["outputs.choices", "outputs"],
            ..RowShape::default()
        },
        // Phoenix: spans by OpenInference's names.
        RowShape {
            has: &[
                &["span_kind", "attributes.openinference.span.kind"],
                &["context.trace_id"],
                &["start_time"],
            ],
            only: ("span_kind", &["LLM"]),
            session: &["attributes.session.id", "context.trace_id"],
            start: &["start_time"],
            end: &["end_time"],
            model: &["attributes.llm.model_name"],
            tokens_in: &["attributes.llm.token_count.prompt"],
            read: &["attributes.llm.token_count.prompt_details.cache_read"],
            written: &["attributes.llm.token_count.prompt_details.cache_write"],
            tokens_out: &["attributes.llm.token_count.completion"],
            reasoning: &["attributes.llm.token_count.completion_details.reasoning"],
            cost: &["attributes.llm.cost.total"],
            input: &["attributes.llm.input_messages"],
            output: &["attributes.llm.output_messages"],
            ..RowShape::default()
        },
        // promptreplay, a proxy before Anthropic's interface.
        RowShape {
            has: &[
                &["seq"],
                &["ts"],
                &["n_messages"],
                &["input_tokens"],
                &["cache_read"],
                &["cache_creation"],
            ],
            start: &["ts"],
            first: &["ttft_ms"],
            end: &["latency_ms"],
            model: &["model"],
            tokens_in: &["input_tokens"],
            read: &["cache_read"],
            written: &["cache_creation"],
            tokens_out: &["output"],
            is_apart: true,
            stop: &["stop_reason"],
            n_messages: &["n_messages"],
            ..RowShape::default()
        },
        // prompt-cache-bench: a prompt that is sent twice.
        RowShape {
            has: &[&["sort"], &["round"], &["request"], &["prompt_tokens"], &["cache_read_tokens"]],
            session: &["sort", "provider", "group", "round"],
            model: &["response_model"],
            tokens_in: &["prompt_tokens"],
            read: &["cache_read_tokens"],
            written: &["cache_write_tokens"],
            tokens_out: &["completion_tokens"],
            reasoning: &["reasoning_tokens"],
            cost: &["cost"],
            ..RowShape::default()
        },
        // ZCode's table `model_usage`: input holds what was read and written.
        RowShape {
            has: &[
                &["session_id"],
                &["model_id"],
                &["started_at"],
                &["input_tokens"],
                &["cache_read_input_tokens"],
            ],
            session: &["session_id"],
            start: &["started_at"],
            end: &["completed_at"],
            model: &["model_id"],
            tokens_in: &["input_tokens"],
            read: &["cache_read_input_tokens"],
            written: &["cache_creation_input_tokens"],
            tokens_out: &["output_tokens"],
            reasoning: &["reasoning_tokens"],
            ..RowShape::default()
        },
    ]
});
