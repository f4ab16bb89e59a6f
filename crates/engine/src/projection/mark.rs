//! The state in which stages last left a prompt, for conditions about what has changed since.

use std::collections::BTreeSet;

use super::num::Known;
use super::prompt::{Arrived, SlotIx};
use super::test::{Context, Measure, Test};
use ctxsim_base::quantity::Tokens;
use ctxsim_input::policy::{Policy, Stage};

/// How a stage last left a prompt that it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageMark {
    /// Where the session begins that this was in.
    pub session: SlotIx,
    /// Tokens of the prompt.
    pub tokens: Tokens,
    /// What had come.
    pub arrived: Arrived,
}

/// Returns whether any condition of a stage asks something.
pub(super) fn asks(
    policy: &Policy,
    stage: &Stage,
    context: &Context<'_>,
    mut asks_it: impl FnMut(&Test) -> bool,
) -> bool {
    let mut asks = false;
    let rungs = policy.rungs(stage).flat_map(|it| [it.when, it.until]);
    for cond in rungs.chain([stage.when.as_ref()]).flatten() {
        Test::new(cond, context).each(&mut |test| asks |= asks_it(test));
    }
    asks
}

/// Returns the stages of which some condition asks when they last acted.
pub(super) fn marked(policy: &Policy, known: &Known) -> BTreeSet<usize> {
    let mut marked = BTreeSet::new();
    for (own, stage) in policy.stages().iter().enumerate() {
        let context = Context { known, stages: policy.stages(), own };
        asks(policy, stage, &context, |test| match test {
            Test::Tokens(Measure::Grown(of), ..) | Test::Since(of, ..) => marked.insert(*of),
            _ => false,
        });
    }
    marked
}
