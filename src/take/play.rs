//! A load played under its policies and profiles.

use std::sync::Arc;

use super::played_recovery::PlayedRecovery;
use super::simulations::{Ledgers, Simulations};
use super::world::Plays;
use super::{Assumed, Cell, FailedRun, Load, Progress, Run, StageFacts};
use crate::builtin::hindsight;
use crate::input::Profile;
use crate::input::policy::Code;
use crate::ledger::{Outcome, Rows, RunFault, Sums};
use crate::measure::Tally;
use crate::price::{self, Models, PriceIndex};
use crate::projection::Threshold;
use crate::projection::num::Known;

/// A ledger folded to what prices ask for, and what its run came to beside.
pub type Folded = (Sums, Option<PriceIndex>, Outcome);

impl Load {
    /// Names a run that came to no result.
    #[must_use]
    pub fn failed(&self, cell: Cell, fault: &RunFault) -> FailedRun {
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
    #[must_use]
    pub fn simulations(&self) -> Simulations<'_> {
        Simulations::new(self)
    }

    /// Has the engine play it, and folds its runs.
    pub(super) fn played_runs(&self, progress: Progress<'_>) -> Vec<Run> {
        let simulations = Simulations::with_ends(self);
        let ledgers = simulations.folded(progress);
        let recovered = PlayedRecovery::of(&simulations, &ledgers, progress);
        // Of single requests only those as all is declared are asked.
        let as_declared = self.simulations();
        let other_models = self.other_models(&as_declared);
        let has_needs = self.has_needs();
        let tally = |cell: Cell| {
            let profile = &self.profiles[cell.profile];
            let mut tally = summed(self.tallies(cell, &simulations, &ledgers), profile);
            let ends = ledgers
                .bounds_of(&simulations, cell)
                .filter(|_| has_needs)
                .map(|it| it.map(|(sums, ..)| price::recovery(&sums.needs, profile).unwrap_or(f64::NAN)));
            tally.recovery_interval = ends.map(|it| it.all);
            let declared = tally.costs.recovery;
            tally.recovery_by_assumption = ends.map(|it| it.each.map(|it| it.map(|end| end - declared)));
            recovered.replace(&simulations, cell, self.models_of(cell), &mut tally);
            if let Some(it) = &other_models {
                it.replace(&as_declared, cell, &mut tally);
            }
            tally.bound = self.bound(cell, &tally);
            tally
        };
        let assumed = self.assumed();
        self.cells().map(|cell| self.run(cell, tally(cell), &assumed)).collect()
    }

    /// Returns what its runs rest on, profile by profile.
    #[must_use]
    pub fn assumed(&self) -> Vec<Arc<Assumed>> {
        self.profiles.iter().map(|it| Arc::new(Assumed::new(&self.facts(), it))).collect()
    }

    /// Makes a run of what a play came to, without findings.
    #[must_use]
    pub fn run(&self, cell: Cell, tally: Tally, assumed: &[Arc<Assumed>]) -> Run {
        let policy = &self.policies[cell.policy];
        Run {
            policy: policy.name.clone(),
            scenario: self.name.clone(),
            profile: self.profiles[cell.profile].name.clone(),
            seed: self.seed,
            trials: self.trials,
            looks_ahead: policy.code.as_ref().is_some_and(Code::looks_ahead),
            tally,
            findings: None,
            assumed: Arc::clone(&assumed[cell.profile]),
            stages: self.stages(cell),
            apply: self.applied(cell),
        }
    }

    /// Returns what a schedule in hindsight is read against: the least that a run to the end can cost, all trials together.
    fn bound(&self, cell: Cell, tally: &Tally) -> Option<f64> {
        let is_schedule = self.policies[cell.policy].code == Some(Code::Hindsight);
        let timeline = self.timeline().filter(|_| is_schedule && tally.outcome.failure.is_none())?;
        Some(hindsight::bound(timeline, &self.profiles[cell.profile])? * f64::from(tally.n_runs))
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
        self.own_cells().map(|cell| (cell, self.tallies(cell, &simulations, &ledgers).collect())).collect()
    }

    /// Plays it and keeps the rows of its first trial; conversations have none, and those of a run that failed say so.
    #[must_use]
    pub fn rows(&self, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>)> {
        self.lives().each(|load, _| load.rows_as_laid_out(progress))
    }

    /// The same, whatever its policies avoid.
    #[must_use]
    pub fn rows_as_laid_out(&self, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>)> {
        if matches!(self.world.plays(), Plays::Trials) {
            return Vec::new();
        }
        let simulations = self.simulations().first_trials();
        let whole = |(rows, outcome): (Rows, Outcome)| Arc::new(Rows { fault: outcome.fault, ..rows });
        let ledgers = simulations.run::<Rows>(progress).map(whole);
        let of = |cell| Some((cell, Arc::clone(ledgers.of(&simulations, cell).next()?)));
        self.own_cells().filter_map(of).collect()
    }

    /// Returns at whose prices a run is billed.
    #[must_use]
    pub fn models_of(&self, cell: Cell) -> Models<'_> {
        Models::new(&self.profiles[cell.profile], self.policies[cell.policy].summariser())
    }

    /// Prices what a run came to, trial by trial.
    fn tallies(
        &self,
        cell: Cell,
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<Folded>,
    ) -> impl Iterator<Item = Tally> {
        let has_needs = self.has_needs();
        let models = self.models_of(cell);
        let priced = move |(sums, index, outcome): &Folded| {
            Tally::new(sums, index.as_ref(), outcome, has_needs, models)
        };
        ledgers.of(simulations, cell).map(priced)
    }

    /// Returns what a report says of the stages of a policy.
    pub(super) fn stages(&self, cell: Cell) -> Arc<[StageFacts]> {
        // Each conversation has a limit of its own.
        let known = self.timeline().map(|it| Known {
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
}

/// Adds up the trials of a run.
pub fn summed(trials: impl Iterator<Item = Tally>, profile: &Profile) -> Tally {
    let both = |mut sum: Tally, more: Tally| {
        sum.add(&more);
        sum
    };
    let nothing = || Tally::new(&Sums::default(), None, &Outcome::default(), false, profile);
    trials.reduce(both).unwrap_or_else(nothing)
}
