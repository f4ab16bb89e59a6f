//! A scenario of a plan, before and after it is opened.
//!
//! **What a load reads of a policy** (`LoadKind`). Items and conversations read its stages, code or program and, where facts are planted, a
//! memory of facts or a service; ageing sessions a memory of sessions or a service; chats a service; a block trace nothing. A policy that
//! sets parts of which a load reads none is refused before anything runs, with scenarios that do read them. A policy that sets nothing is a
//! base for every load. A part that is not read is noted. Comparisons, sweeps and price comparisons also refuse a memory runner beside other
//! policies, because its requests are its own work.
//!
//! **The unit of work is one scenario** (`app/entry.rs`). It is generated or read, its sessions run under their own profiles
//! (`take/play.rs`), the ledgers are folded to runs, and the timeline is dropped. Scenarios, and the simulations within each, are spread
//! over all cores. Results are settled in the order of the names (`take/threads.rs`, `in_turn`), as soon as those before them are, so the
//! output does not depend on the number of threads, and memory does not grow with the number of recordings. Where a pool of threads cannot
//! be started, the shared pool or the caller's own thread does the work. Everything that needs no recording is checked before anything
//! runs. Problems in recordings that the user named are reported together; unusable files that were only found in a folder are skipped,
//! with the reason.

use crate::prelude::*;

use crate::index::RecordingIndex;
use crate::load;
use crate::models::ModelProfiles;
use crate::selection::NewestCandidate;
use ctxsim_base::grid::shell::quoted;
use ctxsim_base::quantity::Decimal;
use ctxsim_engine::take::{LoadKind, Unread, World};
use ctxsim_input::policy::matches_any;
use ctxsim_input::profile::cache::{Invalidates, Qualified};
use ctxsim_input::scenario::{HiddenRequest, RecoveryMode};
use ctxsim_input::{CacheRules, scenario};
use ctxsim_timeline::RecordedModel;
use ctxsim_timeline::import::{Glance, Indexed};

/// A scenario that has passed every rule except those of its recording, which is read when it is opened.
#[derive(Clone, Debug)]
pub struct ReadyLoad {
    /// Its name; each session of a recording with several has its own.
    pub name: String,
    pub seed: u64,
    /// The policies with their parameters for this scenario.
    pub policies: Vec<Arc<Policy>>,
    /// What names it and all others on a command line.
    pub(super) among: String,
    /// Whether a folder or a pattern matched it, so that it may not be a scenario at all.
    pub(super) is_searched: bool,
    /// What the index tells of it, if it is a recording among several.
    pub(super) indexing: RecordingIndex,
    /// Whether its recorded sessions run under the profiles of their own models.
    pub(super) under_own_model: bool,
    /// Whether a replay of block ids uses only the first policy, because none was requested.
    pub(super) replays_once: bool,
    /// The scenario as read.
    pub(super) loaded: Loaded<ScenarioFile>,
    /// The scenario as played.
    pub(super) spec: ScenarioFile,
}

impl ReadyLoad {
    /// Makes or reads what it plays.
    pub(super) fn open_loads(&self, plan: &Plan) -> Result<Vec<Load>> {
        let workloads = load::worlds_of_scenario(&self.loaded, &self.spec, &self.indexing.beside)?;
        self.to_loads(workloads, plan)
    }

    /// The same; a recording is read once, and each of its loads has itself under each of some assumptions about requests that no log
    /// has.
    pub(super) fn open_loads_assuming(&self, side: &[HiddenRequest], plan: &Plan) -> Result<Vec<Load>> {
        let assuming = |side_request: &HiddenRequest| {
            let mut spec = self.spec.clone();
            if let LoadSpec::Recorded { assume, .. } = &mut spec.load {
                assume.side_request = Some(*side_request);
            }
            spec
        };
        let specs = side.iter().map(assuming).listed();
        let mut under = load::worlds_under_specs(&self.loaded, &specs, &self.indexing.beside)?.into_iter();
        let mut loads = self.to_loads(under.next().unwrap_or_default(), plan)?;
        for workloads in under {
            let others = self.to_loads(workloads, plan)?;
            loads.iter_mut().zip(others).for_each(|(load, other)| load.under.push(other));
        }
        Ok(loads)
    }

    /// Makes a load of each workload, if the model of any is known; one whose model has no profile is under none.
    fn to_loads(&self, worlds: Vec<Arc<dyn World>>, plan: &Plan) -> Result<Vec<Load>> {
        let has_several = worlds.len() > 1;
        let ready = |workload| {
            let load = self.to_load(workload, plan)?;
            let is_told = !self.indexing.beside.is_empty();
            let session = (has_several || is_told).then(|| format!(" --session {}", quoted(&load.name)));
            // What others tell of a session is told where they are named, too.
            let named = if is_told { self.among.clone() } else { self.scenario_argument() };
            let arguments = named + &session.unwrap_or_default();
            let session = load.name.strip_prefix(&self.spec.name).and_then(|it| it.strip_prefix('/'));
            let is_twin = session.is_some_and(|it| self.indexing.twins.contains_key(it));
            Ok(Load { arguments, is_twin, project: self.recording_folder(), ..load })
        };
        let loads = worlds.into_iter().map(ready).collect::<Result<Vec<_>>>()?;
        let is_unknown = |it: &Load| it.profiles.is_empty() && it.world.model().is_some();
        if let Some(model) = loads.first().and_then(|it| it.world.model())
            && loads.iter().all(is_unknown)
        {
            self.profile_of_model(model, &plan.models)?;
        }
        Ok(loads)
    }

    /// Returns the profile of a model that the recording names.
    fn profile_of_model<'m>(&self, model: &str, models: &'m ModelProfiles) -> Result<&'m Profile> {
        models.profile_for_model(model).map_err(|it| it.in_file(self.loaded.origin.label()).into())
    }

    /// Glances at the sessions of its recording; nothing where it is none, or where it has no session that can be used.
    pub(super) fn glance_at_sessions(&self) -> Option<Vec<Glance>> {
        let scanned: Option<Vec<Glance>> = self.indexing.sessions.iter().map(Indexed::glance).collect();
        let read = || load::glance_at_recording(&self.loaded, &self.spec);
        scanned.filter(|it| !it.is_empty()).or_else(read).filter(|it| !it.is_empty())
    }

    /// Returns what its sessions are where only the newest are asked for; none where a model has no profile.
    pub(super) fn newest_candidates(&self, sessions: &[Glance], plan: &Plan) -> Vec<NewestCandidate> {
        let candidate = |session: &Glance| {
            if let Some(reason) = self.indexing.twins.get(&session.session) {
                return Some(NewestCandidate::Refused(reason.clone()));
            }
            let model = session.main_model();
            let own = model.filter(|_| self.under_own_model);
            let own = own.map(|it| plan.models.profile_for_model(&it.name)).transpose().ok()?;
            let named =
                if own.is_some() { Vec::new() } else { self.fitting_profiles(&plan.profiles).ok()? };
            let names = own.into_iter().chain(&named).map(|it| it.name.as_str());
            Some(plan.selection.candidate_of_session(session.last_ms, model, names))
        };
        sessions.iter().map(candidate).collect::<Option<_>>().unwrap_or_default()
    }

    /// Returns the folder of its recording.
    fn recording_folder(&self) -> String {
        let is_recorded = matches!(self.spec.load, scenario::LoadSpec::Recorded { .. });
        let folder = self.loaded.origin.path().parent().filter(|_| is_recorded);
        folder.map_or_else(String::new, |it| it.display().to_string())
    }

    /// Returns what names it on a command line.
    fn scenario_argument(&self) -> String {
        let name = match &self.loaded.origin {
            Origin::Bundled(_) | Origin::Built(_) => self.loaded.spec.name.clone(),
            origin => origin.path().display().to_string(),
        };
        format!("--scenario {}", quoted(&name))
    }

    /// Returns whether it may have trials: what a recording needs is not known before it is read.
    pub(super) fn may_have_trials(&self) -> bool {
        !self.spec.load.is_of_items() || self.spec.recovery == RecoveryMode::Sampled
    }

    /// Returns the profiles that the scenario is made for, of those that are named.
    fn fitting_profiles(&self, named: &[Profile]) -> Result<Vec<Profile>> {
        let made_for = &self.spec.profiles;
        let fits = |it: &&Profile| made_for.is_empty() || matches_any(made_for, &it.name);
        let fitting: Vec<Profile> = named.iter().filter(fits).cloned().listed();
        if fitting.is_empty() && !named.is_empty() {
            let message = format!("`{}` only works with its own profiles", self.spec.name);
            let help = format!("use one of these with `--profile`: {}", made_for.join(", "));
            let problem = Diagnostic::at(Code("profile-unfit"), "profiles", message).help(help);
            return Err(problem.in_file(self.loaded.origin.label()).into());
        }
        Ok(fitting)
    }

    /// Puts it together with one thing that it plays.
    fn to_load(&self, world: Arc<dyn World>, plan: &Plan) -> Result<Load> {
        let models = &plan.models;
        let mut policies = self.policies.clone();
        if self.replays_once && !world.kind().reads_any() {
            policies.truncate(1);
        } else {
            let unread = |policy: &Arc<Policy>| {
                let unread = world.kind().reads(policy).err()?;
                Some(no_effect_policy_problem(&unread, world.kind(), &[&policy.name], &[world.name()]))
            };
            fail_if_any(policies.iter().filter_map(unread).listed())?;
        }
        let mut load = Load::new(world, self.spec.seed, policies);
        load.turns_ratio = self.spec.turns_ratio.map(Decimal::to_f64);
        let is_of_agent = load.timeline().is_some_and(|it| it.is_of_agent());
        for policy in &mut load.policies {
            if !policy.applies_to.unwrap_or_default().include(is_of_agent) {
                *policy = Arc::new(policy.resting());
            }
        }
        let is_sampled = self.spec.recovery == RecoveryMode::Sampled && load.has_needs();
        let drawn = || self.spec.trials.filter(|_| is_sampled);
        let trials = load.world.trials().or_else(drawn).unwrap_or(1);
        let timeline = load.timeline();
        let model = timeline.and_then(|it| it.main_model()).map(|it| it.name.as_str());
        let model = model.or(load.world.model()).filter(|_| self.under_own_model);
        let is_own = model.is_some();
        let profiles = match model {
            Some(model) => match self.profile_of_model(model, models) {
                Ok(found) => vec![found.clone()],
                // Of several histories, those of known models take part; the world tells of the others.
                Err(_) if timeline.is_none() => Vec::new(),
                Err(error) => return Err(error),
            },
            None => self.fitting_profiles(&plan.profiles)?,
        };
        // A model that no profile stands for is priced as the session's own.
        let all = timeline.filter(|it| is_own && it.models.len() > 1);
        let span_ms = timeline.and_then(|it| Some([it.began_ms?, it.last_ms()?]));
        let as_logged = |model: &RecordedModel, mut profile: Profile| {
            if let Some(cache) = model.cache.as_ref().filter(|_| !models.has_user_cache_rules(&profile)) {
                profile.cache = cache.clone();
            }
            // A session has the prices of its own time.
            if let Some(span_ms) = span_ms {
                profile.prices = profile.prices.of_session(span_ms);
            }
            profile
        };
        let priced = |it: &RecordedModel| {
            as_logged(it, models.profile_for_model(&it.name).unwrap_or(&profiles[0]).clone())
        };
        let all_models = all.map_or_else(Vec::new, |it| it.models.iter().map(priced).listed());
        let profiles = match timeline.filter(|_| is_own).and_then(|it| it.main_model()) {
            Some(main) => profiles.into_iter().map(|it| as_logged(main, it)).listed(),
            None => profiles,
        };
        let profiles = with_cache_rules_of(&all_models, profiles);
        fail_if_any(profiles.iter().filter_map(|it| load.world.refusal(it)).listed())?;
        let load =
            Load { is_sampled, trials, profiles, models: all_models, is_under_own_model: is_own, ..load };
        Ok(load.counted())
    }
}

/// Gives the profile of a session that several models answered the rules of all of them, where these differ.
fn with_cache_rules_of(models: &[Profile], mut profiles: Vec<Profile>) -> Vec<Profile> {
    for profile in profiles.iter_mut().filter(|own| models.iter().any(|it| it.cache != own.cache)) {
        let rules = profile.cache.clone();
        let hits = rules.hits();
        let of_models = models.iter().map(|it| it.cache.clone()).listed();
        let qualified = Qualified { rules, invalidates: Invalidates::default(), hits, of_models };
        profile.cache = CacheRules::Qualified(Box::new(qualified));
    }
    profiles
}

impl Plan {
    /// Opens a scenario. A session's project is its working folder, where the index or the log knows it (that of the checkout for a worktree), else
    /// the folder of its log, if that stands for a project.
    ///
    /// # Errors
    /// What [`Plan::open`] says.
    pub(super) fn open_with_projects(
        &self,
        entry: &ReadyLoad,
        is_log_folder_project: impl Fn(&Load) -> bool,
    ) -> Result<Vec<Load>> {
        let mut loads = self.open(entry)?;
        for load in &mut loads {
            let session =
                load.name.strip_prefix(&entry.name).and_then(|it| it.strip_prefix('/')).unwrap_or_default();
            let indexed = entry.indexing.sessions.iter().find(|it| it.session == session);
            let told = indexed.or(entry.indexing.sessions.first()).map(|it| it.project.clone());
            let of_log = load.timeline().and_then(|it| it.recorded.as_ref()).map(|it| it.project.clone());
            match told.into_iter().chain(of_log).find(|it| !it.is_empty()) {
                Some(folder) => load.project = folder,
                None if is_log_folder_project(load) => {}
                None => load.project.clear(),
            }
        }
        Ok(loads)
    }
}

/// Returns the kind of a scenario before its recording is read; a recording may still be of another one.
pub(super) fn load_kind_of(entry: &ReadyLoad) -> &'static LoadKind {
    if let Some(timeline) = entry.loaded.origin.built_timeline() {
        return ctxsim_worlds::of_items(Arc::clone(timeline)).kind();
    }
    ctxsim_worlds::kind(&entry.spec.load)
}

/// Reports policies that cannot be played on loads of a kind.
pub(super) fn no_effect_policy_problem(
    unread: &Unread,
    kind: &LoadKind,
    policies: &[&str],
    loads: &[&str],
) -> Diagnostic {
    let fields = listed(&unread.0.iter().map(|it| format!("`{}`", it.field())).listed());
    let [reads, policy] = kind.words;
    let (they, set, have) = if policies.len() == 1 { ("it", "sets", "has") } else { ("they", "set", "have") };
    let names = listed(&policies.iter().map(|it| (*it).to_owned()).listed());
    let load = match loads {
        [only] => (*only).to_owned(),
        all => format!("{} and {}", all[0], counted(all.len() - 1, "more scenario")),
    };
    let message =
        format!("{names} {have} no effect on {load}: {they} only {set} {fields}, and that scenario {reads}");
    let scenarios = distinct(unread.0.iter().map(|it| it.scenario()));
    let scenarios = scenarios.iter().map(|it| format!("`{it}`")).listed().join(" or ");
    let help = format!("name a scenario such as {scenarios}, or for this one a policy such as `{policy}`");
    Diagnostic::at(Code("policy-unread"), "", message).help(help)
}

/// Returns the first scenario in which policies are judged by what they remember, rather than by evidence needs.
pub(super) fn first_memory_scenario_name(entries: &[ReadyLoad]) -> Option<&str> {
    entries.iter().find(|it| load_kind_of(it).is_of_memories).map(|it| it.name.as_str())
}

/// Checks that some of its policies do work that can be compared: a memory runner writes sessions and answers questions,
/// and any other policy answers the sessions' own requests.
///
/// # Errors
/// Some are played by a memory runner, and others are not.
pub(super) fn check_same_work(load: &Load, policy_indices: &[usize]) -> Result<()> {
    let policies = policy_indices.iter().filter_map(|it| load.policies.get(*it));
    let (written, others): (Vec<_>, Vec<_>) = policies.partition(|it| load.is_written_by(it));
    let (Some(written), Some(other)) = (written.first(), others.first()) else { return Ok(()) };
    let message = format!(
        "{} and {} do not do the same work on {}: a memory runner writes and asks its own requests, so their costs cannot \
        be compared",
        written.name, other.name, load.name
    );
    let help = "compare memory runners with each other, or put both side by side with `ctxsim run`";
    Err(Error::refused(Code("policy-other-work"), message, help))
}

/// Finds the scenarios that cannot play every policy: those that were only found in a folder or by a pattern are left out while
/// others remain, and the rest are problems.
pub(super) fn partition_playable_scenarios(
    entries: Vec<ReadyLoad>,
    problems: &mut Vec<Diagnostic>,
) -> (Vec<ReadyLoad>, Vec<SkippedFile>) {
    let why = |entry: &ReadyLoad| {
        let kind = load_kind_of(entry);
        let one = |it: &Arc<Policy>| Some((kind, kind.reads(it).err()?, it.name.clone()));
        entry.policies.iter().filter_map(one).listed()
    };
    let found: Vec<_> = entries.iter().map(why).listed();
    let remains = found.iter().any(Vec::is_empty);
    let mut groups: IndexMap<(&LoadKind, Unread), [Vec<&str>; 2]> = IndexMap::new();
    let mut skipped = Vec::new();
    for (entry, why) in entries.iter().zip(&found) {
        let leaves = entry.is_searched && remains;
        for (kind, unread, policy) in why {
            if leaves {
                let reason = no_effect_policy_problem(unread, kind, &[policy], &[&entry.name]).message;
                skipped.push(SkippedFile::with_reason(entry.loaded.origin.label(), &reason));
                break;
            }
            let [policies, loads] = groups.entry((*kind, unread.clone())).or_default();
            policies.push(policy);
            loads.push(&entry.name);
        }
    }
    problems.extend(groups.iter().map(|((kind, unread), [policies, loads])| {
        let [policies, loads] = [policies, loads].map(|it| distinct(it.iter().copied()));
        no_effect_policy_problem(unread, kind, &policies, &loads)
    }));
    let kept =
        entries.iter().zip(&found).filter(|(entry, why)| why.is_empty() || !(entry.is_searched && remains));
    (kept.map(|it| it.0.clone()).listed(), skipped)
}
