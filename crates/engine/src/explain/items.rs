//! How every item is shown in a prompt, who last changed it, and what the cache did with it.

use crate::prelude::*;

use super::{EditCause, RequestStory, SentPrompt};
use crate::engine::Simulation;
use crate::hindsight;
use crate::projection::{Edit, Slot, Watch};
use ctxsim_input::{Action, SecondReads, SummaryPrompt};

/// The content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stood {
    /// How the item was last shown.
    pub shown: ShownAs,
    /// Whether it is in the prompt, or a summary in its place.
    pub state: State,
    /// Tokens shown there.
    pub tokens: u32,
}

impl Stood {
    /// Returns what is in a slot.
    pub(super) fn of(slot: &Slot) -> Self {
        Self { shown: slot.rendition, state: slot.state, tokens: slot.tokens }
    }
}

/// An item in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingItem {
    /// The item: its place in the order of arrival, from 0.
    pub item: ItemIx,
    /// What it is.
    pub kind: Kind,
    /// The tool, for calls and results.
    pub tool: Option<String>,
    /// The turn to which it belongs; `None` before all turns.
    pub turn_ix: Option<TurnIx>,
    /// The step it belongs to.
    pub step: StepIx,
    /// Tokens as received.
    pub raw: u32,
    /// Its current state.
    pub now: Stood,
    /// The item whose summary includes this one.
    pub behind: Option<ItemIx>,
    /// Whether it entered after the agent's previous request.
    pub is_new: bool,
    /// Every change of it so far, in order.
    pub causes: Vec<EditCause>,
    /// What the cache did with its tokens.
    pub cached: Cached,
    /// Its text, if the load has text: as received, or as a template wrote it.
    pub text: Option<String>,
}

/// Tokens by what the cache did with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cached {
    pub read: Tokens,
    pub written: Tokens,
    /// Neither.
    pub uncached: Tokens,
}

impl RequestStory<'_> {
    /// Describes every item that had entered; the first `n_seen` were there at the previous request.
    pub(super) fn items(&self, sent: &SentPrompt, n_seen: usize, row: &RequestRow) -> Vec<StandingItem> {
        let behind = self.behind();
        let mut causes: IndexMap<SlotIx, Vec<EditCause>> = IndexMap::new();
        for noted in self.edits {
            causes.entry(noted.edit.slot).or_default().push(self.cause(noted));
        }
        let spine = &self.timeline.spine;
        let mut start = 0;
        let read = row.usage.read;
        let written = read + row.usage.write[0] + row.usage.write[1];
        let slots =
            (0..).zip(&sent.slots).filter(|(it, _)| sent.only.as_ref().is_none_or(|only| only.contains(it)));
        let is_spare = |it: SlotIx| self.spares.binary_search(&it).is_ok();
        let slots = slots.filter(|(it, slot)| slot.is_visible() || !is_spare(*it));
        let items = slots.map(|(index, slot): (SlotIx, &Slot)| {
            let item = &self.items[index as usize];
            let end = start + Tokens::from(slot.tokens);
            let within = |from: Tokens, to: Tokens| end.min(to).saturating_sub(start.max(from));
            let cached = Cached {
                read: within(0, read),
                written: within(read, written),
                uncached: within(written, Tokens::MAX),
            };
            start = end;
            // Recalled memory or dynamic content comes before all turns.
            let is_in_front =
                item.origin == NO_ITEM && matches!(item.kind, Kind::Memory | Kind::System | Kind::User);
            StandingItem {
                item: self.number(index),
                kind: item.kind,
                tool: spine.tools.get_index(usize::from(item.tool)).cloned(),
                turn_ix: (item.origin >= spine.n_stable && (is_spare(index) || !is_in_front))
                    .then_some(item.turn_ix),
                step: item.step_ix,
                raw: item.raw,
                now: Stood::of(slot),
                behind: (slot.state == State::Absorbed)
                    .then(|| host(&behind, index).map(|it| self.number(it)))
                    .flatten(),
                is_new: index as usize >= n_seen,
                causes: causes.swap_remove(&index).unwrap_or_default(),
                cached,
                text: sent.texts.get(index as usize).cloned().flatten(),
            }
        });
        items.collect()
    }

    /// Returns the summary that includes each hidden item.
    fn behind(&self) -> IndexMap<SlotIx, SlotIx> {
        let mut behind = IndexMap::new();
        let mut open: Vec<SlotIx> = Vec::new();
        for noted in self.edits {
            if goes_behind(&noted.edit) {
                open.push(noted.edit.slot);
            } else if is_new_summary(&noted.edit) {
                behind.extend(open.drain(..).map(|it| (it, noted.edit.slot)));
            } else {
                open.clear();
            }
        }
        behind
    }
}

/// Follows summaries of summaries to the visible one.
fn host(behind: &IndexMap<SlotIx, SlotIx>, slot: SlotIx) -> Option<SlotIx> {
    let mut host = *behind.get(&slot)?;
    // A summary stands in front of what it replaces, so that this ends.
    while let Some(next) = behind.get(&host).filter(|it| **it < host) {
        host = *next;
    }
    Some(host)
}

/// Returns whether an edit hides an item behind a summary.
pub(super) fn goes_behind(edit: &Edit) -> bool {
    edit.after.state == State::Absorbed && edit.before.is_visible()
}

/// Returns whether an edit puts a new summary in a place.
pub(super) fn is_new_summary(edit: &Edit) -> bool {
    edit.after.state == State::Host && edit.after.content != edit.before.content
}

/// Returns, for each request of an action, whether it reads the items that the action changes.
pub(super) fn requests(action: &Action) -> &'static [bool] {
    match action {
        Action::Summarise(it) if it.prompt != SummaryPrompt::Free => {
            match it.again.as_ref().map(|it| it.reads) {
                None => &[true],
                Some(SecondReads::History) => &[true, true],
                Some(SecondReads::Summary) => &[true, false],
            }
        }
        _ => &[],
    }
}

/// Returns the number of leading items that nobody has changed.
pub(super) fn as_they_came(items: &[Item], n_items: SlotIx) -> Vec<Slot> {
    items.iter().take(n_items as usize).map(Slot::as_it_came).collect()
}

// How a prompt compares with the previous one: where they first differ, and who caused it.

/// How a prompt compares with the agent's previous request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixCompared {
    /// The row of that request, from 1.
    pub of: usize,
    /// Tokens of its prompt.
    pub tokens: Tokens,
    /// Tokens at its front that this prompt begins with, too.
    pub same_tokens: Tokens,
    /// Whether that is all of it.
    pub same: Same,
    /// The settings that differ from the previous request.
    pub settings: Vec<Setting>,
}

/// How much of a prompt is repeated at the front of the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Same {
    /// All of it.
    All,
    /// Everything before an item.
    Until {
        /// The first item that differs.
        item: ItemIx,
        /// The changes of it since that request, in order.
        causes: Vec<EditCause>,
    },
}

impl RequestStory<'_> {
    /// Compares two prompts as a cache does: by what is in their visible slots, from the front.
    pub(super) fn prefix(
        &self,
        before: &SentPrompt,
        this: &SentPrompt,
        compared_with: usize,
        n_sent: usize,
        step: StepIx,
    ) -> PrefixCompared {
        let same = before.links.iter().zip(&this.links).take_while(|(a, b)| a.digest == b.digest).count();
        let tokens = |n: usize| n.checked_sub(1).map_or(0, |it| before.links[it].tokens);
        let first = |sent: &SentPrompt| sent.links.get(same).map_or(SlotIx::MAX, |it| it.slot);
        let is_all = same == before.links.len() || this.links.is_empty();
        let item = first(before).min(first(this));
        let of_item = self.edits.iter().filter(|it| it.n_sent == n_sent && it.edit.slot == item);
        let causes = || of_item.map(|it| self.cause(it)).collect();
        PrefixCompared {
            of: compared_with,
            tokens: tokens(before.links.len()),
            same_tokens: if is_all { tokens(before.links.len()) } else { tokens(same) },
            same: if is_all { Same::All } else { Same::Until { item: self.number(item), causes: causes() } },
            settings: self.settings_changed(step),
        }
    }

    /// Returns the settings that changed before a step's request.
    fn settings_changed(&self, step: StepIx) -> Vec<Setting> {
        let events = self.timeline.events.iter();
        let events = events.filter(|it| self.timeline.spine.step_at(it.at) == step);
        let changed = events.filter_map(|it| match it.kind {
            EventKind::Change(setting, _) => Some(setting),
            _ => None,
        });
        changed.collect()
    }
}

// What each prompt of a run holds, by kind and tool: one more play, watched.

/// What a prompt holds of one kind, and of one tool where the kind has tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPart {
    pub kind: Kind,
    /// The tool's place among those of the load; that of no tool for other kinds.
    pub tool: u16,
    pub tokens: Tokens,
}

/// Adds prompts up as they are sent.
#[derive(Default)]
struct Adding {
    sent: Vec<Vec<HeldPart>>,
}

impl Watch for Adding {
    fn after(&mut self, moment: Moment, _: &dyn Projector, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let prompt = edit.prompt();
        let mut held: Vec<HeldPart> = Vec::new();
        for (at, item) in (0..prompt.len()).zip(prompt.history().items()) {
            let slot = prompt.slot(at);
            if !slot.is_visible() {
                continue;
            }
            let tokens = Tokens::from(slot.tokens);
            match held.iter_mut().find(|it| it.kind == item.kind && it.tool == item.tool) {
                Some(part) => part.tokens += tokens,
                None => held.push(HeldPart { kind: item.kind, tool: item.tool, tokens }),
            }
        }
        self.sent.push(held);
    }
}

/// Returns what the agent's prompts hold, request by request; what stands beside items, such as recalled memory, is not in it.
pub fn held(timeline: &Timeline, policy: &Policy, profile: &Profile) -> Vec<Vec<HeldPart>> {
    let policy = &*hindsight::under(policy, timeline, profile, &profile.limits);
    let mut adding = Adding::default();
    let play = Simulation::new(timeline, policy, &profile.limits, &profile.cache);
    play.run_watched(&mut adding, &mut [&mut Rows::default()]);
    adding.sent
}
