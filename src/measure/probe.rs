//! One question about one planted fact, and what came of it, as programs read it.

use serde::Serialize;

use super::trial::{QUARTILES, loss_name, state_name};
use crate::ledger::ProbeRow;
use crate::timeline::conversation::{Said, Trial};

/// A probe of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// Messages of the conversation.
    pub conv_length: u64,
    /// Which conversation of that length, from 0.
    pub trial: u64,
    /// What the needle is asked for by.
    pub needle: String,
    /// What it says.
    pub value: String,
    /// Its category.
    pub category: String,
    /// The message that says it, from 0.
    pub message: u32,
    /// That message over all messages, from 0 up to, but without, 1.
    pub depth: f64,
    /// The quarter of the conversation that this is.
    pub quarter: &'static str,
    /// Whether it was said in passing rather than marked.
    pub implicit: bool,
    /// How it stands: `exact`, `preview`, `summarised`, `recoverable` or `lost`.
    pub state: &'static str,
    /// Whether that answers.
    pub found: bool,
    /// What lost it: `write`, `store`, `read`, `use` or `stopped`; null where it was found.
    pub lost_in: Option<&'static str>,
}

impl Probe {
    /// Puts a probe into words.
    #[must_use]
    pub fn new(row: &ProbeRow, said: Said, trial: &Trial) -> Self {
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
