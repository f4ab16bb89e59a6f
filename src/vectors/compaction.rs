//! The policy `cc_auto` of cache vectors: a full prompt gives way to a summary, behind which the newest results come back.
//!
//! After the vectors' README. It is code because no stage keeps what its summary replaces, cut to a size.

use super::policy::{after, before, threshold};
use crate::input::policy::Moment;
use crate::projection::prompt::{Shown, SlotIx};
use crate::projection::rendition::Rendered;
use crate::projection::{Ambient, Editor, Projector, SideRequest};
use crate::trace::{Kind, LoopIx};
use crate::units::Tokens;

/// From some size of the prompt on, summarises the whole history in a request that begins as the prompt does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compaction {
    from: Tokens,
    summary: u32,
    instruction: Tokens,
    /// So many results stay, cut to so many tokens each.
    n_back: usize,
    each_max: u32,
}

impl Compaction {
    /// Takes the numbers of a sentence; those that it does not say are the README's.
    pub(super) fn new(sentence: &str) -> Self {
        let each = ["each <= ", "each cut to ", "at most "].iter().find_map(|it| after(sentence, it));
        let summary = before(sentence, "-token summary").or_else(|| after(sentence, "summary "));
        let small =
            |tokens: Option<Tokens>, usual| tokens.and_then(|it| u32::try_from(it).ok()).unwrap_or(usual);
        Self {
            from: threshold(sentence).unwrap_or(167_000),
            summary: small(summary, 6_000),
            instruction: before(sentence, "-token instruction").unwrap_or(200),
            n_back: small(after(sentence, "newest "), 5) as usize,
            each_max: small(each, 5_000),
        }
    }
}

impl Projector for Compaction {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request || edit.prompt().tokens() < self.from {
            return;
        }
        let history = edit.prompt().spine().n_stable..edit.prompt().len();
        let shown: Vec<SlotIx> = history.filter(|it| edit.prompt().slot(*it).is_visible()).collect();
        let is_result = |it: &&SlotIx| edit.prompt().kind(**it) == Kind::ToolResult;
        let back: Vec<SlotIx> = shown.iter().rev().filter(is_result).take(self.n_back).copied().collect();
        let gone: Vec<SlotIx> = shown.into_iter().filter(|it| !back.contains(it)).collect();
        let freed: Tokens = gone.iter().map(|it| Tokens::from(edit.prompt().slot(*it).tokens)).sum();
        if Tokens::from(self.summary) >= freed {
            return;
        }
        let mut loops: Vec<LoopIx> = gone.iter().map(|it| edit.prompt().item(*it).loop_ix).collect();
        loops.dedup();
        let request = SideRequest {
            prompt: edit.prompt().tokens() + self.instruction,
            chain: Some(edit.chain()),
            output: self.summary.into(),
            items: u32::try_from(loops.len()).unwrap_or(u32::MAX),
        };
        for at in back {
            edit.show(at, Rendered { shown: Shown::Truncate, tokens: self.each_max, exact: false });
        }
        edit.summarise(&gone, self.summary, Some(request));
    }
}
