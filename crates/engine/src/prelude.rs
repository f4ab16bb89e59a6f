//! What most of the engine writes with: timelines, quantities, prompts, caches.

pub(crate) use std::collections::BTreeMap;
pub(crate) use std::ops::Range;
pub(crate) use std::sync::Arc;

pub(crate) use ctxsim_base::quantity::{Amount, Cost, Expected, Tokens, ix, packed, saturated};
pub(crate) use ctxsim_input::{CacheRules, Limits, Moment, Policy, Profile, Size, Unit};
pub(crate) use ctxsim_timeline::{EventKind, Item, ItemIx, Kind, NO_ITEM, Spine, StepIx, Timeline, TurnIx};
pub(crate) use indexmap::IndexMap;
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::ledger::{CacheUse, Outcome, RequestRow, Role, Sink, Sums};
pub(crate) use crate::projection::{Editor, Link, Projector, Prompt, ShownAs, SlotIx, State};
