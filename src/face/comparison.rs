//! A comparison put together in code, of what is named or built in code.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::face::plan::RunRequest;
use crate::face::verbs::SearchRequest;
use crate::face::{self, Catalog, Error, Plan, Policy, Profile, Report, Scenario};
use ctxsim_app::catalog::{Catalog as Inner, InputKind};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::take::THREADS_MAX;
use ctxsim_input::Format;
use ctxsim_input::policy::OwnCode;
use ctxsim_timeline::Timeline;

/// A comparison: which policies, on which scenarios, under which profiles.
///
/// Nothing is read before [`Comparison::plan`], which reports every problem of every input at once.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    catalog: Option<Catalog>,
    policies: Vec<PolicyRef>,
    scenarios: Vec<ScenarioRef>,
    profiles: Vec<ProfileRef>,
    /// Everything else that is compared, without policies, scenarios and profiles.
    rest: ctxsim_app::Comparison,
    asked: RunRequest,
    /// What searches vary and look for.
    pub(super) search: SearchRequest,
}

impl Comparison {
    /// Creates an empty comparison over the bundled catalog.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the catalog in which names are looked up; [`Catalog::bundled`] by default.
    #[must_use]
    pub fn catalog(self, catalog: Catalog) -> Self {
        Self { catalog: Some(catalog), ..self }
    }

    /// Sets a suite, by name or path: it supplies every list (policies, scenarios, profiles) left empty here, and its overrides and guards.
    #[must_use]
    pub fn suite(self, suite: impl Into<String>) -> Self {
        Self { rest: ctxsim_app::Comparison { suite: Some(suite.into()), ..self.rest }, ..self }
    }

    /// Adds a policy; the first is the baseline.
    #[must_use]
    pub fn policy(mut self, policy: impl Into<PolicyRef>) -> Self {
        self.policies.push(policy.into());
        self
    }

    /// Adds a scenario.
    #[must_use]
    pub fn scenario(mut self, scenario: impl Into<ScenarioRef>) -> Self {
        self.scenarios.push(scenario.into());
        self
    }

    /// Adds several scenarios, such as the sessions of a recording.
    #[must_use]
    pub fn scenarios<S: Into<ScenarioRef>>(mut self, scenarios: impl IntoIterator<Item = S>) -> Self {
        self.scenarios.extend(scenarios.into_iter().map(Into::into));
        self
    }

    /// Adds a profile.
    #[must_use]
    pub fn profile(mut self, profile: impl Into<ProfileRef>) -> Self {
        self.profiles.push(profile.into());
        self
    }

    /// Runs each recorded session under the profile of the model that it was recorded with.
    #[must_use]
    pub fn own_models(self) -> Self {
        Self { rest: ctxsim_app::Comparison { own_models: true, ..self.rest }, ..self }
    }

    /// Overrides a field, as `--set PATH=VALUE` does. A bare number has the unit of the number that stands there: `params.trigger` of a policy whose
    /// trigger is in tokens takes tokens.
    ///
    /// ```
    /// let prompt = |trigger: u32| {
    ///     let comparison = ctxsim::Comparison::new().policy("clear_tool_results").scenario("recorded/claude-code");
    ///     let comparison = comparison.profile("anthropic/claude-sonnet-4.5").set("params.trigger", trigger);
    ///     Ok::<u64, ctxsim::Error>(comparison.run()?.runs()[0].prompt_max())
    /// };
    /// assert!(prompt(40_000)? < prompt(85_000)?);
    /// # Ok::<(), ctxsim::Error>(())
    /// ```
    #[must_use]
    pub fn set(mut self, path: &str, value: impl Into<Value>) -> Self {
        self.rest.set.push(format!("{path}={}", value.into().0));
        self
    }

    /// Sets the random seed; each scenario's own by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { rest: ctxsim_app::Comparison { seed: Some(seed), ..self.rest }, ..self }
    }

    /// Sets the number of trials of random loads; each scenario's own by default.
    #[must_use]
    pub fn trials(self, trials: u64) -> Self {
        Self { rest: ctxsim_app::Comparison { trials: Some(trials), ..self.rest }, ..self }
    }

    /// Sets the number of threads, from 1 to 1,024; one per core by default. Results never depend on it. Without the feature `threads` the caller's thread does all.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.asked.threads = Some(threads.clamp(1, THREADS_MAX));
        self
    }

    /// Leaves out recorded sessions whose last request was before a date, `YYYY-MM-DD`.
    #[must_use]
    pub fn since(self, date: impl Into<String>) -> Self {
        Self { rest: ctxsim_app::Comparison { since: Some(date.into()), ..self.rest }, ..self }
    }

    /// Leaves out all recorded sessions but the newest, by the times of their last requests.
    #[must_use]
    pub fn limit(self, newest_sessions: usize) -> Self {
        Self { rest: ctxsim_app::Comparison { limit: Some(newest_sessions), ..self.rest }, ..self }
    }

    /// Leaves out recorded sessions of other models: a part of the model's id, or a pattern with `*`.
    #[must_use]
    pub fn model(self, only_recorded_with: impl Into<String>) -> Self {
        Self { rest: ctxsim_app::Comparison { model: Some(only_recorded_with.into()), ..self.rest }, ..self }
    }

    /// Leaves out recorded sessions that cannot be used, such as those whose model no profile covers, as the command line does in a folder; the report
    /// lists them with the reason. Without this, they are errors.
    #[must_use]
    pub fn skip_unusable(self) -> Self {
        Self { rest: ctxsim_app::Comparison { skips_unusable: true, ..self.rest }, ..self }
    }

    /// Sets the share of needed evidence, from 0 to 1, that a policy must keep to be recommended; 0.9 by default.
    #[must_use]
    pub fn min_evidence(mut self, share: f64) -> Self {
        self.asked.min_evidence = Some(share);
        self
    }

    /// Keeps the rows of each run ([`Run::request_rows`](crate::Run::request_rows), [`Run::need_rows`](crate::Run::need_rows)), about 150 bytes for
    /// each request and 60 for each need; pages then have charts of requests.
    #[must_use]
    pub fn rows(mut self) -> Self {
        self.asked.keeps_rows = true;
        self
    }

    /// Runs code policies twice; if the second run sends anything different, the run fails with an error that names the request.
    #[must_use]
    pub fn play_twice(self) -> Self {
        Self { rest: ctxsim_app::Comparison { play_twice: true, ..self.rest }, ..self }
    }

    /// Lets policies start the programs that they name.
    #[must_use]
    pub fn allow_process(self) -> Self {
        Self { rest: ctxsim_app::Comparison { allow_process: true, ..self.rest }, ..self }
    }

    /// Returns how many policies are named.
    pub(super) fn n_policies(&self) -> usize {
        self.policies.len()
    }

    /// Puts a policy before the others.
    pub(super) fn with_policy_first(mut self, policy: impl Into<PolicyRef>) -> Self {
        self.policies.insert(0, policy.into());
        self
    }

    /// Adds a profile if none is named.
    #[cfg(feature = "testing")]
    pub(crate) fn with_profile_if_none(
        self,
        profile: impl FnOnce() -> Result<Profile, Error>,
    ) -> Result<Self, Error> {
        if self.profiles.is_empty() { Ok(self.profile(profile()?)) } else { Ok(self) }
    }

    /// Puts a scenario in the place of all.
    #[cfg(feature = "testing")]
    pub(crate) fn only_on_scenario(self, scenario: impl Into<ScenarioRef>) -> Self {
        Self { scenarios: vec![scenario.into()], ..self }
    }

    /// Reads and checks everything.
    ///
    /// # Errors
    /// Every problem of every input and override.
    pub fn plan(self) -> Result<Plan, Error> {
        let (catalog, comparison, asked) = self.into_app_inputs()?;
        Ok(Plan::new(ctxsim_app::Plan::new(&catalog, &comparison)?, asked))
    }

    /// Puts what is built in code into a catalog, under its name.
    pub(super) fn into_app_inputs(self) -> Result<(Inner, ctxsim_app::Comparison, RunRequest), Error> {
        let catalog = self.catalog.unwrap_or_else(Catalog::bundled).0;
        let mut held = HeldInputs { catalog, names: BTreeMap::new(), problems: Vec::new() };
        let policies = self.policies.into_iter().map(|policy| match policy.0 {
            PolicyIs::Named(name) => held.claim_catalog_name(InputKind::Policy, name),
            PolicyIs::Declared(it) => held.hold_policy(it),
            PolicyIs::Code(code) => {
                let (file, code) = code.into_parts();
                held.add_built_input(InputKind::Policy, file.name.clone(), file, Some(code))
            }
        });
        let policies = policies.collect();
        for scenario in &self.scenarios {
            if let ScenarioIs::Named(name) = &scenario.0 {
                held.claim_name(InputKind::Scenario, name, false);
            }
        }
        let scenarios = self.scenarios.into_iter().map(|scenario| match scenario.0 {
            ScenarioIs::Named(name) => name,
            ScenarioIs::Built(it) => held.add_under_free_name(it.timeline()),
        });
        let scenarios = scenarios.collect();
        let profiles = self.profiles.into_iter().map(|profile| match profile.0 {
            ProfileIs::Named(name) => held.claim_catalog_name(InputKind::Profile, name),
            ProfileIs::Built(it) => {
                let (file, code) = it.into_parts();
                held.add_built_input(InputKind::Profile, file.name.clone(), file, code)
            }
        });
        let profiles = profiles.collect();
        if let Some(share) = self.asked.min_evidence.filter(|it| !(0.0..=1.0).contains(it)) {
            let problem =
                Diagnostic::at(Code("min-evidence"), "min_evidence", format!("{share} is not a share"));
            held.problems.push(problem.help("write a number from 0 to 1, such as `0.9`"));
        }
        if !held.problems.is_empty() {
            return Err(held.problems.into());
        }
        let comparison = ctxsim_app::Comparison { policies, scenarios, profiles, ..self.rest };
        Ok((held.catalog, comparison, self.asked))
    }

    /// Reads, checks and runs everything.
    ///
    /// # Errors
    /// The same as for [`Comparison::plan`] and [`Plan::run`].
    pub fn run(self) -> Result<Report, Error> {
        self.plan()?.run()
    }
}

/// A catalog plus the inputs that are built in code.
struct HeldInputs {
    catalog: Inner,
    /// Each input, with whether it is built in code.
    names: BTreeMap<(InputKind, String), bool>,
    problems: Vec<Diagnostic>,
}

impl HeldInputs {
    /// Returns the name of an input of the catalog.
    fn claim_catalog_name(&mut self, kind: InputKind, name: String) -> String {
        self.claim_name(kind, &name, false);
        name
    }

    /// Adds the text of a policy; returns its name.
    fn hold_policy(&mut self, Policy { name, format, text }: Policy) -> String {
        let extension = match format {
            Format::Ron => "ron",
            Format::Toml => "toml",
        };
        if self.claim_name(InputKind::Policy, &name, true) {
            self.catalog.try_add_text(&format!("policies/{name}.{extension}"), text);
        }
        name
    }

    /// Adds what a file would say, and the code behind it; returns its name.
    fn add_built_input<T: Any + Send + Sync>(
        &mut self,
        kind: InputKind,
        name: String,
        file: T,
        code: Option<OwnCode>,
    ) -> String {
        if self.claim_name(kind, &name, true) {
            self.catalog.add_built(kind, &name, file, code);
        }
        name
    }

    /// Adds a timeline; returns its name, which has a number behind it if another scenario has the same.
    fn add_under_free_name(&mut self, timeline: &Arc<Timeline>) -> String {
        let own = &timeline.name;
        let is_taken = |name: &str| self.names.contains_key(&(InputKind::Scenario, name.to_owned()));
        let mut name = own.clone();
        let mut number = 1_u64;
        while is_taken(&name) {
            number += 1;
            name = format!("{own}#{number}");
        }
        if self.claim_name(InputKind::Scenario, &name, true) {
            self.catalog.add_timeline(&name, Arc::clone(timeline));
        }
        name
    }

    /// Checks that no policy or profile built in code has the name of another: one of them would silently run in place of both.
    fn claim_name(&mut self, kind: InputKind, name: &str, is_built: bool) -> bool {
        let folder = kind.folder_name();
        let problem = if is_built && name.trim().is_empty() {
            Diagnostic::at(Code("name-empty"), "name", format!("one of the {folder} has no name"))
                .help("give it one, such as `mine`")
        } else if self.names.get(&(kind, name.to_owned())).is_some_and(|it| *it || is_built) {
            let message = format!("two different {folder} are named `{name}`");
            Diagnostic::at(Code("name-twice"), "name", message).help("give each its own name")
        } else {
            self.names.insert((kind, name.to_owned()), is_built);
            return true;
        };
        self.problems.push(problem);
        false
    }
}

/// A policy: a name, a pattern with `*`, a path, or one built in code.
#[derive(Clone, Debug)]
pub struct PolicyRef(pub(super) PolicyIs);

#[derive(Clone, Debug)]
pub(super) enum PolicyIs {
    Named(String),
    Declared(Policy),
    Code(face::CodePolicy),
}

/// A scenario: a name, a pattern with `*`, a recorded session, a folder of them, or one built in code.
#[derive(Clone, Debug)]
pub struct ScenarioRef(pub(super) ScenarioIs);

#[derive(Clone, Debug)]
pub(super) enum ScenarioIs {
    Named(String),
    Built(Scenario),
}

/// A profile: a name, a pattern with `*`, a path, or one built in code.
#[derive(Clone, Debug)]
pub struct ProfileRef(pub(super) ProfileIs);

#[derive(Clone, Debug)]
pub(super) enum ProfileIs {
    Named(String),
    Built(Box<Profile>),
}

macro_rules! named {
    ($reference:ident, $is:ident) => {
        impl From<&str> for $reference {
            fn from(name: &str) -> Self {
                Self($is::Named(name.to_owned()))
            }
        }

        impl From<String> for $reference {
            fn from(name: String) -> Self {
                Self($is::Named(name))
            }
        }

        impl From<&Path> for $reference {
            fn from(path: &Path) -> Self {
                Self($is::Named(path.display().to_string()))
            }
        }

        impl From<PathBuf> for $reference {
            fn from(path: PathBuf) -> Self {
                path.as_path().into()
            }
        }
    };
}

named!(PolicyRef, PolicyIs);
named!(ScenarioRef, ScenarioIs);
named!(ProfileRef, ProfileIs);

impl From<Policy> for PolicyRef {
    fn from(policy: Policy) -> Self {
        Self(PolicyIs::Declared(policy))
    }
}

impl From<face::CodePolicy> for PolicyRef {
    fn from(code: face::CodePolicy) -> Self {
        Self(PolicyIs::Code(code))
    }
}

impl From<Scenario> for ScenarioRef {
    fn from(scenario: Scenario) -> Self {
        Self(ScenarioIs::Built(scenario))
    }
}

impl From<&Scenario> for ScenarioRef {
    fn from(scenario: &Scenario) -> Self {
        scenario.clone().into()
    }
}

impl From<Profile> for ProfileRef {
    fn from(profile: Profile) -> Self {
        Self(ProfileIs::Built(Box::new(profile)))
    }
}

impl From<&Profile> for ProfileRef {
    fn from(profile: &Profile) -> Self {
        profile.clone().into()
    }
}

/// A value that an override sets: a number, a flag, or text as the command line accepts it after `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(pub(super) String);

macro_rules! value {
    ($($kind:ty),*) => {
        $(impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                Self(value.to_string())
            }
        })*
    };
}

value!(u32, u64, i32, i64, usize, f64, bool, &str, String);
