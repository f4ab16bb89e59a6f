//! A recorded session as each policy would have lived it.
//!
//! A compaction of the harness that a policy's prompt never comes near does not happen under that policy: the session is laid out
//! without it and played on, up to the next one, where the same is asked again. A run's numbers, rows and explanations are those of
//! the layout that its policy lives in; both bills, with all of the compactions and with none, stand beside them.

use crate::prelude::*;
use std::sync::{Mutex, PoisonError};

use super::{Cell, Load, Progress, Run, Sinks, Take, Taken};
use crate::measure::{Resets, Tally};
use ctxsim_base::counts::count_one;
use ctxsim_timeline::Recorded;
use ctxsim_timeline::import::CompactedSession;

/// The compactions that do not happen, in order; none where all is as recorded.
type UndoneCompactions = Vec<StepIx>;

/// A session laid out without some of its compactions: each layout that is asked for is made once.
#[derive(Debug, Default)]
pub struct Layouts(Mutex<IndexMap<UndoneCompactions, Arc<Timeline>>>);

/// Which compactions of the harness each run of a load avoids.
pub(super) struct Lives<'l> {
    load: &'l Load,
    /// By cell, in order; empty where nothing was compacted.
    undone: Vec<UndoneCompactions>,
}

/// What was played, by layout and cell.
type PlayedLives<T> = IndexMap<UndoneCompactions, IndexMap<usize, T>>;

/// A run on its way through the compactions of its session.
#[derive(Default)]
struct LifeRun {
    undone: UndoneCompactions,
    /// The first compaction that is not decided.
    next: usize,
}

impl LifeRun {
    /// Goes on to the next compaction that a run of this outcome avoids, as its prompts stay below a size, or to the end.
    fn after(mut self, recorded: &Recorded, below: Tokens, outcome: &Outcome) -> Self {
        let avoids = |compaction: StepIx| {
            let prompts = &outcome.before_compactions;
            let before = prompts.binary_search_by_key(&compaction.saturating_sub(1), |it| it.0);
            before.is_ok_and(|it| prompts[it].1 < below)
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
    pub(super) fn lives(&self) -> Lives<'_> {
        let kept = if self.compacted().is_some() { self.outcomes() } else { Vec::new() };
        self.lives_after(kept.iter().map(|it| &it.1))
    }

    /// The same where the outcomes with all of the compactions are known, run by run. Of a later compaction, a play for its outcome
    /// alone decides: a run may go through many layouts, and is billed in one.
    fn lives_after<'o>(&self, kept: impl Iterator<Item = &'o Outcome>) -> Lives<'_> {
        let mut lives = Lives { load: self, undone: Vec::new() };
        let Some((recorded, _)) = self.compacted() else { return lives };
        let below = |nth: usize| self.avoided_below(nth / self.policies.len().max(1));
        let first = |(nth, it)| LifeRun::default().after(recorded, below(nth), it);
        let mut stories: Vec<LifeRun> = kept.enumerate().map(first).collect();
        loop {
            let mut open: IndexMap<UndoneCompactions, Vec<usize>> = IndexMap::new();
            for (nth, story) in stories.iter().enumerate().filter(|it| it.1.next < recorded.compactions.len())
            {
                open.entry(story.undone.clone()).or_default().push(nth);
            }
            if open.is_empty() {
                break;
            }
            for (undone, members) in open {
                for (nth, outcome) in lives.each_of(&undone, &members, &|load, _| load.outcomes()) {
                    stories[nth] = std::mem::take(&mut stories[nth]).after(recorded, below(nth), &outcome);
                }
            }
        }
        lives.undone = stories.into_iter().map(|it| it.undone).collect();
        lives
    }

    /// Plays the load, each run in the layout that it lives in; what plays is given the places of its policies among the load's.
    pub fn lived<T>(
        &self,
        play: &impl Fn(&Self, &[usize]) -> Vec<(Cell, T)>,
        outcome: &impl Fn(&T) -> &Outcome,
    ) -> Vec<(Cell, T)> {
        if self.compacted().is_none() {
            return play(self, &(0..self.policies.len()).collect::<Vec<_>>());
        }
        let all: Vec<usize> = (0..self.cells().count()).collect();
        let kept = Lives { load: self, undone: Vec::new() }.each_of(&UndoneCompactions::new(), &all, play);
        let lives = self.lives_after(kept.iter().map(|it| outcome(&it.1)));
        let mut played: PlayedLives<T> =
            IndexMap::from([(UndoneCompactions::new(), kept.into_iter().collect())]);
        lives.play_the_rest(lives.undone.iter(), play, &mut played);
        let of = |(nth, cell)| Some((cell, played.get_mut(lives.undone.get(nth)?)?.swap_remove(&nth)?));
        self.cells().enumerate().filter_map(of).collect()
    }

    /// Plays it under all of its policies, each with the compactions that it would have met, and puts both bills beside each run.
    pub fn runs(&self, progress: Progress<'_>) -> Vec<Run> {
        self.takes(&Sinks::default(), progress).into_runs()
    }

    /// The same, into the sinks that are asked for.
    pub fn takes(&self, sinks: &Sinks<'_>, progress: Progress<'_>) -> Taken {
        let Some((recorded, _)) = self.compacted() else {
            let takes = self.takes_as_laid_out(sinks, progress);
            return Taken { billed: takes.iter().find_map(Take::billed), takes };
        };
        let play = |load: &Self, _: &[usize]| {
            let quiet: Progress<'_> = &|_, _| {};
            let takes =
                load.takes_as_laid_out(sinks, if std::ptr::eq(load, self) { progress } else { quiet });
            takes.into_iter().map(|it| (it.cell, it)).collect::<Vec<_>>()
        };
        let all_kept = UndoneCompactions::new();
        let (mut played, mut billed) = (PlayedLives::new(), None);
        let lives = if sinks.bare {
            self.lives()
        } else {
            let kept: Vec<Take> = play(self, &[]).into_iter().map(|it| it.1).collect();
            billed = kept.iter().find_map(Take::billed);
            let lives = self.lives_after(kept.iter().map(|it| &it.run.tally.outcome));
            played.insert(all_kept.clone(), kept.into_iter().enumerate().collect());
            lives
        };
        lives.play_the_rest(lives.undone.iter(), &play, &mut played);
        let own = lives.undone.iter().enumerate();
        let fitting = own.map(|(nth, it)| if lives.fits(nth, &played) { it } else { &all_kept });
        let fitting: Vec<&UndoneCompactions> = fitting.collect();
        lives.play_the_rest(fitting.into_iter(), &play, &mut played);
        if !sinks.bare {
            // Beside the bill of its own layout, each run has that without any compaction.
            let without = lives.undone.iter().map(|_| &recorded.compactions);
            lives.play_the_rest(without, &play, &mut played);
        }
        let lived = self.cells().enumerate();
        let takes =
            lived.filter_map(|(nth, cell)| Some(Take { cell, ..lives.take(nth, recorded, &mut played)? }));
        Taken { takes: takes.collect(), billed }
    }

    /// Returns the timeline that a run plays, of a load that has one.
    pub fn timeline_of(&self, cell: Cell) -> Option<Arc<Timeline>> {
        self.lives().timeline(cell.profile, cell.policy)
    }

    /// Returns what its harness compacted, if it did.
    fn compacted(&self) -> Option<(&Recorded, &CompactedSession)> {
        let recorded = self.timeline()?.recorded.as_ref().filter(|it| !it.compactions.is_empty())?;
        Some((recorded, recorded.session.as_deref()?))
    }

    /// Returns the size that a prompt must stay below to avoid a compaction, as the models of a profile count it.
    fn avoided_below(&self, profile: usize) -> Tokens {
        let recorded = self.timeline_under(profile).and_then(|it| it.recorded.as_ref());
        recorded.map_or(0, |it| it.avoided_below)
    }

    /// Plays it for the outcomes of its runs, of the first trial where needs are drawn.
    fn outcomes(&self) -> Vec<(Cell, Outcome)> {
        let simulations = self.simulations().first_trials();
        let ledgers = simulations.outcomes();
        let of = |cell| Some((cell, ledgers.of(&simulations, cell).next()?.clone()));
        self.cells().filter_map(of).collect()
    }

    /// Returns it without some of its compactions, with all else that its scenario sets.
    fn layout(&self, undone: &UndoneCompactions) -> Option<Arc<Timeline>> {
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
        let laid_out = Self {
            world: self.world.laid_out(timeline).unwrap_or_else(|| Arc::clone(&self.world)),
            layouts: Arc::default(),
            turns: self.timeline().and_then(|it| u32::try_from(it.spine.turns.len()).ok()),
            policies: policies.iter().map(|it| Arc::clone(&self.policies[*it])).collect(),
            ..self.clone()
        };
        laid_out.counted()
    }
}

impl Lives<'_> {
    /// Plays the load, each run in its own layout; what plays is given the places of its policies among the load's.
    pub(super) fn each<T>(&self, play: &impl Fn(&Load, &[usize]) -> Vec<(Cell, T)>) -> Vec<(Cell, T)> {
        if self.undone.iter().all(Vec::is_empty) {
            return play(self.load, &(0..self.load.policies.len()).collect::<Vec<_>>());
        }
        let cells: Vec<Cell> = self.load.cells().collect();
        let mut groups: IndexMap<&UndoneCompactions, Vec<usize>> = IndexMap::new();
        for (nth, undone) in self.undone.iter().enumerate() {
            groups.entry(undone).or_default().push(nth);
        }
        let played = groups.iter().flat_map(|(undone, members)| self.each_of(undone, members, play));
        let mut all: Vec<(usize, T)> = played.collect();
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|(nth, it)| (cells[nth], it)).collect()
    }

    /// Returns the timeline of a run.
    fn timeline(&self, profile: usize, policy: usize) -> Option<Arc<Timeline>> {
        let timeline = self.load.layout(self.undone(profile, policy).unwrap_or(&UndoneCompactions::new()))?;
        let counted = self.load.counted_under(profile);
        Some(counted.map_or_else(|| Arc::clone(&timeline), |it| Arc::new(it.count(&timeline))))
    }

    /// Returns the compactions that a run avoids, of a load with any.
    fn undone(&self, profile: usize, policy: usize) -> Option<&UndoneCompactions> {
        self.undone.get(profile * self.load.policies.len() + policy)
    }

    /// Takes a run as it is lived from what was played, and puts both bills beside it.
    fn take(&self, nth: usize, recorded: &Recorded, played: &mut PlayedLives<Take>) -> Option<Take> {
        let (undone, kept, all) = (&self.undone[nth], UndoneCompactions::new(), &recorded.compactions);
        let n_steps = self.load.timeline().map_or(0, |it| it.spine.steps.len());
        let mut resets = Resets::new(recorded, n_steps, undone);
        let bill_of =
            |layout: &UndoneCompactions| played.get(layout)?.get(&nth).and_then(|it| bill(&it.run.tally));
        resets.bills = [bill_of(&kept), bill_of(all)];
        let fits = self.fits(nth, played);
        if !fits {
            resets = Resets { avoided: 0, requests: 0, n_open: 1, ..resets };
        }
        let take = played.get_mut(if fits { undone } else { &kept })?.swap_remove(&nth)?;
        let longest = take.run.tally.sums.main.prompt_max;
        let below = self.load.avoided_below(nth / self.load.policies.len().max(1));
        let has_reached = undone == all && resets.avoided > 0 && longest >= below;
        resets.n_reached = u32::from(has_reached);
        let tally = Tally { resets: Some(resets), ..take.run.tally };
        Some(Take { run: Run { tally, ..take.run }, ..take })
    }

    /// Returns whether a run can be lived as it was played: a history that no longer fits would have been compacted after all.
    fn fits(&self, nth: usize, played: &PlayedLives<Take>) -> bool {
        let undone = &self.undone[nth];
        let take = || played.get(undone)?.get(&nth);
        undone.is_empty() || take().is_some_and(|it| bill(&it.run.tally).is_some())
    }

    /// Plays runs in layouts, one for each run, where they are not played yet.
    fn play_the_rest<'u, T>(
        &self,
        layouts: impl Iterator<Item = &'u UndoneCompactions>,
        play: &impl Fn(&Load, &[usize]) -> Vec<(Cell, T)>,
        played: &mut PlayedLives<T>,
    ) {
        let mut missing: IndexMap<&UndoneCompactions, Vec<usize>> = IndexMap::new();
        for (nth, undone) in layouts.enumerate() {
            if played.get(undone).is_none_or(|it| !it.contains_key(&nth)) {
                missing.entry(undone).or_default().push(nth);
            }
        }
        for (undone, members) in missing {
            let more = self.each_of(undone, &members, play);
            played.entry(undone.clone()).or_default().extend(more);
        }
    }

    /// Plays some of the runs in one layout.
    fn each_of<T>(
        &self,
        undone: &UndoneCompactions,
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
    count_one(|it| &mut it.layouts);
    let mut timeline = session.without(undone);
    timeline.name.clone_from(&own.name);
    timeline.seed = own.seed;
    timeline.refetch = own.refetch;
    timeline.users = own.users;
    timeline.harness.unread_tokens = own.harness.unread_tokens;
    let new: Vec<String> =
        timeline.assumptions.drain(..).filter(|it| !own.assumptions.contains(it)).collect();
    timeline.assumptions = own.assumptions.iter().cloned().chain(new).collect();
    if let Some((laid_out, own)) = timeline.recorded.as_mut().zip(own.recorded.as_ref()) {
        laid_out.before_compactions.clone_from(&own.before_compactions);
        // What the harness's settings were does not change with what a policy avoids.
        laid_out.harness_limits = own.harness_limits;
    }
    timeline
}

/// Returns what a run costs, if no limit stopped it and its code did not fail.
fn bill(tally: &Tally) -> Option<Amount> {
    let has_ended = tally.outcome.failure.is_none() && tally.outcome.fault.is_none();
    tally.costs.exact().filter(|_| has_ended)
}
