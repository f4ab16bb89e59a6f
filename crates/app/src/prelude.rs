//! What most of this package writes with: errors, inputs, sessions, progress, numbers in words.

pub(crate) use std::collections::BTreeMap;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use ctxsim_base::diag::{Code, Diagnostic, Place, near_or, nearest};
pub(crate) use ctxsim_base::error::Error;
pub(crate) use ctxsim_base::grid::numbers::{counted, listed, thousands};
pub(crate) use ctxsim_base::list::Listed as _;
pub(crate) use ctxsim_base::order::InOrder as _;
pub(crate) use ctxsim_engine::measure::Tally;
pub(crate) use ctxsim_engine::take::{FailedRuns, Load, Progress, in_order, with_threads};
pub(crate) use ctxsim_input::policy::wildcard;
pub(crate) use ctxsim_input::scenario::LoadSpec;
pub(crate) use ctxsim_input::text::set::Override;
pub(crate) use ctxsim_input::text::source::{decode_table, encode};
pub(crate) use ctxsim_input::{
    Format, Limits, Policy, PolicyFile, Profile, ProfileFile, ScenarioFile, Source, SuiteFile,
};
pub(crate) use ctxsim_report::{SkippedFile, distinct, grouped};
pub(crate) use ctxsim_timeline::Timeline;
pub(crate) use ctxsim_timeline::import::user_of;
pub(crate) use indexmap::{IndexMap, IndexSet};
pub(crate) use serde::Deserialize;
pub(crate) use serde_json::Value;

pub(crate) use crate::catalog::{Catalog, InputKind, Loaded, Origin};
pub(crate) use crate::watch::ProblemsFound;
pub(crate) use crate::{Comparison, Plan, ReadyLoad};

/// What may fail with problems for the user.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What may break rules, with every problem.
pub(crate) type Checked<T> = Result<T, Vec<Diagnostic>>;

/// Fails with problems, if there are any.
pub(crate) fn fail_if_any(problems: Vec<Diagnostic>) -> Checked<()> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns a problem of a file, or of an option.
pub(crate) fn problem_in(file: &str, code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic::at(code, "", message).in_file(file)
}
