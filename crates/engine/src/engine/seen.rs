//! Which results some request has shown whole: what was measured of recovery is measured of these.

use crate::projection::Prompt;
use crate::projection::prompt::{ShownAs, SlotIx};
use ctxsim_timeline::Kind;

/// What the requests so far have shown.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Results that their first request did not show whole, in order.
    cut: Vec<SlotIx>,
    /// Where the items begin that no request has shown yet.
    until: SlotIx,
}

impl Seen {
    /// Looks at what a request shows for the first time.
    #[inline]
    pub(super) fn look(&mut self, prompt: &Prompt<'_>) {
        let is_cut = |it: &SlotIx| {
            let slot = prompt.slot(*it);
            prompt.item(*it).kind == Kind::ToolResult
                && !(slot.is_visible() && slot.rendition == ShownAs::Raw)
        };
        self.cut.extend((self.until..prompt.len()).filter(is_cut));
        self.until = prompt.len();
    }

    /// Returns whether some request has shown a result whole.
    pub(super) fn has(&self, result: SlotIx) -> bool {
        result < self.until && self.cut.binary_search(&result).is_err()
    }
}
