//! What each prompt of a run holds, by kind and tool: one more play, watched.

use crate::engine::{Simulation, Watch};
use crate::hindsight;
use crate::ledger::Rows;
use crate::projection::{Editor, Projector};
use ctxsim_base::quantity::Tokens;
use ctxsim_input::policy::{Kind, Moment};
use ctxsim_input::{Policy, Profile};
use ctxsim_timeline::Timeline;

/// What a prompt holds of one kind, and of one tool where the kind has tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPart {
    pub kind: Kind,
    /// The tool's place among those of the load; that of no tool for other kinds.
    pub tool: u16,
    pub tokens: Tokens,
}

/// Adds prompts up as they are sent.
#[derive(Default)]
struct Adding {
    sent: Vec<Vec<HeldPart>>,
}

impl Watch for Adding {
    fn before(&mut self, _: Moment, _: &mut Editor<'_, '_>) {}

    fn after(&mut self, moment: Moment, _: &dyn Projector, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let prompt = edit.prompt();
        let mut held: Vec<HeldPart> = Vec::new();
        for (at, item) in (0..prompt.len()).zip(prompt.history().items()) {
            let slot = prompt.slot(at);
            if !slot.is_visible() {
                continue;
            }
            let tokens = Tokens::from(slot.tokens);
            match held.iter_mut().find(|it| it.kind == item.kind && it.tool == item.tool) {
                Some(part) => part.tokens += tokens,
                None => held.push(HeldPart { kind: item.kind, tool: item.tool, tokens }),
            }
        }
        self.sent.push(held);
    }
}

/// Returns what the agent's prompts hold, request by request; what stands beside items, such as recalled memory, is not in it.
pub fn held(timeline: &Timeline, policy: &Policy, profile: &Profile) -> Vec<Vec<HeldPart>> {
    let policy = &*hindsight::under(policy, timeline, profile, &profile.limits);
    let mut adding = Adding::default();
    let play = Simulation::new(timeline, policy, &profile.limits, &profile.cache);
    play.run_watched(&mut adding, &mut [&mut Rows::default()]);
    adding.sent
}
