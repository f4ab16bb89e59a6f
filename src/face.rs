//! The face of the crate: what others embed. Everything here is listed in `snapshots/face/face.snap`, so that a review sees a change of it.
//!
//! `src/face.rs` lists what the crate exports; `snapshots/face/face.snap` shows each name with its public methods, so that a review sees a
//! change. The modules of the packages are re-exported, hidden (`src/lib.rs`): the bindings and the tests reach behind the face, and
//! nothing promises them anything. The face holds no rules of its own: it turns values into what files would have said. A policy in code
//! becomes what its file would say (its name, layout and recovery) plus a handle (`OwnCode`), which the catalog holds as values
//! (`Origin::Built`; names may be changed to tell inputs apart; an origin is not); `app/check.rs` puts the handle into the checked policy,
//! `builtin::projector` takes the factory out and makes the code for a run. Two policies of one name built in code are an error; sessions
//! of one name are numbered. A built profile is held in the same way, with an optional handle for its cache rules, and so is the timeline
//! of a built scenario. So own code passes through plans, shared simulations, guards, sensitivity, explanations and sampled recovery
//! without a second path. Laws (`check --laws`) put a projector around the policy's own (`engine/laws.rs`); `app/laws/` makes the sessions
//! and shrinks them. An exception from a law is of the file that gives it, and fails where no session needs it. What verbs answer is
//! `results::Answer<T>`: values read back from the JSON that the command line writes, so that faces cannot differ.
//!
//! `Plan::run_with` tells how much is done and may be stopped: a `PlanWatcher` (`app/watch.rs`) notes the answer, and no session begins
//! after it. Rows that `Comparison::rows` asks for are kept while the runs are made (`Sinks`), so nothing is played again. A report's bytes
//! are those of the command line. Bundled files are read once in a process (`src/catalog.rs`), because they would take most of the time
//! of a small plan.

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
pub use self::policy::{CodePolicy, Policy, Process, PromptLayout, Recovery};
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
