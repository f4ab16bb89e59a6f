//! The guards of a suite: resolves their names and metrics.

use crate::prelude::*;
use ctxsim_base::diag::Problems;
use ctxsim_input::suite::{Figure, Guard};
use ctxsim_report::guard::NamedGuard;
use ctxsim_report::{ALL, places};

/// Reports guards whose names the suite does not run, and unknown metrics.
pub(super) fn check_suite_guards(catalog: &Catalog, origin: &Origin, suite: &SuiteFile) -> Vec<Diagnostic> {
    let mut problems = Problems::default();
    let own = SuiteNames { catalog, origin, suite };
    for (index, guard) in suite.guards.iter().enumerate() {
        problems.within(format_args!("guards.{index}"), |to| own.check_guard(guard, to));
    }
    for (index, figure) in suite.figures.iter().enumerate() {
        problems.within(format_args!("figures.{index}"), |to| {
            own.check_guard(&guard_of_figure(figure), to);
            for (field, name) in [("minus", &figure.minus), ("minus_scenario", &figure.minus_scenario)] {
                let kind = if field == "minus" { InputKind::Policy } else { InputKind::Scenario };
                let named = kind.names_in_suite(suite).iter();
                let own = || named.clone().flat_map(|it| catalog.expand_pattern_in_file(origin, kind, it));
                if let Some(name) = name.as_ref().filter(|name| {
                    !own().any(|it| it == **name || it == catalog.resolve_name_in_file(origin, kind, name))
                }) {
                    let message = format!("the suite does not run `{name}`");
                    let help = format!("name one of the suite's {}", kind.folder_name());
                    to.push_at(Code("guard-matches-nothing"), field, message, help);
                }
            }
        });
    }
    problems.into_result(()).err().unwrap_or_default()
}

/// Returns a guard that names what a figure names.
fn guard_of_figure(figure: &Figure) -> Guard {
    Guard {
        name: figure.name.clone(),
        policy: figure.policy.clone(),
        // Each model of a scenario makes a load of its own behind the scenario's name.
        scenario: Some(figure.scenario.clone()),
        profile: figure.profile.clone(),
        metric: Some(figure.metric.clone()),
        over: figure.over.clone(),
        ..Guard::default()
    }
}

/// A suite, and where its names are looked up.
#[derive(Clone, Copy)]
struct SuiteNames<'a> {
    catalog: &'a Catalog,
    origin: &'a Origin,
    suite: &'a SuiteFile,
}

impl SuiteNames<'_> {
    /// Reports what a guard names that the suite does not run.
    fn check_guard(&self, guard: &Guard, problems: &mut Problems) {
        let Self { catalog, origin, suite } = *self;
        let named = [
            ("policy", InputKind::Policy, Some(&guard.policy)),
            ("over", InputKind::Policy, guard.over.as_ref()),
            ("scenario", InputKind::Scenario, guard.scenario.as_ref()),
            ("profile", InputKind::Profile, guard.profile.as_ref()),
        ];
        for (field, kind, name) in named {
            let Some(name) = name else { continue };
            let own = kind.names_in_suite(suite).iter();
            let is_sum = kind == InputKind::Scenario && name == ALL;
            let own = own.flat_map(|it| catalog.expand_pattern_in_file(origin, kind, it)).listed();
            let path = catalog.resolve_name_in_file(origin, kind, name);
            if is_sum || own.contains(name) || is_file_among(catalog, kind, &own, &path) {
                continue;
            }
            let known = all_names_of_inputs(catalog, kind, &own);
            // A recording of several sessions makes a load of each.
            let is_session = |recording: &String| {
                kind == InputKind::Scenario
                    && name.strip_prefix(recording.as_str()).is_some_and(|it| it.starts_with('/'))
            };
            if known.contains(name) || known.iter().any(is_session) {
                continue;
            }
            let known = known.iter().map(String::as_str);
            let help = near_or(name, known, || format!("name one of the suite's {}", kind.folder_name()));
            let message = format!("the suite does not run `{name}`");
            problems.push_at(Code("guard-matches-nothing"), field, message, help);
        }
        self.check_fired_stages(guard, problems);
        let Some(metric) = &guard.metric else { return };
        if let Err(meant) = places::check_or_suggest_metric_path(metric) {
            let help = match meant {
                // The metrics of benchmarks are not known here.
                meant if !cfg!(feature = "worlds") => {
                    let or = meant.map_or_else(String::new, |it| format!(", or write `{it}`"));
                    format!("enable its feature `worlds` if a benchmark's load has it{or}")
                }
                Some(meant) => format!("did you mean `{meant}`?"),
                None => {
                    "`ctxsim run --format json` shows all metrics, such as `totals.cost_usd.total`".to_owned()
                }
            };
            problems.push_at(Code("guard-metric"), "metric", format!("unknown metric `{metric}`"), help);
        }
    }

    /// Reports stages that must fire but do not exist in the policy.
    fn check_fired_stages(&self, guard: &Guard, problems: &mut Problems) {
        let Self { catalog, origin, suite } = *self;
        if guard.fired.is_empty() {
            return;
        }
        let named = |it: &String| catalog.expand_pattern_in_file(origin, InputKind::Policy, it);
        let own = suite.policies.iter().flat_map(named);
        let mut own = own.filter_map(|it| Some((catalog.policy(&it).ok()?, it)));
        let path = catalog.resolve_name_in_file(origin, InputKind::Policy, &guard.policy);
        let is_it = |(policy, name): &(Loaded<PolicyFile>, String)| {
            [&guard.policy, &path].contains(&name) || policy.spec.name == guard.policy
        };
        // What is wrong with a policy's name is told where that is checked.
        let Some((policy, _)) = own.find(is_it) else { return };
        let known: Vec<&str> = policy.spec.stages.iter().map(|it| it.name.as_str()).listed();
        for (nth, stage) in guard.fired.iter().enumerate().filter(|(_, it)| !known.contains(&it.as_str())) {
            let help = near_or(stage, known.iter().copied(), || match known.join(", ") {
                none if none.is_empty() => format!("{} has no stages", guard.policy),
                all => format!("its stages are {all}"),
            });
            let message = format!("{} has no stage `{stage}`", guard.policy);
            problems.push_at(Code("guard-stage"), format_args!("fired.{nth}"), message, help);
        }
    }
}

/// Returns whether one of a suite's paths leads to the file that a guard names.
fn is_file_among(catalog: &Catalog, kind: InputKind, paths: &[String], wanted: &str) -> bool {
    let Ok(wanted) = catalog.find_origin(kind, wanted) else { return false };
    paths.iter().any(|it| catalog.find_origin(kind, it).is_ok_and(|it| it.is_same_input(&wanted)))
}

/// Returns what the inputs of a suite are called: as the suite does, and as they do themselves.
fn all_names_of_inputs(catalog: &Catalog, kind: InputKind, paths: &[String]) -> Vec<String> {
    let inner = paths.iter().filter_map(|name| match kind {
        InputKind::Policy => catalog.policy(name).map(|it| it.spec.name).ok(),
        InputKind::Scenario => catalog.scenario(name).map(|it| it.spec.name).ok(),
        InputKind::Profile => catalog.profile(name).map(|it| it.spec.name).ok(),
        InputKind::Suite => None,
    });
    paths.iter().cloned().chain(inner).listed()
}

/// The parts of a plan that guards can name.
pub(super) struct GuardTargets<'a> {
    pub(super) catalog: &'a Catalog,
    /// The suite's file.
    pub(super) suite: Option<&'a Loaded<SuiteFile>>,
    pub(super) policies: &'a [Loaded<PolicyFile>],
    pub(super) scenarios: &'a [Loaded<ScenarioFile>],
    pub(super) profiles: &'a [Loaded<ProfileFile>],
    /// Whether sessions run under the profiles of their own models, which are unknown until they are opened.
    pub(super) is_open: bool,
}

/// The guards of a suite, and those that a plan leaves out.
#[derive(Default)]
pub(super) struct ResolvedGuards {
    /// Those that apply to some run.
    pub(super) named: Vec<NamedGuard>,
    /// The number of those that do not.
    pub(super) n_left_out: usize,
    /// The same as problems, for a plan that should leave out nothing.
    pub(super) about_nothing: Vec<Diagnostic>,
}

impl GuardTargets<'_> {
    /// Finds the runs to which guards apply.
    pub(super) fn resolve_guards(&self, guards: &[Guard]) -> ResolvedGuards {
        let mut found = ResolvedGuards::default();
        for (index, guard) in guards.iter().enumerate() {
            if let Some(named) = self.resolve_guard(index, guard) {
                found.named.push(named);
                continue;
            }
            found.n_left_out += 1;
            let message = format!("guard `{}` applies to no run", guard.name);
            let problem = Diagnostic::at(Code("guard-matches-nothing"), format!("guards.{index}"), message);
            let help = "name a policy, a scenario and a profile that the suite runs";
            found.about_nothing.push(problem.help(help));
        }
        found
    }

    /// Finds the runs to which a guard applies; `None` if this plan leaves out what it names.
    fn resolve_guard(&self, index: usize, guard: &Guard) -> Option<NamedGuard> {
        let policy = |name: &String| {
            let index = self.find_loaded(InputKind::Policy, self.policies, |it| &it.name, name)?;
            Some(self.policies[index].spec.name.clone())
        };
        let profile = |name: &String| {
            match self.find_loaded(InputKind::Profile, self.profiles, |it| &it.name, name) {
                Some(index) => Some(self.profiles[index].spec.name.clone()),
                // Sessions under their own models run under profiles that nobody named.
                None => self.catalog.profile(name).ok().filter(|_| self.is_open).map(|it| it.spec.name),
            }
        };
        let is_change = guard.max_increase.or(guard.max_decrease).is_some();
        let first = self.policies.first().map(|it| it.spec.name.clone());
        let stage = guard.fired.first().map_or_else(|| "name".to_owned(), |it| format!("stages.{it}"));
        let own = self.find_loaded(InputKind::Policy, self.policies, |it| &it.name, &guard.policy)?;
        Some(NamedGuard {
            guard: guard.clone(),
            policy: self.policies[own].spec.name.clone(),
            over: find_if_named(guard.over.as_ref(), policy)?.or(first.filter(|_| is_change)),
            place: self.suite.map(|it| it.place_of_field(format!("guards.{index}"))).unwrap_or_default(),
            policy_place: place_in_own_file(&self.policies[own], stage),
            scenarios: find_if_named(guard.scenario.as_ref(), |it| self.load_names_of(it))?,
            profile: find_if_named(guard.profile.as_ref(), profile)?,
        })
    }

    /// Returns the loads that a name means: a single one, those of a scenario, or their sum.
    fn load_names_of(&self, name: &String) -> Option<Vec<String>> {
        // A recording of several sessions makes a load of each, whose names are not known before it is opened.
        let is_session = |scenario: &Loaded<ScenarioFile>| {
            name.strip_prefix(&scenario.spec.name).is_some_and(|it| it.starts_with('/'))
        };
        if name == ALL || self.scenarios.iter().any(is_session) {
            return Some(vec![name.clone()]);
        }
        let index = self.find_loaded(InputKind::Scenario, self.scenarios, |it| &it.name, name)?;
        Some(vec![self.scenarios[index].spec.name.clone()])
    }

    /// Returns which input a name or a path from the suite's folder means: that file, else the one that calls itself so.
    fn find_loaded<T>(
        &self,
        kind: InputKind,
        loaded: &[Loaded<T>],
        name_of: impl Fn(&T) -> &String,
        wanted: &str,
    ) -> Option<usize> {
        let path = self.suite.map(|it| self.catalog.resolve_name_in_file(&it.origin, kind, wanted));
        let origin = self.catalog.find_origin(kind, path.as_deref().unwrap_or(wanted)).ok();
        let by_file = origin.and_then(|origin| loaded.iter().position(|it| it.origin.is_same_input(&origin)));
        by_file.or_else(|| loaded.iter().position(|it| name_of(&it.spec) == wanted))
    }
}

/// Returns the place of a field in a policy's own file, or of the policy where a base gives the field.
fn place_in_own_file(policy: &Loaded<PolicyFile>, field: String) -> Place {
    let place = policy.place_of_field(field);
    if place.file == policy.origin.label() { place } else { policy.place_of_field("name".to_owned()) }
}

/// Returns what is named, if something is; `None` where it has no part in the run.
fn find_if_named<T>(name: Option<&String>, find: impl FnOnce(&String) -> Option<T>) -> Option<Option<T>> {
    name.map_or(Some(None), |it| find(it).map(Some))
}
