//! Overrides of policies: selects the policies to which one applies.

use indexmap::IndexSet;

use crate::catalog::{Catalog, Kind, Loaded};
use ctxsim_base::diag::{Code, Diagnostic, nearest};
use ctxsim_base::list::Listed as _;
use ctxsim_input::policy::wildcard;
use ctxsim_input::text::set::Override;
use ctxsim_input::{Policy, PolicyFile};

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
    pub(super) fn set(&self, setting: &Override, specs: &mut [PolicyFile]) -> Result<(), Box<Diagnostic>> {
        let name = setting.policy(|it| !self.named(it).is_empty());
        let (mine, setting) = match name {
            Some(name) => (self.named(name), &setting.of_policy(name)),
            None => ((0..specs.len()).listed(), setting),
        };
        if let Some(name) = name.filter(|_| mine.is_empty()) {
            return Err(self.unknown(setting, name));
        }
        let Some(param) = setting.param() else {
            return apply(setting, specs, &mine);
        };
        let reads = |it: &usize| specs[*it].params_read().is_none_or(|it| it.contains(param));
        let declares = |it: &usize| specs[*it].params.contains_key(param);
        let readers: Vec<usize> = mine.iter().copied().filter(|it| declares(it) && reads(it)).listed();
        if readers.is_empty() {
            return Err(no_reader(setting, name, param, mine.iter().map(|it| &specs[*it])));
        }
        if readers.len() > 1 && name.is_none() {
            let names: Vec<&str> = readers.iter().map(|it| specs[*it].name.as_str()).listed();
            return Err(ambiguous(setting, param, &names));
        }
        // Each by itself: their values may be written in different ways.
        readers.into_iter().try_for_each(|it| apply(setting, specs, &[it]))
    }

    /// Returns the policies that a name, a path or a pattern means.
    fn named(&self, name: &str) -> Vec<usize> {
        let all = || self.loaded.iter().enumerate();
        if name.contains('*') {
            return all().filter(|(_, it)| wildcard(name, &it.spec.name)).map(|(index, _)| index).listed();
        }
        let origin = self.catalog.find(Kind::Policy, name).ok();
        let is_file =
            |it: &Loaded<PolicyFile>| origin.as_ref().is_some_and(|origin| it.origin.is_same(origin));
        let by_file = all().find(|(_, it)| is_file(it));
        by_file
            .or_else(|| all().find(|(_, it)| it.spec.name == name))
            .map(|(index, _)| index)
            .into_iter()
            .listed()
    }

    fn unknown(&self, setting: &Override, name: &str) -> Box<Diagnostic> {
        let names = self.loaded.iter().map(|it| it.spec.name.as_str());
        let help = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{}`?", setting.field().replacen(name, near, 1)),
            None => format!("the policies of this run are {}", quoted(names)),
        };
        let message = format!("this run has no policy `{name}`");
        at(setting, Diagnostic::at(Code("set-no-such-policy"), "", message).help(help))
    }
}

/// Applies an override to some of the policies.
fn apply(setting: &Override, specs: &mut [PolicyFile], mine: &[usize]) -> Result<(), Box<Diagnostic>> {
    let mut own: Vec<PolicyFile> = mine.iter().map(|it| specs[*it].clone()).listed();
    setting.apply(&mut own, |it| Policy::new(it).is_ok())?;
    for (index, spec) in mine.iter().zip(own) {
        // No override changes a program, and its folder is not in the tree.
        let process = specs[*index].process.take();
        specs[*index] = PolicyFile { process, ..spec };
    }
    Ok(())
}

/// Reports an unused parameter.
fn no_reader<'a>(
    setting: &Override,
    name: Option<&str>,
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
        None => format!("their parameters are {}", quoted(known)),
    };
    let message = if is_declared {
        format!("the parameter `{param}` is never used")
    } else {
        let who =
            name.map_or_else(|| "no policy in this run has a".to_owned(), |it| format!("`{it}` has no"));
        format!("{who} parameter `{param}`")
    };
    at(setting, Diagnostic::at(Code("set-no-such-param"), "", message).help(help))
}

/// Reports a parameter that several policies have.
fn ambiguous(setting: &Override, param: &str, names: &[&str]) -> Box<Diagnostic> {
    let message =
        format!("{} policies have a parameter `{param}`: {}", names.len(), quoted(names.iter().copied()));
    let path = setting.field();
    let help = format!("name one, as in `{}.{path}=…`, or use `*.{path}=…` for all of them", names[0]);
    at(setting, Diagnostic::at(AMBIGUOUS, "", message).help(help))
}

/// Adds an override as a problem's place.
fn at(setting: &Override, mut problem: Diagnostic) -> Box<Diagnostic> {
    problem.place = setting.place();
    Box::new(problem)
}

/// Returns names in backticks, split by commas.
fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|it| format!("`{it}`")).listed().join(", ")
}
