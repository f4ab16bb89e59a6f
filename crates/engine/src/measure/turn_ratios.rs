//! How many times the turns agents took under published policies: the numbers of `assumptions/turns.toml`.

use std::sync::LazyLock;

use crate::prelude::*;

use ctxsim_input::text::decode::declared;
use ctxsim_input::{AssumedNumber, PolicyFamily};

/// Ratios by family of policy and scaffold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct TurnRatios {
    ratios: Vec<TurnRatio>,
}

/// The ratio of one family under one scaffold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TurnRatio {
    pub family: PolicyFamily,
    pub scaffold: String,
    /// How many models were compared, and on how many tasks each.
    pub contrasts: u64,
    pub n: u64,
    pub turns: AssumedNumber<f64>,
    /// The lowest and the highest of the models.
    pub range: [f64; 2],
    /// Of one half of the tasks and of the other.
    pub halves: [f64; 2],
}

impl TurnRatios {
    /// Returns what is declared.
    pub fn declared() -> &'static Self {
        static READ: LazyLock<TurnRatios> = LazyLock::new(|| declared(ctxsim_assumptions::TURNS));
        &READ
    }

    /// Returns all of them.
    pub fn all(&self) -> &[TurnRatio] {
        &self.ratios
    }

    /// Returns between which ratios a policy lies, around the one that a run asks for: those of all models under policies of its families,
    /// if it is one of them. What nothing was published of, or lies outside, is as it was asked for.
    pub fn ends(&self, policy: &Policy, asked: f64) -> [f64; 2] {
        let families = policy.families();
        let known = self.ratios.iter().filter(|it| families.contains(&it.family)).flat_map(|it| it.range);
        let [low, high] =
            known.fold([f64::INFINITY, 0.0], |[low, high]: [f64; 2], it| [low.min(it), high.max(it)]);
        if (low..=high).contains(&asked) { [low, high] } else { [asked; 2] }
    }
}
