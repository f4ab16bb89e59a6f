//! How many more turns a saving bears: from so many on, it is gone.

use crate::prelude::*;

/// The turns that a saving bears, in percent of those that the agent takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TurnsBreakEven {
    /// At so many percent more turns, nothing is saved.
    pub percent: f64,
    /// The 95% interval: that of the saving, in turns.
    pub interval: Option<[f64; 2]>,
}

impl TurnsBreakEven {
    /// Returns at how many more turns a change in cost is none, if as many turns again cost so much of the base's cost; nothing where nothing is
    /// saved.
    pub fn new(change: f64, interval: Option<[f64; 2]>, again: f64) -> Option<Self> {
        let percent = |change: f64| 0.0 - 100.0 * change / again;
        let interval = interval.map(|[low, high]| [percent(high), percent(low)]);
        (change < 0.0 && again > 0.0).then(|| Self { percent: percent(change), interval })
    }

    /// Returns it as the end of a sentence on a saving.
    pub fn words(&self) -> String {
        format!("gone if the agent needs {} more turns{}", written(self.percent), self.between())
    }

    /// Returns its interval in brackets; a saving that may be none bears nothing at its lower end.
    pub fn between(&self) -> String {
        let Some([low, high]) = self.interval else { return String::new() };
        format!(" ({} to {})", written(low.max(0.0)), written(high.max(0.0)))
    }
}

/// Writes a number of percent.
pub fn written(percent: f64) -> String {
    format!("{}%", fixed(percent, usize::from(percent < 9.95)))
}
