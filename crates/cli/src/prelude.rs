//! What most verbs write with: arguments, outputs, errors, inputs.

pub(crate) use std::fs;
pub(crate) use std::path::{Path, PathBuf};

pub(crate) use clap::Args;
pub(crate) use ctxsim_app::catalog::{Catalog, InputFiles, InputKind};
pub(crate) use ctxsim_app::{Comparison, Plan};
pub(crate) use ctxsim_base::diag::{Code, Diagnostic};
pub(crate) use ctxsim_base::error::Error;
pub(crate) use ctxsim_base::list::Listed as _;
pub(crate) use ctxsim_input::Format;
pub(crate) use ctxsim_input::text::source::read_text;

pub(crate) use crate::format::{FormatArg, Formats, PagedArgs};
pub(crate) use crate::output::ForceArgs;
pub(crate) use crate::progress::{SIMULATES, run_with_progress};
pub(crate) use crate::verbs::run::unwritable_error;
pub(crate) use crate::what::with_help;
pub(crate) use crate::{error_at_place, error_without_place, output};

/// What may fail with problems for the user.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
