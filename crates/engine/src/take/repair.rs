//! Where a memory loses most answers, and which change brings most of those that were tried.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Serialize, Serializer};

use crate::measure::Statistic;
use crate::measure::statistic::SHARE;
use ctxsim_base::list::Listed as _;

/// How much higher a score must be to count as higher: less is a rounding.
const HIGHER: f64 = 1e-9;

/// Which stage of a memory loses most answers, and what to change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageRepair {
    /// The stage: `writing`, `keeping`, `finding` or `using`; several if their losses cannot be told apart.
    pub stages: Vec<&'static str>,
    /// The share of all questions that is right beside what is right, if that stage loses nothing.
    pub recovers: Statistic,
    /// How many changes were tried: each was set, and everything played again.
    pub tried: usize,
    /// The mean score as it is.
    pub score: f64,
    /// The change that brings the highest score, as `--set` takes it; none if none brings a higher one.
    pub change: Option<String>,
    /// The mean score with that change.
    pub brings: Option<f64>,
}

impl StageRepair {
    /// The stages, in the order of the pipeline.
    const STAGES: [&'static str; 4] = ["writing", "keeping", "finding", "using"];

    /// Finds what to repair by the shares of questions that each stage loses, trial by trial: the stage that loses most, with every
    /// other whose loss cannot be told from it. None if nothing is lost.
    ///
    /// Of what `changes` names for these stages, `play` returns the mean score that it brings, or none if nothing takes it.
    pub fn find(
        losses: impl Fn(usize) -> Vec<f64>,
        score: f64,
        changes: impl Fn(usize) -> Vec<String>,
        play: impl Fn(&str) -> Option<f64>,
    ) -> Option<Self> {
        let all = [0, 1, 2, 3].map(losses);
        let of = |nth: usize| Statistic::new(all[nth].iter().copied());
        let mean = |nth: &usize| of(*nth).map_or(0.0, |it| it.mean);
        let worst = (0..all.len()).max_by(|one, other| mean(one).total_cmp(&mean(other)))?;
        let recovers = of(worst).filter(|it| it.mean > 0.0)?.within(SHARE);
        let is_open = |nth: &usize| {
            let differences = all[worst].iter().zip(&all[*nth]).map(|(one, other)| one - other);
            let difference = Statistic::new(differences).and_then(|it| it.ci95);
            *nth == worst || mean(nth) > 0.0 && difference.is_some_and(|it| it[0] <= 0.0)
        };
        let open = (0..all.len()).filter(is_open).listed();
        let mut named: Vec<String> = Vec::new();
        for change in open.iter().flat_map(|nth| changes(*nth)) {
            if !named.contains(&change) {
                named.push(change);
            }
        }
        let stages = open.into_iter().map(|nth| Self::STAGES[nth]).listed();
        let mut repair = Self { stages, recovers, tried: 0, score, change: None, brings: None };
        for change in named {
            let Some(brings) = play(&change) else { continue };
            repair.tried += 1;
            if brings > repair.brings.unwrap_or(score) + HIGHER {
                repair.change = Some(change);
                repair.brings = Some(brings);
            }
        }
        Some(repair)
    }

    /// Returns one that has all that such repairs can have.
    pub fn sample() -> Option<Self> {
        Self::find(|_| vec![1.0], 0.0, |_| vec![String::new()], |_| Some(1.0))
    }
}

/// What finds the repairs of a load.
type FindsRepairs = Box<dyn FnOnce() -> Vec<Option<StageRepair>> + Send>;

/// What to repair in one memory of a load. It is found when it is first asked for, because that plays every change of every memory.
#[derive(Clone)]
pub struct MemoryRepair {
    of_load: Arc<LazyLock<Vec<Option<StageRepair>>, FindsRepairs>>,
    nth: usize,
}

impl MemoryRepair {
    /// Returns what to repair in each of so many memories, which is still to be found.
    pub fn each(n: usize, find: impl FnOnce() -> Vec<Option<StageRepair>> + Send + 'static) -> Vec<Self> {
        let find: FindsRepairs = Box::new(find);
        let of_load = Arc::new(LazyLock::new(find));
        (0..n).map(|nth| Self { of_load: Arc::clone(&of_load), nth }).listed()
    }

    /// Finds it, if anything is lost.
    pub fn get(&self) -> Option<&StageRepair> {
        self.of_load.get(self.nth)?.as_ref()
    }
}

impl fmt::Debug for MemoryRepair {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(to)
    }
}

impl PartialEq for MemoryRepair {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Serialize for MemoryRepair {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(to)
    }
}
