//! No preset sends a result without its call, or a call without its result: no provider would take it.
//!
//! Files that come back behind a summary are no results any more, and may go without their calls.

use ctxsim::input::policy::{Action, Moment};
use ctxsim::projection::{Editor, Projector, State, Watch};
use ctxsim::timeline::Kind;

use super::*;

/// Looks for torn pairs in what is about to be sent.
#[derive(Default)]
struct Pairs {
    n_requests: usize,
    torn: Option<String>,
    /// Whether what a summary hides may come back.
    restores: bool,
}

impl Watch for Pairs {
    fn after(&mut self, moment: Moment, _: &dyn Projector, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        self.n_requests += 1;
        let prompt = edit.prompt();
        let is_shown = |slot| prompt.slot(slot).state == State::Shown;
        let calls = (0..prompt.len()).filter(|it| prompt.kind(*it) == Kind::ToolCall);
        for call in calls {
            let result = prompt.item(call).pair;
            let comes_back = self.restores && prompt.slot(call).state == State::Absorbed;
            let is_torn = result < prompt.len() && is_shown(call) != is_shown(result) && !comes_back;
            if is_torn && self.torn.is_none() {
                self.torn = Some(format!("request {}: items {call} and {result}", self.n_requests));
            }
        }
    }
}

/// Whether a summary of the policy brings files back.
fn restores(policy: &Policy) -> bool {
    let mut actions = policy.stages().iter().flat_map(|it| policy.rungs(it)).map(|it| it.action);
    actions.any(|it| matches!(it, Action::Summarise(summary) if summary.restore.is_some()))
}

#[test]
fn a_call_and_its_result_are_sent_together() {
    let loads = loads();
    let mut torn = Vec::new();
    for load in &loads {
        let profile = &load.profiles[0];
        for policy in &load.policies {
            let mut pairs = Pairs { restores: restores(policy), ..Pairs::default() };
            let play = Simulation::new(timeline(load), policy, &profile.limits, &profile.cache);
            play.run_watched(&mut pairs, &mut [&mut Rows::default()]);
            torn.extend(pairs.torn.map(|it| format!("{} on {}: {it}", policy.name, load.name)));
        }
    }
    assert!(torn.is_empty(), "{}", torn.join("\n"));
}
