//! A recorded session as each policy would have lived it.
//!
//! A compaction of the harness that a policy's prompt never comes near does not happen under that policy: the session is laid out
//! without it and played on, up to the next one, where the same is asked again. A run's numbers, rows and explanations are those of
//! the layout that its policy lives in; both bills, with all of the compactions and with none, stand beside them.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;

use super::{Cell, Load, Progress, Run};
use crate::ledger::{Outcome, Sums};
use crate::measure::{Resets, Tally};
use crate::timeline::import::CompactedSession;
use crate::timeline::{Recorded, StepIx, Timeline};

/// The compactions that do not happen, in order; none where all is as recorded.
type Undone = Vec<StepIx>;

/// A session laid out without some of its compactions: each layout that is asked for is made once.
#[derive(Debug, Default)]
pub struct Layouts(Mutex<IndexMap<Undone, Arc<Timeline>>>);

/// Which compactions of the harness each run of a load avoids.
pub struct Lives<'l> {
    load: &'l Load,
    /// By cell, in order; empty where nothing was compacted.
    undone: Vec<Undone>,
}

/// Runs by layout and cell.
type Played = IndexMap<Undone, IndexMap<usize, Run>>;

/// A run on its way through the compactions of its session.
#[derive(Default)]
struct Story {
    undone: Undone,
    /// The first compaction that is not decided.
    next: usize,
}

impl Story {
    /// Goes on to the next compaction that a run of this outcome avoids, or to the end.
    fn after(mut self, recorded: &Recorded, outcome: &Outcome) -> Self {
        let avoids = |compaction: StepIx| {
            let prompts = &outcome.before_compactions;
            let before = prompts.binary_search_by_key(&compaction.saturating_sub(1), |it| it.0);
            before.is_ok_and(|it| prompts[it].1 < recorded.avoided_below)
        };
        let compactions = &recorded.compactions;
        let avoided = (self.next..compactions.len()).find(|it| avoids(compactions[*it]));
        self.undone.extend(avoided.map(|it| compactions[it]));
        self.next = avoided.map_or(compactions.len(), |it| it + 1);
        self
    }
}

impl Load {
    /// Finds which compactions of the harness each of its runs avoids.
    pub fn lives(&self) -> Lives<'_> {
        let kept = if self.compacted().is_some() { self.outcomes() } else { Vec::new() };
        self.lives_after(kept.iter().map(|it| &it.1))
    }

    /// The same where the outcomes with all of the compactions are known, run by run.
    fn lives_after<'o>(&self, kept: impl Iterator<Item = &'o Outcome>) -> Lives<'_> {
        let mut lives = Lives { load: self, undone: Vec::new() };
        let Some((recorded, _)) = self.compacted() else { return lives };
        let mut stories: Vec<Story> = kept.map(|it| Story::default().after(recorded, it)).collect();
        loop {
            let mut open: IndexMap<Undone, Vec<usize>> = IndexMap::new();
            for (nth, story) in stories.iter().enumerate().filter(|it| it.1.next < recorded.compactions.len())
            {
                open.entry(story.undone.clone()).or_default().push(nth);
            }
            if open.is_empty() {
                break;
            }
            for (undone, members) in open {
                for (nth, outcome) in lives.each_of(&undone, &members, &|load, _| load.outcomes()) {
                    stories[nth] = std::mem::take(&mut stories[nth]).after(recorded, &outcome);
                }
            }
        }
        lives.undone = stories.into_iter().map(|it| it.undone).collect();
        lives
    }

    /// Plays it under all of its policies, each with the compactions that it would have met, and puts both bills beside each run.
    pub fn runs(&self, progress: Progress<'_>) -> Vec<Run> {
        self.runs_with_lives(progress).0
    }

    /// The same, and says which compactions these are.
    pub fn runs_with_lives(&self, progress: Progress<'_>) -> (Vec<Run>, Lives<'_>) {
        let kept = self.runs_as_laid_out(progress);
        let lives = self.lives_after(kept.iter().map(|it| &it.tally.outcome));
        let Some((recorded, _)) = self.compacted() else { return (kept, lives) };
        // Beside the bill of its own layout, each run has that without any compaction.
        let mut asked: IndexMap<&Undone, Vec<usize>> = IndexMap::new();
        for (nth, undone) in lives.undone.iter().enumerate() {
            asked.entry(&recorded.compactions).or_default().push(nth);
            if !undone.is_empty() && *undone != recorded.compactions {
                asked.entry(undone).or_default().push(nth);
            }
        }
        let play = |load: &Load, _: &[usize]| load.cells().zip(load.runs_as_laid_out(&|_, _| {})).collect();
        let mut played: Played = asked
            .into_iter()
            .map(|(undone, members)| {
                (undone.clone(), lives.each_of(undone, &members, &play).into_iter().collect())
            })
            .collect();
        played.insert(Undone::new(), kept.into_iter().enumerate().collect());
        let runs = (0..lives.undone.len()).filter_map(|nth| lives.run(nth, recorded, &mut played)).collect();
        (runs, lives)
    }

    /// Returns the timeline that a run plays, of a load that has one.
    #[must_use]
    pub fn timeline_of(&self, cell: Cell) -> Option<Arc<Timeline>> {
        self.lives().timeline(cell.profile, cell.policy)
    }

    /// Gives a run that ended the turns of its own session: without a compaction, two of them may be one.
    pub fn recount(&self, tally: &mut Tally) {
        let turns = self.timeline().and_then(|it| u32::try_from(it.spine.turns.len()).ok());
        let outcome = &mut tally.outcome;
        if let Some(turns) = turns.filter(|_| outcome.turns_completed == outcome.turns_requested) {
            [outcome.turns_requested, outcome.turns_started, outcome.turns_completed] = [turns; 3];
        }
    }

    /// Returns what its harness compacted, if it did.
    fn compacted(&self) -> Option<(&Recorded, &CompactedSession)> {
        let recorded = self.timeline()?.recorded.as_ref().filter(|it| !it.compactions.is_empty())?;
        Some((recorded, recorded.session.as_deref()?))
    }

    /// Plays it for the outcomes of its runs, of the first trial where needs are drawn.
    fn outcomes(&self) -> Vec<(Cell, Outcome)> {
        let simulations = self.simulations().first_trials();
        let ledgers = simulations.run::<Sums>(&|_, _| {});
        let of = |cell| Some((cell, ledgers.of(&simulations, cell).next()?.1.clone()));
        self.cells().filter_map(of).collect()
    }

    /// Returns it without some of its compactions, with all else that its scenario sets.
    fn layout(&self, undone: &Undone) -> Option<Arc<Timeline>> {
        let own = self.timeline()?;
        let Some((_, session)) = self.compacted().filter(|_| !undone.is_empty()) else {
            return Some(Arc::clone(own));
        };
        let mut layouts = self.layouts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let layout =
            layouts.entry(undone.clone()).or_insert_with(|| Arc::new(laid_out(own, session, undone)));
        Some(Arc::clone(layout))
    }

    /// Returns it with another timeline, for some of its policies.
    fn laid_out(&self, timeline: Arc<Timeline>, policies: &[usize]) -> Self {
        Self {
            world: self.world.laid_out(timeline).unwrap_or_else(|| Arc::clone(&self.world)),
            layouts: Arc::default(),
            policies: policies.iter().map(|it| Arc::clone(&self.policies[*it])).collect(),
            ..self.clone()
        }
    }
}

impl Lives<'_> {
    /// Plays the load, each run in its own layout; what plays is given the places of its policies among the load's.
    pub fn each<T>(&self, play: impl Fn(&Load, &[usize]) -> Vec<(Cell, T)>) -> Vec<(Cell, T)> {
        if self.undone.iter().all(Vec::is_empty) {
            return play(self.load, &(0..self.load.policies.len()).collect::<Vec<_>>());
        }
        let cells: Vec<Cell> = self.load.cells().collect();
        let mut groups: IndexMap<&Undone, Vec<usize>> = IndexMap::new();
        for (nth, undone) in self.undone.iter().enumerate() {
            groups.entry(undone).or_default().push(nth);
        }
        let played = groups.iter().flat_map(|(undone, members)| self.each_of(undone, members, &play));
        let mut all: Vec<(usize, T)> = played.collect();
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|(nth, it)| (cells[nth], it)).collect()
    }

    /// Returns whether two runs live in the same layout.
    pub fn are_alike(&self, profile: usize, policies: [usize; 2]) -> bool {
        let [one, other] = policies.map(|it| self.undone(profile, it));
        one == other
    }

    /// Returns the timeline of a run.
    pub fn timeline(&self, profile: usize, policy: usize) -> Option<Arc<Timeline>> {
        self.load.layout(self.undone(profile, policy).unwrap_or(&Undone::new()))
    }

    /// Returns the compactions that a run avoids, of a load with any.
    fn undone(&self, profile: usize, policy: usize) -> Option<&Undone> {
        self.undone.get(profile * self.load.policies.len() + policy)
    }

    /// Takes a run as it is lived from what was played, and puts both bills beside it.
    fn run(&self, nth: usize, recorded: &Recorded, played: &mut Played) -> Option<Run> {
        let (undone, kept, all) = (&self.undone[nth], Undone::new(), &recorded.compactions);
        let n_steps = self.load.timeline().map_or(0, |it| it.spine.steps.len());
        let mut resets = Resets::new(recorded, n_steps, undone);
        let bill_of = |layout: &Undone| played.get(layout)?.get(&nth).and_then(|it| bill(&it.tally));
        resets.bills = [bill_of(&kept), bill_of(all)];
        // A history that no longer fits would have been compacted after all.
        let fits = undone.is_empty() || bill_of(undone).is_some();
        if !fits {
            resets = Resets { avoided: 0, requests: 0, n_open: 1, ..resets };
        }
        let mut run = played.get_mut(if fits { undone } else { &kept })?.swap_remove(&nth)?;
        let longest = run.tally.sums.main.prompt_max;
        let has_reached = undone == all && resets.avoided > 0 && longest >= recorded.avoided_below;
        resets.n_reached = u32::from(has_reached);
        run.tally.resets = Some(resets);
        self.load.recount(&mut run.tally);
        Some(run)
    }

    /// Plays some of the runs in one layout.
    fn each_of<T>(
        &self,
        undone: &Undone,
        members: &[usize],
        play: &impl Fn(&Load, &[usize]) -> Vec<(Cell, T)>,
    ) -> Vec<(usize, T)> {
        let n_policies = self.load.policies.len();
        let mut policies: Vec<usize> = members.iter().map(|it| it % n_policies).collect();
        policies.sort_unstable();
        policies.dedup();
        let Some(timeline) = self.load.layout(undone) else { return Vec::new() };
        let played = if undone.is_empty() && policies.len() == n_policies {
            play(self.load, &policies)
        } else {
            play(&self.load.laid_out(timeline, &policies), &policies)
        };
        let placed =
            played.into_iter().map(|(cell, it)| (cell.profile * n_policies + policies[cell.policy], it));
        placed.filter(|it| members.contains(&it.0)).collect()
    }
}

/// Lays a session out without some of its compactions, with all else that a load of it sets.
fn laid_out(own: &Timeline, session: &CompactedSession, undone: &[StepIx]) -> Timeline {
    let mut timeline = session.without(undone);
    timeline.name.clone_from(&own.name);
    timeline.seed = own.seed;
    timeline.refetch = own.refetch;
    timeline.harness.unread_tokens = own.harness.unread_tokens;
    let new: Vec<String> =
        timeline.assumptions.drain(..).filter(|it| !own.assumptions.contains(it)).collect();
    timeline.assumptions = own.assumptions.iter().cloned().chain(new).collect();
    if let Some((laid_out, own)) = timeline.recorded.as_mut().zip(own.recorded.as_ref()) {
        laid_out.before_compactions.clone_from(&own.before_compactions);
    }
    timeline
}

/// Returns what a run costs, if no limit stopped it and its code did not fail.
fn bill(tally: &Tally) -> Option<f64> {
    let has_ended = tally.outcome.failure.is_none() && tally.outcome.fault.is_none();
    tally.costs.total().filter(|_| has_ended)
}
