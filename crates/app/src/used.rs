//! The overrides of a run, each with its use.

use super::found::ProblemsFound;
use super::{Comparison, set_policies};
use crate::catalog::Loaded;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_input::SuiteFile;
use ctxsim_input::text::set::Override;
use ctxsim_input::text::{Decode, Encode};

/// An override with what became of it.
pub(super) struct Used {
    pub(super) setting: Override,
    /// Whether it must apply somewhere: an override of a suite need not if the run uses only a part of the
    /// suite.
    pub(super) is_strict: bool,
    pub(super) is_applied: bool,
    pub(super) refused: Option<Box<Diagnostic>>,
}

impl Used {
    /// Applies an override; a problem counts only if it applies nowhere.
    pub(super) fn apply<T: Encode + Decode>(&mut self, specs: &mut [T], passes: impl Fn(&T) -> bool) {
        let applied = self.setting.apply(specs, passes);
        self.note(applied);
    }

    /// Notes what became of it; a parameter of several policies must be said of one, wherever it is set.
    pub(super) fn note(&mut self, applied: Result<(), Box<Diagnostic>>) {
        match applied {
            Ok(()) => self.is_applied = true,
            Err(problem) => {
                self.is_strict |= problem.code == set_policies::AMBIGUOUS;
                self.refused = self.refused.take().or(Some(problem));
            }
        }
    }

    /// Says why an override can lead to nothing.
    pub(super) fn refuse(&mut self, message: &str, help: &str) {
        let mut problem = Diagnostic::at(Code("set-no-such-field"), &self.setting.text, message).help(help);
        "--set".clone_into(&mut problem.place.file);
        self.refused = Some(Box::new(problem));
    }
}

/// Reads the overrides: the suite's first, then the comparison's.
pub(super) fn settings(
    comparison: &Comparison,
    suite: Option<&Loaded<SuiteFile>>,
    is_whole_suite: bool,
    known_paths: impl Fn() -> Vec<String>,
    found: &mut ProblemsFound,
) -> Vec<Used> {
    let mut used = Vec::new();
    let mut push = |setting, is_strict| {
        used.push(Used { setting, is_strict, is_applied: false, refused: None });
    };
    if let Some(suite) = suite {
        // Those that cannot be read are told when the suite is checked.
        let parsed = suite.spec.set.iter().filter_map(|it| Override::parse(it).ok());
        parsed.for_each(|it| push(it, is_whole_suite));
    }
    for text in &comparison.set {
        match Override::parse(text) {
            Ok(setting) => push(setting, true),
            Err(mut problem) => {
                Override::suggest(&mut problem, &known_paths());
                found.problems.push(*problem);
            }
        }
    }
    used
}
