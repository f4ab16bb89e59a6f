//! One question about one planted fact and its outcome.

use super::trial::{QUARTILES, loss_name, state_name};
use crate::needles::conversation::{Dialogue, FactInWords};
use ctxsim_engine::ledger::ProbeRow;
use ctxsim_timeline::row::columns;

/// A probe of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedleProbe {
    /// Messages of the conversation.
    pub conv_length: u64,
    /// Index of the conversation among those of that length, from 0.
    pub trial: u64,
    /// The key of the needle.
    pub needle: String,
    pub value: String,
    pub category: String,
    /// The message that states it, from 0.
    pub message: u32,
    /// That message divided by the number of messages, from 0 to below 1.
    pub depth: f64,
    /// The quarter of the conversation.
    pub quarter: &'static str,
    /// Whether it was implicit, said in passing.
    pub implicit: bool,
    /// Its state: `exact`, `preview`, `summarised`, `recoverable` or `lost`.
    pub state: &'static str,
    /// Whether that state answers.
    pub found: bool,
    /// What lost it: `write`, `store`, `read`, `use` or `stopped`; null where it was found.
    pub lost_in: Option<&'static str>,
}

impl NeedleProbe {
    /// Describes a probe.
    pub fn new(row: &ProbeRow, said: FactInWords, trial: &Dialogue) -> Self {
        let message = row.item.saturating_sub(trial.n_stable);
        let category = trial.facts.facts.get(row.fact as usize).map_or(u16::MAX, |it| it.category);
        Self {
            conv_length: trial.length,
            trial: trial.trial,
            needle: said.key,
            value: said.value,
            category: trial.facts.categories.get(usize::from(category)).cloned().unwrap_or_default(),
            message,
            depth: f64::from(message) / trial.length.max(1) as f64,
            quarter: QUARTILES[usize::from(row.quartile).min(3)],
            implicit: !row.is_explicit,
            state: state_name(row.state),
            found: row.is_found,
            lost_in: row.loss.map(loss_name),
        }
    }
}

columns! { NeedleProbe;
    /// Messages of the conversation.
    "conv_length": Count = |it| it.conv_length,
    /// The index of the conversation among those of that length, from 0.
    "trial": Count = |it| it.trial,
    /// The key of the needle.
    "needle": Text = |it| it.needle.clone(),
    /// Its value.
    "value": Text = |it| it.value.clone(),
    /// Its category.
    "category": Text = |it| it.category.clone(),
    /// The message that states it, from 0.
    "message": Count = |it| it.message,
    /// That message divided by the number of messages, from 0 to below 1.
    "depth": Share = |it| it.depth,
    /// The quarter of the conversation.
    "quarter": Text = |it| it.quarter,
    /// Whether it was said in passing.
    "implicit": Flag = |it| it.implicit,
    /// What became of it: `exact`, `preview`, `summarised`, `recoverable` or `lost`.
    "state": Text = |it| it.state,
    /// Whether that answers.
    "found": Flag = |it| it.found,
    /// What lost it: `write`, `store`, `read`, `use` or `stopped`; null where it was found.
    "lost_in": Text = |it| it.lost_in,
}
