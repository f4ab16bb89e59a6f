//! A load played under its policies and profiles.

use std::sync::Arc;

use super::played_recovery::PlayedRecovery;
use super::simulations::{Ledgers, Simulations};
use super::threads::in_order;
use super::trials::{self, Kept, Played};
use super::{Cell, Load, Progress};
use crate::builtin::hindsight;
use crate::input::Profile;
use crate::input::policy::Code;
use crate::ledger::{Outcome, Rows, RunFault, Sums};
use crate::measure::trial::{Trial, TrialSink};
use crate::measure::{Retention, Tally};
use crate::price::{self, Models, PriceIndex, PriceRows};
use crate::projection::Threshold;
use crate::projection::num::Known;
use crate::quantity::UNLIMITED;
use crate::report::{Assumed, FailedRun, Run, StageFacts};
use crate::timeline::conversation;

/// A ledger folded to what prices ask for, and what its run came to beside.
pub(super) type Folded = (Sums, Option<PriceIndex>, Outcome);

impl Load {
    /// Returns its runs in the order of a report: by profile, then by policy.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let n_policies = self.policies.len();
        (0..self.profiles.len())
            .flat_map(move |profile| (0..n_policies).map(move |policy| Cell { scenario: 0, profile, policy }))
    }

    /// Returns those of them that the engine plays, rather than a memory runner.
    pub(super) fn engine_cells(&self) -> impl Iterator<Item = Cell> {
        self.cells().filter(|it| !self.is_written_by(&self.policies[it.policy]))
    }

    /// Names a run that came to no result.
    pub(super) fn failed(&self, cell: Cell, fault: &RunFault) -> FailedRun {
        FailedRun {
            policy: self.policies[cell.policy].name.clone(),
            scenario: self.name.clone(),
            profile: self.profiles[cell.profile].name.clone(),
            turn: fault.turn,
            request: fault.step.saturating_add(1),
            reason: fault.what.clone(),
        }
    }

    /// Returns what has to be played.
    pub(super) fn simulations(&self) -> Simulations<'_> {
        Simulations::new(self)
    }

    /// Plays it and folds its runs.
    pub(super) fn ordinary_runs(&self, progress: Progress<'_>) -> Vec<Run> {
        if let Some(runs) = self.aged(progress) {
            return runs;
        }
        let simulations = Simulations::with_ends(self);
        let ledgers = simulations.folded(progress);
        let recovered = PlayedRecovery::of(&simulations, &ledgers, progress);
        // Of single requests only those as all is declared are asked.
        let as_declared = self.simulations();
        let other_models = self.other_models(&as_declared);
        let played = self.played(&simulations, progress);
        let assumed: Vec<Arc<Assumed>> =
            self.profiles.iter().map(|it| Arc::new(Assumed::new(&self.facts(), it))).collect();
        let one = |cell: Cell| {
            let profile = &self.profiles[cell.profile];
            let (tally, retention) = match &played {
                Some(played) => self.retained(cell, &simulations, played, profile),
                None => {
                    let has_needs = self.workload.has_needs();
                    let mut tally = summed(self.tallies(cell, &simulations, &ledgers), profile);
                    let ends = ledgers.bounds_of(&simulations, cell).filter(|_| has_needs).map(|it| {
                        it.map(|(sums, ..)| price::recovery(&sums.needs, profile).unwrap_or(f64::NAN))
                    });
                    tally.recovery_interval = ends.map(|it| it.all);
                    let declared = tally.costs.recovery;
                    tally.recovery_by_assumption =
                        ends.map(|it| it.each.map(|it| it.map(|end| end - declared)));
                    recovered.replace(&simulations, cell, self.models_of(cell), &mut tally);
                    if let Some(it) = &other_models {
                        it.replace(&as_declared, cell, &mut tally);
                    }
                    tally.bound = self.bound(cell, &tally);
                    (tally, None)
                }
            };
            Run {
                policy: self.policies[cell.policy].name.clone(),
                scenario: self.name.clone(),
                profile: profile.name.clone(),
                seed: self.seed,
                trials: self.trials,
                looks_ahead: self.policies[cell.policy].code.as_ref().is_some_and(Code::looks_ahead),
                tally,
                retention: retention.map(Arc::new),
                aging: None,
                runner: None,
                assumed: Arc::clone(&assumed[cell.profile]),
                stages: self.stages(cell),
                apply: self.applied(cell),
            }
        };
        let cells: Vec<Cell> = self.cells().collect();
        if played.is_none() {
            return cells.into_iter().map(one).collect();
        }
        // To fold many trials is work, too; of other runs there is little to fold.
        in_order(cells.len(), |index| one(cells[index]))
    }

    /// Returns what a schedule in hindsight is read against: the least that a run to the end can cost, all trials together.
    fn bound(&self, cell: Cell, tally: &Tally) -> Option<f64> {
        let is_schedule = self.policies[cell.policy].code == Some(Code::Hindsight);
        let timeline = self.workload.items().filter(|_| is_schedule && tally.outcome.failure.is_none())?;
        Some(hindsight::bound(timeline, &self.profiles[cell.profile])? * f64::from(tally.n_runs))
    }

    /// Plays its conversations and returns their trials, run by run; nothing where it has none.
    #[must_use]
    pub fn trials(&self, progress: Progress<'_>) -> Vec<(Cell, Vec<Trial>)> {
        let simulations = self.simulations();
        let Some(played) = self.played(&simulations, progress) else { return Vec::new() };
        let of = |cell: Cell| played.of(simulations.within(cell)).map(|it| it.trial).collect();
        self.engine_cells().map(|cell| (cell, of(cell))).collect()
    }

    /// Plays it and returns what each trial came to; nothing where no needs are drawn.
    #[must_use]
    pub fn drawn(&self, progress: Progress<'_>) -> Vec<(Cell, Vec<Tally>)> {
        if !self.is_sampled {
            return Vec::new();
        }
        let mut drawn = self.lives().each(|load, _| load.drawn_as_laid_out(progress));
        drawn.iter_mut().flat_map(|it| &mut it.1).for_each(|it| self.recount(it));
        drawn
    }

    /// The same, whatever its policies avoid.
    fn drawn_as_laid_out(&self, progress: Progress<'_>) -> Vec<(Cell, Vec<Tally>)> {
        let simulations = self.simulations();
        let ledgers = simulations.folded(progress);
        self.engine_cells().map(|cell| (cell, self.tallies(cell, &simulations, &ledgers).collect())).collect()
    }

    /// Plays it and keeps the rows of its first trial; conversations have none, and those of a run that failed say so.
    #[must_use]
    pub fn rows(&self, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>)> {
        self.lives().each(|load, _| load.rows_as_laid_out(progress))
    }

    /// The same, whatever its policies avoid.
    pub(super) fn rows_as_laid_out(&self, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>)> {
        let has_timeline = self.workload.items().is_some() || self.workload.blocks().is_some();
        if !has_timeline {
            return Vec::new();
        }
        let simulations = self.simulations().first_trials();
        let whole = |(rows, outcome): (Rows, Outcome)| Arc::new(Rows { fault: outcome.fault, ..rows });
        let ledgers = simulations.run::<Rows>(progress).map(whole);
        let of = |cell| Some((cell, Arc::clone(ledgers.of(&simulations, cell).next()?)));
        self.engine_cells().filter_map(of).collect()
    }

    /// Returns at whose prices a run is billed.
    pub(crate) fn models_of(&self, cell: Cell) -> Models<'_> {
        Models::new(&self.profiles[cell.profile], self.policies[cell.policy].summariser())
    }

    /// Prices what a run came to, trial by trial.
    fn tallies(
        &self,
        cell: Cell,
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<Folded>,
    ) -> impl Iterator<Item = Tally> {
        let has_needs = self.workload.has_needs();
        let models = self.models_of(cell);
        let priced = move |(sums, index, outcome): &Folded| {
            Tally::new(sums, index.as_ref(), outcome, has_needs, models)
        };
        ledgers.of(simulations, cell).map(priced)
    }

    /// Plays the conversations, if it is some.
    pub(super) fn played(
        &self,
        simulations: &Simulations<'_>,
        progress: Progress<'_>,
    ) -> Option<Kept<Played>> {
        let conversation = self.workload.conversations()?;
        let keys = &simulations.keys;
        let keep = |made: &conversation::Trial, sink: TrialSink, index, outcome: Outcome| Played {
            trial: sink.trial.of(made.length, made.trial, made.total_tokens, &outcome),
            sums: sink.sums,
            index,
            outcome,
        };
        let trials = trials::Trials { load: self, conversation, keys, progress, in_full: false };
        Some(if keys.is_flat {
            trials.play(|made, sink, outcome| keep(made, sink, None, outcome))
        } else {
            trials.play(|made, (sink, rows): (TrialSink, PriceRows), outcome| {
                keep(made, sink, Some(rows.into()), outcome)
            })
        })
    }

    /// Returns what a report says of the stages of a policy.
    pub(super) fn stages(&self, cell: Cell) -> Arc<[StageFacts]> {
        // Each conversation has a limit of its own.
        let known = self.workload.items().map(|it| Known {
            limits: self.profiles[cell.profile].limits,
            chars_per_token: it.chars_per_token,
        });
        let stages = self.policies[cell.policy].stages().iter().map(|stage| StageFacts {
            name: stage.name.clone(),
            has_trigger: stage.when.is_some(),
            threshold: stage
                .when
                .as_ref()
                .zip(known.as_ref())
                .and_then(|(it, known)| Threshold::new(it, known)),
        });
        stages.collect()
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
            let (index, models) = (one.index.as_ref(), self.models_of(cell));
            let mut tally = Tally::new(&one.sums, index, &one.outcome, false, models);
            // Each conversation has a budget of its own.
            tally.limits.prompt = UNLIMITED;
            tally
        });
        let own = of(cell.policy);
        let mut retention = Retention::new(&own.clone().copied().collect::<Vec<_>>());
        for (index, policy) in self.policies.iter().enumerate().filter(|(index, _)| *index != cell.policy) {
            retention.pair(&policy.name, own.clone(), of(index));
        }
        (summed(tallies, profile), Some(retention))
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
