//! A plan priced under many profiles: each distinct pair of cache rules and limits is simulated once.

use std::cell::RefCell;

use super::play::Folded;
use super::simulations::{Ledgers, Simulations};
use super::{Cell, Load, Plan, Progress, in_order, trials};
use crate::error::Error;
use crate::ledger::Outcome;
use crate::measure::BreakEven;
use crate::measure::sensitivity::{self, Grid, Ledger, Priced, Sensitivity, Variations};
use crate::report::{ALL, FailedRun, FailedRuns};

/// The ledgers of a load, simulation by simulation and trial by trial.
struct Played<'a> {
    load: &'a Load,
    simulations: &'a Simulations<'a>,
    ledgers: Ledgers<Folded>,
    trials: Option<trials::Kept<trials::Played>>,
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
        let loads = self.each_of(threads, progress, open, Load::priced)?.0;
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
    fn priced(&self, progress: Progress<'_>) -> PricedLoad {
        let sum = PricedLoad { name: self.name.clone(), ..PricedLoad::default() };
        let sum = RefCell::new(sum);
        let cells = self.lives().each(|load, _| load.priced_as_laid_out(&mut sum.borrow_mut(), progress));
        let mut all: Vec<Vec<sensitivity::Cell>> = vec![Vec::new(); self.profiles.len()];
        for (cell, mut it) in cells {
            self.recount(&mut it.tally);
            all[cell.profile].push(it);
        }
        PricedLoad { cells: all, ..sum.into_inner() }
    }

    /// The same, whatever its policies avoid; counts what is played.
    fn priced_as_laid_out(
        &self,
        sum: &mut PricedLoad,
        progress: Progress<'_>,
    ) -> Vec<(Cell, sensitivity::Cell)> {
        let simulations = self.simulations();
        let played = Played {
            load: self,
            simulations: &simulations,
            ledgers: simulations.folded(progress),
            trials: self.played(&simulations, progress),
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
        sum.n_played +=
            simulations.n_runs() + n_trials * simulations.keys.distinct.len() * self.policies.len();
        cells.into_iter().flatten().collect()
    }
}

impl Played<'_> {
    /// Returns why a run came to no result, if it did.
    fn failed(&self, cell: Cell) -> Option<FailedRun> {
        let mut faults: Box<dyn Iterator<Item = &Outcome>> = match &self.trials {
            None => Box::new(self.ledgers.of(self.simulations, cell).map(|it| &it.2)),
            Some(trials) => Box::new(trials.of(self.simulations.within(cell)).map(|it| &it.outcome)),
        };
        let fault = faults.find_map(|it| it.fault.as_deref())?;
        Some(self.load.failed(cell, fault))
    }

    /// Prices the ledgers of one run.
    fn priced(&self, cell: Cell, variations: &Variations<'_>) -> sensitivity::Cell {
        let summariser = self.load.policies[cell.policy].summariser();
        let Some(trials) = &self.trials else {
            let has_needs = self.load.workload.has_needs();
            let ledgers = self.ledgers.of(self.simulations, cell);
            let ledgers = ledgers.map(|(sums, index, outcome)| Ledger {
                sums,
                index: index.as_ref(),
                outcome,
                has_needs,
                summariser,
            });
            return summed(ledgers, variations);
        };
        let ledgers = trials.of(self.simulations.within(cell)).map(|it| Ledger {
            sums: &it.sums,
            index: it.index.as_ref(),
            outcome: &it.outcome,
            has_needs: false,
            summariser,
        });
        summed(ledgers, variations)
    }
}

/// Prices the trials of a run and adds them up.
fn summed<'a>(trials: impl Iterator<Item = Ledger<'a>>, variations: &Variations<'_>) -> sensitivity::Cell {
    let both = |mut sum: sensitivity::Cell, more: sensitivity::Cell| {
        sum.add(&more);
        sum
    };
    let (sums, outcome) = Default::default();
    let nothing = Ledger { sums: &sums, index: None, outcome: &outcome, has_needs: false, summariser: None };
    let priced = trials.map(|it| sensitivity::Cell::new(&it, variations));
    priced.reduce(both).unwrap_or_else(|| sensitivity::Cell::new(&nothing, variations))
}
