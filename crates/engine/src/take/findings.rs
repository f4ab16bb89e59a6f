//! What a world finds beside the bill of a run: what is remembered, in named numbers, tables and curves.
//!
//! **What is remembered stands beside the cost** (`take/findings.rs`). A run has the `Findings` of its world: named numbers with heading
//! and better direction, columns of the run's row, tables, curves, and cards. Reports, comparisons, sweeps, `check`'s snapshots, guards and
//! price comparisons read these, whatever the world. Over several loads each trial counts once. The requests of a memory are laid out and
//! priced in one place (`worlds/trial.rs`), for a run and for many price lists alike.

use crate::prelude::*;
use std::any::Any;

use serde::Serializer;

use super::Run;
use crate::measure::statistic::SHARE;
use crate::measure::{Better, Remembered, Statistic};
use ctxsim_base::grid::Grid;
use ctxsim_base::list::Listed as _;
use ctxsim_input::suite::Reference;
use ctxsim_timeline::row::{Fields, Head, RowColumn, Value};

/// What a world finds beside the bill of a run.
pub trait Findings: Any + fmt::Debug + Send + Sync {
    /// Returns what they are, and how they are shown.
    fn kind(&self) -> &'static FindingsKind;

    /// Returns a number by its name.
    fn number(&self, name: &str) -> Option<Statistic>;

    /// Returns how much more of a number there is than under another policy, trial by trial on the same draws.
    fn more(&self, _name: &str, _base: &str) -> Option<Statistic> {
        None
    }

    /// Returns all of them.
    fn value(&self) -> Value;

    /// Returns what stands with the calls of memories to their services.
    fn calls(&self) -> Fields {
        Vec::new()
    }

    /// Returns the share that stands in the place of kept evidence, if one does.
    fn evidence(&self) -> Option<f64> {
        None
    }

    /// Returns how many planted facts are left, and of how many, if facts are planted.
    fn facts_left(&self) -> Option<[u64; 2]> {
        None
    }

    /// Explains why no data covers a metric of theirs, if none does.
    fn uncovered(&self, _metric: &str) -> Option<&'static str> {
        None
    }

    /// Returns which stage of a memory loses most, and what to change.
    fn repair(&self) -> Option<&StageRepair> {
        None
    }

    /// Returns the same without what to change, which is then not looked for, if any of them tell it.
    fn without_repair(&self) -> Option<Arc<dyn Findings>> {
        None
    }

    /// Returns a run with them as a card, if there are cards of this kind.
    fn card(&self, _run: &Run, _suite: Option<&str>, _notes: &[String]) -> Option<serde_json::Value> {
        None
    }
}

/// What findings are, and how they are shown.
#[derive(Debug)]
pub struct FindingsKind {
    /// The numbers that stand beside the cost, the one that sweeps optimise first.
    pub numbers: &'static [Number],
    /// Whether the requests are a memory's own, so that another memory does the same work with other requests.
    pub is_of_memory: bool,
    /// Whether their runs stand in the tables of bills, too, because their requests are the policy's as in any load.
    pub is_in_sections: bool,
    /// Their columns of a run.
    pub columns: &'static [RowColumn<Run>],
    /// What stands with the calls of memories to their services.
    pub calls: fn() -> Vec<Head>,
    /// Makes the tables of some runs that have them, beside published figures.
    pub grids: fn(&[&Run], &[Reference]) -> Vec<Grid>,
    /// Makes the curves of some runs that have them.
    pub curves: fn(&[&Run]) -> Vec<Curves>,
}

/// A number of what is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    /// Its name among the findings.
    pub name: &'static str,
    /// Its metric in reports.
    pub place: &'static str,
    pub heading: &'static str,
    /// Its better direction.
    pub better: Better,
    pub is_share: bool,
}

/// Numbers of policies over places, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// What the places are.
    pub axis: CurvePlaces,
    /// What they show.
    pub title: String,
    /// Of what, and under which profile.
    pub subject: String,
    /// The places, in order.
    pub places: Vec<String>,
    pub curves: Vec<Curve>,
}

/// A policy, and a number for each place that has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub policy: String,
    /// Its name, with whether it stopped.
    pub name: String,
    /// Whether it is another definition of what a curve shows, to stand beside it: its name is then `NAME: DEFINITION`.
    pub is_beside: bool,
    pub numbers: Vec<Option<Statistic>>,
}

/// What the numbers of a curve are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CurvePlaces {
    /// How deep in the conversation a fact was said.
    Depth,
    /// How long the conversation is.
    Length,
    Session,
}

impl dyn Findings {
    /// Returns what is remembered, the number that sweeps optimise first.
    pub fn remembered(&self) -> impl Iterator<Item = Remembered> {
        self.kind().numbers.iter().filter_map(|it| Some(it.with(self.number(it.name)?)))
    }
}

impl PartialEq for dyn Findings {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl Number {
    /// Declares a share of which more is better.
    pub const fn share(name: &'static str, place: &'static str, heading: &'static str) -> Self {
        Self { name, place, heading, better: Better::Higher, is_share: true }
    }

    /// Returns it with a value.
    pub fn with(&self, number: Statistic) -> Remembered {
        let Self { place, heading, better, is_share, .. } = *self;
        Remembered { place: place.to_owned(), heading, better, is_share, number }
    }
}

impl Run {
    /// Returns its findings, if they are of some type.
    pub fn found<F: Findings>(&self) -> Option<&F> {
        (self.findings.as_deref()? as &dyn Any).downcast_ref()
    }

    /// Returns whether it stands in the tables of bills.
    pub fn is_in_sections(&self) -> bool {
        self.findings.as_ref().is_none_or(|it| it.kind().is_in_sections)
    }

    /// Returns what it remembers; nothing for loads without anything to remember.
    pub fn remembered(&self) -> impl Iterator<Item = Remembered> {
        self.findings.iter().flat_map(|it| it.remembered())
    }

    /// Returns whether its requests are its memory's own, so that another memory of the same sessions does the same work with
    /// other requests.
    pub fn is_of_memory(&self) -> bool {
        self.findings.as_ref().is_some_and(|it| it.kind().is_of_memory)
    }
}

// Where a memory loses most answers, and which change brings most of those that were tried.

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
                (repair.change, repair.brings) = (Some(change), Some(brings));
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
