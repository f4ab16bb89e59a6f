//! The first screen on recorded sessions: each is opened once, for its bill and for everything that is tried of its agent.

use crate::ListPrices;
use crate::advise::agents::Agent;
use crate::advise::{self, AdviceRequest, no_recording_error};
use crate::prelude::*;
use crate::session::calibrate_bill;
use ctxsim_engine::ledger::Rows;
use ctxsim_report::BillCheck;
use ctxsim_report::advise::Advice;
use ctxsim_report::lever::Lever;
use ctxsim_report::screen::{FirstScreen, SessionFacts};
use ctxsim_report::verdict::MIN_EVIDENCE;

/// Reads sessions and says what they were billed, where that goes, and what can be done about it.
///
/// # Errors
/// Every problem of the inputs, or no session is recorded.
pub fn first_screen(
    catalog: &Catalog,
    comparison: &Comparison,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<FirstScreen> {
    let asked = AdviceRequest { min_evidence: MIN_EVIDENCE, ..AdviceRequest::default() };
    first_screen_and_advice(catalog, comparison, &asked, threads, progress).map(|it| it.0)
}

/// The same with the advice that its levers come from, which has what to paste.
///
/// # Errors
/// Every problem of the inputs, or no session is recorded.
pub fn first_screen_and_advice(
    catalog: &Catalog,
    comparison: &Comparison,
    request: &AdviceRequest,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(FirstScreen, Advice)> {
    let prices = ListPrices::read(catalog);
    let facts = |load: &Load, as_recorded: &Policy| session_facts(load, as_recorded, None, &prices);
    let (advice, all) = advise::advise_and_collect(catalog, comparison, request, threads, progress, facts)?;
    let all: Vec<SessionFacts> = all.into_iter().flatten().listed();
    if all.is_empty() {
        return Err(no_recording_error("show"));
    }
    let mut levers = Vec::new();
    for own in advice.agents.iter().chain(&advice.by_bills) {
        let best = own.best_levers().into_iter().chain(&own.ceilings).cloned();
        levers.extend(best.map(|lever| Lever { agent: own.agent.clone(), ..lever }));
    }
    let screen = FirstScreen::new(&all, advice.skipped.clone(), levers, certainty_sentences(&advice));
    Ok((screen, advice))
}

/// Says how sure a first screen is.
fn certainty_sentences(advice: &Advice) -> String {
    let tried = advice.agents.iter().filter(|it| !it.levers.is_empty()).map(|it| it.tried);
    let counted = "The bill is counted from the logs, at list prices;";
    match tried.sum::<usize>() {
        0 => format!("{counted} only the check against it is simulated."),
        n => format!(
            "{counted} what has a ~ is simulated on these sessions. Intervals (95%) are for as many later sessions. “do” allows for all {} settings and combinations that were tried.",
            thousands(n as u64)
        ),
    }
}

/// Returns what a first screen needs of a session, if it is recorded; the rows are those that its bill is compared with, where they are known.
pub(super) fn session_facts(
    load: &Load,
    as_recorded: &Policy,
    rows: Option<&Rows>,
    prices: &ListPrices,
) -> Option<SessionFacts> {
    let timeline = load.timeline()?;
    let recorded = timeline.recorded.as_ref()?;
    let profile = load.profiles.first();
    let check = profile.filter(|_| load.is_under_own_model);
    let check = check.and_then(|it| BillCheck::new(&calibrate_bill(load, timeline, as_recorded, rows, it)));
    let model = timeline.main_model().map_or("", |it| it.name.as_str());
    let agents = Agent::all_by_file_name().ok();
    let agent = agents.and_then(|all| all.values().find(|it| it.matches_log(recorded.format, model)));
    Some(SessionFacts {
        agent: agent.map_or_else(|| recorded.format.to_owned(), |it| it.name.clone()),
        has_settings: agent.is_some(),
        version: recorded.version.clone(),
        user: user_of(&load.project).to_owned(),
        project: load.project.clone(),
        check,
        ..prices.session_facts(timeline, profile)
    })
}
