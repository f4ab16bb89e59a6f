//! How long one waited for answers: of the sessions on a first screen, by what was measured of their models.

use super::{FirstScreen, SessionFacts};
use crate::as_logged::{LoggedRequest, MadeFor};
use crate::lever::{Lever, Word};
use crate::prelude::*;
use ctxsim_engine::ledger::RequestSums;
use ctxsim_engine::measure::month::{Basis, Calendar};
use ctxsim_engine::measure::waiting::Waited;
use ctxsim_input::profile::WaitModel;
use ctxsim_timeline::AsideKind;

/// From here on, minutes are told as hours.
const HOURS_FROM: f64 = 120.0;
/// The most models without data that a sentence names.
const NAMED: usize = 3;

/// What the requests of a session took on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DayWait {
    /// The agent's own requests, also those on branches that the user left.
    main: Waited,
    /// Requests that wrote summaries.
    compaction: Waited,
}

/// What the requests of a session took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionWaits {
    /// By days since 1970; no day where the log tells no times.
    by_day: BTreeMap<Option<i64>, DayWait>,
    /// Requests of models without data, by model.
    unknown: BTreeMap<String, u64>,
}

/// Adds requests up until their model or their day changes.
#[derive(Debug, Default)]
pub(super) struct WaitCounter<'l> {
    found: SessionWaits,
    model: &'l str,
    day: Option<i64>,
    main: RequestSums,
    summaries: RequestSums,
}

impl<'l> WaitCounter<'l> {
    /// Adds a request. Logs that do not count outputs whole have their sizes by their texts.
    pub(super) fn add_request(&mut self, request: &LoggedRequest<'l, '_>, timeline: &Timeline) {
        let mut tokens = request.token_use();
        if let MadeFor::Step(nth) = request.made_for {
            tokens.output = tokens.output.max(timeline.spine.steps[nth].output_tokens);
        }
        let day = request.day_since_1970();
        if (request.model, day) != (self.model, self.day) {
            self.flush_requests();
            (self.model, self.day) = (request.model, day);
        }
        let is_summary = request.made_for == MadeFor::Aside(AsideKind::Summary);
        let sums = if is_summary { &mut self.summaries } else { &mut self.main };
        sums.n += 1;
        sums.tokens += tokens;
    }

    fn flush_requests(&mut self) {
        let (main, summaries) = (std::mem::take(&mut self.main), std::mem::take(&mut self.summaries));
        let n = main.n + summaries.n;
        if n == 0 {
            return;
        }
        let Some(model) = WaitModel::of_model(self.model) else {
            let name = if self.model.is_empty() { "none is named" } else { self.model };
            *self.found.unknown.entry(name.to_owned()).or_default() += n;
            return;
        };
        let day = self.found.by_day.entry(self.day).or_default();
        day.main += Waited::expected(Some(model), &main);
        day.compaction += Waited::expected(Some(model), &summaries);
    }

    pub(super) fn into_session_waits(mut self) -> SessionWaits {
        self.flush_requests();
        self.found
    }
}

/// How long one waited for answers in the period of the month's bill: requests one after the other, without the user's own pauses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScreenWaiting {
    /// In main conversations; null where no model of theirs has data.
    pub minutes: Option<f64>,
    /// The 90% interval of a session's total: all of one person's sessions may be off in the same direction.
    pub interval: Option<[f64; 2]>,
    /// The parts: the agent's own requests, and those that wrote summaries.
    pub requests_minutes: Option<f64>,
    pub compaction_minutes: Option<f64>,
    /// Of sub-agents, which work side by side: no part of the others.
    pub sub_agent_minutes: Option<f64>,
    /// Requests of models without data, by model; they are in no minute.
    pub requests_without_data: BTreeMap<String, u64>,
}

impl ScreenWaiting {
    pub(super) fn new(sessions: &[SessionFacts], calendar: &Calendar) -> Self {
        let waited = |is_of_agent: bool| {
            let own = sessions.iter().filter(|it| it.is_of_agent == is_of_agent);
            let days = own.flat_map(|it| &it.waits.by_day).filter(|it| calendar.counts(*it.0));
            days.map(|it| *it.1).reduce(|sum, day| DayWait {
                main: sum.main + day.main,
                compaction: sum.compaction + day.compaction,
            })
        };
        let scaled = |it: f64| it * calendar.ratio();
        let (main, agents) = (waited(false), waited(true));
        let all = |it: &DayWait| it.main + it.compaction;
        let minutes = |of: fn(&DayWait) -> Waited| main.and_then(|it| of(&it).minutes()).map(scaled);
        let mut requests_without_data: BTreeMap<String, u64> = BTreeMap::new();
        for (model, n) in sessions.iter().flat_map(|it| &it.waits.unknown) {
            *requests_without_data.entry(model.clone()).or_default() += n;
        }
        Self {
            minutes: main.and_then(|it| all(&it).minutes()).map(scaled),
            interval: main.and_then(|it| all(&it).interval()).map(|it| it.map(scaled)),
            requests_minutes: minutes(|it| it.main),
            compaction_minutes: minutes(|it| it.compaction),
            sub_agent_minutes: agents.and_then(|it| all(&it).minutes()).map(scaled),
            requests_without_data,
        }
    }

    /// Says which models have no data.
    fn models_without_timings_text(&self, most: usize) -> Option<String> {
        let models = self.requests_without_data.iter();
        let models = models.map(|(model, n)| format!("{} ({} requests)", in_one_line(model), thousands(*n)));
        let names = names_and_more(models, most);
        (!names.is_empty()).then(|| listed(&names))
    }
}

/// Says how long one waited, and what the first change makes of it.
pub(super) fn waiting_sentence(screen: &FirstScreen, is_brief: bool) -> Option<String> {
    let waiting = &screen.waiting;
    let unknown = waiting.models_without_timings_text(if is_brief { 1 } else { NAMED });
    let Some((minutes, [low, high])) = waiting.minutes.zip(waiting.interval) else {
        let models = unknown?;
        return Some(format!(
            "How long you waited for answers is unknown: there are no timings of {models}."
        ));
    };
    let (unit, by) = if minutes >= HOURS_FROM { ("hours", 60.0) } else { ("minutes", 1.0) };
    let [said, low, high] = [minutes, low, high].map(|it| format_rounded(it / by));
    let period = if screen.month.of == Basis::AllSessions { "" } else { " a month" };
    let is_advised = |it: &&Lever| matches!(it.word, Some(Word::Do | Word::Try | Word::YourCall));
    let saved = screen.levers.first().filter(is_advised).and_then(|it| it.saved_minutes_month);
    let first = saved.map(|it| format_rounded((minutes - it).max(0.0) / by)).filter(|it| *it != said);
    let first = first.map_or_else(String::new, |it| format!("; the first change makes it {it}"));
    let rest = unknown.map_or_else(String::new, |it| format!(" Not counted, as there are no timings: {it}."));
    Some(format!("You waited about {said} {unit}{period} for answers ({low} to {high}){first}.{rest}"))
}

/// Writes a number with two figures, or whole.
fn format_rounded(number: f64) -> String {
    if number < 9.95 { format!("{number:.1}") } else { thousands(number.round() as u64) }
}
