//! Which results some request has shown whole: what was measured of recovery is measured of these.
//!
//! **Images** are items (`Kind::Image`) with a size in pixels (`Timeline::images`), behind the message or the result that they are in. A
//! profile's rule (`assumptions/images.toml`, `profile/images.rs`) says how many tokens that is; `take/counted.rs` counts them anew as it
//! does texts, and `ImagesSeen` tells caches whether a prompt shows any.

use crate::prelude::*;
use ctxsim_input::Setting;

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

// Whether a prompt holds images, for caches whose provider looks at that.

/// The images that have come, where any cache asks.
#[derive(Debug)]
pub(super) struct ImagesSeen {
    slots: Vec<SlotIx>,
    /// The first slot that has not been looked at.
    next: SlotIx,
}

impl ImagesSeen {
    /// Begins before the first item; `None` where a load has no images, or no cache asks for them.
    pub(super) fn new<'r>(timeline: &Timeline, rules: impl Iterator<Item = &'r CacheRules>) -> Option<Self> {
        let mut rules = rules;
        let is_asked = !timeline.images.items.is_empty() && rules.any(|it| it.heeds(Setting::Images));
        is_asked.then(|| Self { slots: Vec::new(), next: 0 })
    }

    /// Returns whether a prompt shows one; the newest are the likeliest to be there.
    pub(super) fn are_shown(&mut self, prompt: &Prompt<'_>) -> bool {
        self.slots.extend((self.next..prompt.len()).filter(|it| prompt.kind(*it) == Kind::Image));
        self.next = prompt.len();
        self.slots.iter().rev().any(|it| {
            let slot = prompt.slot(*it);
            slot.state == State::Shown && slot.rendition == ShownAs::Raw && slot.content.is_none()
        })
    }
}
