//! A run that is played twice: the second play must send what the first sent.

use crate::prelude::*;
use std::sync::{Mutex, PoisonError};

use crate::projection::{Ambient, Firing, Left};
use ctxsim_timeline::Texts;

/// What the requests of a play showed, each as a digest.
#[derive(Clone, Debug, Default)]
pub struct PlayDigests(Arc<Mutex<Vec<u128>>>);

/// A projector whose views are noted, or held against those of an earlier play.
struct NotedProjector<'t> {
    policy: Box<dyn Projector + 't>,
    played: PlayDigests,
    /// How many requests have been compared; none in the first play.
    n_compared: Option<usize>,
}

impl PlayDigests {
    /// Notes what a policy shows.
    pub fn note<'t>(&self, policy: Box<dyn Projector + 't>) -> Box<dyn Projector + 't> {
        Box::new(NotedProjector { policy, played: self.clone(), n_compared: None })
    }

    /// Ends the run of a policy where it shows something else than was noted.
    pub fn compare<'t>(&self, policy: Box<dyn Projector + 't>) -> Box<dyn Projector + 't> {
        Box::new(NotedProjector { policy, played: self.clone(), n_compared: Some(0) })
    }
}

impl Projector for NotedProjector<'_> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.policy.project(moment, ambient, edit);
        if moment != Moment::Request {
            return;
        }
        let digest = edit.chain().links().last().map_or(0, |it| it.digest);
        let mut noted = self.played.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut self.n_compared {
            None => noted.push(digest),
            Some(n) => {
                // A first play that ended early differs, too.
                if noted.get(*n) != Some(&digest) {
                    let which = *n + 1;
                    edit.fail(format!(
                        "request {which} differed when the run was repeated, so the policy is not deterministic"
                    ));
                }
                *n += 1;
            }
        }
    }

    fn may_act(&self, moment: Moment, prompt: Tokens) -> bool {
        self.policy.may_act(moment, prompt)
    }

    fn next_pause(&self, idle_ms: u64) -> Option<u64> {
        self.policy.next_pause(idle_ms)
    }

    fn firings(&self) -> Vec<Firing> {
        self.policy.firings()
    }

    fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        self.policy.left(prompt, slot)
    }

    fn text(&self, prompt: &Prompt<'_>, texts: &Texts, slot: SlotIx) -> Option<String> {
        self.policy.text(prompt, texts, slot)
    }
}
