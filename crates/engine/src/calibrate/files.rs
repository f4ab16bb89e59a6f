//! Files that a recorded agent read, changed and searched, and which of them a compaction hid.

use indexmap::IndexMap;

use ctxsim_timeline::tool_form::Argument;
use ctxsim_timeline::{Capability, EventKind, Item, ItemIx, Kind, StepIx, Timeline};

/// What a call does to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Reads it, or a range of it.
    Read,
    /// Writes or changes it.
    Change,
    Search,
}

/// A call that names a file.
#[derive(Clone, Debug)]
pub(super) struct FileUse {
    /// The step whose reply makes it.
    pub(super) step: StepIx,
    /// The file, as the call names it.
    pub(super) path: String,
    pub(super) deed: Deed,
    /// Its result, if it returned something.
    pub(super) result: Option<ItemIx>,
}

impl FileUse {
    /// Returns whether it brought something of the file by one of some deeds.
    pub(super) fn fetches(&self, deeds: &[Deed]) -> bool {
        self.result.is_some() && deeds.contains(&self.deed)
    }
}

/// A file that the agent had read, and of which a compaction removed everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hidden<'t> {
    pub(super) path: &'t str,
    /// Requests from the agent's last read or change of it to the first after the compaction.
    pub(super) idle_requests: u32,
}

/// Returns what an agent did with files, in order.
pub(super) fn uses(timeline: &Timeline) -> Vec<FileUse> {
    let calls = timeline.spine.items.iter().filter(|it| it.kind == Kind::ToolCall);
    calls.filter_map(|it| file_use(timeline, it)).collect()
}

/// Reads what a call does with a file, or nothing if it names none.
fn file_use(timeline: &Timeline, call: &Item) -> Option<FileUse> {
    let form = timeline.texts.form(call.origin)?;
    let deed = match form.capability {
        Capability::ReadFile => Deed::Read,
        Capability::WriteFile | Capability::EditFile => Deed::Change,
        Capability::Search => Deed::Search,
        _ => return None,
    };
    let asked = form.asked(timeline.texts.of(call.origin)?);
    let (_, path) = asked.iter().find(|it| it.0 == Argument::Path)?;
    let result = timeline.spine.brings(call.pair).then_some(call.pair);
    Some(FileUse { step: call.step_ix, path: path.as_str()?.to_owned(), deed, result })
}

/// Returns, by item, the step before whose request the harness took it out; [`StepIx::MAX`] where it never did.
pub(super) fn gone_at(timeline: &Timeline) -> Vec<StepIx> {
    let mut gone = vec![StepIx::MAX; timeline.spine.items.len()];
    for event in &timeline.events {
        let EventKind::Reset(items) = &event.kind else { continue };
        let step = timeline.spine.step_at(event.at);
        let items = items.start as usize..(items.end as usize).min(gone.len());
        for gone in gone.get_mut(items).unwrap_or_default() {
            *gone = step.min(*gone);
        }
    }
    gone
}

/// Returns the files that the compaction before a step's request hid, in the order in which they were first used.
pub(super) fn hidden<'t>(uses: &'t [FileUse], gone: &[StepIx], step: StepIx) -> Vec<Hidden<'t>> {
    let mut by_path: IndexMap<&str, Vec<&FileUse>> = IndexMap::new();
    for earlier in uses.iter().filter(|it| it.step < step && it.deed != Deed::Search) {
        by_path.entry(&earlier.path).or_default().push(earlier);
    }
    let hidden = |(path, uses): (&'t str, Vec<&FileUse>)| {
        let results = uses.iter().filter(|it| it.deed == Deed::Read).filter_map(|it| it.result);
        let standing: Vec<ItemIx> = results.filter(|it| gone.get(*it as usize) >= Some(&step)).collect();
        let is_hidden = standing.iter().all(|it| gone[*it as usize] == step);
        let idle_requests = step - uses.last()?.step;
        (is_hidden && !standing.is_empty()).then_some(Hidden { path, idle_requests })
    };
    by_path.into_iter().filter_map(hidden).collect()
}
