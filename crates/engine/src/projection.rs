//! A policy's view and edits: the prompt, its editor, and the trait that every policy implements.
//!
//! **Incremental by design.** Four mechanisms, each with one job:
//!
//! | mechanism | what it saves | file |
//! |---|---|---|
//! | totals per prompt and per turn, kept by the one function that edits a slot | recounting | `projection/prompt.rs` |
//! | links from hidden runs to the next visible slot, halved as they are walked | walking over what summaries and drops hid | `projection/prompt.rs` |
//! | the journal of edits: each step keeps a cursor past the slots that it has finished with, and reads later edits from the journal | revisiting settled slots | `projection/program.rs` |
//! | trackers: sums over a scope whose ends move, updated from the journal | rescanning for `scope`, `count`, `reclaimable` | `projection/tracker.rs` |

pub mod chain;
pub mod edit;
pub mod filter;
pub mod history;
pub mod prompt;
pub mod rendition;
pub mod scope;
pub mod test;
pub mod tracker;
mod act;
pub mod text;
pub mod program;
pub mod window;

use crate::prelude::*;
use act::{Act, CompiledAction};
use program::{CompiledRung, RungParts};
use text::Writer;
use tracker::Counter;

pub use chain::{Chain, Link};
pub use edit::{Change, ChangeLog, Editor, Manner, Purpose, SideRequest};
pub use filter::{ClassMask, Filter, ToolMask};
pub use program::{Firing, Program, StageMark, Threshold};
pub use prompt::{
    Arrived, Author, Edit, Prompt, Region, ShownAs, Slot, SlotIx, State, ToolResults, TurnState, UNDO,
};
pub use rendition::{Pool, Rendered, TableRows};
pub use scope::{CompiledScope, Reach, UnitSize};
pub use test::{Activation, ActivationProgress, Context, Env, Known, Look, Measure, Num, Test};
pub use text::{PromptText, TextContent};
pub use tracker::{ScopeTotals, Tracker};
pub use window::Window;

/// The context of a moment: time and cache facts, passed down so that a policy never asks the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ambient {
    /// Milliseconds since the timeline began at which the next request starts.
    pub now_ms: i64,
    /// Milliseconds since the last request started.
    pub idle_ms: u64,
    /// How long a cache entry lives after its last use, if the provider says so.
    pub ttl_ms: Option<u64>,
    /// When the policy last sent the prompt to keep it in the cache.
    pub pinged_ms: i64,
}

impl Ambient {
    /// Returns whether the provider's cache has had time to drop the last prompt.
    pub fn is_cold(&self) -> bool {
        let since_ping = u64::try_from(self.now_ms.saturating_sub(self.pinged_ms)).unwrap_or(0);
        self.ttl_ms.is_some_and(|ttl| self.idle_ms.min(since_ping) > ttl)
    }
}

/// A policy: it looks at the prompt at each moment and edits it.
///
/// Declarative policies are one implementation ([`Program`]); code of your own is another.
pub trait Projector {
    /// Returns its name for errors.
    fn name(&self) -> &str {
        "a policy in code"
    }

    /// Edits the prompt at a moment; [`Editor::prompt`] shows what is there.
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>);

    /// Returns whether the policy may act at a moment on a prompt of a given size; otherwise it is not
    /// called.
    fn may_act(&self, _moment: Moment, _prompt: Tokens) -> bool {
        true
    }

    /// Returns the next time, after a given one since the last request, at which the policy acts on an idle
    /// agent; `None` for never.
    fn next_pause(&self, _idle_ms: u64) -> Option<u64> {
        None
    }

    /// Returns how often each of its stages has fired, in order; empty for code.
    fn firings(&self) -> Vec<Firing> {
        Vec::new()
    }

    /// Returns how much of an item is left if its slot shows a part of it or a summary of a part; `None` if
    /// unknown, or if all or nothing is left.
    fn left(&self, _prompt: &Prompt<'_>, _slot: SlotIx) -> Option<Left> {
        None
    }

    /// Returns the text of a slot; `None` if the load has no text, if a model wrote it, or for renditions
    /// known only by size. A policy that adds its own text to the prompt returns it here.
    fn text(&self, prompt: &Prompt<'_>, texts: &Texts, slot: SlotIx) -> Option<String> {
        text_as_it_came(prompt.slot(slot), texts, prompt.item(slot).origin)
    }
}

/// What is left of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Tokens of its beginning.
    pub head: u32,
    /// Tokens of its end.
    pub tail: u32,
    /// Whether the rest can be fetched by a handle.
    pub has_handle: bool,
}

impl Left {
    /// Its whole content.
    pub const ALL: Self = Self { head: u32::MAX, tail: 0, has_handle: false };
}

/// Returns the text of an item that is shown as received.
pub fn text_as_it_came(stands: &Slot, texts: &Texts, item: ItemIx) -> Option<String> {
    let is_raw = stands.state == State::Shown && stands.rendition == ShownAs::Raw;
    texts.text(item).filter(|_| is_raw).map(str::to_owned)
}

/// Sees a policy at work; it must not edit.
pub trait Watch {
    /// The policy is about to act.
    fn before(&mut self, _moment: Moment, _edit: &mut Editor<'_, '_>) {}

    /// The policy has acted, if it had anything to do.
    fn after(&mut self, moment: Moment, policy: &dyn Projector, edit: &mut Editor<'_, '_>);
}

impl<W: Watch + ?Sized> Watch for &mut W {
    fn before(&mut self, moment: Moment, edit: &mut Editor<'_, '_>) {
        (**self).before(moment, edit);
    }

    fn after(&mut self, moment: Moment, policy: &dyn Projector, edit: &mut Editor<'_, '_>) {
        (**self).after(moment, policy, edit);
    }
}

/// A policy that is watched.
pub struct Watched<'p, W> {
    pub policy: Box<dyn Projector + 'p>,
    pub watch: W,
}

impl<W: Watch> Projector for Watched<'_, W> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.watch.before(moment, edit);
        self.policy.project(moment, ambient, edit);
        self.watch.after(moment, &*self.policy, edit);
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
