//! Which results are repeated later: by the same call, or by another read of the same file.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Prompt, SlotIx, ToolMask};
use ctxsim_base::digest::ByDigest;
use ctxsim_input::policy::Supersedes;
use ctxsim_timeline::tool_form::Capability;
use ctxsim_timeline::{Item, ItemIx, Kind, NO_ITEM, Timeline};

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
            note(&mut by, 1, timeline, |item| Some((file_of(timeline, item)?, reads.has(item.tool))));
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

/// Returns what represents the file that a result is about, where the load says which.
fn file_of(timeline: &Timeline, result: &Item) -> Option<u64> {
    timeline.texts.file(result.pair)
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
            is_read.then(|| file_of(timeline, item).unwrap_or(item.origin.into()))
        };
        Self(timeline.spine.items.iter().map(file).collect())
    }

    /// Returns the file that the result of a slot is about.
    pub(super) fn of(&self, item: &Item) -> Option<u64> {
        *self.0.get(item.origin as usize)?
    }
}
