//! What most of the engine writes with: timelines, quantities, prompts, caches.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::fmt;
pub(crate) use std::ops::Range;
pub(crate) use std::sync::{Arc, LazyLock};

pub(crate) use ctxsim_base::quantity::{Amount, Cost, Decimal, Expected, Tokens};
pub(crate) use ctxsim_base::quantity::{UNLIMITED, ix, or_unlimited, packed, saturated};
pub(crate) use ctxsim_base::rng::Seed;
pub(crate) use ctxsim_input::{
    CacheRules, Changes, EditsLast, Limits, Moment, Policy, Prices, Profile, Setting, Size, Steps, Unit,
};
pub(crate) use ctxsim_timeline::{
    EventKind, Item, ItemIx, Kind, NO_ITEM, Spine, StepIx, Texts, Timeline, TurnIx, Usage,
};
pub(crate) use indexmap::{IndexMap, IndexSet};
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::ledger::{CacheUse, ExplicitCacheRow, Outcome, RequestRow, Role, Rows, Sink, Sums};
pub(crate) use crate::projection::{Ambient, Chain, Editor, Link, Projector, Prompt, ShownAs, SlotIx, State};

/// Reads what is declared of a type from its file, once.
macro_rules! declared_once {
    ($vis:vis $type:ty: $file:expr) => {
        impl $type {
            /// Returns what is declared.
            $vis fn declared() -> &'static Self {
                static READ: LazyLock<$type> = LazyLock::new(|| ctxsim_input::text::source::declared($file));
                &READ
            }
        }
    };
}
pub(crate) use declared_once;
