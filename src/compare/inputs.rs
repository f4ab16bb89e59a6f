//! From names to a plan: everything that is wrong is found before anything runs.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::found::Found;
use super::{Comparison, Load, Plan, Workload, load, notes, params};
use crate::catalog::{Catalog, Kind, Loaded};
use crate::diag::{Diagnostic, Place};
use crate::error::Error;
use crate::input::policy::Size;
use crate::input::scenario::{self, RecoveryMode};
use crate::input::text::set::{Setting, Target};
use crate::input::{Policy, PolicyFile, Profile, ProfileFile, ScenarioFile, Suite, SuiteFile};

/// The suite that fills what a comparison leaves out.
const DEFAULT_SUITE: &str = "default";

/// Reads and checks what a comparison names.
pub(super) fn plan(catalog: &Catalog, comparison: &Comparison) -> Result<Plan, Error> {
    let mut found = Found::default();
    let suite = suite(catalog, comparison)?;
    let names = |kind, given: &[String], of_suite: fn(&SuiteFile) -> &Vec<String>| match &suite {
        Some(suite) if given.is_empty() => {
            Names { kind, names: of_suite(&suite.spec).clone(), by: Some(suite) }
        }
        _ => Names { kind, names: given.to_vec(), by: None },
    };
    let policies = names(Kind::Policy, &comparison.policies, |it| &it.policies);
    let scenarios = names(Kind::Scenario, &comparison.scenarios, |it| &it.scenarios);
    let profiles = names(Kind::Profile, &comparison.profiles, |it| &it.profiles);
    let is_whole_suite = [&policies, &scenarios, &profiles].iter().all(|it| it.by.is_some());
    // What a suite notes is true of its own scenarios under its own profiles.
    let is_own = |given: &[String], own: &[String]| given.iter().all(|it| own.contains(it));
    let noted = suite.as_ref().filter(|it| {
        is_own(&comparison.scenarios, &it.spec.scenarios) && is_own(&comparison.profiles, &it.spec.profiles)
    });
    let settings = settings(comparison, suite.as_ref(), is_whole_suite, &mut found);
    let mut read = catalog.policies();
    let policies = policies.load(catalog, &mut found, |name| read.policy(name));
    let scenarios = scenarios.load(catalog, &mut found, |name| catalog.scenario(name));
    let profiles = profiles.load(catalog, &mut found, |name| catalog.profile(name));
    let is_complete = found.is_empty();
    let mut work = Inputs { catalog, policies, settings, found, is_complete };
    let profiles = work.profiles(&profiles);
    let no_params = IndexMap::new();
    let suite_params = suite.as_ref().map_or(&no_params, |it| &it.spec.params);
    if let Some(suite) = &suite {
        work.check_params(suite, suite_params);
    }
    let checked = work.suite(suite.as_ref());
    let mut scenarios = work.scenarios(&scenarios, (comparison.seed, comparison.trials), suite_params);
    let is_replay = scenarios.iter().all(|it| it.workload.blocks().is_some());
    if is_replay && comparison.policies.is_empty() {
        work.policies.truncate(1);
        scenarios.iter_mut().for_each(|it| it.policies.truncate(1));
    }
    work.blame_used();
    work.check_used();
    work.check_blocks(&scenarios, &profiles);
    work.check_trials(&scenarios, comparison.trials);
    work.found.stop()?;
    let notes = notes::notes(&scenarios);
    Ok(Plan {
        policies: work.policies.iter().map(|it| it.spec.name.clone()).collect(),
        scenarios,
        profiles,
        suite: checked.as_ref().map(|it| it.name.clone()),
        notes: noted.iter().flat_map(|it| it.spec.notes.clone()).chain(notes).collect(),
        guards: checked.as_ref().map(|it| it.guards.clone()).unwrap_or_default(),
        references: checked.as_ref().map(|it| it.references.clone()).unwrap_or_default(),
        break_even: checked.as_ref().and_then(|it| it.break_even),
        has_sum: checked.is_some_and(|it| it.sum),
    })
}

/// Reads the suite, where one is named or needed.
fn suite(catalog: &Catalog, comparison: &Comparison) -> Result<Option<Loaded<SuiteFile>>, Error> {
    let is_needed =
        comparison.policies.is_empty() || comparison.scenarios.is_empty() || comparison.profiles.is_empty();
    match &comparison.suite {
        Some(name) => catalog.suite(name).map(Some),
        None if is_needed => catalog.suite(DEFAULT_SUITE).map(Some),
        None => Ok(None),
    }
}

/// An override with what became of it.
struct Used {
    setting: Setting,
    /// Whether it must lead somewhere: an override of a suite need not when the run takes a part of the suite.
    is_strict: bool,
    is_applied: bool,
    refused: Option<Box<Diagnostic>>,
}

impl Used {
    /// Applies an override; what is wrong counts only if it leads to nothing anywhere.
    fn apply<T: serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        specs: &mut [T],
        passes: impl Fn(&T) -> bool,
    ) {
        match self.setting.apply(specs, passes) {
            Ok(()) => self.is_applied = true,
            Err(problem) => self.refused = self.refused.take().or(Some(problem)),
        }
    }

    /// Says why an override can lead to nothing.
    fn refuse(&mut self, message: &str, help: &str) {
        let mut problem = Diagnostic::at("set-no-such-field", &self.setting.text, message).help(help);
        "--set".clone_into(&mut problem.place.file);
        self.refused = Some(Box::new(problem));
    }
}

/// Reads the overrides: the suite's first, then the comparison's.
fn settings(
    comparison: &Comparison,
    suite: Option<&Loaded<SuiteFile>>,
    is_whole_suite: bool,
    found: &mut Found,
) -> Vec<Used> {
    let mut used = Vec::new();
    let mut push = |setting, is_strict| {
        used.push(Used { setting, is_strict, is_applied: false, refused: None });
    };
    if let Some(suite) = suite {
        // Those that cannot be read are told when the suite is checked.
        let parsed = suite.spec.set.iter().filter_map(|it| Setting::parse(it).ok());
        parsed.for_each(|it| push(it, is_whole_suite));
    }
    for text in &comparison.set {
        match Setting::parse(text) {
            Ok(setting) => push(setting, true),
            Err(problem) => found.problems.push(*problem),
        }
    }
    used
}

/// The names of one kind, and the suite that gives them.
struct Names<'a> {
    kind: Kind,
    names: Vec<String>,
    by: Option<&'a Loaded<SuiteFile>>,
}

impl Names<'_> {
    /// Reads what they name, each once.
    fn load<T>(
        self,
        catalog: &Catalog,
        found: &mut Found,
        mut read: impl FnMut(&str) -> Result<Loaded<T>, Error>,
    ) -> Vec<Loaded<T>> {
        let mut loaded = Vec::with_capacity(self.names.len());
        let mut seen = IndexSet::new();
        if self.names.is_empty() {
            let field = self.kind.folder();
            let problem = Diagnostic::at("list-empty", field, format!("there is no {}", self.kind.noun()));
            let problem = problem.help("name at least one");
            found.problems.extend(self.by.map_or_else(Vec::new, |it| it.locate(vec![problem])));
        }
        for (index, name) in self.names.iter().enumerate() {
            for name in catalog.expand(self.kind, name) {
                if !seen.insert(name.clone()) {
                    continue;
                }
                match (read(&name), self.by) {
                    (Ok(it), _) => loaded.push(it),
                    (Err(Error::UnknownName { .. }), Some(suite)) => {
                        let field = format!("{}.{index}", self.kind.folder());
                        found.problems.extend(suite.locate(vec![catalog.unknown(self.kind, &field, &name)]));
                    }
                    (Err(error), _) => found.error(error),
                }
            }
        }
        loaded
    }
}

/// What is checked together.
struct Inputs<'a> {
    catalog: &'a Catalog,
    policies: Vec<Loaded<PolicyFile>>,
    settings: Vec<Used>,
    found: Found,
    /// Whether all files could be read; what one file needs of another is checked only then.
    is_complete: bool,
}

/// Lays a problem of how many trials there are at the argument that says so.
fn blame_trials(problem: &mut Diagnostic) {
    if matches!(problem.place.field.as_str(), "load.conversation.trials" | "trials") {
        problem.place = Place { file: "--trials".to_owned(), ..Place::default() };
    }
}

/// Puts a scenario together with what it plays.
fn ready(spec: &ScenarioFile, workload: Workload, policies: Vec<Arc<Policy>>) -> Load {
    let is_sampled = spec.recovery == RecoveryMode::Sampled && workload.has_needs();
    let trials = match workload.conversations() {
        Some(conversations) => conversations.trials_per_length(),
        None => spec.trials.filter(|_| is_sampled).unwrap_or(1),
    };
    Load { name: workload.name().to_owned(), seed: spec.seed, is_sampled, trials, workload, policies }
}

/// Policies with the parameters of some scenarios.
struct Group {
    specs: Vec<PolicyFile>,
    models: Vec<Arc<Policy>>,
}

impl Inputs<'_> {
    /// Makes the profiles.
    fn profiles(&mut self, loaded: &[Loaded<ProfileFile>]) -> Vec<Profile> {
        let mut specs: Vec<ProfileFile> = loaded.iter().map(|it| it.spec.clone()).collect();
        self.set(Target::Profile, &mut specs, |it| Profile::new(it).is_ok());
        let mut profiles = Vec::with_capacity(specs.len());
        for (spec, loaded) in specs.iter().zip(loaded) {
            match Profile::new(spec) {
                Ok(profile) => profiles.push(profile),
                Err(problems) => self.found.problems.extend(loaded.locate(problems)),
            }
        }
        profiles
    }

    /// Makes the suite.
    fn suite(&mut self, loaded: Option<&Loaded<SuiteFile>>) -> Option<Suite> {
        let mut file = loaded.map(|it| it.spec.clone());
        match file.as_mut().and_then(|it| it.break_even.as_mut()) {
            Some(habits) => self.set(Target::BreakEven, std::slice::from_mut(habits), |_| true),
            None => {
                for used in self.settings.iter_mut().filter(|it| it.setting.target == Target::BreakEven) {
                    used.refuse("no suite of this run has `break_even`", "name one that has, with `--suite`");
                }
            }
        }
        let (loaded, file) = (loaded?, file?);
        let checked = Suite::new(&file).map_err(|it| self.found.problems.extend(loaded.locate(it)));
        checked.ok()
    }

    /// Makes the scenarios, each with its policies.
    fn scenarios(
        &mut self,
        loaded: &[Loaded<ScenarioFile>],
        (seed, trials): (Option<u64>, Option<u64>),
        suite_params: &IndexMap<String, Size>,
    ) -> Vec<Load> {
        let mut specs: Vec<ScenarioFile> = loaded.iter().map(|it| it.spec.clone()).collect();
        self.set(Target::Scenario, &mut specs, |_| true);
        let mut groups: Vec<Group> = Vec::new();
        let mut scenarios = Vec::with_capacity(specs.len());
        for (spec, loaded) in specs.iter_mut().zip(loaded) {
            spec.seed = seed.unwrap_or(spec.seed);
            if let Some(trials) = trials {
                match &mut spec.load {
                    scenario::Load::Conversation(load) => load.trials = trials,
                    _ => spec.trials = Some(trials),
                }
            }
            self.check_params(loaded, &spec.params);
            let policies = self.policies_with(&mut groups, &spec.params, suite_params);
            match load::workloads(loaded, spec) {
                Ok(workloads) => {
                    scenarios.extend(workloads.into_iter().map(|it| ready(spec, it, policies.clone())));
                }
                Err(mut error) => {
                    if let (Some(_), Error::Invalid(problems)) = (trials, &mut error) {
                        problems.iter_mut().for_each(blame_trials);
                    }
                    self.found.error(error);
                }
            }
        }
        scenarios
    }

    /// Returns the policies under a scenario's parameters; scenarios that set the same share them.
    fn policies_with(
        &mut self,
        groups: &mut Vec<Group>,
        of_scenario: &IndexMap<String, Size>,
        of_suite: &IndexMap<String, Size>,
    ) -> Vec<Arc<Policy>> {
        let mut specs: Vec<PolicyFile> = self.policies.iter().map(|it| it.spec.clone()).collect();
        for spec in &mut specs {
            params::overlay(spec, of_scenario);
            params::overlay(spec, of_suite);
        }
        if let Some(group) = groups.iter().find(|it| it.specs == specs) {
            return group.models.clone();
        }
        let as_written = specs.clone();
        self.set(Target::Policy, &mut specs, |it| Policy::new(it).is_ok());
        let mut models = Vec::with_capacity(specs.len());
        for (spec, loaded) in specs.iter().zip(&self.policies) {
            match Policy::new(spec) {
                Ok(policy) => models.push(Arc::new(policy)),
                Err(problems) => self.found.problems.extend(loaded.locate(problems)),
            }
        }
        groups.push(Group { specs: as_written, models: models.clone() });
        models
    }

    /// Applies the overrides of one kind.
    fn set<T: serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        target: Target,
        specs: &mut [T],
        passes: impl Fn(&T) -> bool,
    ) {
        for used in self.settings.iter_mut().filter(|it| it.setting.target == target) {
            used.apply(specs, &passes);
        }
    }

    /// Reports parameters that nothing declares.
    fn check_params<T>(&mut self, by: &Loaded<T>, given: &IndexMap<String, Size>) {
        if given.is_empty() || !self.is_complete {
            return;
        }
        let policies: Vec<PolicyFile> = self.policies.iter().map(|it| it.spec.clone()).collect();
        self.found.problems.extend(by.locate(params::undeclared(given, &policies, self.catalog)));
    }

    /// Reports profiles whose cache rules cannot replay a block trace.
    fn check_blocks(&mut self, scenarios: &[Load], profiles: &[Profile]) {
        for load in scenarios {
            let Some(block_trace) = load.workload.blocks() else { continue };
            for profile in profiles {
                self.found.problems.extend(block_trace.refusal(&profile.cache).map(|mut problem| {
                    problem.message = format!("{} ({})", problem.message, profile.name);
                    problem.place.field.clear();
                    problem
                }));
            }
        }
    }

    /// Reports a number of trials where nothing has trials; what could not be read may have some.
    fn check_trials(&mut self, scenarios: &[Load], trials: Option<u64>) {
        let has_trials = scenarios.iter().any(|it| it.is_sampled || it.workload.conversations().is_some());
        if trials.is_some() && !has_trials && self.found.is_empty() {
            let message = "no scenario of this run draws conversations";
            let mut problem = Diagnostic::at("trials-unused", "", message);
            "--trials".clone_into(&mut problem.place.file);
            let help = "leave it out, or name a scenario whose load is `conversation`";
            self.found.problems.push(problem.help(help));
        }
    }

    /// Lays problems of fields that were overridden at the override: the file says something else there.
    fn blame_used(&mut self) {
        for problem in &mut self.found.problems {
            let mut applied = self.settings.iter().filter(|it| it.is_applied);
            if let Some(used) = applied.rfind(|it| it.setting.covers(&problem.place.field)) {
                problem.place = used.setting.place();
            }
        }
    }

    /// Reports overrides that led to nothing anywhere.
    fn check_used(&mut self) {
        for used in &mut self.settings {
            if used.is_strict && !used.is_applied && self.is_complete {
                self.found.problems.extend(used.refused.take().map(|it| *it));
            }
        }
    }
}
