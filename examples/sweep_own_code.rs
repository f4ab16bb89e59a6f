//! A parameter of the agent's own code, swept on all cores.

#![allow(clippy::print_stdout)]

use ctxsim::{BoxError, CodePolicy, Comparison, Cx, Entry, Part, View};

/// Keeps so many of the newest tool results; older ones become placeholders.
struct KeepNewest(usize);

impl View for KeepNewest {
    fn view(&mut self, _: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        let old = history.iter().filter(|it| it.call.is_some()).rev().nth(self.0).map(|it| it.id);
        let is_old = |it: &Entry<'_>| it.call.is_some() && Some(it.id) <= old;
        let show =
            |it: &Entry<'_>| if is_old(it) { Part::rewrite(it.id, "[cleared]") } else { Part::keep(it.id) };
        Ok(history.iter().map(show).collect())
    }
}

fn main() -> Result<(), ctxsim::Error> {
    let base = Comparison::new().policy("identity").scenario("recorded/claude-code");
    let own = |keep| CodePolicy::view(format!("keep_{keep}"), move |_| KeepNewest(keep));
    let sweep = [1, 2, 4, 8, 16, 32].into_iter().fold(base, |all, keep| all.policy(own(keep)));
    let report = sweep.profile("anthropic/claude-sonnet-4.5").run()?;
    for run in report.runs() {
        println!("{:8} {:>7} tokens, ${:.2}", run.policy(), run.prompt_max(), run.usd().unwrap_or(f64::NAN));
    }
    Ok(())
}
