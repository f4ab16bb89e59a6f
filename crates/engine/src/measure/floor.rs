//! The floor of evidence: the one rule by which every recommendation asks whether enough is kept.

/// The share of what is needed that must be kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor(pub f64);

/// Rounding in sums of weights is smaller than this.
const ROUNDING: f64 = 1e-12;

impl Floor {
    /// Returns whether a share of what is needed is enough: at least the floor. Where nothing says what is needed, no share is known, and
    /// whoever asks says so.
    pub fn passes(self, share: Option<f64>) -> bool {
        share.is_none_or(|it| it >= self.0 - ROUNDING)
    }

    /// Returns whether a setting keeps enough: of all that is needed, and of the tasks that agents are working on. Without its task, whatever
    /// else a prompt shows is of no use.
    pub fn keeps(self, share: Option<f64>, task: Option<f64>) -> bool {
        self.passes(share) && self.passes(task)
    }
}

/// Returns whether a share is larger than another by more than rounding; of unknown ones none is.
pub fn keeps_more(own: Option<f64>, base: Option<f64>) -> bool {
    own.zip(base).is_some_and(|(own, base)| own > base + ROUNDING)
}
