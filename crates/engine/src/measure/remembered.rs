//! A number of what is still known at the end, which stands beside the cost.

use serde::Serialize;

use super::{Better, Statistic};

/// What a run, or the sum of several, remembers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remembered {
    /// Its metric in the JSON report.
    pub place: String,
    #[serde(skip)]
    pub heading: &'static str,
    /// Its better direction.
    #[serde(skip)]
    pub better: Better,
    #[serde(skip)]
    pub is_share: bool,
    /// The number over all trials.
    #[serde(flatten)]
    pub number: Statistic,
}

impl Remembered {
    /// Adds another load's numbers to those of a load: each trial counts once.
    pub fn add(all: &mut Vec<Self>, more: &[Self]) {
        for one in more {
            match all.iter_mut().find(|it| it.place == one.place) {
                Some(sum) => sum.number = sum.number.pooled(&one.number),
                None => all.push(one.clone()),
            }
        }
    }

    /// The same for a single number; nothing if the other is another number.
    pub fn and(self, other: &Self) -> Option<Self> {
        let is_same = self.place == other.place;
        is_same.then(|| Self { number: self.number.pooled(&other.number), ..self })
    }
}
