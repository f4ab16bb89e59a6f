//! Filters over slots, as masks.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Known, Num, Prompt, ShownAs, Slot, SlotIx};
use crate::prelude::*;
use ctxsim_base::digest::ByDigest;
use ctxsim_input::policy::matches_any;
use ctxsim_input::{Scope, Supersedes};
use ctxsim_timeline::Preserve;
use ctxsim_timeline::tool_form::Capability;

/// Which tools match, by their place in the timeline's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolMask {
    tools: Option<Vec<bool>>,
    /// Whether items without a tool match.
    otherwise: bool,
}

impl ToolMask {
    /// Every item, tool or not.
    pub const ALL: Self = Self { tools: None, otherwise: true };

    /// Looks the patterns up: what the first list names, or all if it is empty, less what the second names. A tool goes by
    /// its name and by what it does.
    pub fn new(tools: &[String], except: &[String], spine: &Spine) -> Self {
        let (takes_all, spares_none) = (tools.is_empty(), except.is_empty());
        if takes_all && spares_none {
            return Self::ALL;
        }
        let matches = |tool: usize| {
            let is_named = |patterns: &[String]| spine.names(tool).any(|name| matches_any(patterns, name));
            (takes_all || is_named(tools)) && !is_named(except)
        };
        Self { tools: Some((0..spine.tools.len()).map(matches).collect()), otherwise: takes_all }
    }

    /// Returns whether the tool is not looked at.
    #[inline]
    pub fn is_all(&self) -> bool {
        self.tools.is_none()
    }

    /// Returns whether a tool matches.
    #[inline]
    pub fn has(&self, tool: u16) -> bool {
        match &self.tools {
            None => true,
            Some(tools) => tools.get(tool as usize).copied().unwrap_or(self.otherwise),
        }
    }
}

/// A set of values of a small enum; empty lists mean all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassMask(u16);

impl ClassMask {
    /// Every value.
    pub const ALL: Self = Self(u16::MAX);

    fn of<T: Copy>(values: &[T], bit: impl Fn(T) -> u16) -> Self {
        if values.is_empty() {
            Self::ALL
        } else {
            Self(values.iter().fold(0, |mask, it| mask | 1 << bit(*it)))
        }
    }

    /// A set of kinds.
    pub fn of_kinds(kinds: &[Kind]) -> Self {
        Self::of(kinds, |it| it as u16)
    }

    /// A set of evidence classes.
    pub fn of_preserve(classes: &[Preserve]) -> Self {
        let Self(mask) = Self::of(classes, |class| class as u16);
        // Whoever asks for what is no evidence means what nobody stated, too.
        Self(mask | (mask >> Preserve::None as u16 & 1) << Preserve::Unset as u16)
    }

    /// Returns whether a kind is in the set.
    #[inline]
    pub fn has_kind(self, kind: Kind) -> bool {
        self.0 >> (kind as u16) & 1 == 1
    }

    /// Returns whether an item is of a kind in the set; an image in a result is part of that, too.
    #[inline]
    pub fn has_item(self, item: &Item) -> bool {
        self.has_kind(item.kind)
            || item.kind == Kind::Image && item.tool != u16::MAX && self.has_kind(Kind::ToolResult)
    }

    /// Returns whether an evidence class is in the set.
    #[inline]
    pub fn has_preserve(self, preserve: Preserve) -> bool {
        self.0 >> (preserve as u16) & 1 == 1
    }

    /// Returns whether a rendition is in the set.
    #[inline]
    pub fn has_shown(self, shown: ShownAs) -> bool {
        self.0 >> (shown as u16) & 1 == 1
    }
}

/// Which slots a scope is about, wherever they stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    kinds: ClassMask,
    tools: ToolMask,
    preserve: ClassMask,
    shown: ClassMask,
    raw_min: u32,
    /// Whether every visible slot passes.
    takes_all: bool,
}

impl Filter {
    /// Prepares the filters of a scope.
    pub fn new(scope: &Scope, spine: &Spine, known: &Known) -> Self {
        let larger = Num::fixed(scope.larger_than.as_ref(), known).map(|it| it.saturating_add(1));
        let mut filter = Self {
            kinds: ClassMask::of_kinds(scope.kinds()),
            tools: ToolMask::new(&scope.tools, &scope.except_tools, spine),
            preserve: ClassMask::of_preserve(&scope.preserve),
            shown: ClassMask::of(&scope.shown, |it| it as u16),
            raw_min: larger.map_or(0, saturated),
            takes_all: false,
        };
        let every = [filter.kinds, filter.preserve, filter.shown].iter().all(|it| *it == ClassMask::ALL);
        filter.takes_all = every && filter.tools.is_all() && filter.raw_min == 0;
        filter
    }

    /// Prepares a filter by kinds and tools alone.
    pub fn of_kinds_and_tools(kinds: &[Kind], tools: &[String], spine: &Spine) -> Self {
        Self {
            kinds: ClassMask::of_kinds(kinds),
            tools: ToolMask::new(tools, &[], spine),
            preserve: ClassMask::ALL,
            shown: ClassMask::ALL,
            raw_min: 0,
            takes_all: false,
        }
    }

    /// Returns whether edits can bring a slot into the scope.
    #[inline]
    pub fn looks_at_renditions(&self) -> bool {
        self.shown != ClassMask::ALL
    }

    /// Returns whether a slot is in the scope.
    #[inline(always)]
    pub fn has(&self, prompt: &Prompt<'_>, index: SlotIx) -> bool {
        if self.takes_all {
            return prompt.slot(index).is_visible();
        }
        let (item, slot) = (prompt.item(index), prompt.slot(index));
        // Most slots are of another kind: calls where results are meant.
        if slot.state == super::State::Shown && !self.kinds.has_item(item) {
            return false;
        }
        self.has_slot(item, slot)
    }

    /// Returns whether an item that stands so is in the scope.
    #[inline]
    pub fn has_slot(&self, item: &Item, slot: &Slot) -> bool {
        match slot.state {
            super::State::Dropped | super::State::Absorbed | super::State::Folded | super::State::Past => {
                false
            }
            super::State::Host | super::State::FoldHost => self.has_summary(),
            super::State::Shown => {
                self.kinds.has_item(item)
                    && self.shown.has_shown(slot.rendition)
                    && self.preserve.has_preserve(item.preserve)
                    && item.raw >= self.raw_min
                    && self.tools.has(item.tool)
            }
        }
    }

    /// Returns whether summaries are in the scope: they have no tool, no class, and no rendition but their own.
    #[inline]
    pub fn has_summary(&self) -> bool {
        self.kinds.has_kind(Kind::Summary)
            && self.tools.otherwise
            && self.preserve.has_preserve(Preserve::None)
            && !self.looks_at_renditions()
    }
}

// Which results are repeated later: by the same call, or by another read of the same file.

/// By result of a load: the next that supersedes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Superseded {
    by: Vec<[ItemIx; 2]>,
}

impl Superseded {
    /// Looks a load through, or nothing if no way is asked for.
    pub(super) fn new(ways: &[Supersedes], timeline: &Timeline) -> Option<Self> {
        if ways.is_empty() {
            return None;
        }
        let mut by = vec![[NO_ITEM; 2]; timeline.spine.items.len()];
        if ways.contains(&Supersedes::SameCall) {
            note(&mut by, 0, timeline, |item| Some((call_of(timeline, item)?, true)));
        }
        if ways.contains(&Supersedes::SameFile) {
            let reads = ToolMask::new(&[Capability::ReadFile.name().to_owned()], &[], &timeline.spine);
            // The file that a result is about, where the load says which.
            note(&mut by, 1, timeline, |it| Some((timeline.texts.file(it.pair)?, reads.has(it.tool))));
        }
        Some(Self { by })
    }

    /// Returns whether what is in a slot is a result, or its call, of which something that has come says the
    /// same again.
    pub(super) fn has(&self, prompt: &Prompt<'_>, slot: SlotIx) -> bool {
        let item = prompt.item(slot);
        let result = match item.kind {
            Kind::ToolCall if item.pair < prompt.len() => prompt.item(item.pair).origin,
            Kind::ToolResult => item.origin,
            _ => NO_ITEM,
        };
        let by = self.by.get(result as usize).copied().unwrap_or([NO_ITEM; 2]);
        by.into_iter().any(|it| it != NO_ITEM && prompt.history().slot_of(it).is_some())
    }
}

/// Notes of each result the next of the same key that supersedes what has it.
fn note(by: &mut [[ItemIx; 2]], way: usize, timeline: &Timeline, key: impl Fn(&Item) -> Option<(u64, bool)>) {
    let mut next: ByDigest<u64, ItemIx> = ByDigest::default();
    for (item, by) in timeline.spine.items.iter().zip(by).rev().filter(|it| it.0.kind == Kind::ToolResult) {
        let Some((key, supersedes)) = key(item) else { continue };
        by[way] = next.get(&key).copied().unwrap_or(NO_ITEM);
        if supersedes {
            next.insert(key, item.origin);
        }
    }
}

/// Returns what represents the call of a result: its tool and what it asks for.
fn call_of(timeline: &Timeline, result: &Item) -> Option<u64> {
    let call = timeline.spine.items.get(result.pair as usize)?;
    Some(xxh3_64_with_seed(&call.digest.to_le_bytes(), call.tool.into()))
}

/// By result of a load: the file that a tool read with it; what nobody names is a file of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileOfResult(Vec<Option<u64>>);

impl FileOfResult {
    /// Looks a load through for the results of some tools.
    pub(super) fn new(tools: &[String], timeline: &Timeline) -> Self {
        let reads = ToolMask::new(tools, &[], &timeline.spine);
        let file = |item: &Item| {
            let is_read = item.kind == Kind::ToolResult && reads.has(item.tool);
            is_read.then(|| timeline.texts.file(item.pair).unwrap_or(item.origin.into()))
        };
        Self(timeline.spine.items.iter().map(file).collect())
    }

    /// Returns the file that the result of a slot is about.
    pub(super) fn of(&self, item: &Item) -> Option<u64> {
        *self.0.get(item.origin as usize)?
    }
}
