//! What is simulated for a comparison, and its report: each load is built once, each simulation runs once.

pub mod check;
mod convert;
mod found;
mod inputs;
mod load;
mod notes;
mod params;
mod played_recovery;
mod sensitivity;
mod simulations;
mod threads;
mod trials;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::error::Error;
use crate::input::suite::{Guard, Habits, Reference};
use crate::input::{Policy, Profile};
use crate::ledger::{Outcome, Rows, Sums};
use crate::measure::trial::{Trial, TrialSink};
use crate::measure::{Retention, Tally};
use crate::price::{self, PriceIndex, PriceRows};
use crate::quantity::UNLIMITED;
use crate::report::{Assumed, LoadFacts, Report, Run};
use crate::timeline::conversation;

pub use convert::convert;
pub use load::{Workload, recording};
use played_recovery::PlayedRecovery;
use simulations::{Keys, Ledgers, Simulations};
use threads::on_threads;
use trials::{Kept, Played};

/// What to run; a list that is empty is the suite's, and `*` in a name stands for anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The suite; the one called `default`, when silent and needed.
    pub suite: Option<String>,
    /// Policies, by name or path; differences are against the first.
    pub policies: Vec<String>,
    /// Scenarios, by name or path.
    pub scenarios: Vec<String>,
    /// Profiles, by name or path.
    pub profiles: Vec<String>,
    /// The seed of every draw; the scenario's, when silent.
    pub seed: Option<u64>,
    /// How many trials of each conversation, and of what has drawn needs; the scenario's, when silent.
    pub trials: Option<u64>,
    /// Overrides, `PATH=VALUE`.
    pub set: Vec<String>,
}

/// Inputs that have passed every rule, ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The policies' names, in the order of the report.
    pub policies: Vec<String>,
    /// The scenarios, in the order of the report.
    pub scenarios: Vec<Load>,
    /// The profiles, in the order of the report.
    pub profiles: Vec<Profile>,
    /// The suite's name, where one took part.
    pub suite: Option<String>,
    /// What a reader of the table must know.
    pub notes: Vec<String>,
    /// Rules on the results.
    pub guards: Vec<Guard>,
    /// Figures of others that stand beside ours.
    pub references: Vec<Reference>,
    /// What break-even points are asked about.
    pub break_even: Option<Habits>,
    /// Whether the report adds up the scenarios.
    pub has_sum: bool,
}

/// A scenario ready to run.
#[derive(Clone, Debug)]
pub struct Load {
    /// Its name.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// Whether its needs are drawn, and what they fetch enters the history.
    pub is_sampled: bool,
    /// How many times each load of it is drawn; 1 where nothing is.
    pub trials: u64,
    /// What it plays.
    pub workload: Workload,
    /// The policies with the parameters that they run with here.
    pub policies: Vec<Arc<Policy>>,
}

/// A ledger folded to what prices ask for, and what its run came to beside.
type Folded = (Sums, Option<PriceIndex>, Outcome);

/// What is told, from any thread, after each simulation: how many are done, of how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// A run's place in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The scenario's index.
    pub scenario: usize,
    /// The profile's index.
    pub profile: usize,
    /// The policy's index.
    pub policy: usize,
}

impl Load {
    /// Returns what a report says of it.
    fn facts(&self) -> LoadFacts<'_> {
        LoadFacts {
            name: &self.name,
            has_needs: self.workload.has_needs(),
            is_conversation: self.workload.conversations().is_some(),
            drawn_from: self.is_sampled.then_some(self.seed),
            trials: self.trials,
            refetch: self.workload.refetch(),
            assumptions: self.workload.assumptions(),
        }
    }
}

impl Plan {
    /// Reads and checks what a comparison names.
    ///
    /// # Errors
    /// Every problem of every file and of every override.
    pub fn new(catalog: &Catalog, comparison: &Comparison) -> Result<Self, Error> {
        inputs::plan(catalog, comparison)
    }

    /// Returns the runs in the order of the report: by scenario, then by profile, then by policy.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let (n_profiles, n_policies) = (self.profiles.len(), self.policies.len());
        (0..self.scenarios.len()).flat_map(move |scenario| {
            (0..n_profiles).flat_map(move |profile| {
                (0..n_policies).map(move |policy| Cell { scenario, profile, policy })
            })
        })
    }

    /// Returns how many simulations the runs need: profiles that differ in nothing but prices share theirs, and so do
    /// policies that come to the same under a profile's limits, or differ in recovery alone.
    #[must_use]
    pub fn n_simulations(&self) -> usize {
        self.simulations().len()
    }

    /// Runs everything and reports; `threads` of 1 stays on the caller's, none takes all cores.
    #[must_use]
    pub fn report(&self, threads: Option<usize>, progress: Progress<'_>) -> Report {
        let simulations = self.simulations();
        let ledgers = self.ledgers(&simulations, threads, progress);
        let assumed: Vec<Arc<Assumed>> = self.assumed();
        let recovered = self.played_recovery(&simulations, &ledgers, threads, progress);
        let played = self.played(&simulations, threads, progress);
        let cells: Vec<Cell> = self.cells().collect();
        // To fold many trials is work, too; of other runs there is little to fold.
        let threads = if played.iter().any(Option::is_some) { threads } else { Some(1) };
        let runs = on_threads(threads, cells.len(), |index| {
            let cell = cells[index];
            let (load, profile) = (&self.scenarios[cell.scenario], &self.profiles[cell.profile]);
            let (tally, retention) = match &played[cell.scenario] {
                Some(played) => self.retained(cell, &simulations, played, profile),
                None => {
                    let has_needs = load.workload.has_needs();
                    let mut tally = summed(self.tallies(cell, &simulations, &ledgers), profile);
                    let bounds = ledgers.bounds_of(&simulations, cell).map(|it| {
                        it.map(|(sums, ..)| price::recovery(&sums.needs, profile).unwrap_or(f64::NAN))
                    });
                    tally.recovery_interval = bounds.filter(|_| has_needs);
                    recovered.replace(&simulations, cell, profile, &mut tally);
                    (tally, None)
                }
            };
            Run {
                policy: self.policies[cell.policy].clone(),
                scenario: load.name.clone(),
                profile: profile.name.clone(),
                seed: load.seed,
                trials: load.trials,
                tally,
                retention: retention.map(Arc::new),
                assumed: Arc::clone(&assumed[cell.scenario * self.profiles.len() + cell.profile]),
            }
        });
        let report = Report::new(self.suite.clone(), self.notes.clone(), runs, self.has_sum);
        let notes = report.notes.iter().cloned().chain(notes::on_recovery(&report)).collect();
        Report { references: self.references.clone(), notes, ..report }
    }

    /// Runs every conversation and returns its trials, in the order of [`Plan::cells`]; other scenarios have none.
    #[must_use]
    pub fn trials(&self, threads: Option<usize>, progress: Progress<'_>) -> Vec<(Cell, Vec<Trial>)> {
        let simulations = self.simulations();
        let played = self.played(&simulations, threads, progress);
        let of = |cell: Cell| {
            let played = played[cell.scenario].as_ref()?;
            Some((cell, played.of(simulations.within(cell)).map(|it| it.trial).collect()))
        };
        self.cells().filter_map(of).collect()
    }

    /// Runs every scenario with drawn needs and returns what each trial came to, in the order of [`Plan::cells`]; others have
    /// none.
    #[must_use]
    pub fn drawn(&self, threads: Option<usize>, progress: Progress<'_>) -> Vec<(Cell, Vec<Tally>)> {
        if !self.scenarios.iter().any(|it| it.is_sampled) {
            return Vec::new();
        }
        let simulations = self.simulations();
        let ledgers = self.ledgers(&simulations, threads, progress);
        let cells = self.cells().filter(|it| self.scenarios[it.scenario].is_sampled);
        cells.map(|cell| (cell, self.tallies(cell, &simulations, &ledgers).collect())).collect()
    }

    /// Prices what a run came to, trial by trial.
    fn tallies(
        &self,
        cell: Cell,
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<Folded>,
    ) -> impl Iterator<Item = Tally> {
        let profile = &self.profiles[cell.profile];
        let has_needs = self.scenarios[cell.scenario].workload.has_needs();
        let priced = move |(sums, index, outcome): &Folded| {
            Tally::new(sums, index.as_ref(), outcome, has_needs, profile)
        };
        ledgers.of(simulations, cell).map(priced)
    }

    /// Plays the conversations.
    fn played(
        &self,
        simulations: &Simulations<'_>,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Vec<Option<Kept<Played>>> {
        let keys = &simulations.keys;
        let one = |load: &Load| {
            let conversation = load.workload.conversations()?;
            let keep = |made: &conversation::Trial, sink: TrialSink, index, outcome: Outcome| Played {
                trial: sink.trial.of(made.length, made.trial, made.total_tokens, &outcome),
                sums: sink.sums,
                index,
                outcome,
            };
            let trials = trials::Trials { load, conversation, keys, threads, progress };
            Some(if keys.is_flat {
                trials.play(|made, sink, outcome| keep(made, sink, None, outcome))
            } else {
                trials.play(|made, (sink, rows): (TrialSink, PriceRows), outcome| {
                    keep(made, sink, Some(rows.into()), outcome)
                })
            })
        };
        self.scenarios.iter().map(one).collect()
    }

    /// Adds up the trials of a run, and compares them with those of the other policies.
    fn retained(
        &self,
        cell: Cell,
        simulations: &Simulations<'_>,
        played: &Kept<Played>,
        profile: &Profile,
    ) -> (Tally, Option<Retention>) {
        let of = |policy| {
            let cell = Cell { policy, ..cell };
            played.of(simulations.within(cell)).map(|it| &it.trial)
        };
        let tallies = played.of(simulations.within(cell)).map(|one| {
            let mut tally = Tally::new(&one.sums, one.index.as_ref(), &one.outcome, false, profile);
            // Each conversation has a budget of its own.
            tally.limits.prompt = UNLIMITED;
            tally
        });
        let own = of(cell.policy);
        let mut retention = Retention::new(&own.clone().copied().collect::<Vec<_>>());
        for (index, policy) in self.policies.iter().enumerate().filter(|(index, _)| *index != cell.policy) {
            retention.pair(policy, own.clone(), of(index));
        }
        (summed(tallies, profile), Some(retention))
    }

    /// Plays recovery where a policy edits what was fetched.
    fn played_recovery(
        &self,
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<Folded>,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> PlayedRecovery {
        if simulations.keys.is_flat {
            let fold = |sums: Sums, outcome| (sums, None, outcome);
            return PlayedRecovery::new(simulations, ledgers, fold, threads, progress);
        }
        let fold = |(sums, rows): (Sums, PriceRows), outcome| (sums, Some(rows.into()), outcome);
        PlayedRecovery::new(simulations, ledgers, fold, threads, progress)
    }

    /// Runs everything and folds the ledgers to what the profiles' prices ask for: flat prices need no more than sums.
    fn ledgers(
        &self,
        simulations: &Simulations<'_>,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Ledgers<Folded> {
        if simulations.keys.is_flat {
            return simulations.run(threads, progress).map(|(sums, outcome)| (sums, None, outcome));
        }
        let ledgers = simulations.run::<(Sums, PriceRows)>(threads, progress);
        ledgers.map(|((sums, rows), outcome)| (sums, Some(rows.into()), outcome))
    }

    /// Runs everything and keeps the rows, in the order of [`Plan::cells`]; runs that share a simulation share its rows.
    /// Conversations have none, and what has drawn needs has those of its first trial.
    #[must_use]
    pub fn rows(&self, threads: Option<usize>, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>)> {
        let simulations = self.simulations().first_trials();
        let ledgers = simulations.run::<Rows>(threads, progress).map(|(rows, _)| Arc::new(rows));
        let has_rows = |cell: &Cell| self.scenarios[cell.scenario].workload.conversations().is_none();
        let of = |cell| Some((cell, Arc::clone(ledgers.of(&simulations, cell).next()?)));
        self.cells().filter(has_rows).filter_map(of).collect()
    }

    /// Returns what has to be played.
    fn simulations(&self) -> Simulations<'_> {
        Simulations::new(&self.scenarios, &self.profiles, self.policies.len())
    }

    /// Returns what is assumed, by scenario and profile.
    fn assumed(&self) -> Vec<Arc<Assumed>> {
        let pairs = self.scenarios.iter().flat_map(|load| self.profiles.iter().map(move |it| (load, it)));
        pairs.map(|(load, profile)| Arc::new(Assumed::new(&load.facts(), profile))).collect()
    }
}

/// Adds up the trials of a run.
fn summed(trials: impl Iterator<Item = Tally>, profile: &Profile) -> Tally {
    let both = |mut sum: Tally, more: Tally| {
        sum.add(&more);
        sum
    };
    let nothing = || Tally::new(&Sums::default(), None, &Outcome::default(), false, profile);
    trials.reduce(both).unwrap_or_else(nothing)
}
