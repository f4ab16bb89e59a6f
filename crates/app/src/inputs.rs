//! From names to a plan: everything that is wrong is found before anything runs.

use crate::prelude::*;

use crate::advise::in_run::RunSettings;
use crate::models::{ModelProfiles, ProfileOfModels};
use crate::named::{InputNames, NamedScenario, dedup_and_name_inputs, dedup_and_name_scenarios};
use crate::overrides::{NamedPolicies, OverrideUse, read_overrides};
use crate::parts::tickets::HeldTicket;
use crate::selection::Selection;
use crate::{assembled, check, contrast, entry, guards, load, made, overrides};
use ctxsim_input::policy::Size;
use ctxsim_input::text::set::SetTarget;
use ctxsim_input::{CacheRules, Suite, scenario};
use ctxsim_report::as_logged::AS_RECORDED;

/// The suite that fills what a comparison leaves out.
const DEFAULT_SUITE: &str = "default";

/// What a comparison names, read.
struct GivenInputs {
    policies: Vec<Loaded<PolicyFile>>,
    scenarios: Vec<NamedScenario>,
    /// Scenarios that are left out.
    skipped: Vec<SkippedFile>,
    profiles: Vec<Loaded<ProfileFile>>,
    /// Whether the suite names all of them.
    is_whole_suite: bool,
    /// Whether recorded sessions run under the profiles of their own models.
    under_own_models: bool,
    /// What the suite notes, where that is true of this run.
    notes: Vec<String>,
}

impl GivenInputs {
    /// Reads what a comparison names, and what its suite names in place of what it leaves out.
    fn read(
        catalog: &Catalog,
        comparison: &Comparison,
        suite: Option<&Loaded<SuiteFile>>,
        found: &mut ProblemsFound,
    ) -> Self {
        let names = |kind: InputKind, given: &[String]| {
            let by = suite.filter(|_| given.is_empty());
            let names = by.map_or(given, |it| kind.names_in_suite(&it.spec)).to_vec();
            InputNames { kind, names, by }
        };
        let policies = names(InputKind::Policy, &comparison.policies);
        let scenarios = names(InputKind::Scenario, &comparison.scenarios);
        let profiles = names(InputKind::Profile, &comparison.profiles);
        let is_whole_suite = [&policies, &scenarios, &profiles].iter().all(|it| it.by.is_some());
        let mut read = catalog.policy_reader();
        let policies = policies.load_inputs(catalog, found, |name| read.read_policy(name));
        let policies = dedup_and_name_inputs(policies, |it| &mut it.name);
        let policies = overrides::repeat_last_policy(policies, comparison.variants.len());
        let (scenarios, skipped) = if comparison.tickets.is_empty() {
            dedup_and_name_scenarios(scenarios.load_scenarios(catalog, found), comparison.alone)
        } else {
            (comparison.tickets.iter().map(HeldTicket::to_named_scenario).listed(), Vec::new())
        };
        // A list that was asked for holds for recordings, too.
        let of_suite = suite.is_some_and(|it| it.spec.own_models);
        let under_own_models = comparison.own_models || comparison.profiles.is_empty() && of_suite;
        // No profile of the list is looked at then.
        let is_recorded_alone = under_own_models && scenarios.iter().all(is_recording);
        let profiles = if profiles.names.is_empty() && is_recorded_alone {
            Vec::new()
        } else {
            let loaded = profiles.load_inputs(catalog, found, |name| catalog.profile(name));
            dedup_and_name_inputs(loaded, |it| &mut it.name)
        };
        // What a suite notes is true of its own scenarios under its own profiles.
        let is_own = |given: &[String], own: &[String]| given.iter().all(|it| own.contains(it));
        let noted = suite.filter(|suite| {
            !is_recorded_alone
                && is_own(&comparison.scenarios, &suite.spec.scenarios)
                && is_own(&comparison.profiles, &suite.spec.profiles)
        });
        let notes = noted.map(|it| it.spec.notes.clone()).unwrap_or_default();
        Self { policies, scenarios, skipped, profiles, is_whole_suite, under_own_models, notes }
    }
}

impl Plan {
    /// Reads and checks what a comparison names; recordings are read later, each when its turn comes.
    ///
    /// # Errors
    /// Every problem of every file and of every override.
    pub fn new(catalog: &Catalog, comparison: &Comparison) -> Result<Self> {
        let mut found = ProblemsFound::default();
        let suite = read_suite(catalog, comparison)?;
        let given = GivenInputs::read(catalog, comparison, suite.as_ref(), &mut found);
        let GivenInputs { policies, scenarios: loaded_scenarios, skipped, profiles: loaded_profiles, .. } =
            given;
        let (is_whole_suite, under_own_models) = (given.is_whole_suite, given.under_own_models);
        let known_paths =
            || overrides::all_override_paths(&policies, &loaded_scenarios, &loaded_profiles, suite.as_ref());
        let settings = read_overrides(comparison, suite.as_ref(), is_whole_suite, known_paths, &mut found);
        let selection = Selection::new(comparison).map_err(|it| found.problems.push(*it)).unwrap_or_default();
        let is_complete = found.is_empty();
        let variants = overrides::parse_variants(&comparison.variants, &mut found);
        found.problems.extend(check::program_refusals(&policies, comparison));
        let play_twice = comparison.play_twice;
        let profiles = Vec::new();
        let mut work =
            InputCheck { catalog, policies, profiles, settings, variants, found, is_complete, play_twice };
        let with_models = under_own_models && loaded_scenarios.iter().any(is_recording);
        let models = if with_models { ModelProfiles::read_all(catalog) } else { Vec::new() };
        let models = work.make_profiles(&loaded_profiles, models);
        let suite_params = &suite.as_ref().map_or_else(IndexMap::new, |it| it.spec.params.clone());
        if let Some(suite) = &suite {
            work.check_policies_declare(suite, suite_params);
        }
        let checked = work.make_suite(suite.as_ref());
        let scenarios = work.make_scenarios(&loaded_scenarios, comparison, suite_params, under_own_models);
        // Unused parameters of policies, unless another problem may be the reason.
        if work.found.is_empty() {
            work.found.problems.extend(work.policies.iter().flat_map(overrides::unread_param_problems));
        }
        work.move_problems_to_overrides();
        work.check_applied_overrides();
        work.check_trials_used(&scenarios, comparison.trials);
        // Guards of a suite that nobody named are not what the run is about.
        let own = checked.as_ref().filter(|_| comparison.suite.is_some()).map_or(&[][..], |it| &it.guards);
        let targets = guards::GuardTargets {
            catalog,
            suite: suite.as_ref(),
            policies: &work.policies,
            scenarios: &loaded_scenarios.iter().map(|it| it.loaded.clone()).listed(),
            profiles: &loaded_profiles,
            is_open: under_own_models,
        };
        let guards = targets.resolve_guards(own);
        if let Some(suite) = suite.as_ref().filter(|_| is_whole_suite && work.found.is_empty()) {
            work.found.problems.extend(suite.locate_problems(guards.about_nothing));
        }
        work.found.fail_if_any()?;
        let (scenarios, unplayed) = entry::partition_playable_scenarios(scenarios, &mut work.found.problems);
        work.found.fail_if_any()?;
        Ok(Self {
            policies: work.policies.iter().map(|it| it.spec.name.clone()).listed(),
            arguments: contrast::policy_arguments(catalog, &work.policies, &comparison.set),
            digests: made::input_digests(suite.as_ref(), &work.policies, &loaded_profiles),
            scenarios,
            profiles: work.profiles,
            suite: checked.as_ref().map(|it| it.name.clone()),
            notes: [given.notes, assembled::notes_on_plan(comparison, guards.n_left_out)].concat(),
            guards: guards.named,
            references: checked.as_ref().map(|it| it.references.clone()).unwrap_or_default(),
            figures: checked.as_ref().map(|it| it.figures.clone()).unwrap_or_default(),
            break_even: checked.as_ref().and_then(|it| it.break_even),
            is_ranked: checked.as_ref().is_some_and(|it| it.ranked),
            has_sum: checked.is_some_and(|it| it.sum),
            skipped: skipped.into_iter().chain(unplayed).listed(),
            as_recorded: Arc::new(Policy::new(&PolicyFile::named(AS_RECORDED))?),
            models: Arc::new(models),
            settings: settings_asked_for(catalog, comparison, &loaded_scenarios, loaded_profiles.len())?,
            selection,
        })
    }
}

/// Returns the settings of agents: whoever names sessions of an agent and nothing of policies asks what can be set; under one profile, as
/// advice is, unless the question is about profiles.
fn settings_asked_for(
    catalog: &Catalog,
    comparison: &Comparison,
    scenarios: &[NamedScenario],
    n_profiles: usize,
) -> Result<Option<Arc<RunSettings>>> {
    let is_own = |it: &NamedScenario| is_recording(it) && !matches!(it.loaded.origin, Origin::Bundled(_));
    let is_of_habits = |it: &String| it.starts_with("break_even.");
    let is_bare = comparison.suite.is_none()
        && comparison.policies.is_empty()
        && comparison.set.iter().all(is_of_habits);
    let is_under_one =
        comparison.default_suite.is_some() || comparison.profiles.is_empty() || n_profiles == 1;
    let asks = is_bare && is_under_one && scenarios.iter().all(is_own);
    asks.then(|| RunSettings::new(catalog).map(Arc::new)).transpose()
}

/// Returns whether a scenario is a recording.
fn is_recording(scenario: &NamedScenario) -> bool {
    matches!(scenario.loaded.spec.load, scenario::LoadSpec::Recorded { .. })
}

/// Reads the suite, where one is named or needed.
fn read_suite(catalog: &Catalog, comparison: &Comparison) -> Result<Option<Loaded<SuiteFile>>> {
    // A suite of its own has what break-even points are asked about, too.
    let is_needed = comparison.default_suite.is_some()
        || comparison.policies.is_empty()
        || comparison.scenarios.is_empty()
        || comparison.profiles.is_empty();
    match &comparison.suite {
        Some(name) => catalog.suite(name).map(Some),
        None if is_needed => catalog.suite(comparison.default_suite.unwrap_or(DEFAULT_SUITE)).map(Some),
        None => Ok(None),
    }
}

/// Returns the overrides of one kind.
fn overrides_of(target: SetTarget, all: &mut [OverrideUse]) -> impl Iterator<Item = &mut OverrideUse> {
    all.iter_mut().filter(move |it| it.setting.target == target)
}

/// What is checked together.
struct InputCheck<'a> {
    catalog: &'a Catalog,
    policies: Vec<Loaded<PolicyFile>>,
    /// The profiles that are named, once they are made.
    profiles: Vec<Profile>,
    settings: Vec<OverrideUse>,
    /// The overrides of the last policies, one list each.
    variants: Vec<Vec<Override>>,
    found: ProblemsFound,
    /// Whether all files could be read; what one file needs of another is checked only then.
    is_complete: bool,
    /// Whether own code is played twice.
    play_twice: bool,
}

/// Lays a problem of how many trials there are at the argument that says so.
fn move_to_trials_option(problem: &mut Diagnostic) {
    if matches!(
        problem.place.field.as_str(),
        "load.conversation.trials" | "load.aging.trials" | "load.chats.trials" | "trials"
    ) {
        problem.place = Place { file: "--trials".to_owned(), ..Place::default() };
    }
}

/// Policies with the parameters of some scenarios.
struct PolicyGroup {
    /// The parameters of the scenarios.
    params: IndexMap<String, Size>,
    specs: Vec<PolicyFile>,
    models: Vec<Arc<Policy>>,
}

impl InputCheck<'_> {
    /// Checks the profiles that are named, and returns those that price the models of recordings.
    fn make_profiles(
        &mut self,
        named: &[Loaded<ProfileFile>],
        of_models: Vec<ProfileOfModels>,
    ) -> ModelProfiles {
        let mut specs: Vec<ProfileFile> = named.iter().map(|it| it.spec.clone()).listed();
        let is_set = self.settings.iter().any(|it| it.setting.target == SetTarget::Profile);
        if is_set {
            specs.extend(of_models.iter().map(|it| (*it.spec).clone()));
        }
        for used in overrides_of(SetTarget::Profile, &mut self.settings) {
            let name = used.setting.profile(|name| specs.iter().any(|it| it.name == name));
            let passes = |it: &ProfileFile| Profile::new(it).is_ok();
            let Some(name) = name else {
                let names: Vec<&str> = specs.iter().map(|it| it.name.as_str()).listed();
                match used.setting.unknown_profile(&names) {
                    Some(problem) => used.note_result(Err(problem)),
                    None => used.apply_to(&mut specs, passes),
                }
                continue;
            };
            used.setting = used.setting.of_profile(&name);
            let own = specs.iter_mut().filter(|it| it.name == name);
            own.for_each(|it| used.apply_to(std::slice::from_mut(it), passes));
        }
        let (specs, set) = specs.split_at(named.len());
        for (spec, loaded) in specs.iter().zip(named) {
            match Profile::new(spec) {
                Ok(profile) => {
                    let own = loaded.origin.own_code();
                    let ttl_ms = profile.cache.ttl_ms();
                    let cache = own.map_or(profile.cache.clone(), |it| CacheRules::Own(it.clone(), ttl_ms));
                    self.profiles.push(Profile { cache, ..profile });
                }
                Err(problems) => self.found.problems.extend(loaded.locate_problems(problems)),
            }
        }
        let overridden = set.iter().zip(&of_models).map(|(spec, it)| it.overridden_as(spec)).listed();
        ModelProfiles::new(if is_set { overridden } else { of_models })
    }

    /// Makes the suite.
    fn make_suite(&mut self, loaded: Option<&Loaded<SuiteFile>>) -> Option<Suite> {
        let mut file = loaded.map(|it| it.spec.clone());
        let set = overrides_of(SetTarget::BreakEven, &mut self.settings);
        match file.as_mut().and_then(|it| it.break_even.as_mut()) {
            Some(habits) => set.for_each(|it| it.apply_to(std::slice::from_mut(habits), |_| true)),
            None => {
                let help = "name one with `--suite`, such as `--suite sensitivity`";
                set.for_each(|it| it.note_refusal("this run has no suite with `break_even`", help));
            }
        }
        let (loaded, file) = (loaded?, file?);
        let checked = Suite::new(&file).map_err(|it| self.found.problems.extend(loaded.locate_problems(it)));
        if self.is_complete {
            let problems = guards::check_suite_guards(self.catalog, &loaded.origin, &file);
            self.found.problems.extend(loaded.locate_problems(problems));
        }
        checked.ok()
    }

    /// Makes the scenarios, each with its policies.
    fn make_scenarios(
        &mut self,
        scenarios: &[NamedScenario],
        comparison: &Comparison,
        suite_params: &IndexMap<String, Size>,
        under_own_model: bool,
    ) -> Vec<ReadyLoad> {
        let mut specs: Vec<ScenarioFile> = scenarios.iter().map(|it| it.loaded.spec.clone()).listed();
        overrides_of(SetTarget::Scenario, &mut self.settings)
            .for_each(|it| it.apply_to(&mut specs, |_| true));
        let mut groups: Vec<PolicyGroup> = Vec::new();
        let mut entries = Vec::with_capacity(specs.len());
        for (spec, NamedScenario { loaded, is_searched, indexing }) in specs.iter_mut().zip(scenarios) {
            spec.seed = comparison.seed.unwrap_or(spec.seed);
            if let Some(trials) = comparison.trials {
                match &mut spec.load {
                    scenario::LoadSpec::Conversation(load) => load.trials = trials,
                    scenario::LoadSpec::Aging(load) => load.trials = trials,
                    scenario::LoadSpec::Chats(load) => load.trials = trials,
                    _ => spec.trials = Some(trials),
                }
            }
            self.check_policies_declare(loaded, &spec.params);
            let policies = self.policies_with_params(&mut groups, &spec.params, suite_params);
            match load::check_scenario_and_files(loaded, spec) {
                Ok(()) => entries.push(ReadyLoad {
                    name: spec.name.clone(),
                    seed: spec.seed,
                    policies,
                    among: ctxsim_base::grid::shell::quoted_all(&comparison.scenarios),
                    is_searched: *is_searched || comparison.skips_unusable,
                    indexing: indexing.clone(),
                    under_own_model,
                    replays_once: comparison.policies.is_empty(),
                    loaded: loaded.clone(),
                    spec: spec.clone(),
                }),
                Err(mut error) => {
                    if let (Some(_), Error::Invalid(problems)) = (comparison.trials, &mut error) {
                        problems.iter_mut().for_each(move_to_trials_option);
                    }
                    self.found.add_error(error);
                }
            }
        }
        entries
    }

    /// Returns the policies under a scenario's parameters; scenarios that set the same share them.
    fn policies_with_params(
        &mut self,
        groups: &mut Vec<PolicyGroup>,
        scenario_params: &IndexMap<String, Size>,
        suite_params: &IndexMap<String, Size>,
    ) -> Vec<Arc<Policy>> {
        if let Some(group) = groups.iter().find(|it| it.params == *scenario_params) {
            return group.models.clone();
        }
        let mut specs: Vec<PolicyFile> = self.policies.iter().map(|it| it.spec.clone()).listed();
        for spec in &mut specs {
            overrides::overlay_params(spec, scenario_params);
            overrides::overlay_params(spec, suite_params);
        }
        if let Some(group) = groups.iter().find(|it| it.specs == specs) {
            return group.models.clone();
        }
        let written = specs.clone();
        let policies = NamedPolicies { catalog: self.catalog, loaded: &self.policies };
        for used in overrides_of(SetTarget::Policy, &mut self.settings) {
            let applied = policies.apply_override(&used.setting, &mut specs);
            used.note_result(applied);
        }
        if self.found.is_empty() {
            let applied = overrides::apply_variants(self.catalog, &self.policies, &self.variants, &mut specs);
            self.found.problems.extend(applied.err().map(|it| *it));
        }
        for (spec, loaded) in specs.iter_mut().zip(&self.policies) {
            // A title is true of what the file does, not of what overrides make of it.
            if spec.title == loaded.spec.title && *spec != loaded.spec {
                spec.title = None;
            }
        }
        let mut models = Vec::with_capacity(specs.len());
        for (spec, loaded) in specs.iter().zip(&self.policies) {
            match check::check_policy(self.catalog, spec, &loaded.origin) {
                Ok(policy) => {
                    let refused = check::refused_breakpoint_problems(loaded, &policy, &self.profiles);
                    self.found.problems.extend(refused);
                    let policy = if self.play_twice { check::with_plays_twice(policy) } else { policy };
                    models.push(Arc::new(policy));
                }
                Err(problems) => self.found.problems.extend(loaded.locate_problems(problems)),
            }
        }
        groups.push(PolicyGroup { params: scenario_params.clone(), specs: written, models: models.clone() });
        models
    }

    /// Reports undeclared parameters.
    pub(super) fn check_policies_declare<T>(&mut self, given_by: &Loaded<T>, given: &IndexMap<String, Size>) {
        if given.is_empty() || !self.is_complete {
            return;
        }
        let policies: Vec<PolicyFile> = self.policies.iter().map(|it| it.spec.clone()).listed();
        let problems = overrides::undeclared_param_problems(given, &policies, self.catalog);
        self.found.problems.extend(given_by.locate_problems(problems));
    }

    /// Reports a number of trials if nothing has trials; inputs that could not be read may have some.
    pub(super) fn check_trials_used(&mut self, scenarios: &[ReadyLoad], trials: Option<u64>) {
        let has_trials = scenarios.iter().any(ReadyLoad::may_have_trials);
        if trials.is_some() && !has_trials && self.found.is_empty() {
            let message = "no scenario in this run draws conversations";
            let help = "remove it, or name a scenario with `load.conversation`";
            let problem = Diagnostic::at(Code("trials-unused"), "", message).help(help);
            self.found.problems.push(problem.in_file("--trials"));
        }
    }

    /// Moves problems of overridden fields to the override.
    pub(super) fn move_problems_to_overrides(&mut self) {
        for problem in &mut self.found.problems {
            let mut applied = self.settings.iter().filter(|it| it.is_applied);
            if let Some(used) = applied.rfind(|it| it.setting.covers(&problem.place.field)) {
                problem.place = used.setting.place();
            }
        }
    }

    /// Reports overrides that apply nowhere.
    pub(super) fn check_applied_overrides(&mut self) {
        for used in self.settings.iter_mut().filter(|it| it.is_strict && !it.is_applied && self.is_complete) {
            self.found.problems.extend(used.refused.take().map(|it| *it));
        }
    }
}
