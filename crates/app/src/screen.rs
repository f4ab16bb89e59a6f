//! The first screen on recorded sessions: each is opened once, and nothing is played but the session as it was.

use crate::advise::agents::Agent;
use crate::advise::no_recording;
use crate::catalog::Catalog;
use crate::session::calibration;
use crate::{Comparison, ListPrices, Plan, Progress};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::ledger::Rows;
use ctxsim_engine::take::Load;
use ctxsim_input::Policy;
use ctxsim_report::BillCheck;
use ctxsim_report::lever::Lever;
use ctxsim_report::screen::{FirstScreen, SessionFacts};
use ctxsim_timeline::import::user_of;

/// How sure a screen without levers is.
const COUNTED: &str =
    "The bill is counted from the logs, at list prices; only the check against it is simulated.";

/// Reads sessions and says what they were billed, where that goes, and what can be done about it.
///
/// # Errors
/// Every problem of the inputs, or no session is recorded.
pub fn screen(
    catalog: &Catalog,
    comparison: &Comparison,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<FirstScreen, Error> {
    let policies = vec!["identity".to_owned()];
    let plan = Plan::new(catalog, &Comparison { policies, ..comparison.clone() })?;
    let prices = ListPrices::read(catalog);
    let one = |load: &Load, _: Progress<'_>| facts_of(load, &plan.as_recorded, None, &prices);
    let (all, skipped) = plan.each_of(threads, progress, |it| plan.opened_by_folder(it, false), one)?;
    let all: Vec<SessionFacts> = all.into_iter().flatten().listed();
    if all.is_empty() {
        return Err(no_recording("show"));
    }
    let levers: [(String, Vec<Lever>); 0] = [];
    Ok(FirstScreen::new(&all, skipped, &levers, COUNTED.to_owned()))
}

/// Returns what a first screen needs of a session, if it is recorded; the rows are those that its bill is compared with, where they are known.
pub(super) fn facts_of(
    load: &Load,
    as_recorded: &Policy,
    rows: Option<&Rows>,
    prices: &ListPrices,
) -> Option<SessionFacts> {
    let timeline = load.timeline()?;
    let recorded = timeline.recorded.as_ref()?;
    let profile = load.profiles.first();
    let check = profile.filter(|_| load.is_under_own_model);
    let check = check.and_then(|it| BillCheck::new(&calibration(load, timeline, as_recorded, rows, it)));
    let model = timeline.main_model().map_or("", |it| it.name.as_str());
    let agent = Agent::all().ok().and_then(|all| all.values().find(|it| it.is_of(recorded.format, model)));
    Some(SessionFacts {
        agent: agent.map_or_else(|| recorded.format.to_owned(), |it| it.name.clone()),
        has_settings: agent.is_some(),
        version: recorded.version.clone(),
        user: user_of(&load.project).to_owned(),
        project: load.project.clone(),
        check,
        ..prices.facts(timeline, profile)
    })
}
