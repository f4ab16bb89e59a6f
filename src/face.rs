//! The face of the crate: what others embed. Everything here is listed in `snapshots/face/face.snap`, so that a review sees a change of it.

mod cache;
mod catalog;
mod code;
mod comparison;
mod error;
mod explanation;
mod plan;
mod policy;
mod profile;
mod refs;
mod report;
mod rows;
mod scenario;
mod sensitivity;
mod usd;

pub use self::cache::CacheRules;
pub use self::catalog::Catalog;
pub use self::code::{Code, Process};
pub use self::comparison::Comparison;
pub use self::error::{Error, Problem};
pub use self::explanation::Explanation;
pub use self::plan::{Plan, RunId};
pub use self::policy::{Layout, Policy, Recovery};
pub use self::profile::{Profile, ProfileBuilder};
pub use self::refs::{PolicyRef, ProfileRef, ScenarioRef, Value};
pub use self::report::{FailedRun, Report, Run, Snapshot};
pub use self::rows::{NeedRow, RequestRow, Role, Sink};
pub use self::scenario::{Level, Scenario, ScenarioBuilder, Trace, Turn};
pub use self::sensitivity::Sensitivity;
pub use self::usd::Usd;
pub use crate::cache::own::{Division as CacheUse, OwnRule as CacheRule, Prefix, Request as CacheRequest};
pub use crate::own::{BoxError, Cx, Entry, ItemId, Kind, Knows, Lasts, Memory, ModelCall, Part, Text, View};
