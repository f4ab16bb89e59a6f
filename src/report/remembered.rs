//! What runs remember, in numbers that stand beside their cost: facts found, scores of ageing memories, right answers.
//!
//! Comparisons, sweeps, snapshots and price comparisons all use this list.

use super::Run;
use crate::measure::{Better, Remembered, Statistic};

/// Where a number is from, by its name there.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Planted facts of conversations.
    Facts,
    /// A memory over many sessions.
    Aging(&'static str),
    /// Answers from a memory service, by type of question.
    Answers(&'static str),
}

/// Every number: its source, heading, better direction, and whether it is a share; of each source the first is what sweeps optimise.
const NUMBERS: [(Source, &str, Better, bool); 16] = [
    (Source::Facts, "facts found", Better::Higher, true),
    (Source::Aging("mean"), "mean score", Better::Higher, true),
    (Source::Aging("final"), "final score", Better::Higher, true),
    (Source::Aging("half_life"), "half-life", Better::Higher, false),
    (Source::Aging("accumulator_error"), "error in totals", Better::Lower, false),
    (Source::Aging("version_accuracy"), "versions right", Better::Higher, true),
    (Source::Aging("binding"), "bindings right", Better::Higher, true),
    (Source::Aging("chain_recall"), "chains right", Better::Higher, true),
    (Source::Aging("violation_rate"), "violations", Better::Lower, true),
    (Source::Aging("shock"), "shock", Better::Neither, true),
    (Source::Answers("overall"), "right answers", Better::Higher, true),
    (Source::Answers("single_fact"), "single facts", Better::Higher, true),
    (Source::Answers("knowledge_update"), "updates", Better::Higher, true),
    (Source::Answers("counting"), "counting", Better::Higher, true),
    (Source::Answers("timeline"), "timeline", Better::Higher, true),
    (Source::Answers("abstention"), "abstention", Better::Higher, true),
];

/// The numbers that sweeps optimise, by place: the first of each source.
pub const MAIN: [&str; 3] =
    ["retention.accuracy.mean", "aging.mean.mean", "memory_calls.accuracy.overall.mean"];

impl Source {
    fn place(self) -> String {
        match self {
            Self::Facts => MAIN[0].to_owned(),
            Self::Aging(name) => format!("aging.{name}.mean"),
            Self::Answers(name) => format!("memory_calls.accuracy.{name}.mean"),
        }
    }

    /// Returns a run's number.
    fn of(self, run: &Run) -> Option<Statistic> {
        match self {
            Self::Facts => run.retention.as_ref().map(|it| it.accuracy),
            Self::Aging(name) => run.aging.as_ref()?.number(name).copied(),
            Self::Answers(name) => run.runner.as_ref()?.accuracy.get(name).copied(),
        }
    }

    /// Returns how much more a run has than another, trial by trial on the same draws.
    fn more(self, run: &Run, base: &str) -> Option<Statistic> {
        match self {
            Self::Facts => run.retention.as_ref()?.paired.get(base).copied(),
            Self::Aging(name) => run.aging.as_ref()?.paired.get(base)?.get(name).copied(),
            Self::Answers(name) => run.runner.as_ref()?.paired.get(base)?.get(name).copied(),
        }
    }
}

/// A number of two runs, and how much more the second has.
pub(super) struct Both {
    /// The base's and the candidate's.
    pub(super) numbers: [Remembered; 2],
    /// The differences trial by trial, where both have the number in every trial.
    pub(super) difference: Option<Statistic>,
}

impl Run {
    /// Returns what it remembers; nothing for loads without anything to remember.
    pub fn remembered(&self) -> impl Iterator<Item = Remembered> {
        NUMBERS.iter().filter_map(|(source, heading, better, is_share)| {
            let number = source.of(self)?;
            Some(Remembered { place: source.place(), heading, better: *better, is_share: *is_share, number })
        })
    }

    /// Returns whether its requests are its memory's own, so that another memory of the same sessions does the same work with
    /// other requests.
    #[must_use]
    pub fn is_of_memory(&self) -> bool {
        self.aging.is_some() || self.runner.is_some()
    }
}

/// Compares what two policies remember, number by number over pairs of runs on the same loads.
pub(super) fn both<'r>(pairs: impl Iterator<Item = &'r [Run; 2]> + Clone) -> Vec<Both> {
    let of = |&(source, heading, better, is_share): &(Source, &'static str, Better, bool)| {
        let known = pairs.clone().filter_map(|it| Some((it, source.of(&it[0])?, source.of(&it[1])?)));
        let sum = |all: Vec<Statistic>| all.into_iter().reduce(|sum, it| sum.pooled(&it));
        let numbers =
            [sum(known.clone().map(|it| it.1).collect())?, sum(known.clone().map(|it| it.2).collect())?];
        let differences = known.map(|(it, ..)| source.more(&it[1], &it[0].policy));
        let difference = differences.collect::<Option<Vec<_>>>().and_then(sum);
        let named = |number| Remembered { place: source.place(), heading, better, is_share, number };
        Some(Both { numbers: numbers.map(named), difference })
    };
    NUMBERS.iter().filter_map(of).collect()
}
