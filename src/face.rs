//! The face of the crate: what others embed. Everything here is listed in `snapshots/face/face.snap`, so that a review sees a change of it.

mod cache;
mod catalog;
mod code;
mod comparison;
mod error;
mod parts;
mod plan;
mod policy;
mod profile;
mod recording;
mod refs;
mod report;
mod rows;
mod scenario;
mod total;
mod usd;
mod verbs;
mod verdict;

pub use self::cache::CacheRules;
pub use self::catalog::Catalog;
pub use self::code::{Code, Process};
pub use self::comparison::Comparison;
pub use self::error::{Error, Problem};
pub use self::parts::Totals;
pub use self::plan::{Plan, Progress, RunId};
pub use self::policy::{Layout, Policy, Recovery};
pub use self::profile::{Profile, ProfileBuilder};
pub use self::recording::Recording;
pub use self::refs::{PolicyRef, ProfileRef, ScenarioRef, Value};
pub use self::report::{FailedRun, Report, Run, Snapshot};
pub use self::rows::{CostParts, NeedRow, RequestRow, Role, Sink};
pub use self::scenario::{Level, Scenario, ScenarioBuilder, Trace, Turn};
pub use self::total::Total;
pub use self::usd::Usd;
pub use self::verdict::Verdict;
pub use ctxsim_base::quantity::Tokens;
pub use ctxsim_engine::cache::own::{CacheRequest, Division as CacheUse, OwnRule as CacheRule, Prefix};
pub use ctxsim_engine::ledger::pairing::RequestId;
pub use ctxsim_engine::own::{
    BoxError, Cx, Entry, ItemId, Kind, Knows, Lasts, Memory, ModelCall, Part, Text, View,
};
