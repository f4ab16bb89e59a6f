//! What the bills of some sessions tell of levers, beside the settings that are simulated.

use super::play::PlayedSession;
use super::verdicts::AgentMonth;
use ctxsim_base::list::Listed as _;
use ctxsim_report::billed::{BilledLevers, WhoseBill};
use ctxsim_timeline::import::user_of;

/// Judges what bills tell; sessions without a bill take no part.
pub(super) fn levers_of_bills(played: &[&PlayedSession], month: &AgentMonth<'_>, floor: f64) -> BilledLevers {
    let all = played.iter().filter_map(|it| {
        let facts = it.by_bills.as_ref()?;
        let seen = &it.seen;
        Some(WhoseBill {
            person: user_of(&seen.project),
            project: &seen.project,
            span_ms: seen.span_ms,
            month_usd: month.of(it).unwrap_or_default(),
            is_of_agent: seen.is_of_agent,
            facts,
        })
    });
    BilledLevers::new(&all.listed(), month.cost(played).usd, floor)
}
