//! A plan priced under many profiles: each distinct pair of cache rules and limits is simulated once.

use std::cell::RefCell;

use super::play::Folded;
use super::simulations::{Ledgers, Simulations};
use super::{Cell, Load, Plan, Progress, in_order, trials};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::ledger::Outcome;
use crate::measure::sensitivity::{self, Grid, Ledger, Priced, Sensitivity, Variations};
use crate::measure::{BreakEven, Remembered, Retention};
use crate::price::PriceIndex;
use crate::quantity::Cost;
use crate::report::{ALL, FailedRun, FailedRuns};

/// The ledgers of a load, simulation by simulation and trial by trial.
struct Played<'a> {
    load: &'a Load,
    simulations: &'a Simulations<'a>,
    ledgers: Ledgers<Folded>,
    trials: Option<trials::Kept<trials::Played>>,
    memories: Option<Memories>,
}

/// The ledgers of a load that memories play.
struct Memories {
    /// By policy: what its service costs, and what it remembers.
    policies: Vec<(Option<Cost>, Option<Remembered>)>,
    /// By pair of limits and cache rules, then by policy.
    ledgers: Vec<Folded>,
}

/// A load as it came out under the profiles.
#[derive(Default)]
struct PricedLoad {
    name: String,
    /// By profile, then by policy.
    cells: Vec<Vec<sensitivity::Cell>>,
    n_distinct: usize,
    n_played: usize,
    failed: Vec<FailedRun>,
}

impl Plan {
    /// Runs everything and compares the policies across the plan's profiles, whatever model a session was
    /// recorded with.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn sensitivity(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<Sensitivity, Error> {
        let open = |entry: &super::Entry| {
            let entry = super::Entry { under_own_model: false, ..entry.clone() };
            self.open(&entry)
        };
        let loads = self.each_of(threads, progress, open, |load, it| load.priced(self.policies.len(), it))?.0;
        let loads = loads.into_iter().collect::<Result<Vec<_>, Error>>()?;
        let failed: Vec<FailedRun> = loads.iter().flat_map(|it| it.failed.iter().cloned()).collect();
        if !failed.is_empty() {
            return Err(Error::Run(Box::new(FailedRuns(failed))));
        }
        let all: Vec<&PricedLoad> = loads.iter().collect();
        let mut groups: Vec<(&str, &[&PricedLoad])> = Vec::new();
        if loads.len() > 1 {
            groups.push((ALL, &all));
        }
        groups.extend(loads.iter().map(|it| it.name.as_str()).zip(all.chunks(1)));
        let grids = groups.into_iter().map(|(load, members)| {
            let rows = (0..self.profiles.len()).map(|profile| {
                (0..self.policies.len()).filter_map(move |policy| {
                    let mut cells = members.iter().filter_map(|it| it.cells.get(profile)?.get(policy));
                    let first = cells.next()?.clone();
                    Some(cells.fold(first, |mut sum, it| {
                        sum.add(it);
                        sum
                    }))
                })
            });
            Grid::new(load.to_owned(), rows.map(Iterator::collect).collect())
        });
        Ok(Sensitivity {
            policies: self.policies.clone(),
            profiles: self.profiles.iter().map(|it| self.facts(it)).collect(),
            grids: grids.collect(),
            n_distinct: loads.iter().map(|it| it.n_distinct).max().unwrap_or_default(),
            n_simulations: loads.iter().map(|it| it.n_played).sum(),
            asked: self.break_even,
            n_left_out: 0,
        })
    }

    fn facts(&self, profile: &crate::input::Profile) -> Priced {
        Priced {
            name: profile.name.clone(),
            as_of: profile.as_of.clone(),
            break_even: BreakEven::new(profile, self.break_even.as_ref()),
        }
    }
}

impl Load {
    /// Plays it and prices the ledgers under every profile.
    fn priced(&self, n_policies: usize, progress: Progress<'_>) -> Result<PricedLoad, Error> {
        self.same_work(&(0..self.policies.len()).collect::<Vec<_>>())?;
        if self.policies.len() < n_policies {
            let message = format!("{} is a block trace, which no policy changes", self.name);
            let problem = Diagnostic::at("policy-unread", "", message);
            return Err(vec![problem.help("add `--policy identity`")].into());
        }
        let sum = PricedLoad { name: self.name.clone(), ..PricedLoad::default() };
        let sum = RefCell::new(sum);
        let cells = self.lives().each(|load, _| load.priced_as_laid_out(&mut sum.borrow_mut(), progress));
        let mut all: Vec<Vec<sensitivity::Cell>> = vec![Vec::new(); self.profiles.len()];
        for (cell, mut it) in cells {
            self.recount(&mut it.tally);
            all[cell.profile].push(it);
        }
        Ok(PricedLoad { cells: all, ..sum.into_inner() })
    }

    /// The same, whatever its policies avoid; counts what is played.
    fn priced_as_laid_out(
        &self,
        sum: &mut PricedLoad,
        progress: Progress<'_>,
    ) -> Vec<(Cell, sensitivity::Cell)> {
        let simulations = self.simulations();
        let memories = self.memories(&simulations, progress);
        let has_memories = memories.is_some();
        let played = Played {
            load: self,
            simulations: &simulations,
            ledgers: simulations.folded(progress),
            trials: if has_memories { None } else { self.played(&simulations, progress) },
            memories,
        };
        sum.failed.extend(self.cells().filter_map(|cell| played.failed(cell)));
        let cells = in_order(self.profiles.len(), |profile| {
            let variations = Variations::new(&self.profiles[profile]);
            let cell = |policy| {
                let cell = Cell { scenario: 0, profile, policy };
                (cell, played.priced(cell, &variations))
            };
            (0..self.policies.len()).map(cell).collect::<Vec<_>>()
        });
        sum.n_distinct = sum.n_distinct.max(simulations.keys.distinct.len());
        let n_trials = self.workload.conversations().map_or(0, |it| it.n_trials());
        // Each trial of a conversation is played once a policy and pair, too.
        let n_trials = if has_memories { 1 } else { n_trials };
        sum.n_played +=
            simulations.n_runs() + n_trials * simulations.keys.distinct.len() * self.policies.len();
        cells.into_iter().flatten().collect()
    }

    /// Plays its memories, where they make the requests, and folds these under each pair of limits and cache rules.
    fn memories(&self, simulations: &Simulations<'_>, progress: Progress<'_>) -> Option<Memories> {
        let replays = self.replays()?;
        // What is remembered does not depend on a profile.
        let first = self.profiles.iter().take(1).cloned().collect();
        let runs = Self { profiles: first, ..self.clone() }.runs(progress);
        let keys = &simulations.keys;
        let n = self.policies.len();
        let ledgers = in_order(keys.distinct.len() * n, |at| {
            let (key, policy) = (&keys.distinct[at / n], at % n);
            replays[policy].folded(&self.policies[policy], (key.limits, key.cache), keys.is_flat)
        });
        let policies = replays.iter().zip(&runs).map(|(it, run)| (it.service, run.remembered().next()));
        Some(Memories { policies: policies.collect(), ledgers })
    }
}

impl<'a> Played<'a> {
    /// Returns why a run came to no result, if it did.
    fn failed(&self, cell: Cell) -> Option<FailedRun> {
        let within = self.simulations.within(cell);
        let mut faults: Box<dyn Iterator<Item = &Outcome>> = match (&self.trials, &self.memories) {
            (_, Some(memories)) => Box::new(memories.ledgers.get(within).map(|it| &it.2).into_iter()),
            (None, _) => Box::new(self.ledgers.of(self.simulations, cell).map(|it| &it.2)),
            (Some(trials), _) => Box::new(trials.of(within).map(|it| &it.outcome)),
        };
        let fault = faults.find_map(|it| it.fault.as_deref())?;
        Some(self.load.failed(cell, fault))
    }

    /// Prices the ledgers of one run.
    fn priced(&'a self, cell: Cell, variations: &Variations<'_>) -> sensitivity::Cell {
        let summariser = self.load.policies[cell.policy].summariser();
        let of = |sums, index: &'a Option<PriceIndex>, outcome| Ledger {
            summariser,
            ..Ledger::new(sums, index.as_ref(), outcome)
        };
        let within = self.simulations.within(cell);
        if let Some(memories) = &self.memories {
            let (service, remembered) = memories.policies[cell.policy].clone();
            let ledgers = memories
                .ledgers
                .get(within)
                .map(|(sums, index, outcome)| Ledger { service, ..of(sums, index, outcome) });
            return summed(ledgers.into_iter(), variations).remembering(remembered);
        }
        let Some(trials) = &self.trials else {
            let has_needs = self.load.workload.has_needs();
            let ledgers = self.ledgers.of(self.simulations, cell);
            let of = |(sums, index, outcome): &'a Folded| Ledger { has_needs, ..of(sums, index, outcome) };
            return summed(ledgers.map(of), variations);
        };
        let of_trials = || trials.of(within);
        let ledgers = of_trials().map(|it| of(&it.sums, &it.index, &it.outcome));
        let retention = Retention::new(&of_trials().map(|it| it.trial).collect::<Vec<_>>());
        let remembered = Some(Remembered::facts_found(retention.accuracy));
        summed(ledgers, variations).remembering(remembered)
    }
}

/// Prices the trials of a run and adds them up.
fn summed<'a>(trials: impl Iterator<Item = Ledger<'a>>, variations: &Variations<'_>) -> sensitivity::Cell {
    let both = |mut sum: sensitivity::Cell, more: sensitivity::Cell| {
        sum.add(&more);
        sum
    };
    let (sums, outcome) = Default::default();
    let nothing = Ledger::new(&sums, None, &outcome);
    let priced = trials.map(|it| sensitivity::Cell::new(&it, variations));
    priced.reduce(both).unwrap_or_else(|| sensitivity::Cell::new(&nothing, variations))
}
