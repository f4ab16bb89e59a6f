//! Requests with `cache_control` as pydantic-ai's test cassettes hold them: what is predicted, what was billed.
//!
//! The prediction sees the blocks, the marked one, the prompt's total and what is behind the mark; never the split into
//! read and written.

use ctxsim::cache::breakpoints::{BreakpointCache, Times};
use ctxsim::cache::marks::CacheMark;
use ctxsim::projection::chain::Link;
use serde::Deserialize;

use super::*;

const PAIRS: &str = include_str!("../../data/http-cassettes/pairs.json");

#[derive(Deserialize)]
struct Cassette {
    name: String,
    min_tokens: u64,
    /// Why the first request found its own prefix cached, where it did.
    warm: String,
    /// Why the bill cannot be predicted, where it cannot.
    reason: String,
    requests: Vec<Exchange>,
}

#[derive(Deserialize)]
struct Exchange {
    segments: Vec<(String, String, u64)>,
    mark: usize,
    input: u64,
    read: u64,
    write: u64,
}

impl Exchange {
    fn prompt(&self) -> u64 {
        self.input + self.read + self.write
    }

    /// Returns the prefixes; the marked one has the tokens in front of the mark, the others a share by their length.
    fn links(&self) -> Vec<Link> {
        let before_mark: u64 = self.segments[..=self.mark].iter().map(|it| it.2).sum();
        let (mut digest, mut length) = (0_u128, 0);
        let links = self.segments.iter().enumerate().map(|(index, (kind, content, characters))| {
            length += characters;
            digest = digest.rotate_left(21) ^ u128::from(u64::from_str_radix(content, 16).unwrap());
            let tokens = (self.prompt() - self.input) * length / before_mark;
            let kind = match kind.as_str() {
                "tool" => Kind::ToolSchema,
                "system" => Kind::System,
                "text" => Kind::Assistant,
                "tool_use" => Kind::ToolCall,
                "tool_result" => Kind::ToolResult,
                _ => Kind::User,
            };
            Link { slot: u32::try_from(index).unwrap(), tokens, digest, kind }
        });
        links.collect()
    }
}

#[test]
fn recorded_requests_are_billed_as_predicted_or_the_reason_stands_beside_them() {
    let cassettes: Vec<Cassette> = serde_json::from_str(PAIRS).unwrap();
    let mut found = Vec::new();
    for cassette in &cassettes {
        let mut cache = BreakpointCache::new(rules(cassette.min_tokens));
        let mut now_ms = 0;
        let mut send = |exchange: &Exchange| {
            let links = exchange.links();
            let mark =
                CacheMark { link: exchange.mark, tokens: links[exchange.mark].tokens, ttl: TtlClass::Short };
            now_ms += 10_000;
            let times = Times { request_ms: now_ms, response_ms: now_ms + 1_000 };
            cache.divide(&links, &[mark], exchange.prompt(), times)
        };
        if !cassette.warm.is_empty() {
            send(&cassette.requests[0]);
        }
        for exchange in &cassette.requests {
            let usage = send(exchange);
            let predicted = (usage.read, usage.write[0]);
            let is_equal = predicted == (exchange.read, exchange.write);
            assert_eq!(is_equal, cassette.reason.is_empty(), "{}: {predicted:?}", cassette.name);
            found.push((cassette.name.as_str(), predicted, (exchange.read, exchange.write)));
        }
    }
    let bedrock = "test_anthropic_cache_bedrock_real_api";
    let real = "test_anthropic_cache_real_api";
    // Server tools sample several times within one request, and its usage adds the samplings up.
    let automatic = "test_anthropic_code_execution_files_cache_prefix_stable_automatic-sonnet-5";
    let messages = "test_anthropic_code_execution_files_cache_prefix_stable_messages-sonnet-4-6";
    // The compaction and the message are two samplings, billed one by one.
    let compaction = "test_anthropic_compaction_usage_with_cache";
    let inline = "test_inline_system_prompt_cache_prefix_is_reused";
    let expected = [
        (bedrock, (9_511, 0), (9_511, 0)),
        (bedrock, (9_511, 1_956), (9_511, 1_956)),
        ("test_anthropic_cache_count_tokens", (1_111, 0), (1_111, 0)),
        (real, (1_111, 0), (1_111, 0)),
        (real, (1_111, 418), (1_111, 418)),
        (automatic, (0, 21_017), (20_443, 574)),
        (automatic, (15_097, 0), (14_714, 379)),
        (messages, (0, 8_845), (4_332, 4_513)),
        (messages, (8_845, 526), (9_134, 237)),
        (compaction, (0, 55_096), (0, 55_096)),
        (compaction, (0, 0), (0, 0)),
        (inline, (0, 1_590), (0, 1_590)),
        (inline, (1_590, 0), (1_590, 0)),
    ];
    assert_eq!(found, expected);
}
