//! Overrides of a run and parameters of its policies: which there are, where each applies, and what became of it.

use crate::prelude::*;

use crate::named::NamedScenario;

use ctxsim_input::policy::Size;
use ctxsim_input::text::set::SetTarget;
use ctxsim_input::text::{Decode, Encode};

/// Whether an override could be applied.
pub(super) type Applied = Result<(), Box<Diagnostic>>;

/// An override with what became of it.
pub(super) struct OverrideUse {
    pub(super) setting: Override,
    /// Whether it must apply somewhere: an override of a suite need not if the run uses only a part of the
    /// suite.
    pub(super) is_strict: bool,
    pub(super) is_applied: bool,
    pub(super) refused: Option<Box<Diagnostic>>,
}

impl OverrideUse {
    /// Applies an override; a problem counts only if it applies nowhere.
    pub(super) fn apply_to<T: Encode + Decode>(&mut self, specs: &mut [T], is_valid: impl Fn(&T) -> bool) {
        let applied = self.setting.apply(specs, is_valid);
        self.note_result(applied);
    }

    /// Notes what became of it; a parameter of several policies must be said of one, wherever it is set.
    pub(super) fn note_result(&mut self, applied: Applied) {
        match applied {
            Ok(()) => self.is_applied = true,
            Err(problem) => {
                self.is_strict |= problem.code == AMBIGUOUS;
                self.refused = self.refused.take().or(Some(problem));
            }
        }
    }

    /// Says why an override can lead to nothing.
    pub(super) fn note_refusal(&mut self, message: &str, help: &str) {
        let problem = Diagnostic::at(Code("set-no-such-field"), &self.setting.text, message).help(help);
        self.refused = Some(Box::new(problem.in_file("--set")));
    }
}

/// Reads the overrides: the suite's first, then the comparison's.
pub(super) fn read_overrides(
    comparison: &Comparison,
    suite: Option<&Loaded<SuiteFile>>,
    is_whole_suite: bool,
    known_paths: impl Fn() -> Vec<String>,
    found: &mut ProblemsFound,
) -> Vec<OverrideUse> {
    let used = |setting, is_strict| OverrideUse { setting, is_strict, is_applied: false, refused: None };
    // Those of the suite that cannot be read are told when it is checked.
    let of_suite = suite.into_iter().flat_map(|it| &it.spec.set).filter_map(|it| Override::parse(it).ok());
    let mut all = of_suite.map(|it| used(it, is_whole_suite)).listed();
    for text in &comparison.set {
        match Override::parse(text) {
            Ok(setting) => all.push(used(setting, true)),
            Err(mut problem) => {
                Override::suggest(&mut problem, &known_paths());
                found.problems.push(*problem);
            }
        }
    }
    all
}

/// Returns all paths into the inputs of a run; those into one of several policies begin with its name.
pub(super) fn all_override_paths(
    policies: &[Loaded<PolicyFile>],
    scenarios: &[NamedScenario],
    profiles: &[Loaded<ProfileFile>],
    suite: Option<&Loaded<SuiteFile>>,
) -> Vec<String> {
    let of_policies = policies.iter().flat_map(|policy| {
        let plain = Override::paths(SetTarget::Policy, None, &policy.spec);
        plain.into_iter().map(|path| (path, policy.spec.name.as_str()))
    });
    let mut owners: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    of_policies.for_each(|(path, name)| owners.entry(path).or_default().push(name));
    let mut known = Vec::new();
    for (path, names) in owners {
        known.extend(names.iter().map(|it| format!("{it}.{path}")));
        if names.len() == 1 {
            known.push(path);
        }
    }
    let numbers = scenarios.iter().flat_map(|it| ctxsim_worlds::numbers(&it.loaded.spec.load));
    let own = scenarios.iter().flat_map(|it| Override::paths(SetTarget::Scenario, None, &it.loaded.spec));
    known.extend(own.chain(numbers));
    for profile in profiles {
        known.extend(Override::paths(SetTarget::Profile, None, &profile.spec));
        known.extend(Override::paths(SetTarget::Profile, Some(&profile.spec.name), &profile.spec));
    }
    let habits = suite.and_then(|it| it.spec.break_even.as_ref());
    known.extend(habits.map(|it| Override::paths(SetTarget::BreakEven, None, it)).unwrap_or_default());
    distinct(known.into_iter())
}

/// The code of a parameter that several policies have.
pub(super) const AMBIGUOUS: Code = Code("set-ambiguous");

/// The policies of a run, as overrides may name them.
pub(super) struct NamedPolicies<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) loaded: &'a [Loaded<PolicyFile>],
}

impl NamedPolicies<'_> {
    /// Applies an override to its policies.
    ///
    /// # Errors
    /// It applies to none, several policies have the parameter and none is named, or the value is invalid.
    pub(super) fn apply_override(&self, setting: &Override, specs: &mut [PolicyFile]) -> Applied {
        let name = setting.policy(|it| !self.indices_of_named(it).is_empty());
        let (mine, setting) = match name {
            Some(name) => (self.indices_of_named(name), &setting.of_policy(name)),
            None => ((0..specs.len()).listed(), setting),
        };
        if let Some(name) = name.filter(|_| mine.is_empty()) {
            return Err(self.unknown_policy_problem(setting, name));
        }
        let Some(param) = setting.param() else { return apply_to_policies(setting, specs, &mine) };
        let reads = |it: &usize| specs[*it].params_read().is_none_or(|it| it.contains(param));
        let declares = |it: &usize| specs[*it].params.contains_key(param);
        let readers: Vec<usize> = mine.iter().copied().filter(|it| declares(it) && reads(it)).listed();
        if readers.is_empty() {
            return Err(unused_param_problem(setting, name, param, mine.iter().map(|it| &specs[*it])));
        }
        if readers.len() > 1 && name.is_none() {
            let names: Vec<&str> = readers.iter().map(|it| specs[*it].name.as_str()).listed();
            return Err(ambiguous_param_problem(setting, param, &names));
        }
        // Each by itself: their values may be written in different ways.
        readers.into_iter().try_for_each(|it| apply_to_policies(setting, specs, &[it]))
    }

    /// Returns the policies that a name, a path or a pattern means.
    fn indices_of_named(&self, name: &str) -> Vec<usize> {
        let all = || self.loaded.iter().enumerate();
        if name.contains('*') {
            return all().filter(|(_, it)| wildcard(name, &it.spec.name)).map(|(index, _)| index).listed();
        }
        let origin = self.catalog.find_origin(InputKind::Policy, name).ok();
        let is_file =
            |it: &Loaded<PolicyFile>| origin.as_ref().is_some_and(|origin| it.origin.is_same_input(origin));
        let found = all().find(|(_, it)| is_file(it)).or_else(|| all().find(|(_, it)| it.spec.name == name));
        found.map(|(index, _)| index).into_iter().listed()
    }

    fn unknown_policy_problem(&self, setting: &Override, name: &str) -> Box<Diagnostic> {
        let names = self.loaded.iter().map(|it| it.spec.name.as_str());
        let help = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{}`?", setting.field().replacen(name, near, 1)),
            None => format!("the policies of this run are {}", join_in_backticks(names)),
        };
        let message = format!("this run has no policy `{name}`");
        at_override(setting, Diagnostic::at(Code("set-no-such-policy"), "", message).help(help))
    }
}

/// Applies an override to some of the policies.
fn apply_to_policies(setting: &Override, specs: &mut [PolicyFile], indices: &[usize]) -> Applied {
    let mut own: Vec<PolicyFile> = indices.iter().map(|it| specs[*it].clone()).listed();
    setting.apply(&mut own, |it| Policy::new(it).is_ok())?;
    for (index, spec) in indices.iter().zip(own) {
        // No override changes a program, and its folder is not in the tree.
        let process = specs[*index].process.take();
        specs[*index] = PolicyFile { process, ..spec };
    }
    Ok(())
}

/// Reports an unused parameter.
fn unused_param_problem<'a>(
    setting: &Override,
    policy: Option<&str>,
    param: &str,
    policies: impl Iterator<Item = &'a PolicyFile> + Clone,
) -> Box<Diagnostic> {
    let is_declared = policies.clone().any(|it| it.params.contains_key(param));
    let known: IndexSet<&str> = policies.flat_map(|it| it.params.keys().map(String::as_str)).collect();
    let known = known.into_iter().filter(|it| *it != param);
    let help = match nearest(param, known.clone()) {
        Some(near) => {
            let (behind, rest) = setting.field().split_once("params.").unwrap_or_default();
            format!("did you mean `{behind}params.{}`?", rest.replacen(param, near, 1))
        }
        None if known.clone().next().is_none() => "these policies have no parameters".to_owned(),
        None => format!("their parameters are {}", join_in_backticks(known)),
    };
    let message = if is_declared {
        format!("the parameter `{param}` is never used")
    } else {
        let who =
            policy.map_or_else(|| "no policy in this run has a".to_owned(), |it| format!("`{it}` has no"));
        format!("{who} parameter `{param}`")
    };
    at_override(setting, Diagnostic::at(Code("set-no-such-param"), "", message).help(help))
}

/// Reports a parameter that several policies have.
fn ambiguous_param_problem(setting: &Override, param: &str, names: &[&str]) -> Box<Diagnostic> {
    let all = join_in_backticks(names.iter().copied());
    let message = format!("{} policies have a parameter `{param}`: {all}", names.len());
    let path = setting.field();
    let help = format!("name one, as in `{}.{path}=…`, or use `*.{path}=…` for all of them", names[0]);
    at_override(setting, Diagnostic::at(AMBIGUOUS, "", message).help(help))
}

/// Adds an override as a problem's place.
fn at_override(setting: &Override, mut problem: Diagnostic) -> Box<Diagnostic> {
    problem.place = setting.place();
    Box::new(problem)
}

/// Returns names in backticks, split by commas.
fn join_in_backticks<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|it| format!("`{it}`")).listed().join(", ")
}

/// Puts so many copies in the place of the last policy.
pub(super) fn repeat_last_policy(mut policies: Vec<Loaded<PolicyFile>>, n: usize) -> Vec<Loaded<PolicyFile>> {
    // A policy that is varied against itself stands there once.
    let last = if policies.len() > 1 && n > 0 { policies.pop() } else { policies.last().cloned() };
    policies.extend(last.into_iter().flat_map(|last| (0..n).map(move |_| last.clone())));
    policies
}

/// Reads the overrides of variants.
pub(super) fn parse_variants(variants: &[Vec<String>], found: &mut ProblemsFound) -> Vec<Vec<Override>> {
    let mut read = |text: &String| Override::parse(text).map_err(|it| found.problems.push(*it)).ok();
    variants.iter().map(|it| it.iter().filter_map(&mut read).listed()).listed()
}

/// Applies the overrides of variants to the last of the policies, each to one.
///
/// # Errors
/// The problems of the first variant with an invalid override.
pub(super) fn apply_variants(
    catalog: &Catalog,
    loaded: &[Loaded<PolicyFile>],
    variants: &[Vec<Override>],
    specs: &mut [PolicyFile],
) -> Applied {
    let first = specs.len().saturating_sub(variants.len());
    for (nth, settings) in (first..).zip(variants) {
        let one = NamedPolicies { catalog, loaded: &loaded[nth..=nth] };
        settings.iter().try_for_each(|it| one.apply_override(it, &mut specs[nth..=nth]))?;
    }
    Ok(())
}

/// Lays parameters over those that a policy declares; others are not its own.
pub(super) fn overlay_params(spec: &mut PolicyFile, params: &IndexMap<String, Size>) {
    for (name, own) in &mut spec.params {
        params.get(name).into_iter().for_each(|value| own.clone_from(value));
    }
}

/// Returns a problem for each parameter that nothing declares: no policy of the run, and none of the catalog.
///
/// A suite or a scenario is written for many policies, so a run of a few of them may declare fewer names than it sets.
pub(super) fn undeclared_param_problems(
    params: &IndexMap<String, Size>,
    policies: &[PolicyFile],
    catalog: &Catalog,
) -> Vec<Diagnostic> {
    // Mostly the first policy that declares a name also reads it; only for a name that none has are all looked through.
    let reads =
        |it: &PolicyFile, name: &str| it.params.contains_key(name) && params_read_by(it).any(|it| it == name);
    if params.keys().all(|name| policies.iter().any(|it| reads(it, name))) {
        return Vec::new();
    }
    let mut declared: IndexSet<&str> = policies.iter().flat_map(params_read_by).collect();
    let mut read = catalog.policy_reader();
    let others = catalog.names(InputKind::Policy).filter_map(|it| Some(read.read_policy(it).ok()?.spec));
    let others: Vec<PolicyFile> = others.listed();
    declared.extend(others.iter().flat_map(params_read_by));
    let unknown = params.keys().filter(|it| !declared.contains(it.as_str()));
    let problems = unknown.map(|name| {
        let message = format!("no policy declares the parameter `{name}`");
        let otherwise = || "declare it in a policy's `params`, or remove it".to_owned();
        let help = near_or(name, declared.iter().copied(), otherwise);
        Diagnostic::at(Code("param-undeclared"), format!("params.{name}"), message).help(help)
    });
    problems.listed()
}

/// Returns the parameters that a policy declares and reads.
fn params_read_by(spec: &PolicyFile) -> impl Iterator<Item = &str> {
    let read = spec.params_read();
    let is_read = move |name: &&str| read.as_ref().is_none_or(|it| it.contains(*name));
    spec.params.keys().map(String::as_str).filter(is_read)
}

/// Returns a problem for each parameter that a policy's own file gives and nothing of the policy reads. What only its base gives may
/// have been for a stage that the policy has replaced.
pub(super) fn unread_param_problems(policy: &Loaded<PolicyFile>) -> Vec<Diagnostic> {
    let Some(source) = &policy.source else { return Vec::new() };
    let all = || policy.spec.params.keys();
    let own = all().filter(|it| source.gives(&format!("params.{it}"))).listed();
    let Some(read) = (!own.is_empty()).then(|| policy.spec.params_read()).flatten() else {
        return Vec::new();
    };
    let problems = own.into_iter().filter(|it| !read.contains(*it)).map(|name| {
        let known = all().map(String::as_str).filter(|it| read.contains(*it));
        let help = near_or(name, known, || format!("read it with `param(\"{name}\")`, or remove it"));
        let message = format!("the parameter `{name}` is never used");
        source.locate(Diagnostic::at(Code("param-unread"), format!("params.{name}"), message).help(help))
    });
    problems.listed()
}
