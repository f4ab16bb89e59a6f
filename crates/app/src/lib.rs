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
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use advise::in_run::RunSettings;
use advise::{AdviceRequest, SettingMenus};
use assembled::{GatheredResults, LoadResults, assemble_report};
use ctxsim_input::scenario::HiddenRequest;
use ctxsim_input::suite::{Figure, Habits, Reference};
use ctxsim_report::explains::ExplainCommands;
use ctxsim_report::guard::{self, NamedGuard};
use ctxsim_report::made::InputDigest;
use ctxsim_report::{Report, verdict};
use session::session_report;

pub use assembled::notes_on_load;
pub use assumed::replace_assumed_numbers;
pub use convert::{input_change, input_text, merged_policy_text};
use ctxsim_engine::take::{Sinks, Take, Taken, in_turn};
pub use entry::ReadyLoad;
pub use index::dropped_twins_in_memory;
pub use load::{check_is_recording, read_recording, redact_recording, timeline_with_losses};
pub use models::ListPrices;
use models::ModelProfiles;
pub use named::names_of_recordings;
pub use outcomes::OutcomeTable;
use parts::tickets::HeldTicket;
#[cfg(feature = "worlds")]
pub use probes::fit_memory;
pub use realised::{RealisedRequest, check_forecasts, parse_forecasts};
pub use recordings::{HarnessCompactions, read_selected_recordings};
pub use screen::{first_screen, first_screen_and_advice};
use selection::{Exclusion, OwnerFilter, Selection};
pub use sweep::{SweptLoad, SweptRun, describe_sweep, sweep_points};
pub use watch::{PlanWatch, as_unstoppable_watch};
use watch::{PlanWatcher, ProblemsFound};

/// What to run; a list that is empty is the suite's, and `*` in a name stands for anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// The suite; when silent and needed, the one that supplies what nobody names.
    pub suite: Option<String>,
    /// That one, if it is not the one called `default`: its question is about many profiles.
    #[serde(skip)]
    pub default_suite: Option<&'static str>,
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
    pub skipped: Vec<SkippedFile>,
    /// The digests of the suite, the policies and the profiles that were named.
    digests: Vec<InputDigest>,
    /// The policy that keeps everything, as the recorded harness did.
    as_recorded: Arc<Policy>,
    /// The profiles that stand for models of recordings.
    models: Arc<ModelProfiles>,
    /// The settings of agents that are played in the place of policies that nobody named.
    settings: Option<Arc<RunSettings>>,
    /// Which recorded sessions take part.
    selection: Selection,
}

impl Plan {
    /// Takes the limits off all profiles: none stops a session that took place.
    pub fn without_limits(mut self) -> Self {
        self.profiles.iter_mut().for_each(|it| it.limits = Limits::NONE);
        Arc::make_mut(&mut self.models).remove_limits();
        self
    }

    /// Skips recordings that cannot be used, with their reason, if some are left: also those that were named, which else are an error.
    pub fn with_unusable_skipped(mut self) -> Self {
        let is_one = self.scenarios.len() == 1;
        self.scenarios.iter_mut().for_each(|it| it.is_searched |= !is_one);
        self
    }

    /// Opens a scenario: makes or reads what it plays. A recording may hold several sessions.
    ///
    /// # Errors
    /// Every problem of its recording, or no profile stands for its model.
    pub fn open(&self, entry: &ReadyLoad) -> Result<Vec<Load>> {
        entry.open_loads(self)
    }

    /// Returns how many simulations the runs need: profiles that differ in nothing but prices share theirs, and so do
    /// policies that come to the same under a profile's limits, or differ in recovery alone.
    ///
    /// # Errors
    /// What [`Plan::open`] says of any scenario.
    pub fn n_simulations(&self) -> Result<usize> {
        let n_all = self.map_loads(None, &|_, _| {}, |load, _| load.simulations().n_distinct())?;
        Ok(n_all.into_iter().sum())
    }

    /// Opens every scenario, on all cores, does something with each load, and forgets it; the results are in order,
    /// whatever the number of threads: 1 stays on one, none takes all cores.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn map_loads<T: Send>(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
        map_load: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.map_loads_with_skipped(threads, progress, map_load).map(|it| it.0)
    }

    /// The same; what is told how much is done may stop it, before the next session.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios, or it was stopped.
    pub fn map_loads_stoppable<T: Send>(
        &self,
        threads: Option<usize>,
        watch: PlanWatch<'_>,
        map_load: impl Fn(&Load) -> T + Sync,
    ) -> Result<Vec<T>> {
        let open = |entry: &ReadyLoad| self.open(entry);
        let one = |load: &Load, _: Progress<'_>| map_load(load);
        self.map_loads_watched(threads, &PlanWatcher::new(watch), open, one, |it| it).map(|it| it.0)
    }

    /// The same, with what was left out.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn map_loads_with_skipped<T: Send>(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
        map_load: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<(Vec<T>, Vec<SkippedFile>)> {
        let one = |load: &Load, progress: Progress<'_>| map_load(&self.as_played(load), progress);
        self.map_loads_opened_by(threads, progress, |entry| self.open(entry), one)
    }

    /// Returns a load under the settings of its agent, where nobody named a policy.
    fn under_settings<'l>(&self, load: &'l Load) -> Cow<'l, Load> {
        let own = self.settings.as_ref().and_then(|it| it.applied_to(load));
        own.map_or(Cow::Borrowed(load), Cow::Owned)
    }

    /// Returns a load as it is played: under settings from the cache that its bill shows, as advice plays them.
    fn as_played<'l>(&self, load: &'l Load) -> Cow<'l, Load> {
        match self.under_settings(load) {
            Cow::Owned(own) => Cow::Owned(advise::load_with_billed_cache(&own).unwrap_or(own)),
            borrowed => borrowed,
        }
    }

    /// The same, each load with itself under each of some assumptions about requests that no log has; recordings are read once.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn map_loads_assuming<T: Send>(
        &self,
        side_requests: &[HiddenRequest],
        threads: Option<usize>,
        progress: Progress<'_>,
        map_load: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<(Vec<T>, Vec<SkippedFile>)> {
        let open = |entry: &ReadyLoad| entry.open_loads_assuming(side_requests, self);
        self.map_loads_opened_by(threads, progress, open, map_load)
    }

    /// The same, with scenarios opened in some way.
    fn map_loads_opened_by<T: Send>(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
        open: impl Fn(&ReadyLoad) -> Result<Vec<Load>> + Sync,
        map_load: impl Fn(&Load, Progress<'_>) -> T + Sync,
    ) -> Result<(Vec<T>, Vec<SkippedFile>)> {
        let watch = as_unstoppable_watch(progress);
        self.map_loads_watched(threads, &PlanWatcher::new(&watch), open, map_load, |it| it)
    }

    /// The same, watched by somebody who may stop it.
    /// What each load comes to is settled in their order, as soon as those before it are, so that little has to be held.
    fn map_loads_watched<T: Send, U: Send>(
        &self,
        threads: Option<usize>,
        watch: &PlanWatcher<'_>,
        open: impl Fn(&ReadyLoad) -> Result<Vec<Load>> + Sync,
        map_load: impl Fn(&Load, Progress<'_>) -> T + Sync,
        mut settle: impl FnMut(T) -> U + Send,
    ) -> Result<(Vec<U>, Vec<SkippedFile>)> {
        let n_all = self.scenarios.len();
        let (n_done, n_recorded) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // What a single scenario does is shown in its own steps.
        let tell: Progress<'_> = &|done, all| watch.report_progress(done, all);
        let within: Progress<'_> = if n_all == 1 { tell } else { &|_, _| {} };
        let parts = with_threads(threads, || {
            let chosen = self.find_exclusions(watch, &open);
            let played = |index: usize| {
                if watch.is_stopped() {
                    return Ok(Vec::new());
                }
                let chosen = chosen.as_ref().map(|it| &it[index]);
                let part = self.map_loads_of_scenario(&self.scenarios[index], &open, chosen, watch, |load| {
                    let is_recorded = load.timeline().is_some_and(|it| it.recorded.is_some());
                    n_recorded.fetch_add(usize::from(is_recorded), Ordering::Relaxed);
                    map_load(load, within)
                });
                if n_all > 1 {
                    watch.report_progress(n_done.fetch_add(1, Ordering::Relaxed) + 1, n_all);
                }
                part
            };
            in_turn(n_all, played, |part: Result<Vec<Result<T, SkippedFile>>>| {
                part.map(|all| all.into_iter().map(|it| it.map(&mut settle)).listed())
            })
        });
        watch.check_not_stopped()?;
        let mut found = ProblemsFound::default();
        let mut all = Vec::with_capacity(n_all);
        let mut skipped = self.skipped.clone();
        for part in parts {
            match part {
                Ok(part) => part.into_iter().for_each(|load| match load {
                    Ok(one) => all.push(one),
                    Err(left_out) => skipped.push(left_out),
                }),
                Err(error) => found.add_error(error),
            }
        }
        found.fail_if_any()?;
        let has_none = self.selection.is_set() && n_recorded.into_inner() == 0;
        if has_none || all.is_empty() && !skipped.is_empty() {
            return Err(selection::none_left_error(&skipped));
        }
        Ok((all, skipped))
    }

    /// Opens a scenario and does something with each load of it that takes part.
    fn map_loads_of_scenario<T: Send>(
        &self,
        entry: &ReadyLoad,
        open: &impl Fn(&ReadyLoad) -> Result<Vec<Load>>,
        exclusions: Option<&Vec<Exclusion>>,
        watch: &PlanWatcher<'_>,
        map_load: impl Fn(&Load) -> T + Sync,
    ) -> Result<Vec<Result<T, SkippedFile>>> {
        let skipped = |reason| index::skipped_session(&entry.loaded.origin.label(), reason);
        // What takes no part need not be read again.
        if let Some(reasons) = exclusions.and_then(|it| it.iter().cloned().collect::<Option<Vec<_>>>())
            && !reasons.is_empty()
        {
            return Ok(reasons.into_iter().map(|it| Err(skipped(it))).listed());
        }
        let loads = match open(entry) {
            Err(error) if entry.is_searched => {
                return Ok(vec![Err(SkippedFile::new(&entry.loaded.origin.label(), error))]);
            }
            loads => loads?,
        };
        let left_out = |nth: usize| match exclusions {
            Some(chosen) => chosen.get(nth).cloned().flatten(),
            None => self.selection.exclusion_of_load(&loads[nth]),
        };
        let stopped = || watch.is_stopped().then(|| "stopped".to_owned());
        Ok(in_order(loads.len(), |nth| match left_out(nth).or_else(stopped) {
            Some(reason) => Err(skipped(reason)),
            None => Ok(map_load(&loads[nth])),
        }))
    }

    /// Returns by scenario and load why it takes no part, where only some are asked for: the index tells of recordings, or they are
    /// glanced at, and all else is opened to see.
    fn find_exclusions(
        &self,
        watch: &PlanWatcher<'_>,
        open: &(impl Fn(&ReadyLoad) -> Result<Vec<Load>> + Sync),
    ) -> Option<Vec<Vec<Exclusion>>> {
        if !self.selection.is_set() {
            return None;
        }
        let candidates = in_order(self.scenarios.len(), |index| {
            watch.report_progress(0, self.scenarios.len());
            if watch.is_stopped() {
                return Vec::new();
            }
            let entry = &self.scenarios[index];
            // Whose sessions are asked for, a glance does not tell.
            if let Some(glances) = entry.glance_at_sessions().filter(|_| !self.selection.whose.is_set()) {
                return entry.newest_candidates(&glances, self);
            }
            open(entry).unwrap_or_default().iter().map(|it| self.selection.candidate_of_load(it)).listed()
        });
        Some(self.selection.exclusions_by_file(candidates))
    }

    /// Runs everything and reports; `threads` of 1 stays on one, none takes all cores.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios.
    pub fn report(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<Report> {
        let watch = as_unstoppable_watch(progress);
        self.report_and_map_takes(threads, &watch, |_| false, |_, _| ()).map(|it| it.0)
    }

    /// The same, with something made of the takes of each load, which have rows where they are wanted; what is told how much is done may
    /// stop it, before the next session.
    ///
    /// # Errors
    /// What [`Plan::open`] says, of all scenarios, or it was stopped.
    pub fn report_and_map_takes<T: Send>(
        &self,
        threads: Option<usize>,
        watch: PlanWatch<'_>,
        wants_rows: impl Fn(&Load) -> bool + Sync,
        map_takes: impl Fn(&Load, &[Take]) -> T + Sync,
    ) -> Result<(Report, Vec<T>)> {
        let asked = AdviceRequest { min_evidence: verdict::MIN_EVIDENCE, ..AdviceRequest::default() };
        let menus = self.settings.as_ref().map(|it| SettingMenus::new(&it.catalog, &asked)).transpose()?;
        let open = |entry: &ReadyLoad| match &menus {
            None => self.open(entry),
            Some(menus) => self.open_with_projects(entry, |it| menus.has_project_folders(it)),
        };
        let one = |load: &Load, progress: Progress<'_>| {
            let played = self.as_played(load);
            let taken = self.play_load(&played, wants_rows(&played), progress);
            let session = session_report(load, &self.as_recorded, &self.models, taken.billed.as_deref());
            let made = map_takes(&played, &taken.takes);
            let results = LoadResults::from_runs(&played, taken.into_runs(), session);
            let tried =
                menus.as_ref().and_then(|it| advise::play_load_with_menu(load, it, progress).transpose());
            (results, (contrast::explain_args_by_load_profile(&played), made, tried))
        };
        let (loads, skipped) =
            self.map_loads_watched(threads, &PlanWatcher::new(watch), open, one, |it| it)?;
        let mut gathered = GatheredResults::default();
        gathered.skipped = skipped;
        let (mut made, mut explained) = (Vec::with_capacity(loads.len()), Vec::new());
        let mut tried = Vec::new();
        for (load, (of_load, one, menu)) in loads {
            gathered.add_load(load);
            explained.extend(of_load);
            made.push(one);
            tried.extend(menu.transpose()?);
        }
        let mut report = assemble_report(&self.report_head(verdict::MIN_EVIDENCE), gathered);
        let advise =
            |it| advise::advise_on_sessions(&it, &tried, verdict::MIN_EVIDENCE, &OwnerFilter::default());
        let advised = menus.map(advise).transpose()?;
        report.judge_policies(advised.map_or_else(Vec::new, |it| it.0.agents));
        report.explains = ExplainCommands {
            policies: self.policies.iter().cloned().zip(self.arguments.iter().cloned()).collect(),
            loads: explained.into_iter().collect(),
        };
        report.figures.clone_from(&self.figures);
        report.guard_verdicts = guard::check_guards(&self.guards, &report);
        Ok((report, made))
    }

    /// Plays a load under all policies and profiles.
    fn play_load(&self, load: &Load, keeps_rows: bool, progress: Progress<'_>) -> Taken {
        // What is played from the cache that bills show is not what bills are compared with.
        let billed = (load.is_under_own_model && self.settings.is_none()).then_some(&*self.as_recorded);
        load.takes(&Sinks { billed, rows: keeps_rows, settings: true, ..Sinks::default() }, progress)
    }
}
