//! What most of this package writes with: quantities, texts, values.

pub(crate) use std::fmt;
pub(crate) use std::ops::Range;
pub(crate) use std::sync::Arc;

pub(crate) use ctxsim_base::quantity::{Cost, Decimal, Tokens, ix, saturated};
pub(crate) use ctxsim_input::TtlClass;
pub(crate) use ctxsim_input::profile::cache::Setting;
pub(crate) use ctxsim_input::tokens;
pub(crate) use indexmap::{IndexMap, IndexSet};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::Value;
pub(crate) use serde_json::value::RawValue;
pub(crate) use xxhash_rust::xxh3::xxh3_64;

pub(crate) use crate::{Kind, Usage};
