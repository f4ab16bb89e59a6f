//! A plan priced under many profiles: each distinct pair of cache rules and limits is simulated once.

use super::simulations::{Ledgers, Simulations};
use super::{Cell, Plan, Progress, trials};
use crate::measure::BreakEven;
use crate::measure::sensitivity::{self, Grid, Ledger, Priced, Sensitivity, Variations};
use crate::report::ALL;

/// The ledgers of a plan, simulation by simulation and trial by trial.
struct Played<'a> {
    simulations: &'a Simulations<'a>,
    ledgers: Ledgers<super::Folded>,
    trials: Vec<Option<trials::Kept<trials::Played>>>,
}

impl Plan {
    /// Runs everything and compares the policies across the profiles.
    #[must_use]
    pub fn sensitivity(&self, threads: Option<usize>, progress: Progress<'_>) -> Sensitivity {
        let simulations = self.simulations();
        let played = Played {
            simulations: &simulations,
            ledgers: self.ledgers(&simulations, threads, progress),
            trials: self.played(&simulations, threads, progress),
        };
        let scenarios: Vec<usize> = (0..self.scenarios.len()).collect();
        let mut groups: Vec<(&str, &[usize])> = Vec::new();
        if scenarios.len() > 1 {
            groups.push((ALL, &scenarios));
        }
        groups.extend(self.scenarios.iter().map(|it| it.name.as_str()).zip(scenarios.chunks(1)));
        // By profile, by scenario, by policy.
        let priced = super::on_threads(threads, self.profiles.len(), |profile| {
            let variations = Variations::new(&self.profiles[profile]);
            let of_scenario = |scenario: &usize| {
                let cell =
                    |policy| played.priced(self, Cell { scenario: *scenario, profile, policy }, &variations);
                (0..self.policies.len()).map(cell).collect::<Vec<_>>()
            };
            scenarios.iter().map(of_scenario).collect::<Vec<_>>()
        });
        let grids = groups.into_iter().map(|(load, members)| {
            let rows = priced.iter().map(|of_profile| {
                (0..self.policies.len()).filter_map(|policy| {
                    let mut cells = members.iter().map(|it| &of_profile[*it][policy]);
                    let first = cells.next()?.clone();
                    Some(cells.fold(first, |mut sum, it| {
                        sum.add(it);
                        sum
                    }))
                })
            });
            Grid::new(load.to_owned(), rows.map(Iterator::collect).collect())
        });
        Sensitivity {
            policies: self.policies.clone(),
            profiles: self.profiles.iter().map(|it| self.facts(it)).collect(),
            grids: grids.collect(),
            n_distinct: simulations.keys.distinct.len(),
            n_simulations: self.n_played(&simulations),
            asked: self.break_even,
        }
    }

    fn facts(&self, profile: &crate::input::Profile) -> Priced {
        Priced {
            name: profile.name.clone(),
            as_of: profile.as_of.clone(),
            break_even: BreakEven::new(profile, self.break_even.as_ref()),
        }
    }

    /// Returns how many times the engine runs: each trial once a policy and pair, too.
    fn n_played(&self, simulations: &Simulations<'_>) -> usize {
        let n_trials: usize =
            self.scenarios.iter().filter_map(|it| Some(it.workload.conversations()?.n_trials())).sum();
        simulations.n_runs() + n_trials * simulations.keys.distinct.len() * self.policies.len()
    }
}

impl Played<'_> {
    /// Prices the ledgers of one run.
    fn priced(&self, plan: &Plan, cell: Cell, variations: &Variations<'_>) -> sensitivity::Cell {
        let Some(trials) = &self.trials[cell.scenario] else {
            let has_needs = plan.scenarios[cell.scenario].workload.has_needs();
            let ledgers = self.ledgers.of(self.simulations, cell);
            let ledgers = ledgers.map(|(sums, index, outcome)| Ledger {
                sums,
                index: index.as_ref(),
                outcome,
                has_needs,
            });
            return summed(ledgers, variations);
        };
        let ledgers = trials.of(self.simulations.within(cell)).map(|it| Ledger {
            sums: &it.sums,
            index: it.index.as_ref(),
            outcome: &it.outcome,
            has_needs: false,
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
    let nothing =
        Ledger { sums: &Default::default(), index: None, outcome: &Default::default(), has_needs: false };
    let priced = trials.map(|it| sensitivity::Cell::new(&it, variations));
    priced.reduce(both).unwrap_or_else(|| sensitivity::Cell::new(&nothing, variations))
}
