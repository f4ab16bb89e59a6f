//! The size of a prompt with every item as received:
//! what a client sends that keeps everything while its provider edits.

use super::edit::Editor;
use super::prompt::{Prompt, SlotIx};
use ctxsim_base::quantity::Tokens;

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
