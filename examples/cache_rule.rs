//! A provider's cache in code: it keeps the whole prompts of the last three requests and drops them after a minute.

#![allow(clippy::print_stdout)]

use std::collections::VecDeque;
use std::time::Duration;

use ctxsim::{BoxError, CacheRequest, CacheRule, CacheRules, CacheUse, Catalog, Comparison, Profile};

const KEPT: usize = 3;
const TTL_MS: i64 = 60_000;

/// The prefixes of a sent prompt, and when it was sent.
struct Sent {
    at_ms: i64,
    digests: Vec<u128>,
}

#[derive(Default)]
struct LastPrompts(VecDeque<Sent>);

impl CacheRule for LastPrompts {
    fn submit(&mut self, request: &CacheRequest<'_>) -> Result<CacheUse, BoxError> {
        let now_ms = request.now_ms();
        self.0.retain(|it| now_ms - it.at_ms <= TTL_MS);
        let is_known = |digest: u128| self.0.iter().any(|it| it.digests.binary_search(&digest).is_ok());
        let longest = request.prefixes().rev().find(|it| is_known(it.digest));
        let mut digests: Vec<u128> = request.prefixes().map(|it| it.digest).collect();
        digests.sort_unstable();
        self.0.push_back(Sent { at_ms: now_ms, digests });
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
        Ok(request.reading(longest.map_or(0, |it| it.tokens)))
    }
}

fn main() -> Result<(), ctxsim::Error> {
    let like = Profile::load(&Catalog::bundled(), "openai/gpt-5.4")?;
    let rules = CacheRules::custom(LastPrompts::default).ttl(Duration::from_secs(60));
    let own = like.to_builder().name("last_prompts").cache(rules).build()?;
    let report = Comparison::new()
        .policy("identity")
        .policy("clear_tool_results")
        .scenario("recorded/claude-code")
        .profile(like)
        .profile(own)
        .run()?;
    for run in report.runs() {
        let share = run.cache_read() as f64 / run.input() as f64;
        println!("{} under {}: {:.1}% read", run.policy(), run.profile(), 100.0 * share);
        assert_eq!(run.input(), run.cache_read() + run.cache_write() + run.uncached());
    }
    Ok(())
}
