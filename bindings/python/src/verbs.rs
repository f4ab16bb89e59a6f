//! The verbs beside `compare`: each returns the JSON of the command line and a text, of which `ctxsim/answers.py` makes values and tables.

use ctxsim::diag::{Code, Diagnostic, nearest};
use ctxsim::results::Answer;
use ctxsim::{Comparison, Error, RunId};
use pyo3::prelude::*;

use crate::arguments::Arguments;
use crate::error::raised;
use crate::stop::{Stop, watched};
use crate::workbench::on;

/// The most names that a message lists.
const NAMES_SHOWN: usize = 5;

/// What a verb answers: its JSON, its text, and what the JSON does not have.
type Made = (String, String, Option<String>);

/// What verbs take beside the arguments of comparisons.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    verb: String,
    #[pyo3(default)]
    vary: Vec<(String, String)>,
    #[pyo3(default)]
    objectives: Vec<String>,
    #[pyo3(default)]
    guards: Vec<String>,
    #[pyo3(default)]
    pairs: Vec<String>,
    #[pyo3(default)]
    agent: Option<String>,
    #[pyo3(default)]
    settings: Option<(String, String)>,
    #[pyo3(default)]
    snapshots: String,
    #[pyo3(default)]
    forecast: String,
    #[pyo3(default)]
    changed: Option<String>,
    #[pyo3(default)]
    request: usize,
    #[pyo3(default)]
    session: Option<String>,
}

/// Runs a verb on sessions, or on those of a workbench.
#[pyfunction]
pub(crate) fn answer(
    py: Python<'_>,
    sessions: Option<Bound<'_, PyAny>>,
    given: Bound<'_, PyAny>,
) -> PyResult<Made> {
    let (common, asked): (Arguments<'_>, Asked) = (given.extract()?, given.extract()?);
    let stop = Stop::default();
    let comparison = on(py, common.comparison(py, &stop)?, sessions.as_ref(), &stop)?;
    let made = watched(py, &stop, || match asked.verb.as_str() {
        "sensitivity" => comparison.plan()?.sensitivity().map(|it| made(&it, None)),
        "explain" => explained(comparison, &asked),
        "sweep" => searched(comparison, asked).sweep().map(|it| made(&it, None)),
        "tune" => searched(comparison, asked).tune().map(|it| made(&it, it.file.clone())),
        "check" => comparison.check(&asked.snapshots).map(|it| made(&it, None)),
        "bill" => comparison.screen(settings(&asked)).map(|it| made(&it.0, None)),
        "realised" => {
            comparison.realised(&asked.forecast, asked.changed.as_deref()).map(|it| made(&it, None))
        }
        _ => {
            let comparison = asked.pairs.iter().fold(comparison, Comparison::try_setting);
            let advice = comparison.advise(asked.agent.as_deref(), settings(&asked))?;
            Ok(made(&advice, advice.forecast.clone()))
        }
    })?;
    made.map_err(|it| raised(py, &it))
}

fn made<T>(it: &Answer<T>, beside: Option<String>) -> Made {
    (it.json().to_owned(), it.to_string(), beside)
}

/// Adds what a search varies and looks for.
fn searched(comparison: Comparison, asked: Asked) -> Comparison {
    let varied = asked.vary.iter().fold(comparison, |it, (path, values)| it.vary(path, values));
    let looked_for = asked.objectives.into_iter().fold(varied, Comparison::objective);
    asked.guards.into_iter().fold(looked_for, Comparison::require)
}

fn settings(asked: &Asked) -> Option<(&str, &str)> {
    asked.settings.as_ref().map(|(name, text)| (name.as_str(), text.as_str()))
}

/// Explains a request of the only session, or of the one that is named.
fn explained(comparison: Comparison, asked: &Asked) -> Result<Made, Error> {
    let plan = comparison.plan()?;
    let explanation = plan.explain(&chosen(&plan.runs()?, asked.session.as_deref())?, asked.request)?;
    let prompt = Some(explanation.prompt.clone()).filter(|it| !it.is_empty());
    Ok(made(&explanation, prompt))
}

fn chosen(runs: &[RunId], session: Option<&str>) -> Result<RunId, Error> {
    let names = || runs.iter().map(|it| it.scenario.as_str());
    let found = runs.iter().find(|it| session.is_none_or(|name| it.scenario == name));
    if let Some(found) = found.filter(|_| session.is_some() || runs.len() == 1) {
        return Ok(found.clone());
    }
    let message = match session {
        Some(name) => format!("there is no session `{name}`"),
        None => format!("there are {} sessions: choose one with `session=NAME`", runs.len()),
    };
    let help = match session.and_then(|it| nearest(it, names())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let shown: Vec<String> = names().take(NAMES_SHOWN).map(|it| format!("`{it}`")).collect();
            format!("the sessions are: {}", shown.join(", "))
        }
    };
    Err(Diagnostic::at(Code("explain-what"), "", message).help(help).into())
}
