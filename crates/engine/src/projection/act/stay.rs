//! What stays of the input of a summary: what the harness keeps, cut to fit, and the files that it restores.

use crate::prelude::*;
use crate::projection::filter::FileOfResult;
use crate::projection::rendition::Render;
use crate::projection::{ClassMask, Env, Known, Num, Rendered};
use ctxsim_input::{KeptItems, Restore};

/// What stays beside a summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stay {
    keeps: Option<(ClassMask, Num)>,
    restore: Option<CompiledRestore>,
}

/// Files that come back.
#[derive(Clone, Debug, PartialEq)]
struct CompiledRestore {
    n_files: u64,
    files: FileOfResult,
    each: Num,
    all: Num,
    name: Num,
}

/// What becomes of the slots that a summary is taken of.
#[derive(Debug, Default)]
pub(super) struct SlotFate {
    /// Those that it takes the place of.
    pub(super) replaced: Vec<SlotIx>,
    /// Those that stay in another way than they stood, the last first.
    pub(super) shown: Vec<(SlotIx, Rendered)>,
    /// Tokens that leave the prompt.
    pub(super) input: Tokens,
    /// Tokens that come back into it.
    pub(super) added: Tokens,
}

impl Stay {
    pub(super) fn new(
        keeps: Option<&KeptItems>,
        restore: Option<&Restore>,
        timeline: &Timeline,
        known: &Known,
    ) -> Option<Self> {
        let size =
            |it: &Option<Size>, silent| it.as_ref().map_or(Num::Const(silent), |it| Num::new(it, known));
        let restored = |it: &Restore| CompiledRestore {
            n_files: it.files.get(),
            files: FileOfResult::new(&it.tools, timeline),
            each: size(&it.each, Tokens::MAX),
            all: size(&it.all, Tokens::MAX),
            name: size(&it.name, 0),
        };
        let kept = |it: &KeptItems| (ClassMask::of_kinds(&it.kinds), Num::new(&it.tokens, known));
        let (keeps, restore) = (keeps.map(kept), restore.map(restored));
        (keeps.is_some() || restore.is_some()).then_some(Self { keeps, restore })
    }

    /// Says what becomes of slots, in ascending order, that a summary is taken of.
    pub(super) fn left(&self, slots: &[SlotIx], prompt: &Prompt<'_>, env: &Env) -> SlotFate {
        let mut room = self.keeps.as_ref().map_or(0, |it| it.1.eval(env));
        let mut back = self.restore.as_ref().map(|it| Back::new(it, env));
        let mut left = SlotFate::default();
        for slot in slots.iter().rev().copied() {
            let stands = Tokens::from(prompt.slot(slot).tokens);
            let kept = if self.keeps(prompt, slot) { fit(stands, &mut room) } else { None };
            let rendered = match kept {
                Some(kept) if kept == stands => continue,
                Some(kept) => Some(cut(kept)),
                None => back.as_mut().and_then(|it| it.shown(prompt, slot)),
            };
            left.take(slot, stands, rendered);
        }
        left.replaced.reverse();
        left
    }

    /// Returns whether a slot is of a kind that is kept.
    fn keeps(&self, prompt: &Prompt<'_>, slot: SlotIx) -> bool {
        self.keeps.as_ref().is_some_and(|it| it.0.has_kind(prompt.kind(slot)))
    }
}

impl SlotFate {
    /// Notes that something is in a slot from now on, or nothing.
    fn take(&mut self, slot: SlotIx, stands: Tokens, rendered: Option<Rendered>) {
        match rendered {
            Some(rendered) => {
                let tokens = Tokens::from(rendered.tokens);
                self.input += stands.saturating_sub(tokens);
                self.added += tokens.saturating_sub(stands);
                self.shown.push((slot, rendered));
            }
            None => {
                self.input += stands;
                self.replaced.push(slot);
            }
        }
    }
}

/// Returns how much of an item fits; once an item had to be cut, nothing more does.
fn fit(stands: Tokens, room: &mut Tokens) -> Option<Tokens> {
    let kept = stands.min(*room);
    *room = if kept == stands { *room - kept } else { 0 };
    (kept > 0 || stands == 0).then_some(kept)
}

/// The beginning of an item.
fn cut(tokens: Tokens) -> Rendered {
    Rendered::sized(ShownAs::Truncate, saturated(tokens), false)
}

/// Files that are coming back, from the last used on.
struct Back<'a> {
    restore: &'a CompiledRestore,
    seen: Vec<u64>,
    each: Tokens,
    room: Tokens,
    name: u32,
}

impl<'a> Back<'a> {
    fn new(restore: &'a CompiledRestore, env: &Env) -> Self {
        Self {
            restore,
            seen: Vec::new(),
            each: restore.each.eval(env),
            room: restore.all.eval(env),
            name: saturated(restore.name.eval(env)),
        }
    }

    /// Returns how a result stands from now on whose file comes back, whole or by its name.
    fn shown(&mut self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Rendered> {
        let is_result = prompt.kind(slot) == Kind::ToolResult && prompt.slot(slot).state == State::Shown;
        let item = prompt.item(slot);
        let file = self.restore.files.of(item).filter(|it| is_result && !self.seen.contains(it))?;
        if self.seen.len() as u64 >= self.restore.n_files {
            return None;
        }
        self.seen.push(file);
        let raw = Tokens::from(item.raw);
        if raw <= self.each && raw <= self.room {
            self.room -= raw;
            return Some(Render::raw().of(item));
        }
        (self.name > 0).then(|| Rendered::sized(ShownAs::Handle, self.name.min(item.raw), false))
    }
}
