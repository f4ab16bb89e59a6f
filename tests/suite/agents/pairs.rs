//! No preset sends a result without its call, or a call without its result: no provider would take it.

use ctxsim::cache::CacheRule;
use ctxsim::engine::{Watch, simulate_watched};
use ctxsim::input::policy::Moment;
use ctxsim::ledger::Rows;
use ctxsim::projection::{Editor, Projector, State};
use ctxsim::timeline::Kind;

use super::{loads, timeline};

/// Looks for torn pairs in what is about to be sent.
#[derive(Default)]
struct Pairs {
    n_requests: usize,
    torn: Option<String>,
}

impl Watch for Pairs {
    fn before(&mut self, _: Moment, _: &mut Editor<'_, '_>) {}

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
            if result < prompt.len() && is_shown(call) != is_shown(result) && self.torn.is_none() {
                self.torn = Some(format!("request {}: items {call} and {result}", self.n_requests));
            }
        }
    }
}

#[test]
fn a_call_and_its_result_are_sent_together() {
    let loads = loads();
    let mut torn = Vec::new();
    for load in &loads {
        let profile = &load.profiles[0];
        for policy in &load.policies {
            let mut pairs = Pairs::default();
            let same = |cache: Box<dyn CacheRule>| cache;
            let rules = &profile.cache;
            simulate_watched(
                timeline(load),
                policy,
                &profile.limits,
                rules,
                (&mut pairs, same),
                &mut Rows::default(),
            );
            torn.extend(pairs.torn.map(|it| format!("{} on {}: {it}", policy.name, load.name)));
        }
    }
    assert!(torn.is_empty(), "{}", torn.join("\n"));
}
