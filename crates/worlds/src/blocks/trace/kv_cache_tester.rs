//! kv-cache-tester's traces: one JSON document a session, with the size of a block and with sub-agents in place.
//!
//! After callanjfox/kv-cache-tester, commit 94f6046d. Only full blocks are listed. Sub-agents share the session's ids.

use serde::Deserialize;

use super::fast_ids::{FastIds, IdNumbers, fast_ids};
use super::{BlockRequest, BlockTrace, TraceFormat, head, time, tokens, tokens_if_any};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::quantity::Tokens;
use ctxsim_input::text::source::json_problem;

/// The format.
pub(super) const FORMAT: TraceFormat = TraceFormat { detect, read };

/// A session as written; `I` are the ids of a request, or the index of the array that was lifted.
#[derive(Debug, Deserialize)]
struct TracedSession<I> {
    #[serde(deserialize_with = "tokens")]
    block_size: Tokens,
    requests: Vec<TraceEntry<I>>,
}

/// A request, or a sub-agent with its own requests.
#[derive(Debug, Deserialize)]
struct TraceEntry<I> {
    /// Seconds since the session, or the sub-agent, began.
    #[serde(default, deserialize_with = "time")]
    t: f64,
    #[serde(rename = "in", default, deserialize_with = "tokens_if_any")]
    prompt: Option<Tokens>,
    #[serde(rename = "out", default, deserialize_with = "tokens")]
    output: Tokens,
    hash_ids: Option<I>,
    requests: Option<Vec<TraceEntry<I>>>,
}

fn detect(text: &str) -> bool {
    let is_told = |text: &str| text.contains("\"block_size\"") && text.contains("\"requests\"");
    text.trim_start().starts_with('{') && (is_told(head(text)) || is_told(text))
}

fn read(text: &str) -> Result<BlockTrace, Box<Diagnostic>> {
    if let Some(trace) = fast_ids(text).and_then(fast) {
        return Ok(trace);
    }
    let session: TracedSession<Vec<u64>> =
        serde_json::from_str(text).map_err(|it| json_problem(text, &it))?;
    let mut numbers = IdNumbers::new(text);
    let mut blocks = Vec::new();
    let mut trace = walk(&session, |ids| {
        let start = blocks.len();
        blocks.extend(ids.iter().filter_map(|it| numbers.of(*it)));
        Some(start..blocks.len())
    })?;
    trace.blocks = blocks;
    trace.n_distinct = numbers.n_distinct();
    Ok(trace)
}

/// Reads what is left beside lifted ids, or nothing if it is not as expected.
fn fast(ids: FastIds) -> Option<BlockTrace> {
    let session: TracedSession<usize> = serde_json::from_str(&ids.rest).ok()?;
    let mut trace = walk(&session, |index| ids.arrays.get(*index).cloned()).ok()?;
    trace.blocks = ids.blocks;
    trace.n_distinct = ids.n_distinct;
    Some(trace)
}

/// Lists the requests in the order of the file, sub-agents in their place.
fn walk<I>(
    session: &TracedSession<I>,
    mut blocks: impl FnMut(&I) -> Option<std::ops::Range<usize>>,
) -> Result<BlockTrace, Box<Diagnostic>> {
    if session.block_size == 0 {
        let problem =
            Diagnostic::at(Code("block-size-zero"), "block_size", "a block needs at least one token");
        return Err(Box::new(problem.help("write how many tokens one id covers")));
    }
    let mut trace = BlockTrace { block_tokens: session.block_size, ..BlockTrace::default() };
    let mut open = vec![(session.requests.iter().enumerate(), "requests".to_owned(), 0.0)];
    while let Some((entries, path, start_s)) = open.last_mut() {
        let Some((index, entry)) = entries.next() else {
            open.pop();
            continue;
        };
        let (path, at_s) = (format!("{path}.{index}"), *start_s + entry.t);
        if let Some(requests) = &entry.requests {
            trace.n_subagents += 1;
            open.push((requests.iter().enumerate(), format!("{path}.requests"), at_s));
            continue;
        }
        let Some(prompt) = entry.prompt else {
            let problem =
                Diagnostic::at(Code("request-incomplete"), path, "a request has neither `in` nor `requests`");
            return Err(Box::new(problem.help("write the number of tokens in its prompt")));
        };
        let blocks = entry.hash_ids.as_ref().and_then(&mut blocks).unwrap_or_default();
        let at_ms = (at_s * 1_000.0).round() as i64;
        trace.requests.push(BlockRequest { at_ms, prompt, output: entry.output, blocks });
    }
    if trace.n_subagents > 0 {
        let sentence = "Sub-agents read and fill their session's cache, in the order of the file.";
        trace.assumptions.push(sentence.to_owned());
    }
    Ok(trace)
}
