//! A forecast held against later sessions: which of them have the change, and what they were billed.

use crate::prelude::*;

use super::advise::agents::{Agent, AgentSetting, ShownBy, is_older_version};
use super::advise::{
    CostedLog, LogData, SettingPolicies, SettingValues, UNSET, costs_under_settings, no_recording_error,
    plan_as_recorded, read_log_data,
};
use crate::outcomes::OutcomeTable;
use crate::selection::parse_day_ms;
use ctxsim_base::quantity::Tokens;
use ctxsim_engine::calibrate::forecast::Forecast;
use ctxsim_input::profile::calendar;
use ctxsim_report::advise::saved::{BillsBySize, SCHEMA, SCHEMA_BEFORE, SCHEMA_OF_SEVERAL, SavingsForecast};
use ctxsim_report::outcomes::{OutcomeReport, SessionOutcome};
use ctxsim_report::part::SumHeadroom;
use ctxsim_report::realised::{ComparedSessions, LaterSession, Realised, RealisedKind};

/// The groups of sessions without the change, and with it.
const BEFORE: &str = "without the change";
const AFTER: &str = "with it";

/// What lays a session out as if its harness had compacted nothing.
const UNCOMPACTED: &str = "scenario.load.recorded.assume.resets=undo";

/// What is asked of later sessions.
#[derive(Clone, Debug, Default)]
pub struct RealisedRequest {
    /// The day from which the settings are in force, YYYY-MM-DD; by default the forecast's last session's.
    pub changed: Option<String>,
    /// People who changed nothing: a name, or the folder of a user.
    pub unchanged: Vec<String>,
    /// An outcome for each session, in place of those that logs tell.
    pub outcomes: Option<OutcomeTable>,
}

/// A file of several forecasts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedForecasts {
    schema: String,
    forecasts: Vec<SavingsForecast>,
}

/// Reads a file of forecasts, each of another agent.
///
/// # Errors
/// The text is none, of another schema, or has two of one agent.
pub fn parse_forecasts(file: &str, text: &str) -> Result<Vec<SavingsForecast>> {
    let broken = |message: String, place: Option<(usize, usize)>| {
        let mut problem = problem_in(file, Code("forecast-broken"), message);
        problem.place.line_column = place;
        Error::from(vec![problem.help("give a file that `ctxsim advise SESSIONS --save FILE` wrote")])
    };
    let read = |it: serde_json::Error| broken(it.to_string(), Some((it.line(), it.column().max(1))));
    let has_several = serde_json::from_str::<Value>(text).is_ok_and(|it| it.get("forecasts").is_some());
    let SavedForecasts { schema, forecasts } = if has_several {
        serde_json::from_str(text).map_err(read)?
    } else {
        let alone = serde_json::from_str(text).map_err(read)?;
        SavedForecasts { schema: SCHEMA_OF_SEVERAL.to_owned(), forecasts: vec![alone] }
    };
    let agents: IndexSet<_> = forecasts.iter().map(|it| &it.agent).collect();
    let whole = match agents.len() {
        0 => Some("`forecasts` is empty".to_owned()),
        n if n < forecasts.len() => Some("`forecasts` has two of one agent".to_owned()),
        _ => (schema != SCHEMA_OF_SEVERAL)
            .then(|| format!("the schema is `{schema}`, not `{SCHEMA_OF_SEVERAL}`")),
    };
    match whole.or_else(|| forecasts.iter().find_map(impossible_forecast_message)) {
        Some(message) => Err(broken(message, None)),
        None => Ok(forecasts),
    }
}

/// Says what of a forecast cannot be, if something cannot.
fn impossible_forecast_message(saved: &SavingsForecast) -> Option<String> {
    if ![SCHEMA, SCHEMA_BEFORE].contains(&saved.schema.as_str()) {
        return Some(format!("the schema is `{}`, not `{SCHEMA}`", saved.schema));
    }
    if let Err(reason) = SumHeadroom::default().reserve_for(saved) {
        return Some(reason);
    }
    if saved.pooled.iter().any(|it| !are_possible_bills(it, 0.0)) {
        return Some("`pooled`: no sessions can have been billed so".to_owned());
    }
    if saved.drift.as_ref().is_some_and(|it| it.deviation < 0.0) {
        return Some("`drift`: a deviation is not negative".to_owned());
    }
    if let Some(day) = saved.trial.iter().find(|it| calendar::parse_day(&it.day).is_none()) {
        return Some(format!("`{}` is not a date", day.day));
    }
    if let Some(kind) = saved.kinds.iter().find(|it| !are_possible_bills(&it.bills, it.change)) {
        return Some(format!("`{}`: no sessions can have been billed so", kind.name));
    }
    let is_reversed = saved.interval[0] > saved.interval[1];
    is_reversed.then(|| "the ends of `interval` are out of order".to_owned())
}

/// Returns whether sessions can have been billed so, and can be forecast to change so.
fn are_possible_bills(bills: &BillsBySize, change: f64) -> bool {
    let BillsBySize { sessions, size, usd, residual } = *bills;
    sessions > 0 && size > 0.0 && usd >= 0.0 && residual >= 0.0 && change >= -1.0
}

/// Holds forecasts, each of another agent, against the sessions that came after them.
///
/// # Errors
/// Every problem of the inputs.
pub fn check_forecasts(
    catalog: &Catalog,
    comparison: &Comparison,
    (saved, asked): (&[SavingsForecast], &RealisedRequest),
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Realised> {
    let one = |forecast| check_forecast(catalog, comparison, (forecast, asked), threads, progress);
    let mut found = saved.iter().map(one);
    let first = found.next().ok_or_else(|| no_recording_error("hold the forecast against"))??;
    Ok(Realised { other_agents: found.collect::<Result<_>>()?, ..first })
}

/// Holds one forecast against the sessions that came after it.
fn check_forecast(
    catalog: &Catalog,
    comparison: &Comparison,
    (saved, asked): (&SavingsForecast, &RealisedRequest),
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Realised> {
    let known = Agent::all_by_file_name()?;
    let agent = known.values().find(|it| it.name == saved.agent);
    let since_ms = asked.changed.as_deref().map(|day| parse_day_ms("--changed", day)).transpose()?;
    let all = size_sessions_as_forecast(catalog, comparison, saved, agent, threads, progress)?;
    if all.is_empty() {
        return Err(no_recording_error("hold the forecast against"));
    }
    // A session may be of the agent if its log is that of no other.
    let may_be_own = |seen: &LogData| {
        let is_known = |it: &Agent| it.matches_log(seen.format, &seen.model);
        agent.is_none_or(is_known) || !known.values().any(is_known)
    };
    let (all, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| may_be_own(&it.seen));
    let begins = |it: &SizedSession| it.seen.span_ms.map(|it| it[0]);
    let is_later = |session: &SizedSession| {
        let after = saved.until_ms.is_none_or(|until| begins(session).is_some_and(|it| it > until));
        after && since_ms.is_none_or(|since| begins(session).is_some_and(|it| it >= since))
    };
    let (later, earlier): (Vec<_>, Vec<_>) = all.into_iter().partition(is_later);
    check_people_known(&asked.unchanged, &later)?;
    let counted = CountedSessions::new(saved, agent, &asked.unchanged, &later);
    let is_said = asked.changed.is_some() || !saved.trial.is_empty() || !saved.former.is_empty();
    let outcomes = compare_outcomes(asked.outcomes.as_ref(), &earlier, &later, &counted)?;
    let found = Realised::new(saved, &counted.later);
    let mut left_out = counted.left_out.clone();
    left_out.extend(found.left_out.clone());
    let [more, _] = found.left_out_later;
    let out = counted.left_out.values().sum::<usize>() + more;
    let who = counted.compared;
    let compared = found.compared.clone().map(|it| ComparedSessions { who, ..it });
    // What says nothing is counted by kind, too: neither with the change nor compared with.
    let mut kinds = found.kinds.clone();
    for (session, group) in later.iter().zip(&counted.has_change) {
        let name = session.seen.session_kind_label();
        let own = kinds.iter_mut().find(|it| it.kind == name);
        match (own, *group) {
            (_, Some(BEFORE)) if compared.is_some() => {}
            (Some(_), Some(AFTER)) => {}
            (Some(kind), _) => kind.silent += 1,
            (None, _) => {
                let before = saved.kinds.iter().find(|it| it.name == name).map_or(0, |it| it.bills.sessions);
                let sessions = [before, 0];
                kinds.push(RealisedKind { kind: name, sessions, silent: 1, ..RealisedKind::default() });
            }
        }
    }
    Ok(Realised {
        kinds,
        left_out: left_out.into_iter().listed(),
        left_out_later: [out, later.len()],
        compared,
        outcomes,
        is_shown: is_said || counted.is_shown,
        notes: notes_on_sessions(saved, &later, [earlier.len(), others.len()]),
        ..found
    })
}

/// Compares outcomes: of the groups that a table names, else of sessions without the change and with it. Logs give them where no table does.
fn compare_outcomes(
    table: Option<&OutcomeTable>,
    earlier: &[SizedSession],
    later: &[SizedSession],
    counted: &CountedSessions,
) -> Result<Option<OutcomeReport>> {
    let all = earlier.iter().chain(later).listed();
    let groups = earlier.iter().map(|_| Some(BEFORE)).chain(counted.has_change.iter().copied()).listed();
    let Some(table) = table else {
        let logged = all.iter().find_map(|it| it.seen.outcome.as_ref());
        let joined = logged.map(|first| {
            let own = all.iter().map(|session| session.seen.outcome.as_ref());
            let values = own.map(|own| own.filter(|own| own.name == first.name).map(|own| own.value));
            group_outcomes(first.name.clone(), "the logs".to_owned(), &values.listed(), &groups, &[])
        });
        return Ok(joined);
    };
    let names = all.iter().map(|it| it.seen.name.as_str()).listed();
    let (found, unread) = table.join_counting_rest(&names)?;
    let values = found.iter().map(|line| line.map(|it| it.value)).listed();
    let own = found.iter().filter(|_| table.has_groups).map(|line| line.map_or("", |it| &it.group)).listed();
    let report = group_outcomes(table.outcome.clone(), table.file.clone(), &values, &groups, &own);
    Ok(Some(OutcomeReport { unread, ..report }))
}

/// Puts outcomes into groups: those that are named, else those of the change.
fn group_outcomes(
    outcome_name: String,
    source: String,
    values: &[Option<f64>],
    groups: &[Option<&'static str>],
    named_groups: &[&str],
) -> OutcomeReport {
    let group = |nth: usize| {
        let named = named_groups.get(nth).copied().filter(|it| !it.is_empty());
        named.or(groups[nth].filter(|_| named_groups.is_empty()))
    };
    let grouped = |(nth, value): (usize, &Option<f64>)| {
        Some(SessionOutcome { group: group(nth)?.to_owned(), value: (*value)? })
    };
    let mut sessions = values.iter().enumerate().filter_map(grouped).listed();
    if named_groups.is_empty() {
        // What went without the change is what the others differ from.
        sessions.sort_by_key(|it| it.group != BEFORE);
    }
    let sessions_without = values.len() - sessions.len();
    OutcomeReport { sessions_without, ..OutcomeReport::new(outcome_name, source, &sessions) }
}

/// Checks that each person who is named has later sessions.
fn check_people_known(named: &[String], later: &[SizedSession]) -> Result<()> {
    let people: IndexSet<&str> =
        later.iter().map(|it| person_or_project(&it.seen)).filter(|it| !it.is_empty()).collect();
    let is_known = |name: &String| people.iter().any(|it| is_person_named(std::slice::from_ref(name), it));
    let unknown = |name: &String| {
        let message = format!("no later session is one of `{name}`");
        let known: Vec<String> = people.iter().map(|it| format!("`{it}`")).listed();
        problem_in("--unchanged-user", Code("name-unknown"), message).help(if known.is_empty() {
            "these logs do not tell whose they are, so nobody can be named".to_owned()
        } else {
            format!("later sessions are of {}", listed(&known))
        })
    };
    Ok(fail_if_any(named.iter().filter(|it| !is_known(it)).map(unknown).listed())?)
}

/// Says what a reader must know of the sessions.
fn notes_on_sessions(
    saved: &SavingsForecast,
    later: &[SizedSession],
    [n_earlier, n_others]: [usize; 2],
) -> Vec<String> {
    let mut notes = Vec::new();
    if n_others > 0 {
        notes.push(format!("Not of this agent, so not counted: {}.", counted(n_others, "session")));
    }
    if n_earlier > 0 {
        let n = counted(n_earlier, "session");
        notes.push(format!("Skipped: {n} from before the change, or that the forecast was made of."));
    }
    let is_other =
        |it: &&SizedSession| !it.seen.version.is_empty() && !saved.versions.contains(&it.seen.version);
    let n_other = later.iter().filter(is_other).count();
    if n_other > 0 && !saved.versions.is_empty() {
        let n = counted(n_other, "later session");
        notes.push(format!(
            "Of versions that the forecast did not see: {n}. What these versions changed is part of the difference."
        ));
    }
    notes
}

/// Returns the settings of a forecast that are known, with their values.
fn forecast_settings<'s>(saved: &'s SavingsForecast, agent: &'s Agent) -> Vec<(&'s AgentSetting, &'s str)> {
    let pairs = saved.set.iter().filter_map(|it| it.split_once('='));
    pairs.filter_map(|(key, value)| Some((agent.setting(key)?, value))).listed()
}

/// A session with its size, as the forecast measures it.
struct SizedSession {
    seen: LogData,
    /// Its size; with and without the change, what it was billed.
    size: Option<f64>,
    billed: [Option<f64>; 2],
    /// The change that is forecast for it, where it was played.
    change: Option<f64>,
}

/// Reads sessions and measures their size.
fn size_sessions_as_forecast(
    catalog: &Catalog,
    comparison: &Comparison,
    saved: &SavingsForecast,
    agent: Option<&'static Agent>,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Vec<SizedSession>> {
    let (Some(agent), true) = (agent, saved.is_sized_by_cost()) else {
        let plain = |seen: LogData| {
            let (size, billed) = (Some(seen.requests as f64), [seen.billed_usd; 2]);
            SizedSession { size, billed, change: None, seen }
        };
        let plan = plan_as_recorded(catalog, comparison)?;
        return Ok(read_log_data(&plan, threads, progress)?.into_iter().map(plain).listed());
    };
    let values = |all: &[String]| -> SettingValues {
        all.iter().filter_map(|it| it.split_once('=')).map(|it| (it.0.into(), it.1.into())).collect()
    };
    let after = [&saved.before[..], &saved.set].concat();
    let states = [values(&saved.before), values(&after)];
    let policies = SettingPolicies { catalog, agent };
    let play = |it: &Comparison| costs_under_settings(it, policies, &states, threads, progress);
    let mut played = play(comparison)?;
    let settings = forecast_settings(saved, agent);
    let moves_compactions = settings.iter().any(|it| matches!(it.0.shown_by, Some(ShownBy::Compactions(_))));
    if moves_compactions && played.iter().any(|log| !log.seen.compacted_at.is_empty()) {
        // Where a window had history compacted, both are played on all of the history.
        let mut whole = comparison.clone();
        whole.set.push(UNCOMPACTED.to_owned());
        let whole = play(&whole)?;
        for (log, whole) in played.iter_mut().zip(whole).filter(|it| !it.0.seen.compacted_at.is_empty()) {
            log.costs = whole.costs;
        }
    }
    // A forecast of the earlier schema counts whole bills, and has a change for each kind alone.
    let is_whole = saved.schema == SCHEMA_BEFORE;
    let one = |CostedLog { seen, costs: [before, after] }| {
        let size = before.total();
        if is_whole {
            return SizedSession { size, billed: [seen.billed_usd; 2], change: None, seen };
        }
        let pair = after.total().zip(size).filter(|(_, size)| *size > 0.0);
        let billed =
            [seen.billed_input_plus_simulated_usd(&after), seen.billed_input_plus_simulated_usd(&before)];
        SizedSession { size, billed, change: pair.map(|(after, size)| after / size - 1.0), seen }
    };
    Ok(played.into_iter().map(one).listed())
}

/// Whether a session has the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeInLog {
    /// Its log shows it.
    Shown,
    /// Its log shows something else.
    No,
    /// Its version does not have the setting.
    Impossible,
    /// Its log does not show such settings.
    Untold,
    /// It would be the same with the change and without it, so it says nothing.
    Alike,
}

/// Later sessions that count, and those that do not.
#[derive(Default)]
struct CountedSessions {
    later: Vec<LaterSession>,
    left_out: IndexMap<String, usize>,
    /// Who is compared with.
    compared: Vec<String>,
    /// By session: whether it has the change, where that is known.
    has_change: Vec<Option<&'static str>>,
    /// Whether the log of one shows the change.
    is_shown: bool,
}

impl CountedSessions {
    fn new(saved: &SavingsForecast, agent: Option<&Agent>, people: &[String], all: &[SizedSession]) -> Self {
        let set = agent.map_or_else(Vec::new, |it| forecast_settings(saved, it));
        let days: IndexMap<&str, bool> = saved.trial.iter().map(|it| (it.day.as_str(), it.is_on)).collect();
        let has = all.iter().map(|it| find_change_in_log(&set, &saved.before, &it.seen)).listed();
        let still = UnchangedPeople::new(all, &has, people);
        let mut counted = Self { is_shown: has.contains(&ChangeInLog::Shown), ..Self::default() };
        for (session, has) in all.iter().zip(has) {
            let day = session.seen.span_ms.map(|it| calendar::date_text(it[0]));
            let is_on = day.as_deref().and_then(|it| days.get(it).copied());
            // A play in which nothing changes says so, too, whatever the log shows.
            let is_alike = has == ChangeInLog::Alike || session.change == Some(0.0);
            let counts = match (days.is_empty(), is_on) {
                _ if is_alike => Err("they are the same with the change and without it".to_owned()),
                (true, _) => still.is_unchanged_session(&set, session, has),
                (false, None) => Err("they began on no day of the trial".to_owned()),
                (false, Some(is_on)) => is_unchanged_in_trial(is_on, has),
            };
            let group = |is_unchanged: &bool| if *is_unchanged { BEFORE } else { AFTER };
            counted.has_change.push(counts.as_ref().ok().map(group));
            match counts {
                Ok(is_unchanged) => {
                    counted.count_session(session, is_unchanged, day.filter(|_| !days.is_empty()));
                }
                Err(reason) => counted.leave_out(reason),
            }
        }
        counted.compared = if days.is_empty() { still.names } else { vec!["the days off".to_owned()] };
        counted
    }

    fn leave_out(&mut self, reason: String) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    fn count_session(&mut self, session: &SizedSession, is_unchanged: bool, day: Option<String>) {
        let usd = session.billed[usize::from(is_unchanged)];
        let Some((size, usd)) = session.size.zip(usd).filter(|it| it.0 > 0.0) else {
            return self.leave_out("they have no bill, or their model has no price".to_owned());
        };
        self.later.push(LaterSession {
            kind: session.seen.session_kind_label(),
            size,
            usd,
            change: session.change,
            is_unchanged,
            at_ms: session.seen.span_ms.map(|it| it[1]),
            day,
        });
    }
}

/// Returns whether a session of a trial's day counts as one without the change, or why it does not count.
fn is_unchanged_in_trial(is_on: bool, change: ChangeInLog) -> Result<bool, String> {
    match (is_on, change) {
        (true, ChangeInLog::No | ChangeInLog::Impossible) => {
            Err("they began on a day with the change, and do not have it".to_owned())
        }
        (false, ChangeInLog::Shown) => Err("they began on a day without the change, and have it".to_owned()),
        (is_on, _) => Ok(!is_on),
    }
}

/// Tells whether a session has the settings of a forecast.
fn find_change_in_log(settings: &[(&AgentSetting, &str)], before: &[String], seen: &LogData) -> ChangeInLog {
    if settings.is_empty() {
        return ChangeInLog::Untold;
    }
    let former = |key: &str| before.iter().find_map(|it| it.strip_prefix(key)?.strip_prefix('='));
    let own = settings.iter().filter(|it| it.0.lane.include(seen.is_of_agent));
    let one = |(setting, value): &(&AgentSetting, &str)| {
        let is_too_old = || {
            let since = setting.since.as_ref();
            !seen.version.is_empty() && since.is_some_and(|it| is_older_version(&seen.version, it))
        };
        match setting.find_value_in_log(seen, value, former(&setting.key)) {
            ChangeInLog::Shown => ChangeInLog::Shown,
            _ if is_too_old() => ChangeInLog::Impossible,
            other => other,
        }
    };
    let all = own.map(one).listed();
    // One that is missing is enough; one that is shown tells nothing of the others. Settings of other conversations change nothing here.
    let ranked = [ChangeInLog::Impossible, ChangeInLog::No, ChangeInLog::Shown, ChangeInLog::Untold];
    ranked.into_iter().find(|it| all.contains(it)).unwrap_or(ChangeInLog::Alike)
}

impl AgentSetting {
    /// Tells whether a log shows a value in force, or what was in force before, if that is known.
    fn find_value_in_log(&self, seen: &LogData, value: &str, former: Option<&str>) -> ChangeInLog {
        if self.shown_by == Some(ShownBy::Lifetimes) {
            let [short, long] = seen.written;
            let shown = self.name_of_logged_value(if long > short { "1h" } else { "5m" });
            return match short + long {
                0 => ChangeInLog::Untold,
                _ if shown == value => ChangeInLog::Shown,
                _ => ChangeInLog::No,
            };
        }
        let Some(place) = self.compaction_trigger_tokens(value, seen.window) else {
            return ChangeInLog::Untold;
        };
        let former = former.and_then(|value| self.compaction_trigger_tokens(value, seen.window));
        let below = Forecast::declared().below_trigger_tokens;
        // Compactions are the harness's own: those that a user asked for are not among them.
        let is_early = |at: &Tokens| at.saturating_add(below) < place;
        let is_own = |at: &Tokens| former.is_none_or(|former| at.abs_diff(place) < at.abs_diff(former));
        if seen.held > place || seen.compacted_at.iter().any(is_early) {
            ChangeInLog::No
        } else if seen.compacted_at.iter().any(is_own) || former.is_some_and(|former| seen.held > former) {
            ChangeInLog::Shown
        } else {
            ChangeInLog::Alike
        }
    }

    /// Returns the prompt from which a value has the history compacted; none where it moves no compaction.
    fn compaction_trigger_tokens(&self, value: &str, window: Tokens) -> Option<Tokens> {
        let number = if value == UNSET { None } else { Some(value.parse::<Tokens>().ok()?) };
        match self.shown_by? {
            ShownBy::Lifetimes => None,
            ShownBy::Compactions(more) => number.unwrap_or(window).min(window).checked_sub(more),
            ShownBy::Reserve => window.checked_sub(number?),
        }
    }
}

/// People, or projects where people are not known, who changed nothing.
struct UnchangedPeople {
    names: Vec<String>,
    /// Those that are named; only these, if there are any.
    named: Vec<String>,
}

impl UnchangedPeople {
    /// Finds those of whose later sessions some show that the change is not in force, or are of versions without it, and none shows that it
    /// is. Where this is true of everybody, nobody is: a session that differs from the others of one person says nothing of him.
    fn new(all: &[SizedSession], changes: &[ChangeInLog], named: &[String]) -> Self {
        let mut shown: IndexMap<&str, [usize; 3]> = IndexMap::new();
        for (session, has) in all.iter().zip(changes) {
            let n = shown.entry(person_or_project(&session.seen)).or_default();
            match has {
                ChangeInLog::No | ChangeInLog::Impossible => n[0] += 1,
                ChangeInLog::Shown => n[1] += 1,
                ChangeInLog::Untold => n[2] += 1,
                ChangeInLog::Alike => {}
            }
        }
        let is_still = |name: &str, n: [usize; 3]| !name.is_empty() && n[0] > 0 && n[1] == 0;
        let has_changed = shown.iter().any(|it| !is_still(it.0, *it.1) && it.1[1] + it.1[2] > 0);
        let is_found = |name: &str, n: [usize; 3]| match named.is_empty() {
            true => has_changed && is_still(name, n),
            false => is_person_named(named, name),
        };
        let names = shown.into_iter().filter(|it| is_found(it.0, it.1)).map(|it| it.0.to_owned()).listed();
        Self { names, named: named.to_vec() }
    }

    /// Returns whether a session counts as one without the change, or why it does not count.
    fn is_unchanged_session(
        &self,
        settings: &[(&AgentSetting, &str)],
        session: &SizedSession,
        change: ChangeInLog,
    ) -> Result<bool, String> {
        let is_still = self.names.iter().any(|own| own == person_or_project(&session.seen));
        match change {
            _ if is_still && (!self.named.is_empty() || change != ChangeInLog::Shown) => Ok(true),
            ChangeInLog::Shown | ChangeInLog::Untold | ChangeInLog::Alike => Ok(false),
            ChangeInLog::No => Err("their logs show that the setting was not on".to_owned()),
            ChangeInLog::Impossible => {
                let since = settings
                    .iter()
                    .filter_map(|it| Some(format!("`{}` exists since {}", it.0.key, it.0.since.as_ref()?)));
                Err(format!("their versions do not have the setting ({})", listed(&since.listed())))
            }
        }
    }
}

/// Returns whose session it is: a user's folder, or else the project.
fn person_or_project(seen: &LogData) -> &str {
    let user = user_of(&seen.project);
    if user.is_empty() { &seen.project } else { user }
}

/// Returns whether somebody is named, by name or by folder.
fn is_person_named(named: &[String], person: &str) -> bool {
    named.iter().any(|it| it == person || person.rsplit(['/', '\\']).next() == Some(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The triggers are 33,000 below the windows.
    #[test]
    fn a_window_is_shown_by_compactions_at_its_place_and_says_nothing_of_sessions_that_do_not_reach_it() {
        let window = Agent::all_by_file_name().unwrap()["claude-code"].setting("autoCompactWindow").unwrap();
        let shown = |[value, former]: [&str; 2], held: Tokens, compacted_at: &[Tokens]| {
            let seen =
                LogData { window: 200_000, held, compacted_at: compacted_at.to_vec(), ..LogData::default() };
            window.find_value_in_log(&seen, value, Some(former))
        };
        let [smaller, larger] = [["140000", UNSET], ["200000", "140000"]];
        assert_eq!(shown(smaller, 60_000, &[]), ChangeInLog::Alike);
        assert_eq!(shown(smaller, 100_000, &[104_000]), ChangeInLog::Shown);
        assert_eq!(shown(smaller, 130_000, &[]), ChangeInLog::No);
        assert_eq!(shown(smaller, 100_000, &[164_000]), ChangeInLog::Alike, "a jump: both compact here");
        assert_eq!(shown(larger, 120_000, &[]), ChangeInLog::Shown, "the smaller window would compact it");
        assert_eq!(shown(larger, 90_000, &[108_000]), ChangeInLog::No);
    }
}
