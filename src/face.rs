//! The face of the crate: what others embed. Everything here is listed in `snapshots/face/face.snap`, so that a review sees a change of it.

mod catalog;
mod comparison;
mod error;
mod plan;
mod policy;
mod profile;
mod report;
mod rows;
mod scenario;
mod total;
mod verbs;

pub use self::catalog::Catalog;
pub use self::comparison::{Comparison, PolicyRef, ProfileRef, ScenarioRef, Value};
pub use self::error::{Error, Problem};
pub use self::plan::{Plan, Progress, RunId};
pub use self::policy::{Code, Layout, Policy, Process, Recovery};
pub use self::profile::{CacheRules, Profile, ProfileBuilder, Usd};
pub use self::report::{FailedRun, Report, Run, Snapshot};
pub use self::rows::{CostParts, NeedRow, RequestRow, Role, Sink};
pub use self::scenario::{Level, Recording, Scenario, ScenarioBuilder, Trace, Turn};
pub use self::total::{Total, Totals, Verdict};
pub use ctxsim_base::quantity::Tokens;
pub use ctxsim_engine::cache::own::{CacheRequest, Division as CacheUse, OwnRule as CacheRule, Prefix};
pub use ctxsim_engine::ledger::pairing::RequestId;
pub use ctxsim_engine::own::{
    BoxError, Cx, Entry, ItemId, Kind, Knows, Lasts, Memory, ModelCall, Part, Text, View,
};
