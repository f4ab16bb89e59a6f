//! What most of this package writes with: errors, inputs, sessions, progress.

pub(crate) use std::path::Path;
pub(crate) use std::sync::Arc;

pub(crate) use ctxsim_base::diag::{Code, Diagnostic};
pub(crate) use ctxsim_base::error::Error;
pub(crate) use ctxsim_base::list::Listed as _;
pub(crate) use ctxsim_engine::take::Load;
pub(crate) use ctxsim_input::scenario::LoadSpec;
pub(crate) use ctxsim_input::{Format, Policy, PolicyFile, Profile, ProfileFile, ScenarioFile, SuiteFile};
pub(crate) use ctxsim_report::SkippedFile;
pub(crate) use ctxsim_timeline::Timeline;
pub(crate) use indexmap::{IndexMap, IndexSet};

pub(crate) use crate::catalog::{Catalog, InputKind, Loaded, Origin};
pub(crate) use crate::{Comparison, Plan};

/// What may fail with problems for the user.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns a problem of a file, or of an option.
pub(crate) fn problem_in(file: &str, code: Code, message: impl Into<String>) -> Diagnostic {
    let mut problem = Diagnostic::at(code, "", message);
    file.clone_into(&mut problem.place.file);
    problem
}
