//! How a prompt compares with the previous one: where they first differ, and who caused it.

use super::record::SentPrompt;
use super::{EditCause, RequestStory};
use crate::projection::SlotIx;
use ctxsim_base::quantity::Tokens;
use ctxsim_input::profile::cache::Setting;
use ctxsim_timeline::{EventKind, ItemIx, StepIx};

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
        of: usize,
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
            of,
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
