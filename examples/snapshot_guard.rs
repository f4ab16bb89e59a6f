//! An agent crate that guards its own code: the test fails when a change of the code moves a prompt, a cache hit or a cent.

#![cfg_attr(not(test), allow(dead_code))]

use ctxsim::{BoxError, Cx, Entry, Part};

/// What the agent ships: large tool results become placeholders.
fn clear_large(_: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
    let large = |it: &Entry<'_>| it.call.filter(|_| it.tokens > 2_000);
    let part = |it: &Entry<'_>| large(it).map_or(Part::keep(it.id), |_| Part::rewrite(it.id, "[cleared]"));
    Ok(history.iter().map(part).collect())
}

#[test]
fn what_the_agent_sends_costs_what_it_did() {
    let own = ctxsim::CodePolicy::view("clear_large", |_| clear_large);
    let comparison = ctxsim::Comparison::new().policy("identity").policy(own);
    ctxsim::assert_snapshots!(comparison.scenario("recorded/claude-code"));
}

fn main() {}
