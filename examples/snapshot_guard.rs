//! An agent crate that guards its own code: the test fails when a change of the code moves a prompt, a cache hit or a cent.

use ctxsim::{BoxError, Cx, Entry, Part};

/// What the agent ships: results beyond the first 2,000 tokens of a request's old half become placeholders.
fn clear_old(_: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
    let is_old =
        |it: &Entry<'_>| it.call.is_some() && it.tokens > 2_000 && it.id.0 + 40 < history.len() as u32;
    let show =
        |it: &Entry<'_>| if is_old(it) { Part::rewrite(it.id, "[cleared]") } else { Part::keep(it.id) };
    Ok(history.iter().map(show).collect())
}

#[cfg(test)]
mod tests {
    use ctxsim::{Code, Comparison, assert_snapshots};

    use super::clear_old;

    #[test]
    fn what_the_agent_sends_costs_what_it_did() {
        let own = Code::view("clear_old", |_| clear_old);
        assert_snapshots!(Comparison::new().policy("identity").policy(own).scenario("recorded/claude-code"));
    }
}

fn main() -> Result<(), ctxsim::Error> {
    let own = ctxsim::Code::view("clear_old", |_| clear_old);
    let comparison = ctxsim::Comparison::new().policy(own).scenario("recorded/claude-code");
    for (name, numbers) in ctxsim::testing::snapshots(comparison)? {
        println!("{name}\n{numbers}");
    }
    Ok(())
}
