//! A recorded session as each policy would have lived it.
//!
//! A compaction of the harness that a policy's prompt never comes near does not happen under that policy: the session is laid out
//! without it and played on, up to the next one, where the same is asked again. A run's numbers, rows and explanations are those of
//! the layout that its policy lives in; both bills, with all of the compactions and with none, stand beside them.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;

use super::load::Workload;
use super::{Cell, Load, Progress};
use crate::ledger::{NeedRow, RequestRow, Role, Sink};
use crate::measure::{Resets, Tally};
use crate::quantity::Tokens;
use crate::report::Run;
use crate::timeline::import::CompactedSession;
use crate::timeline::{Recorded, StepIx, Timeline};

/// The agent's prompts, one per step.
#[derive(Debug, Default)]
struct Prompts(Vec<(StepIx, Tokens)>);

impl Sink for Prompts {
    fn request(&mut self, row: &RequestRow) {
        if row.role == Role::Main && self.0.last().is_none_or(|it| it.0 != row.step) {
            self.0.push((row.step, row.prompt));
        }
    }

    fn need(&mut self, _row: &NeedRow) {}
}

impl Prompts {
    /// Returns whether the request before a compaction is smaller than what was compacted.
    fn avoid(&self, compaction: StepIx, recorded: &Recorded) -> bool {
        let before = self.0.binary_search_by_key(&compaction.saturating_sub(1), |it| it.0);
        before.is_ok_and(|it| self.0[it].1 < recorded.avoided_below)
    }
}

/// The compactions that do not happen, in order; none where all is as recorded.
type Undone = Vec<StepIx>;

/// How the runs of a load differ in what happens to them.
pub(super) struct Lives<'l> {
    load: &'l Load,
    /// By cell, in order; empty where nothing was compacted.
    undone: Vec<Undone>,
    /// The session laid out without some of its compactions.
    layouts: IndexMap<Undone, Timeline>,
}

/// A run on its way through the compactions of its session.
struct Story {
    undone: Undone,
    /// The first compaction that is not decided.
    next: usize,
}

impl Load {
    /// Finds which compactions of the harness each of its runs avoids.
    pub(super) fn lives(&self) -> Lives<'_> {
        let mut lives = Lives { load: self, undone: Vec::new(), layouts: IndexMap::new() };
        let Some((recorded, session)) = self.compacted() else { return lives };
        let cells: Vec<Cell> = self.cells().collect();
        let mut stories: Vec<Story> = cells.iter().map(|_| Story { undone: Vec::new(), next: 0 }).collect();
        let compactions = &recorded.compactions;
        loop {
            let mut open: IndexMap<Undone, Vec<usize>> = IndexMap::new();
            for (nth, story) in stories.iter().enumerate().filter(|it| it.1.next < compactions.len()) {
                open.entry(story.undone.clone()).or_default().push(nth);
            }
            if open.is_empty() {
                break;
            }
            for (undone, members) in open {
                lives.lay_out(session, &undone);
                let prompts = lives.each_of(&undone, &members, &cells, |load, _| load.prompts());
                for (nth, prompts) in prompts {
                    let story = &mut stories[nth];
                    let rest = story.next..compactions.len();
                    let avoided = rest.clone().find(|it| prompts.avoid(compactions[*it], recorded));
                    story.undone.extend(avoided.map(|it| compactions[it]));
                    story.next = avoided.map_or(rest.end, |it| it + 1);
                }
            }
        }
        for story in &stories {
            lives.lay_out(session, &story.undone);
        }
        lives.undone = stories.into_iter().map(|it| it.undone).collect();
        lives
    }

    /// Plays it under all of its policies, each with the compactions that it would have met.
    pub(super) fn runs(&self, progress: Progress<'_>) -> Vec<Run> {
        self.lives().runs(progress)
    }

    /// Returns the timeline that a run plays, of a load that has one.
    #[must_use]
    pub fn timeline_of(&self, cell: Cell) -> Option<Cow<'_, Timeline>> {
        let own = self.workload.items()?;
        let mut lives = self.lives();
        let nth = self.cells().position(|it| it == Cell { scenario: 0, ..cell })?;
        let undone = lives.undone.get(nth).cloned().unwrap_or_default();
        Some(lives.layouts.swap_remove(&undone).map_or(Cow::Borrowed(own), Cow::Owned))
    }

    /// Gives a run that ended the turns of its own session: without a compaction, two of them may be one.
    pub(super) fn recount(&self, tally: &mut Tally) {
        let turns = self.workload.items().and_then(|it| u32::try_from(it.spine.turns.len()).ok());
        let outcome = &mut tally.outcome;
        if let Some(turns) = turns.filter(|_| outcome.turns_completed == outcome.turns_requested) {
            [outcome.turns_requested, outcome.turns_started, outcome.turns_completed] = [turns; 3];
        }
    }

    /// Returns what its harness compacted, if it did.
    fn compacted(&self) -> Option<(&Recorded, &CompactedSession)> {
        let recorded = self.workload.items()?.recorded.as_ref().filter(|it| !it.compactions.is_empty())?;
        Some((recorded, recorded.session.as_deref()?))
    }

    /// Plays it for the agent's prompts, of the first trial where needs are drawn.
    fn prompts(&self) -> Vec<(Cell, Arc<Prompts>)> {
        let simulations = self.simulations().first_trials();
        let ledgers = simulations.run::<Prompts>(&|_, _| {}).map(|it| Arc::new(it.0));
        let of = |cell| Some((cell, Arc::clone(ledgers.of(&simulations, cell).next()?)));
        self.cells().filter_map(of).collect()
    }

    /// Returns it with another timeline, for some of its policies.
    fn laid_out(&self, timeline: &Timeline, policies: &[usize]) -> Self {
        Self {
            name: self.name.clone(),
            seed: self.seed,
            is_sampled: self.is_sampled,
            trials: self.trials,
            workload: Workload::Items(timeline.clone()),
            policies: policies.iter().map(|it| Arc::clone(&self.policies[*it])).collect(),
            profiles: self.profiles.clone(),
            models: self.models.clone(),
            is_under_own_model: self.is_under_own_model,
            arguments: self.arguments.clone(),
            project: self.project.clone(),
            is_twin: self.is_twin,
        }
    }
}

impl Lives<'_> {
    /// Plays the load, each run in its own layout; what plays is given the places of its policies among the load's.
    pub(super) fn each<T>(&self, play: impl Fn(&Load, &[usize]) -> Vec<(Cell, T)>) -> Vec<(Cell, T)> {
        if self.undone.iter().all(Vec::is_empty) {
            return play(self.load, &(0..self.load.policies.len()).collect::<Vec<_>>());
        }
        let cells: Vec<Cell> = self.load.cells().collect();
        let mut groups: IndexMap<&Undone, Vec<usize>> = IndexMap::new();
        for (nth, undone) in self.undone.iter().enumerate() {
            groups.entry(undone).or_default().push(nth);
        }
        let played = groups.iter().flat_map(|(undone, members)| self.each_of(undone, members, &cells, &play));
        let mut all: Vec<(usize, T)> = played.collect();
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|(nth, it)| (cells[nth], it)).collect()
    }

    /// Returns whether two runs live in the same layout.
    pub(super) fn are_alike(&self, profile: usize, policies: [usize; 2]) -> bool {
        let [one, other] = policies.map(|it| self.undone.get(profile * self.load.policies.len() + it));
        one == other
    }

    /// Returns the timeline of a run.
    pub(super) fn timeline(&self, profile: usize, policy: usize) -> Option<&Timeline> {
        let undone = self.undone.get(profile * self.load.policies.len() + policy);
        undone.and_then(|it| self.layouts.get(it)).or_else(|| self.load.workload.items())
    }

    /// Plays the load and puts both bills beside each run.
    pub(super) fn runs(&self, progress: Progress<'_>) -> Vec<Run> {
        let kept = self.load.runs_as_laid_out(progress);
        let Some((recorded, session)) = self.load.compacted() else { return kept };
        let cells: Vec<Cell> = self.load.cells().collect();
        let everyone: Vec<usize> = (0..self.load.policies.len()).collect();
        let without = match self.layouts.get(&recorded.compactions) {
            Some(timeline) => self.load.laid_out(timeline, &everyone),
            None => self.load.laid_out(&laid_out(self.load, session, &recorded.compactions), &everyone),
        };
        let without = without.runs_as_laid_out(&|_, _| {});
        let mut between: IndexMap<&Undone, Vec<usize>> = IndexMap::new();
        for (nth, undone) in self.undone.iter().enumerate() {
            if !undone.is_empty() && *undone != recorded.compactions {
                between.entry(undone).or_default().push(nth);
            }
        }
        let between = between.iter().flat_map(|(undone, members)| {
            let play =
                |load: &Load, _: &[usize]| load.cells().zip(load.runs_as_laid_out(&|_, _| {})).collect();
            self.each_of(undone, members, &cells, play)
        });
        let mut between: IndexMap<usize, Run> = between.collect();
        let n_steps = self.load.workload.items().map_or(0, |it| it.spine.steps.len());
        let one = |(nth, (kept, without)): (usize, (Run, Run))| {
            let undone = &self.undone[nth];
            let mut resets = Resets::new(recorded, n_steps, undone);
            resets.bills = [&kept, &without].map(|it| bill(&it.tally));
            let avoids_all = *undone == recorded.compactions;
            let lived = match between.swap_remove(&nth) {
                Some(run) => run,
                None if avoids_all => without,
                None => kept.clone(),
            };
            // A history that no longer fits would have been compacted after all.
            let mut run = if bill(&lived.tally).is_some() || undone.is_empty() {
                lived
            } else {
                resets = Resets { avoided: 0, requests: 0, n_open: 1, ..resets };
                kept
            };
            let longest = run.tally.sums.main.prompt_max;
            resets.n_reached =
                u32::from(avoids_all && resets.avoided > 0 && longest >= recorded.avoided_below);
            run.tally.resets = Some(resets);
            self.load.recount(&mut run.tally);
            run
        };
        kept.into_iter().zip(without).enumerate().map(one).collect()
    }

    /// Plays some of the runs in one layout.
    fn each_of<T>(
        &self,
        undone: &Undone,
        members: &[usize],
        cells: &[Cell],
        play: impl Fn(&Load, &[usize]) -> Vec<(Cell, T)>,
    ) -> Vec<(usize, T)> {
        let mut policies: Vec<usize> = members.iter().map(|it| cells[*it].policy).collect();
        policies.sort_unstable();
        policies.dedup();
        let timeline = self.layouts.get(undone).or_else(|| self.load.workload.items());
        let Some(timeline) = timeline else { return Vec::new() };
        let played = if undone.is_empty() && policies.len() == self.load.policies.len() {
            play(self.load, &policies)
        } else {
            play(&self.load.laid_out(timeline, &policies), &policies)
        };
        let n_policies = self.load.policies.len();
        let placed =
            played.into_iter().map(|(cell, it)| (cell.profile * n_policies + policies[cell.policy], it));
        placed.filter(|it| members.contains(&it.0)).collect()
    }

    /// Lays the session out without some of its compactions, if it is not yet.
    fn lay_out(&mut self, session: &CompactedSession, undone: &Undone) {
        if !undone.is_empty() && !self.layouts.contains_key(undone) {
            self.layouts.insert(undone.clone(), laid_out(self.load, session, undone));
        }
    }
}

/// Lays a load's session out without some of its compactions, with all else that its scenario sets.
fn laid_out(load: &Load, session: &CompactedSession, undone: &[StepIx]) -> Timeline {
    let mut timeline = session.without(undone);
    if let Some(own) = load.workload.items() {
        timeline.name.clone_from(&own.name);
        timeline.seed = own.seed;
        timeline.refetch = own.refetch;
        timeline.harness.unread_tokens = own.harness.unread_tokens;
        let new: Vec<String> =
            timeline.assumptions.drain(..).filter(|it| !own.assumptions.contains(it)).collect();
        timeline.assumptions = own.assumptions.iter().cloned().chain(new).collect();
    }
    timeline
}

/// Returns what a run costs, if no limit stopped it and its code did not fail.
fn bill(tally: &Tally) -> Option<f64> {
    let has_ended = tally.outcome.failure.is_none() && tally.outcome.fault.is_none();
    tally.costs.total().filter(|_| has_ended)
}
