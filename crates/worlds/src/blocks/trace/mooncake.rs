//! Mooncake's traces: one JSON object a line, blocks of 512 tokens of which the last may be partial.
//!
//! After kvcache-ai/Mooncake, commit 3b5a5941, FAST25-release/traces.

use serde::Deserialize;

use super::fast_ids::{FastIds, IdNumbers, fast_ids};
use super::{BlockRequest, BlockTrace, TraceFormat, head, time, tokens};
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::quantity::Tokens;
use ctxsim_input::text::source::json_problem;

/// The number of tokens a block holds; the files do not say.
const BLOCK_TOKENS: Tokens = 512;

/// The format.
pub(super) const FORMAT: TraceFormat = TraceFormat { detect, read };

/// One request as written; `I` are its ids, or the index of the array that was lifted.
#[derive(Debug, Deserialize)]
struct MooncakeLine<I> {
    /// Milliseconds.
    #[serde(default, deserialize_with = "time")]
    timestamp: f64,
    #[serde(deserialize_with = "tokens")]
    input_length: Tokens,
    #[serde(default, deserialize_with = "tokens")]
    output_length: Tokens,
    hash_ids: I,
}

fn detect(text: &str) -> bool {
    let first = head(text.trim_start()).lines().next().unwrap_or_default();
    first.starts_with('{') && first.contains("\"input_length\"") && first.contains("\"hash_ids\"")
}

fn read(text: &str) -> Result<BlockTrace, Box<Diagnostic>> {
    match fast_ids(text).and_then(fast) {
        Some(trace) => Ok(trace),
        None => slow(text),
    }
}

/// Reads what is left beside lifted ids, or nothing if it is not as expected.
fn fast(ids: FastIds) -> Option<BlockTrace> {
    let lines = serde_json::Deserializer::from_str(&ids.rest).into_iter::<MooncakeLine<usize>>();
    let mut requests = Vec::with_capacity(ids.arrays.len());
    for line in lines {
        let line = line.ok()?;
        let blocks = ids.arrays.get(line.hash_ids)?.clone();
        requests.push(request(&line, blocks));
    }
    Some(trace(requests, ids.blocks, ids.n_distinct))
}

/// Reads the whole text with the parser, which knows the place of what is wrong.
fn slow(text: &str) -> Result<BlockTrace, Box<Diagnostic>> {
    let mut numbers = IdNumbers::new(text);
    let (mut requests, mut blocks) = (Vec::new(), Vec::new());
    for line in serde_json::Deserializer::from_str(text).into_iter::<MooncakeLine<Vec<u64>>>() {
        let line = line.map_err(|it| json_problem(text, &it))?;
        let start = blocks.len();
        blocks.extend(line.hash_ids.iter().filter_map(|it| numbers.of(*it)));
        requests.push(request(&line, start..blocks.len()));
    }
    Ok(trace(requests, blocks, numbers.n_distinct()))
}

fn request<I>(line: &MooncakeLine<I>, blocks: std::ops::Range<usize>) -> BlockRequest {
    let at_ms = line.timestamp as i64;
    BlockRequest { at_ms, prompt: line.input_length, output: line.output_length, blocks }
}

fn trace(requests: Vec<BlockRequest>, blocks: Vec<u32>, n_distinct: u32) -> BlockTrace {
    let assumption =
        format!("A block of a Mooncake trace has {BLOCK_TOKENS} tokens; the last one may have fewer.");
    BlockTrace {
        block_tokens: BLOCK_TOKENS,
        requests,
        blocks,
        n_distinct,
        assumptions: vec![assumption],
        ..BlockTrace::default()
    }
}
