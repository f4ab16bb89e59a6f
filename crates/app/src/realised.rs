//! A forecast held against later sessions: which of them count, and what they were billed.

use super::advise::agents::{Agent, ShownBy};
use super::advise::{SeenLog, SettingPolicies, SettingValues, costs_with, no_recording, seen};
use super::{Comparison, Progress};
use crate::catalog::Catalog;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_report::advise::saved::{Bills, SCHEMA, Saved, SessionKind};
use ctxsim_report::part::SumRoom;
use ctxsim_report::realised::{Later, Realised};

/// With so many sessions of an earlier version, others take no part.
const SAME_VERSION_MIN: usize = 5;

/// Reads a forecast.
///
/// # Errors
/// The text is none, or of another schema.
pub fn forecast(file: &str, text: &str) -> Result<Saved, Error> {
    let broken = |message: String, place: Option<(usize, usize)>| {
        let mut problem = Diagnostic::at(Code::ForecastBroken, "", message);
        file.clone_into(&mut problem.place.file);
        problem.place.line_column = place;
        Error::from(vec![problem.help("give a file that `ctxsim advise SESSIONS --save FILE` wrote")])
    };
    let read = |it: serde_json::Error| broken(it.to_string(), Some((it.line(), it.column().max(1))));
    let saved: Saved = serde_json::from_str(text).map_err(read)?;
    if saved.schema != SCHEMA {
        return Err(broken(format!("the schema is `{}`, not `{SCHEMA}`", saved.schema), None));
    }
    SumRoom::default().take(&saved).map_err(|it| broken(it.to_string(), None))?;
    match saved.kinds.iter().find(|it| !is_possible(it)) {
        Some(kind) => Err(broken(format!("`{}`: no sessions can have been billed so", kind.name), None)),
        None if saved.interval[0] > saved.interval[1] => {
            Err(broken("the ends of `interval` are out of order".to_owned(), None))
        }
        None => Ok(saved),
    }
}

/// Returns whether sessions of a kind can have been billed so, and can be forecast to change so.
fn is_possible(kind: &SessionKind) -> bool {
    let Bills { sessions, size, usd, residual } = kind.bills;
    sessions > 0 && size > 0.0 && usd >= 0.0 && residual >= 0.0 && kind.change >= -1.0
}

/// Holds a forecast against the sessions that came after it.
///
/// # Errors
/// Every problem of the inputs.
pub fn realised(
    catalog: &Catalog,
    comparison: &Comparison,
    saved: &Saved,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Realised, Error> {
    let agent = Agent::all()?.values().find(|it| it.name == saved.agent);
    let mut all = seen(catalog, comparison, threads, progress)?;
    if all.is_empty() {
        return Err(no_recording("hold the forecast against"));
    }
    let before: SettingValues = saved
        .before
        .iter()
        .filter_map(|it| it.split_once('='))
        .map(|it| (it.0.into(), it.1.into()))
        .collect();
    let sizes: Vec<Option<f64>> = match (agent, before.is_empty()) {
        (Some(agent), false) => {
            let policies = SettingPolicies { catalog, agent };
            costs_with(catalog, comparison, policies, &before, threads, progress)?
        }
        _ => all.iter().map(|it| Some(it.requests as f64)).listed(),
    };
    all.iter_mut().zip(sizes).for_each(|(it, size)| it.size = size);
    let mut left_out: Vec<(String, usize)> = Vec::new();
    let mut leave = |all: &mut Vec<SeenLog>, reason: &str, stays: &dyn Fn(&SeenLog) -> bool| {
        let before = all.len();
        all.retain(stays);
        if all.len() < before {
            left_out.push((reason.to_owned(), before - all.len()));
        }
    };
    let is_later =
        |it: &SeenLog| saved.until_ms.is_none_or(|until| it.span_ms.is_some_and(|it| it[0] > until));
    leave(&mut all, "they are not later than the sessions of the forecast", &is_later);
    leave(&mut all, "their logs show that the setting was not in force", &|it| {
        agent.is_none_or(|agent| may_hold(agent, saved, it))
    });
    leave(&mut all, "they have no bill", &|it| it.bill().is_some());
    let is_same = |it: &SeenLog| saved.versions.is_empty() || saved.versions.contains(&it.version);
    let n_same = all.iter().filter(|it| is_same(it)).count();
    let mut notes = Vec::new();
    if n_same >= SAME_VERSION_MIN {
        leave(&mut all, "other versions made them", &is_same);
    } else if n_same < all.len() {
        notes.push("Other versions of the agent made most of these sessions; what those changed is part of the difference.".to_owned());
    }
    let later = all.iter().filter_map(|it| {
        let (size, usd) = it.bill()?;
        Some(Later { kind: it.kind(), size, usd })
    });
    let mut found = Realised::new(saved, &later.listed());
    left_out.append(&mut found.left_out);
    Ok(Realised { left_out, notes, ..found })
}

/// Returns whether the settings of a forecast may have been in force in a session, as far as its log shows.
fn may_hold(agent: &Agent, saved: &Saved, seen: &SeenLog) -> bool {
    let holds = |(key, value): (&str, &str)| {
        let Some(setting) = agent.setting(key) else { return true };
        let is_shown = setting.shown_by == Some(ShownBy::Lifetimes) && setting.lane.include(seen.is_of_agent);
        let [short, long] = seen.written;
        let shown = setting.called(if long > short { "1h" } else { "5m" });
        !is_shown || short + long == 0 || shown == value
    };
    saved.set.iter().filter_map(|it| it.split_once('=')).all(holds)
}
