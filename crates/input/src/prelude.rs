//! What most of the inputs are written with: problems and their places, choices, numbers.

pub(crate) use std::fmt;
pub(crate) use std::ops::Range;
pub(crate) use std::sync::{Arc, LazyLock};

pub(crate) use ctxsim_base::diag::{Code, Diagnostic, Place, Problems, near_or, nearest};
pub(crate) use ctxsim_base::order::InOrder as _;
pub(crate) use ctxsim_base::quantity::{Decimal, Tokens};
pub(crate) use indexmap::{IndexMap, IndexSet};
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::policy::{Size, wildcard};
pub(crate) use crate::text::duration::Duration;
pub(crate) use crate::text::source::{Format, declared};
