//! A recorded session in a report, and how well its bill is reproduced.

use crate::prelude::*;
use ctxsim_engine::calibrate::{Calibration, Pauses};
use ctxsim_engine::engine::Simulation;
use ctxsim_engine::ledger::Rows;
use ctxsim_report::filled::PromptContents;
use ctxsim_report::{BillAsLogged, BillCheck, NewerVersion, SessionReport, SharedFront};
use ctxsim_timeline::RecordedMark;

use super::models::ModelProfiles;
use ctxsim_engine::take::CountedLoad;
use ctxsim_input::profile::cache::first_few;
use ctxsim_input::profile::{Counting, TtlClass};

/// Returns what a report says of it, if it is recorded; the rows are those that its bill is compared with, where they are known.
pub(super) fn session_report(
    load: &Load,
    as_recorded: &Policy,
    models: &ModelProfiles,
    played_rows: Option<&Rows>,
) -> Option<SessionReport> {
    let timeline = load.timeline().filter(|it| it.recorded.is_some())?;
    let n_billed = timeline.recorded.iter().flat_map(|it| &it.usage).flatten().count() as u64;
    let requests = timeline.spine.steps.len() as u64;
    let profile = load.profiles.first().filter(|_| load.is_under_own_model);
    let compared = profile.map(|it| calibrate_bill(load, timeline, as_recorded, played_rows, it));
    let as_listed = |it: &str| models.profile_for_model(it).ok();
    Some(SessionReport {
        name: load.name.clone(),
        format: timeline.recorded.as_ref().map_or("", |it| it.format),
        newer: NewerVersion::from_timeline(timeline),
        model: timeline.main_model().map(|it| it.name.clone()),
        parent: timeline.spine.sessions.first().and_then(|it| it.parent.clone()),
        is_under_own_model: load.is_under_own_model,
        last_ms: timeline.last_ms(),
        requests,
        requests_estimated: requests.saturating_sub(n_billed),
        requests_of_others: timeline.models.iter().map(|it| it.requests).sum::<u64>()
            - timeline.main_model().map_or(0, |it| it.requests),
        as_logged: profile.and_then(|_| BillAsLogged::from_timeline(timeline, &as_listed)),
        bill: compared.as_ref().and_then(BillCheck::new),
        first_request: compared.as_ref().map(|it| it.first).filter(|it| it.requests > 0),
        filled: profile.and_then(|it| PromptContents::from_timeline(timeline, it)),
        pauses: profile.and_then(|it| Pauses::recorded(timeline, it)),
        shared: SharedFront::from_timeline(timeline),
    })
}

/// Notes that requests which were answered carry marks that the provider's API is documented to refuse.
pub(super) fn note_on_refused_marks(load: &Load) -> Option<String> {
    let recorded = load.timeline()?.recorded.as_ref()?;
    let profile = load.profiles.first().filter(|_| load.is_under_own_model)?;
    let is_refused = |marks: &[RecordedMark]| {
        let lives: Vec<TtlClass> = marks.iter().map(|it| it.ttl).listed();
        profile.refuses_marks(&lives)
    };
    let n = recorded.marks.iter().filter(|it| is_refused(it)).count();
    (n > 0).then(|| {
        format!(
            "In {} of {}, the prompt has more marks than the API of {} takes, or one of an hour behind one of five minutes: its documentation \
             says that such a request is refused. They are played as logged.",
            thousands(n as u64),
            counted(recorded.marks.len(), "request"),
            profile.name
        )
    })
}

/// Notes how the profiles' models count it, where that is not as it was recorded.
pub(super) fn note_on_recounted_tokens(load: &Load) -> Option<String> {
    let timeline = load.timeline()?;
    let model = timeline.main_model()?;
    let recorded = timeline.counted_by().map_or(model.name.as_str(), |it| &it.about);
    let names = |is: fn(&Counting) -> bool| {
        let all = load.profiles.iter().enumerate();
        let counted = all.filter(|it| load.counting(it.0).as_ref().is_some_and(is));
        let counted = counted.map(|it| it.1.name.as_str()).listed();
        (!counted.is_empty()).then(|| first_few(&counted))
    };
    let mut factors: Vec<&CountedLoad> = Vec::new();
    let counts = (0..load.profiles.len()).filter_map(|it| load.counted_under(it));
    for counted in counts.filter(|it| it.to.is_some()) {
        if !factors.iter().any(|known| known.to == counted.to) {
            factors.push(counted);
        }
    }
    let anew = names(|it| matches!(it, Counting::Anew(_))).map(|names| {
        let each = factors.iter().map(|it| format!("{} of {}", it.factor.words(), it.to.map_or("", |it| &it.about)));
        format!(
            "Sizes were recorded in tokens of {recorded}; under {names} they are counted anew, each as {}, and costs are as sure as \
             that (total_low, total_high).",
            each.listed().join("; ")
        )
    });
    let unknown = names(|it| *it == Counting::Unknown).map(|names| {
        format!(
            "Nobody has published how many tokens {names} would count: its sizes and costs are in tokens of {recorded}."
        )
    });
    let all: Vec<String> = anew.into_iter().chain(unknown).listed();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Compares a session's bill with its profile's prediction when everything is kept; no limit stops a session
/// that took place. It is played only where no run of the load has these rows.
pub(super) fn calibrate_bill(
    load: &Load,
    timeline: &Timeline,
    as_recorded: &Policy,
    played_rows: Option<&Rows>,
    profile: &Profile,
) -> Calibration {
    let prices = load.step_prices(timeline, profile);
    if let Some(rows) = played_rows {
        return Calibration::new(timeline, rows, prices, &profile.cache);
    }
    let mut rows = Rows::default();
    Simulation::new(timeline, as_recorded, &Limits::NONE, &profile.cache).run(&mut rows);
    Calibration::new(timeline, &rows, prices, &profile.cache)
}
