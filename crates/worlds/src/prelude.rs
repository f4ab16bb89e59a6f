//! What most worlds are written with: quantities, draws, statistics, loads.

pub(crate) use std::sync::Arc;

pub(crate) use ctxsim_base::diag::{Code, Diagnostic};
pub(crate) use ctxsim_base::quantity::{ix, saturated};
pub(crate) use ctxsim_base::rng::Seed;
pub(crate) use ctxsim_input::Policy;
pub(crate) use indexmap::IndexMap;
pub(crate) use serde::Serialize;

pub(crate) use crate::graph::FactIx;
