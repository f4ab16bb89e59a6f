//! Inputs of a run that it does not use: parameters, trials, overrides.

use indexmap::IndexMap;

use super::Inputs;
use crate::catalog::Loaded;
use crate::{ReadyLoad, overrides};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::list::Listed as _;
use ctxsim_input::PolicyFile;
use ctxsim_input::policy::Size;

impl Inputs<'_> {
    /// Reports undeclared parameters.
    pub(super) fn check_params<T>(&mut self, by: &Loaded<T>, given: &IndexMap<String, Size>) {
        if given.is_empty() || !self.is_complete {
            return;
        }
        let policies: Vec<PolicyFile> = self.policies.iter().map(|it| it.spec.clone()).listed();
        self.found.problems.extend(by.locate(overrides::undeclared(given, &policies, self.catalog)));
    }

    /// Reports unused parameters of policies, unless another problem may be the reason.
    pub(super) fn check_unread(&mut self) {
        if self.found.is_empty() {
            self.found.problems.extend(self.policies.iter().flat_map(overrides::unread));
        }
    }

    /// Reports a number of trials if nothing has trials; inputs that could not be read may have some.
    pub(super) fn check_trials(&mut self, scenarios: &[ReadyLoad], trials: Option<u64>) {
        let has_trials = scenarios.iter().any(ReadyLoad::may_have_trials);
        if trials.is_some() && !has_trials && self.found.is_empty() {
            let message = "no scenario in this run draws conversations";
            let mut problem = Diagnostic::at(Code::TrialsUnused, "", message);
            "--trials".clone_into(&mut problem.place.file);
            let help = "remove it, or name a scenario with `load.conversation`";
            self.found.problems.push(problem.help(help));
        }
    }

    /// Moves problems of overridden fields to the override.
    pub(super) fn blame_used(&mut self) {
        for problem in &mut self.found.problems {
            let mut applied = self.settings.iter().filter(|it| it.is_applied);
            if let Some(used) = applied.rfind(|it| it.setting.covers(&problem.place.field)) {
                problem.place = used.setting.place();
            }
        }
    }

    /// Reports overrides that apply nowhere.
    pub(super) fn check_used(&mut self) {
        for used in &mut self.settings {
            if used.is_strict && !used.is_applied && self.is_complete {
                self.found.problems.extend(used.refused.take().map(|it| *it));
            }
        }
    }
}
