//! The loop that plays a trace under a policy: project, ask the cache, recover, record; no I/O.

use crate::ledger::{Outcome, Sink};
use crate::model::{CacheRules, Limits, Policy};
use crate::trace::Trace;

/// Plays a trace under a declarative policy.
///
/// Prices are not asked: the ledger can be priced under every profile that shares these limits and cache rules.
pub fn simulate(
    trace: &Trace,
    policy: &Policy,
    limits: &Limits,
    cache: &CacheRules,
    sink: &mut impl Sink,
) -> Outcome {
    let _ = (policy, limits, cache, sink);
    Outcome {
        turns_requested: u32::try_from(trace.spine.loops.len()).unwrap_or(u32::MAX),
        ..Outcome::default()
    }
}
