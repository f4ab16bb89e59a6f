//! The families by which published comparisons group policies, and the smallest window of newest results that a policy leaves.

use crate::prelude::*;

use super::{Action, Cond, Extent, Moment, Policy, PromptPart, Stage, Unit};

/// What a policy does to history, as published comparisons group it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyFamily {
    /// Shows all results but the newest as placeholders, at each request.
    Mask,
    /// Has a model write a summary in the place of history.
    Summary,
    /// Shows older results as placeholders once a size is reached.
    Clear,
    /// Drops all messages but the newest.
    Window,
    /// Cuts long results as they enter.
    Cap,
}

impl PolicyFamily {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mask, Self::Summary, Self::Clear, Self::Window, Self::Cap];

    /// Returns what such policies do, in words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Mask => "hiding all but the newest results",
            Self::Summary => "replacing history by a summary",
            Self::Clear => "clearing older results at a size",
            Self::Window => "dropping all but the newest messages",
            Self::Cap => "cutting long results",
        }
    }
}

/// Returns whether a stage acts at each request, whatever the size.
fn always(stage: &Stage) -> bool {
    stage.when.as_ref().is_none_or(|it| *it == Cond::Always) && stage.scope.part == PromptPart::History
}

impl Policy {
    /// Returns the families that its stages belong to.
    pub fn families(&self) -> Vec<PolicyFamily> {
        Self::families_of(self.stages().iter())
    }

    /// Returns the families that another policy does not have, or those of stages that it has otherwise.
    pub fn families_beside(&self, base: &Self) -> Vec<PolicyFamily> {
        let of_base = base.families();
        let mut new = self.families();
        new.retain(|it| !of_base.contains(it));
        if new.is_empty() {
            return Self::families_of(self.stages().iter().filter(|it| !base.stages().contains(it)));
        }
        new
    }

    fn families_of<'s>(stages: impl Iterator<Item = &'s Stage>) -> Vec<PolicyFamily> {
        let of = |stage: &Stage| match &stage.apply {
            Action::Summarise(_) | Action::Fold(_) => Some(PolicyFamily::Summary),
            Action::Drop => Some(PolicyFamily::Window),
            Action::Show(_) | Action::Table { .. } if stage.at == [Moment::Entry] => Some(PolicyFamily::Cap),
            Action::Show(_) | Action::Table { .. } if always(stage) => Some(PolicyFamily::Mask),
            Action::Show(_) | Action::Table { .. } => Some(PolicyFamily::Clear),
            Action::Ping { .. } => None,
        };
        let mut families: Vec<PolicyFamily> = stages.filter_map(of).collect();
        families.sort();
        families.dedup();
        families
    }

    /// Returns to how many of the newest requests it cuts history at each of them, where it does: of results and steps, one a request.
    pub fn newest_requests(&self) -> Option<u64> {
        let cut = |stage: &&Stage| {
            always(stage) && matches!(stage.apply, Action::Show(_) | Action::Table { .. } | Action::Drop)
        };
        let kept = |stage: &Stage| match stage.scope.keep_recent.as_ref().and_then(Extent::units)? {
            (Unit::Messages, n) => Some(n / 2),
            (Unit::ToolUses | Unit::Groups | Unit::Steps, n) => Some(n),
            _ => None,
        };
        self.stages().iter().filter(cut).filter_map(kept).min()
    }
}
