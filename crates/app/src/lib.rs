//! Names to inputs, inputs to plans, plans to runs; advice, and what it is held against.

pub mod catalog;
pub mod advise;
mod assembled;
mod assumed;
pub mod check;
mod contrast;
mod convert;
mod entry;
mod export;
pub mod grid;
mod guards;
mod index;
mod inputs;
pub mod laws;
mod load;
mod made;
mod models;
mod named;
mod outcomes;
mod overrides;
pub mod parts;
mod prelude;
#[cfg(feature = "worlds")]
mod probes;
mod realised;
mod recordings;
mod screen;
mod selection;
mod session;
mod sensitivity;
mod sweep;
pub mod tune;
pub mod design;
mod watch;
mod written_loads;

use crate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use assembled::assembled_report;
use ctxsim_input::Limits;
use ctxsim_input::scenario::HiddenRequest;
use ctxsim_input::suite::{Figure, Habits, Reference};
use ctxsim_report::explains::Explains;
use ctxsim_report::guard::{self, NamedGuard};
use ctxsim_report::made::InputDigest;
use ctxsim_report::{Report, verdict};
use session::session_report;

pub use assembled::notes_on_load;
use assembled::{Came, Gathered};
pub use assumed::assume;
pub use convert::input_change;
pub use convert::{show, show_merged};
use ctxsim_engine::take::{Progress, Sinks, Take, Taken, in_order, in_turn, with_threads};
pub use entry::ReadyLoad;
pub use index::twins_in_memory;
pub use load::{check_recorded, recording, redacted, with_losses};
pub use models::ListPrices;
use models::ModelProfiles;
pub use named::names_of_recordings;
pub use outcomes::OutcomeTable;
use parts::tickets::HeldTicket;
#[cfg(feature = "worlds")]
pub use probes::fit;
pub use realised::{RealisedRequest, forecast, realised};
pub use recordings::{Compacting, held};
pub use screen::{screen, screen_and_advice};
use selection::{Exclusion, Selection};
pub use sweep::{Swept, SweptLoad, sweep, sweep_head};
pub use watch::PlanWatch;
use watch::PlanWatcher;
use watch::ProblemsFound;
pub use watch::never_stops;

/// What to run; a list that is empty is the suite's, and `*` in a name stands for anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// The suite; the one called `default`, when silent and needed.
    pub suite: Option<String>,
    /// Policies, by name or path; differences are against the first.
    pub policies: Vec<String>,
    /// Scenarios, by name or path.
    pub scenarios: Vec<String>,
    /// Recordings whose names and neighbours are known: they stand for the scenarios.
    #[serde(skip)]
    pub tickets: Vec<HeldTicket>,
    /// Profiles, by name or path.
    pub profiles: Vec<String>,
    /// Whether a recorded session runs under the profile of its own model, whatever else is named; where no profiles are, the
    /// suite says so.
    pub own_models: bool,
    /// The seed of every draw; the scenario's, when silent.
    pub seed: Option<u64>,
    /// Leaves out recorded sessions whose last request was before this day, `YYYY-MM-DD`.
    pub since: Option<String>,
    /// Leaves out recorded sessions whose last request was after this day, `YYYY-MM-DD`.
    pub until: Option<String>,
    /// Leaves out recorded sessions of other users: the home that the working folder is in, or its last part.
    pub user: Option<String>,
    /// Leaves out recorded sessions of other projects: the working folder, or its last part.
    pub project: Option<String>,
    /// Leaves out all recorded sessions but so many, the newest.
    pub limit: Option<usize>,
    /// Leaves out recorded sessions of other models: a part of the model's id, or a pattern.
    pub model: Option<String>,
    /// Whether each recorded session is played as if its user had never run another.
    pub alone: bool,
    /// Whether recordings that cannot be used are left out with their reason, as those that are found in a folder are.
    pub skips_unusable: bool,
    /// How many trials of each conversation, and of what has drawn needs; the scenario's, when silent.
    pub trials: Option<u64>,
    /// Overrides, `PATH=VALUE`.
    pub set: Vec<String>,
    /// Overrides of the last policy, which make variants that take its place, one each.
    pub variants: Vec<Vec<String>>,
    /// Whether policies may start programs; a plan that has such a policy is refused otherwise.
    pub allow_process: bool,
    /// Whether runs of own code and of programs are played twice, and end where the second play differs.
    pub play_twice: bool,
}

/// Inputs that have passed every rule, ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The policies' names, in the order of the report.
    pub policies: Vec<String>,
    /// What names each of them on a command line, with what is overridden.
    arguments: Vec<String>,
    /// The scenarios, in the order of the report; a recording is read when its turn comes.
    pub scenarios: Vec<ReadyLoad>,
    /// The profiles that were named, in the order of the report; a recorded session may have its own model's instead.
    pub profiles: Vec<Profile>,
    /// The suite's name, where one took part.
    pub suite: Option<String>,
    /// What a reader of the table must know.
    pub notes: Vec<String>,
    /// Rules on the results.
    pub guards: Vec<NamedGuard>,
    /// Figures of others that stand beside ours.
    pub references: Vec<Reference>,
    /// Published figures that stand beside ours, in a table of their own.
    pub figures: Vec<Figure>,
    /// What break-even points are asked about.
    pub break_even: Option<Habits>,
    /// Whether the report adds up the scenarios.
    pub has_sum: bool,
    /// Whether tables rank the policies and say why each costs what it does.
    pub is_ranked: bool,
    /// What was named and takes no part.
    pub skipped: Vec<Skipped>,
    /// The digests of the suite, the policies and the profiles that were named.
    digests: Vec<InputDigest>,
    /// The policy that keeps everything, as the recorded harness did.
    as_recorded: Arc<Policy>,
    /// The profiles that stand for models of recordings.
    models: Arc<ModelProfiles>,
    /// Which recorded sessions take part.
    selection: Selection,
}

impl Plan {
    /// Takes the limits off all profiles: none stops a session that took place.
    #[must_use]
    pub fn without_limits(mut self) -> Self {
        self.profiles.iter_mut().for_each(|it| it.limits = Limits::NONE);
        Arc::make_mut(&mut self.models).take_limits();
        self
    }

    /// Skips recordings that cannot be used, with their reason, if some are left: also those that were named, which else are an error.
    #[must_use]
    pub fn skipping_unusable(mut self) -> Self {
        let is_one = self.scenarios.len() == 1;
        self.scenarios.iter_mut().for_each(|it| it.is_searched |= !is_one);
        self
    }

    /// Opens a scenario: makes or reads what it plays. A recording may hold several sessions.
    ///
    /// # Errors
    /// Every problem of its recording, or no profile stands for its model.
    pub fn open(&self, entry: &ReadyLoad) -> Result<Vec<Load>, Error> {
        entry.open(&self.profiles, &self.models)
    }

    /// Returns how many simulations the runs need: profiles that differ in nothing but prices share theirs, and so do
    /// policies that come to the same under a profile's limits, or differ in recovery alone.
    ///
    /// # Errors
    /// What [`Plan::open`] says of any scenario.
    pub fn n_simulations(&self) -> Result<usize, Error> {
        let n_all = self.each(None, &|_, _| {}, |load, _| load.simulations().n_distinct())?;
        Ok(n_all.into_iter().sum())
    }

    /// Opens every scenario, on all cores, does something with each load, and forgets it; the results are in order,
    /// whatever the number of threads: 1 stays on one, none takes all cores.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn each<T: Send>(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
        one: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        self.each_counted(threads, progress, one).map(|it| it.0)
    }

    /// The same; what is told how much is done may stop it, before the next session.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios, or it was stopped.
    pub fn each_told<T: Send>(
        &self,
        threads: Option<usize>,
        told: PlanWatch<'_>,
        one: impl Fn(&Load) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let all = self.each_watched(
            threads,
            &PlanWatcher::new(told),
            |entry| self.open(entry),
            |load, _| one(load),
            |it| it,
        );
        all.map(|it| it.0)
    }

    /// The same, with what was left out.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn each_counted<T: Send>(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
        one: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<(Vec<T>, Vec<Skipped>), Error> {
        self.each_of(threads, progress, |entry| self.open(entry), one)
    }

    /// The same, each load with itself under each of some assumptions about requests that no log has; recordings are read once.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn each_under<T: Send>(
        &self,
        side_requests: &[HiddenRequest],
        threads: Option<usize>,
        progress: Progress<'_>,
        one: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<(Vec<T>, Vec<Skipped>), Error> {
        let open = |entry: &ReadyLoad| entry.open_under(side_requests, &self.profiles, &self.models);
        self.each_of(threads, progress, open, one)
    }

    /// The same, with scenarios opened in some way.
    fn each_of<T: Send>(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
        open: impl Fn(&ReadyLoad) -> Result<Vec<Load>, Error> + Sync,
        one: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<(Vec<T>, Vec<Skipped>), Error> {
        self.each_watched(threads, &PlanWatcher::new(&never_stops(progress)), open, one, |it| it)
    }

    /// The same, watched by somebody who may stop it.
    /// What each load comes to is settled in their order, as soon as those before it are, so that little has to be held.
    fn each_watched<T: Send, U: Send>(
        &self,
        threads: Option<usize>,
        watch: &PlanWatcher<'_>,
        open: impl Fn(&ReadyLoad) -> Result<Vec<Load>, Error> + Sync,
        one: impl Fn(&Load, Progress<'_>) -> T + Sync,
        mut settle: impl FnMut(T) -> U + Send,
    ) -> Result<(Vec<U>, Vec<Skipped>), Error> {
        let n_all = self.scenarios.len();
        let (n_done, n_recorded) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // What a single scenario does is shown in its own steps.
        let tell: Progress<'_> = &|done, all| watch.tell(done, all);
        let within: Progress<'_> = if n_all == 1 { tell } else { &|_, _| {} };
        let parts = with_threads(threads, || {
            let chosen = self.chosen(watch, &open);
            let played = |index: usize| {
                if watch.is_stopped() {
                    return Ok(Vec::new());
                }
                let chosen = chosen.as_ref().map(|it| &it[index]);
                let part = self.part(&self.scenarios[index], &open, chosen, watch, |load| {
                    let is_recorded = load.timeline().is_some_and(|it| it.recorded.is_some());
                    n_recorded.fetch_add(usize::from(is_recorded), Ordering::Relaxed);
                    one(load, within)
                });
                if n_all > 1 {
                    watch.tell(n_done.fetch_add(1, Ordering::Relaxed) + 1, n_all);
                }
                part
            };
            in_turn(n_all, played, |part: Result<Vec<Result<T, Skipped>>, Error>| {
                part.map(|all| all.into_iter().map(|it| it.map(&mut settle)).listed())
            })
        });
        watch.check()?;
        let mut found = ProblemsFound::default();
        let mut all = Vec::with_capacity(n_all);
        let mut skipped = self.skipped.clone();
        for part in parts {
            match part {
                Ok(part) => part.into_iter().for_each(|load| match load {
                    Ok(one) => all.push(one),
                    Err(left_out) => skipped.push(left_out),
                }),
                Err(error) => found.error(error),
            }
        }
        found.stop()?;
        let has_none = self.selection.is_asked() && n_recorded.into_inner() == 0;
        if has_none || all.is_empty() && !skipped.is_empty() {
            return Err(selection::none_left(&skipped));
        }
        Ok((all, skipped))
    }

    /// Opens a scenario and does something with each load of it that takes part.
    fn part<T: Send>(
        &self,
        entry: &ReadyLoad,
        open: &impl Fn(&ReadyLoad) -> Result<Vec<Load>, Error>,
        chosen: Option<&Vec<Exclusion>>,
        watch: &PlanWatcher<'_>,
        one: impl Fn(&Load) -> T + Sync,
    ) -> Result<Vec<Result<T, Skipped>>, Error> {
        let skipped = |reason| index::skipped(&entry.loaded.origin.label(), reason);
        // What takes no part need not be read again.
        if let Some(reasons) = chosen.and_then(|it| it.iter().cloned().collect::<Option<Vec<_>>>())
            && !reasons.is_empty()
        {
            return Ok(reasons.into_iter().map(|it| Err(skipped(it))).listed());
        }
        let loads = match open(entry) {
            Err(error) if entry.is_searched => {
                return Ok(vec![Err(Skipped::new(&entry.loaded.origin.label(), error))]);
            }
            loads => loads?,
        };
        let left_out = |nth: usize| match chosen {
            Some(chosen) => chosen.get(nth).cloned().flatten(),
            None => self.selection.refusal_of(&loads[nth]),
        };
        let stopped = || watch.is_stopped().then(|| "stopped".to_owned());
        Ok(in_order(loads.len(), |nth| match left_out(nth).or_else(stopped) {
            Some(reason) => Err(skipped(reason)),
            None => Ok(one(&loads[nth])),
        }))
    }

    /// Returns by scenario and load why it takes no part, where only some are asked for: the index tells of recordings, or they are
    /// glanced at, and all else is opened to see.
    fn chosen(
        &self,
        watch: &PlanWatcher<'_>,
        open: &(impl Fn(&ReadyLoad) -> Result<Vec<Load>, Error> + Sync),
    ) -> Option<Vec<Vec<Exclusion>>> {
        if !self.selection.is_asked() {
            return None;
        }
        let candidates = in_order(self.scenarios.len(), |index| {
            watch.tell(0, self.scenarios.len());
            if watch.is_stopped() {
                return Vec::new();
            }
            let entry = &self.scenarios[index];
            if let Some(glances) = entry.glances().filter(|_| !self.selection.asks_whose()) {
                return entry.candidates(&glances, &self.selection, &self.profiles, &self.models);
            }
            let loads = open(entry).unwrap_or_default();
            loads.iter().map(|it| self.selection.of_load(it)).listed()
        });
        Some(self.selection.left_out(candidates))
    }

    /// Runs everything and reports; `threads` of 1 stays on one, none takes all cores.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn report(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<Report, Error> {
        self.report_watched(threads, &never_stops(progress), |_| false, |_, _| ()).map(|it| it.0)
    }

    /// The same, with something made of the takes of each load, which have rows where they are wanted; what is told how much is done may
    /// stop it, before the next session.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios, or it was stopped.
    pub fn report_watched<T: Send>(
        &self,
        threads: Option<usize>,
        told: PlanWatch<'_>,
        wants_rows: impl Fn(&Load) -> bool + Sync,
        make: impl Fn(&Load, &[Take]) -> T + Sync,
    ) -> Result<(Report, Vec<T>), Error> {
        let open = |entry: &ReadyLoad| self.open(entry);
        let one = |load: &Load, progress: Progress<'_>| {
            let taken = self.taken(load, wants_rows(load), progress);
            let session = session_report(load, &self.as_recorded, &self.models, taken.billed.as_deref());
            let made = make(load, &taken.takes);
            (Came::from_runs(load, taken.into_runs(), session), (contrast::explained(load), made))
        };
        let (loads, skipped) = self.each_watched(threads, &PlanWatcher::new(told), open, one, |it| it)?;
        let mut gathered = Gathered::default();
        gathered.skipped = skipped;
        let (mut made, mut explained) = (Vec::with_capacity(loads.len()), Vec::new());
        for (load, (of_load, one)) in loads {
            gathered.add(load);
            explained.extend(of_load);
            made.push(one);
        }
        let mut report = assembled_report(&self.head(verdict::MIN_EVIDENCE), gathered);
        report.explains = Explains {
            policies: self.policies.iter().cloned().zip(self.arguments.iter().cloned()).collect(),
            loads: explained.into_iter().collect(),
        };
        report.figures.clone_from(&self.figures);
        report.guard_verdicts = guard::judge(&self.guards, &report);
        Ok((report, made))
    }

    /// Plays a load under all policies and profiles.
    fn taken(&self, load: &Load, rows: bool, progress: Progress<'_>) -> Taken {
        let billed = load.is_under_own_model.then_some(&*self.as_recorded);
        load.takes(&Sinks { billed, rows, settings: true, ..Sinks::default() }, progress)
    }
}
