//! How a harness counts the prompt, if it differs from the provider's bill: an amount added per item, by kind.

use super::{Editor, Known, Num, Prompt, Slot, SlotIx};
use crate::prelude::*;
use ctxsim_input::policy;

/// How many kinds of items there are.
const KINDS: usize = Kind::Image as usize + 1;

/// What a harness's count adds to what is billed, brought up to date from the journal of edits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counter {
    adds: [u32; KINDS],
    from: SlotIx,
    to: SlotIx,
    sum: Tokens,
    seen_edits: usize,
}

impl Counter {
    /// Begins counting as a policy declares it; without a declaration nothing is added.
    pub(super) fn new(declared: Option<&policy::HarnessCounter>, known: &Known) -> Self {
        let mut adds = [0; KINDS];
        for (kind, size) in declared.iter().flat_map(|it| &it.adds) {
            let tokens = Num::fixed(Some(size), known).unwrap_or(0);
            adds[*kind as usize] = saturated(tokens);
        }
        Self { adds, from: 0, to: 0, sum: 0, seen_edits: 0 }
    }

    /// Returns what is added to an item of a kind.
    pub(super) fn added_to(&self, kind: Kind) -> Tokens {
        self.adds[kind as usize].into()
    }

    fn added(&self, item: &Item, slot: &Slot) -> Tokens {
        match (slot.is_visible(), slot.is_summary()) {
            (false, _) => 0,
            (true, true) => self.added_to(Kind::Summary),
            (true, false) => self.added_to(item.kind),
        }
    }

    /// Counts what is after the stable prefix.
    pub(super) fn count(&mut self, prompt: &mut Prompt<'_>) -> Tokens {
        let (from, to) = (prompt.history().session_from(), prompt.len());
        if from != self.from {
            *self = Self { from, to: from, sum: 0, seen_edits: prompt.journal().len(), ..self.clone() };
        }
        let n_edits = prompt.journal().len();
        for edit in &prompt.journal()[self.seen_edits..] {
            if (self.from..self.to).contains(&edit.slot) {
                let item = prompt.item(edit.slot);
                self.sum = self.sum + self.added(item, &edit.after) - self.added(item, &edit.before);
            }
        }
        for index in self.to..to {
            self.sum += self.added(prompt.item(index), prompt.slot(index));
        }
        prompt.touch((n_edits - self.seen_edits) as u64 + u64::from(to - self.to));
        (self.to, self.seen_edits) = (to, n_edits);
        prompt.tokens() - prompt.stable_tokens() + self.sum
    }
}

// The size of a prompt with every item as received:
// what a client sends that keeps everything while its provider edits.

/// The tokens of what has come in a session, whatever stages made of it; what a recorded harness took out is not sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RawTokens {
    /// Where the session begins.
    from: SlotIx,
    /// The first slot that is not in the sum.
    to: SlotIx,
    n_resets: usize,
    tokens: Tokens,
}

impl RawTokens {
    /// Returns the sum with the stable prefix, brought up to what has come.
    pub(super) fn of(&mut self, edit: &mut Editor<'_, '_>) -> Tokens {
        let prompt = edit.prompt();
        let (from, end, n_resets) = (prompt.history().session_from(), prompt.len(), prompt.resets().len());
        if (self.from, self.n_resets) != (from, n_resets) {
            let tokens = (from..end).filter(|it| is_sent(prompt, *it)).map(|it| raw(prompt, it)).sum();
            edit.touch((end - from).into());
            *self = Self { from, to: end, n_resets, tokens };
        }
        let prompt = edit.prompt();
        self.tokens += (self.to..end).map(|it| raw(prompt, it)).sum::<Tokens>();
        edit.touch((end - self.to).into());
        self.to = end;
        edit.prompt().stable_tokens() + self.tokens
    }
}

fn raw(prompt: &Prompt<'_>, slot: SlotIx) -> Tokens {
    prompt.item(slot).raw.into()
}

/// Returns whether no recorded harness has taken a slot out.
fn is_sent(prompt: &Prompt<'_>, slot: SlotIx) -> bool {
    !prompt.resets().iter().any(|it| it.contains(&slot))
}
