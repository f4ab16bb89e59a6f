//! What most verbs write with: arguments, outputs, errors, inputs.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::ffi::OsString;
pub(crate) use std::fmt::Write as _;
pub(crate) use std::fs;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::ExitCode;

pub(crate) use clap::{Arg, Args, ValueEnum};
pub(crate) use ctxsim_app::catalog::{Catalog, InputFiles, InputKind};
pub(crate) use ctxsim_app::{Comparison, Plan};
pub(crate) use ctxsim_base::diag::{Code, Diagnostic};
pub(crate) use ctxsim_base::error::Error;
pub(crate) use ctxsim_base::grid::numbers::{counted, listed, thousands};
pub(crate) use ctxsim_base::grid::shell::quoted;
pub(crate) use ctxsim_base::grid::tint::Terminal;
pub(crate) use ctxsim_base::list::Listed as _;
pub(crate) use ctxsim_input::Format;
pub(crate) use ctxsim_input::text::source::read_text;
pub(crate) use indexmap::IndexMap;
pub(crate) use serde_json::Value;

pub(crate) use crate::format::{FormatArg, Formats, PagedArgs, ShownArgs, WidthArgs};
pub(crate) use crate::output::{
    ForceArgs, OutputArgs, OverwriteRules, PageArgs, Replaceable, WrittenByRemark,
};
pub(crate) use crate::progress::{SIMULATES, run_with_progress};
pub(crate) use crate::verbs::run::unwritable_error;
pub(crate) use crate::what::{
    DrawArgs, EvidenceArgs, LoadArgs, PoliciesArgs, ProcessArgs, RecordedArgs, SelectArgs, SuiteArgs,
    ThreadsArgs, whole_number_parser, with_help,
};
pub(crate) use crate::{ends, error_at, git, output, render, usage_error};

/// What may fail with problems for the user.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
