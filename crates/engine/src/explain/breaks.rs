//! Where the prefixes of a run broke: how many tokens of the previous prompt were no longer at the front,
//! and whose edit caused it.

use std::cell::RefCell;
use std::rc::Rc;

use super::{By, rung};
use crate::cache::{CacheRule, RequestView};
use crate::engine::{Simulation, Watch, erased};
use crate::prelude::*;
use crate::projection::{Chain, Edit};

/// A request of the agent whose prompt does not begin with the whole previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// The author of the edit of the first differing item; `None` if no edit caused it, as with a line that
    /// changes with each request.
    pub by: Option<By>,
    /// Tokens of the previous prompt that were no longer at the front.
    pub tokens: Tokens,
}

/// A break, whatever the policy calls the stage that caused it.
#[derive(Clone, Copy, Debug)]
pub struct PrefixBreak {
    edit: Option<MadeEdit>,
    tokens: Tokens,
}

impl PrefixBreak {
    /// Returns it in the words of a policy that shows these prompts.
    pub fn of(self, policy: &Policy) -> Break {
        let by = |(at, edit): MadeEdit| match (at, edit.after.is_visible()) {
            (Some(_), _) => {
                let (stage, step) = rung(policy, edit.after.by);
                By::Stage(stage, step)
            }
            (None, true) => By::TakenBack,
            (None, false) => By::Harness,
        };
        Break { by: self.edit.map(by), tokens: self.tokens }
    }
}

/// Plays into a sink for each way to recover, while an observer compares each prompt with the previous one.
pub fn found<S: Sink>(play: Simulation<'_>, sinks: &mut [S]) -> (Outcome, Vec<PrefixBreak>) {
    let notes = Rc::new(RefCell::new(Notes::default()));
    let mut eyes = Edits { n_seen: 0, notes: Rc::clone(&notes) };
    let sent = Rc::clone(&notes);
    let look = move |cache: &dyn CacheRule, request: &RequestView<'_>| {
        if !request.chain.is_aside() {
            let intact = (!cache.needs_chain()).then_some(request.intact_tokens);
            sent.borrow_mut().sent(request.prompt, request.chain, intact);
        }
    };
    let outcome = play.overseen(look).run_watched(&mut eyes, &mut erased(sinks));
    let found = std::mem::take(&mut notes.borrow_mut().found);
    (outcome, found.into_iter().map(|(edit, tokens)| PrefixBreak { edit, tokens }).collect())
}

/// An edit, and the moment at which a stage made it.
type MadeEdit = (Option<Moment>, Edit);

/// State shared by the policy's observer and the cache's.
#[derive(Default)]
struct Notes {
    /// The edits since the agent's last request, with the moment at which a stage made them.
    edits: Vec<MadeEdit>,
    /// The prefixes of the agent's last request.
    links: Vec<Link>,
    /// Tokens of its prompt.
    prompt: Tokens,
    /// For each break: the edit of the first differing item, and the tokens no longer at the front.
    found: Vec<(Option<MadeEdit>, Tokens)>,
}

impl Notes {
    /// Returns the tokens of the agent's last prompt that these prefixes lack, and the first slot that
    /// differs.
    fn differs(&self, links: &[Link]) -> (Tokens, Option<SlotIx>) {
        // Most prompts only grow; of others, prefixes that once differ never agree again.
        let same = match self.links.last() {
            None => return (0, None),
            Some(last) if links.get(self.links.len() - 1).is_some_and(|it| it.digest == last.digest) => {
                return (0, None);
            }
            Some(_) => self.links.iter().zip(links).take_while(|(a, b)| a.digest == b.digest).count(),
        };
        let kept = same.checked_sub(1).map_or(0, |it| self.links[it].tokens);
        let first = [self.links.get(same), links.get(same)].into_iter().flatten().map(|it| it.slot).min();
        (self.prompt.saturating_sub(kept), first)
    }

    /// Compares a prompt with the agent's last.
    fn sent(&mut self, prompt: Tokens, chain: &Chain, intact: Option<Tokens>) {
        let (tokens, slot) = match intact {
            Some(intact) => {
                let first = self.edits.iter().map(|(_, it)| it.slot).min();
                (self.prompt.saturating_sub(intact), first)
            }
            None => self.differs(chain.links()),
        };
        if tokens > 0 {
            let edit = self.edits.iter().rev().find(|(_, it)| Some(it.slot) == slot);
            self.found.push((edit.copied(), tokens));
        }
        self.edits.clear();
        self.links.clear();
        self.links.extend_from_slice(chain.links());
        self.prompt = prompt;
    }
}

/// Records a policy's edits.
struct Edits {
    n_seen: usize,
    notes: Rc<RefCell<Notes>>,
}

impl Edits {
    fn note(&mut self, at: Option<Moment>, edit: &Editor<'_, '_>) {
        let journal = edit.prompt().journal();
        let new = journal.get(self.n_seen..).unwrap_or_default();
        self.notes.borrow_mut().edits.extend(new.iter().map(|it| (at, *it)));
        self.n_seen = journal.len();
    }
}

impl Watch for Edits {
    fn before(&mut self, _: Moment, edit: &mut Editor<'_, '_>) {
        self.note(None, edit);
    }

    fn after(&mut self, moment: Moment, _: &dyn Projector, edit: &mut Editor<'_, '_>) {
        self.note(Some(moment), edit);
    }
}
