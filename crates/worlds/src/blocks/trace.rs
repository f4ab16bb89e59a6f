//! Recorded requests as ids of fixed blocks: a separate kind of workload, replayed against a store of blocks.

use std::ops::Range;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::Deserializer;
use serde::de::{self, Error as _, Unexpected};

use crate::prelude::*;
use ctxsim_engine::cache::HitDraws;
use ctxsim_engine::cache::lru::{BLOCKS_MAX, Lru};
use ctxsim_engine::ledger::{BlockHits, CacheUse, Failure, FailureKind, RequestRow};
use ctxsim_input::CacheRules;
use ctxsim_input::text::source::json_problem;

/// All formats; the first one that recognises a text reads it.
const FORMATS: [TraceFormat; 2] = [MOONCAKE, KV_CACHE_TESTER];

/// A format of block traces.
struct TraceFormat {
    /// Returns whether a text is of this format.
    detect: fn(&str) -> bool,
    /// Reads a text.
    read: fn(&str) -> Result<BlockTrace, Box<Diagnostic>>,
}

/// Recorded requests, each a list of block ids; the ids are numbered from 0 in the order in which they first appear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockTrace {
    /// Its name in reports.
    pub name: String,
    /// The number of tokens a block holds.
    pub block_tokens: Tokens,
    /// The requests, in the order of the file.
    pub requests: Vec<BlockRequest>,
    /// The blocks of all requests, one after the other.
    pub blocks: Vec<u32>,
    /// The number of distinct blocks.
    pub n_distinct: u32,
    /// The number of sub-agents that made some of the requests.
    pub n_subagents: u32,
    /// Its assumptions, in sentences.
    pub assumptions: Vec<String>,
}

/// One request of a block trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockRequest {
    /// Milliseconds since the trace began.
    pub at_ms: i64,
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// Tokens that the model wrote.
    pub output: Tokens,
    pub blocks: Range<usize>,
}

/// Returns whether a text is a block trace.
pub fn detect(text: &str) -> bool {
    FORMATS.iter().any(|it| (it.detect)(text))
}

/// Reads a block trace.
///
/// # Errors
/// The text has no known format, is malformed, or contains no request.
pub fn read(text: &str, name: &str) -> Result<BlockTrace, Box<Diagnostic>> {
    let Some(format) = FORMATS.iter().find(|it| (it.detect)(text)) else {
        let problem = Diagnostic::at(Code("block-trace-unknown"), "", "not a block trace of a known format");
        return Err(Box::new(problem.help("supported formats: Mooncake JSON lines, kv-cache-tester JSON")));
    };
    let trace = (format.read)(text).map_err(|mut it| {
        name_field(text, &mut it);
        it
    })?;
    if trace.requests.is_empty() {
        let problem = Diagnostic::at(Code("block-trace-empty"), "", "the block trace contains no requests");
        return Err(Box::new(problem.help("add at least one request with its block ids")));
    }
    Ok(BlockTrace { name: name.to_owned(), ..trace })
}

impl BlockTrace {
    /// Explains why the trace cannot be replayed under some cache rules; `None` if it can.
    pub fn refusal(&self, rules: &CacheRules) -> Option<Diagnostic> {
        let problem = match rules.plain() {
            CacheRules::None => return None,
            CacheRules::Blocks(rules) if rules.block_tokens == self.block_tokens => return None,
            CacheRules::Blocks(rules) => {
                let (own, theirs) = (self.block_tokens, rules.block_tokens);
                let message = format!(
                    "{} has blocks of {own} tokens, but those of the profile have {theirs}",
                    self.name
                );
                Diagnostic::at(Code("block-size"), "cache.blocks.block_tokens", message)
                    .help(format!("add `--set profile.cache.blocks.block_tokens={own}`"))
            }
            _ => {
                let message =
                    format!("{} is a block trace, which these cache rules cannot replay", self.name);
                let help = "use a profile with `blocks` cache rules, such as `open/blocks-64-infinite` or \
                    `open/blocks-512-lru`";
                Diagnostic::at(Code("block-trace-rules"), "cache", message).help(help)
            }
        };
        Some(problem)
    }
}

/// Replays a block trace; rules other than `blocks` read nothing.
///
/// A request over a limit is recorded and marked, and ends the run.
pub fn replay(trace: &BlockTrace, limits: &Limits, rules: &CacheRules, sink: &mut dyn Sink) -> Outcome {
    let mut hit_draws = HitDraws::new(rules.hits());
    let mut store = match rules.plain() {
        CacheRules::Blocks(rules) => {
            let mut store = Lru::new(rules);
            store.reserve(trace.n_distinct);
            Some(store)
        }
        _ => None,
    };
    let turns_requested = ix(trace.requests.len());
    let mut outcome = Outcome { turns_requested, ..Outcome::default() };
    let mut hits = BlockHits { n_subagents: trace.n_subagents, ..BlockHits::default() };
    for (request, step) in trace.requests.iter().zip(0_u32..) {
        let blocks = trace.blocks.get(request.blocks.clone()).unwrap_or_default();
        let n_held = store.as_mut().map_or(0, |it| it.submit(blocks)) as u64;
        let n_hits = if hit_draws.is_served(request.prompt) { n_held } else { 0 };
        hits.n_blocks += blocks.len() as u64;
        hits.n_hits += n_hits;
        let read = (n_hits * trace.block_tokens).min(request.prompt);
        sink.request(&RequestRow {
            turn_ix: step,
            step,
            at_ms: request.at_ms,
            prompt: request.prompt,
            usage: CacheUse { read, uncached: request.prompt - read, ..CacheUse::default() },
            output: request.output,
            ..RequestRow::default()
        });
        outcome.turns_started += 1;
        let window = request.prompt.saturating_add(request.output);
        let over = [request.prompt > limits.prompt, request.output > limits.output, window > limits.window];
        let n_over = over.iter().filter(|it| **it).count();
        if n_over > 0 {
            outcome.limit_violations = u32::try_from(n_over).unwrap_or(1);
            outcome.failure = Some(Failure { turn: step.saturating_add(1), kind: FailureKind::FinalNoTool });
            break;
        }
        outcome.turns_completed += 1;
    }
    outcome.blocks = Some(hits);
    outcome
}

/// The most tokens that a trace may count: a hundred times the largest window of any model.
const TOKENS_MAX: Tokens = 100_000_000;

/// The most seconds or milliseconds between two requests of a trace.
const TIME_MAX: f64 = 1e15;

/// Reads a count of tokens.
fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tokens, D::Error> {
    Tokens::deserialize(deserializer).and_then(believed)
}

/// The same for a count that may be missing.
fn tokens_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Tokens>, D::Error> {
    Option::<Tokens>::deserialize(deserializer)?.map(believed).transpose()
}

fn believed<E: de::Error>(tokens: Tokens) -> Result<Tokens, E> {
    let wrong = || E::invalid_value(Unexpected::Unsigned(tokens), &"at most 100,000,000 tokens");
    if tokens > TOKENS_MAX { Err(wrong()) } else { Ok(tokens) }
}

/// Reads a time.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let wrong = |it: f64| D::Error::invalid_value(Unexpected::Float(it), &"at most 1e15");
    f64::deserialize(deserializer).and_then(|it| if it.abs() > TIME_MAX { Err(wrong(it)) } else { Ok(it) })
}

/// Says which field a parser stopped at: the key before the number.
fn name_field(text: &str, problem: &mut Diagnostic) {
    let before = problem.place.span.as_ref().and_then(|it| text.get(..it.start)).unwrap_or_default();
    let number = before.trim_end_matches(|it: char| it.is_ascii_digit() || "+-.eE".contains(it)).trim_end();
    let key = number.strip_suffix(':').and_then(|it| it.trim_end().strip_suffix('"'));
    if let Some((_, key)) = key.and_then(|it| it.rsplit_once('"')) {
        key.clone_into(&mut problem.place.field);
    }
}

/// Returns the beginning of a text, which is enough to detect its format.
fn head(text: &str) -> &str {
    const HEAD_BYTES: usize = 1 << 16;
    let end = (0..=HEAD_BYTES.min(text.len())).rev().find(|it| text.is_char_boundary(*it));
    &text[..end.unwrap_or(0)]
}

/// A trace on its way from a text.
#[derive(Default)]
struct TraceReading {
    trace: BlockTrace,
    /// The ids so far; more than can be told apart are left out.
    ids: IndexSet<u64, FxBuildHasher>,
}

impl TraceReading {
    fn request(&mut self, at_ms: i64, prompt: Tokens, output: Tokens, ids: &[u64]) {
        let start = self.trace.blocks.len();
        let numbers = ids.iter().map(|it| ix::<u32>(self.ids.insert_full(*it).0));
        self.trace.blocks.extend(numbers.filter(|it| *it < BLOCKS_MAX));
        let blocks = start..self.trace.blocks.len();
        self.trace.requests.push(BlockRequest { at_ms, prompt, output, blocks });
    }

    fn finish(self) -> BlockTrace {
        BlockTrace { n_distinct: ix(self.ids.len()), ..self.trace }
    }
}

/// Mooncake's traces: one JSON object a line, blocks of 512 tokens of which the last may be partial.
///
/// After kvcache-ai/Mooncake, commit 3b5a5941, FAST25-release/traces.
const MOONCAKE: TraceFormat = TraceFormat {
    detect: |text| {
        let first = head(text.trim_start()).lines().next().unwrap_or_default();
        first.starts_with('{') && first.contains("\"input_length\"") && first.contains("\"hash_ids\"")
    },
    read: mooncake,
};

/// One request as written.
#[derive(Debug, Deserialize)]
struct MooncakeLine {
    /// Milliseconds.
    #[serde(default, deserialize_with = "time")]
    timestamp: f64,
    #[serde(deserialize_with = "tokens")]
    input_length: Tokens,
    #[serde(default, deserialize_with = "tokens")]
    output_length: Tokens,
    hash_ids: Vec<u64>,
}

fn mooncake(text: &str) -> Result<BlockTrace, Box<Diagnostic>> {
    /// The number of tokens a block holds; the files do not say.
    const BLOCK_TOKENS: Tokens = 512;
    let mut reading = TraceReading::default();
    reading.trace.block_tokens = BLOCK_TOKENS;
    for line in serde_json::Deserializer::from_str(text).into_iter::<MooncakeLine>() {
        let it = line.map_err(|it| json_problem(text, &it))?;
        reading.request(it.timestamp as i64, it.input_length, it.output_length, &it.hash_ids);
    }
    let assumption =
        format!("A block of a Mooncake trace has {BLOCK_TOKENS} tokens; the last one may have fewer.");
    reading.trace.assumptions.push(assumption);
    Ok(reading.finish())
}

/// kv-cache-tester's traces: one JSON document a session, with the size of a block and with sub-agents in place.
///
/// After callanjfox/kv-cache-tester, commit 94f6046d. Only full blocks are listed. Sub-agents share the session's ids.
const KV_CACHE_TESTER: TraceFormat = TraceFormat {
    detect: |text| {
        let is_told = |text: &str| text.contains("\"block_size\"") && text.contains("\"requests\"");
        text.trim_start().starts_with('{') && (is_told(head(text)) || is_told(text))
    },
    read: kv_cache_tester,
};

/// A session as written.
#[derive(Debug, Deserialize)]
struct TracedSession {
    #[serde(deserialize_with = "tokens")]
    block_size: Tokens,
    requests: Vec<TraceEntry>,
}

/// A request, or a sub-agent with its own requests.
#[derive(Debug, Deserialize)]
struct TraceEntry {
    /// Seconds since the session, or the sub-agent, began.
    #[serde(default, deserialize_with = "time")]
    t: f64,
    #[serde(rename = "in", default, deserialize_with = "tokens_if_any")]
    prompt: Option<Tokens>,
    #[serde(rename = "out", default, deserialize_with = "tokens")]
    output: Tokens,
    hash_ids: Option<Vec<u64>>,
    requests: Option<Vec<TraceEntry>>,
}

/// Lists the requests in the order of the file, sub-agents in their place.
fn kv_cache_tester(text: &str) -> Result<BlockTrace, Box<Diagnostic>> {
    let session: TracedSession = serde_json::from_str(text).map_err(|it| json_problem(text, &it))?;
    if session.block_size == 0 {
        let problem =
            Diagnostic::at(Code("block-size-zero"), "block_size", "a block needs at least one token");
        return Err(Box::new(problem.help("write how many tokens one id covers")));
    }
    let mut reading = TraceReading::default();
    reading.trace.block_tokens = session.block_size;
    let mut open = vec![(session.requests.iter().enumerate(), "requests".to_owned(), 0.0)];
    while let Some((entries, path, start_s)) = open.last_mut() {
        let Some((index, entry)) = entries.next() else {
            open.pop();
            continue;
        };
        let (path, at_s) = (format!("{path}.{index}"), *start_s + entry.t);
        if let Some(requests) = &entry.requests {
            reading.trace.n_subagents += 1;
            open.push((requests.iter().enumerate(), format!("{path}.requests"), at_s));
            continue;
        }
        let Some(prompt) = entry.prompt else {
            let problem =
                Diagnostic::at(Code("request-incomplete"), path, "a request has neither `in` nor `requests`");
            return Err(Box::new(problem.help("write the number of tokens in its prompt")));
        };
        let at_ms = (at_s * 1_000.0).round() as i64;
        reading.request(at_ms, prompt, entry.output, entry.hash_ids.as_deref().unwrap_or_default());
    }
    if reading.trace.n_subagents > 0 {
        let sentence = "Sub-agents read and fill their session's cache, in the order of the file.";
        reading.trace.assumptions.push(sentence.to_owned());
    }
    Ok(reading.finish())
}
