//! The requests that write a summary: the first, and the one that looks over it.

use super::summarise::CompiledSummary;
use crate::projection::change::{Purpose, SideRequest};
use crate::projection::edit::Editor;
use crate::projection::num::{Env, Known, Num};
use ctxsim_base::quantity::Tokens;
use ctxsim_input::policy::{SecondCall, SecondReads, SummaryPrompt};

/// The second request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledSecond {
    reads: SecondReads,
    overhead: Num,
    output: Option<Num>,
}

impl CompiledSecond {
    pub(super) fn new(again: &SecondCall, known: &Known) -> Self {
        Self {
            reads: again.reads,
            overhead: again.overhead.as_ref().map_or(Num::Const(0), |it| Num::new(it, known)),
            output: again.output.as_ref().map(|it| Num::new(it, known)),
        }
    }
}

/// What a summary is made of, in tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct SummaryTokens {
    /// All that the summary is taken of.
    pub(super) read: Tokens,
    /// What is written, copies included.
    pub(super) written: Tokens,
    /// Turns that it replaces.
    pub(super) n_turns: u32,
}

impl CompiledSummary {
    /// Sends the requests that write a summary, or none if no model does.
    pub(super) fn ask(&self, made: &SummaryTokens, env: &Env, edit: &mut Editor<'_, '_>) {
        let Some(prompt) = self.request else { return };
        let is_aligned = prompt == SummaryPrompt::Aligned;
        let history = if is_aligned {
            edit.prompt().tokens()
        } else {
            self.reads.as_ref().map_or(made.read, |it| made.read.min(it.eval(env)))
        };
        let mut ask = |overhead: Tokens, history: Option<Tokens>, output, items| {
            let finds = is_aligned && !self.is_elsewhere && history.is_some();
            let chain = finds.then(|| edit.chain().asking(overhead));
            let prompt = overhead.saturating_add(history.unwrap_or(0));
            edit.ask(SideRequest { prompt, chain, output, items, purpose: Purpose::Summary });
        };
        ask(self.overhead.eval(env), Some(history), made.written, made.n_turns);
        if let Some(again) = &self.again {
            let overhead = again.overhead.eval(env).saturating_add(made.written);
            let history = (again.reads == SecondReads::History).then_some(history);
            let output = again.output.as_ref().map_or(made.written, |it| it.eval(env));
            ask(overhead, history, output, 0);
        }
    }
}
