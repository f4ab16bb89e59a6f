//! What an interval was drawn over, by which it has its name.

use crate::prelude::*;

/// What was sampled for an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampled {
    /// Sessions: other sessions are expected within it.
    #[default]
    Sessions,
    /// What is assumed, over a single session: it says nothing of others.
    Assumptions,
}

impl Sampled {
    /// Names an interval, for a heading.
    pub fn interval_heading(self) -> &'static str {
        match self {
            Self::Sessions => "95% interval",
            Self::Assumptions => "by what is assumed",
        }
    }

    /// Names an interval with its ends.
    pub fn interval_text(self, ends: &str) -> String {
        match self {
            Self::Sessions => format!("{} {ends}", self.interval_heading()),
            Self::Assumptions => format!("{ends} {}", self.interval_heading()),
        }
    }
}
