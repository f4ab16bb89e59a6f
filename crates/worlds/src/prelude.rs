//! What most worlds are written with: quantities, draws, statistics, loads.

pub(crate) use std::collections::BTreeMap;
pub(crate) use std::sync::Arc;

pub(crate) use ctxsim_base::diag::{Code, Diagnostic, Problems};
pub(crate) use ctxsim_base::order::InOrder as _;
pub(crate) use ctxsim_base::quantity::{Tokens, ix, saturated};
pub(crate) use ctxsim_base::rng::Seed;
pub(crate) use ctxsim_engine::ledger::{Outcome, Sink};
pub(crate) use ctxsim_engine::measure::Statistic;
pub(crate) use ctxsim_engine::take::{
    Cell, Findings, Load, LoadKind, MemoryRepair, Plays, Progress, RowsOf, Run, Sinks, StageRepair, Take,
    World, in_order,
};
pub(crate) use ctxsim_input::policy::memory::{ServiceCall, ServiceMemory, SessionRead, SessionStore};
pub(crate) use ctxsim_input::scenario::AgingLoad;
pub(crate) use ctxsim_input::{Limits, Policy, Scenario};
pub(crate) use ctxsim_timeline::Timeline;
pub(crate) use ctxsim_timeline::row::{Head, Rows, columns, heads};
pub(crate) use indexmap::IndexMap;
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::graph::{FactIx, FactRelation, Graph, RecordIx, Says};

/// What was read or made of something, or everything that is wrong with it.
pub(crate) type OrProblems<T> = Result<T, Vec<Diagnostic>>;
