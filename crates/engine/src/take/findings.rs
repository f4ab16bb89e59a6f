//! What a world finds beside the bill of a run: what is remembered, in named numbers, tables and curves.
//!
//! **What is remembered stands beside the cost** (`take/findings.rs`). A run has the `Findings` of its world: named numbers with heading
//! and better direction, columns of the run's row, tables, curves, and cards. Reports, comparisons, sweeps, `check`'s snapshots, guards and
//! price comparisons read these, whatever the world. Over several loads each trial counts once. The requests of a memory are laid out and
//! priced in one place (`worlds/replay.rs`), for a run and for many price lists alike.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{Run, StageRepair};
use crate::measure::{Better, Remembered, Statistic};
use ctxsim_base::grid::Grid;
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
#[derive(Clone, Copy, Debug)]
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
