//! Streams rows into the caller's own structures, without a report. A run ends when its sink has seen enough.

#![allow(clippy::print_stdout)]

use std::ops::ControlFlow;

use ctxsim::{Comparison, RequestRow, Role, RunId, Sink};

/// Tokens written to the cache up to the first prompt of 60,000 tokens.
struct Writes {
    run: RunId,
    tokens: u64,
    usd: f64,
    last_prompt: u64,
}

impl Sink for Writes {
    fn request(&mut self, row: &RequestRow) -> ControlFlow<()> {
        self.tokens += row.cache_write;
        self.usd += row.usd.unwrap_or(f64::NAN);
        if row.role == Role::Main {
            self.last_prompt = row.prompt;
        }
        if row.prompt < 60_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn main() -> Result<(), ctxsim::Error> {
    let plan = Comparison::new()
        .policy("identity")
        .policy("clear_tool_results")
        .scenario("recorded/claude-code")
        .profile("anthropic/claude-sonnet-4.5")
        .plan()?;
    let all = plan.stream(|run| Writes { run: run.clone(), tokens: 0, usd: 0.0, last_prompt: 0 })?;
    for (_, it) in &all {
        println!(
            "{}: {} tokens written, ${:.4}, last prompt {}",
            it.run.policy, it.tokens, it.usd, it.last_prompt
        );
    }
    assert!(all.iter().all(|(_, it)| it.tokens > 0 && it.usd.is_finite()));
    Ok(())
}
