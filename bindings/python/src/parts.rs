//! Parts: sessions played anywhere, and the totals that they fold to.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctxsim::app::parts::tickets::{self, GivenRecording, HeldTicket, Job, Ticket};
use ctxsim::catalog::{PipedBytes, bundled_catalog};
use ctxsim::report::part::RunPart;
use ctxsim::report::verdict::MIN_EVIDENCE;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::{Arguments, Session, bounded, sessions, word, words};
use crate::error::{Values, raised, values};
use crate::stop::{Stop, watched};
use crate::table::{Columns, Table};

/// What all sessions come to together, without the runs of each: what `ctxsim run --totals` and `ctxsim run --merge` write.
#[pyclass(frozen, module = "ctxsim")]
pub(crate) struct Totals {
    inner: ctxsim::Totals,
}

#[pymethods]
impl Totals {
    /// The lines of the tables, as `Report.totals` has them.
    #[getter]
    fn lines(&self) -> PyResult<Table> {
        crate::report::totals(&self.inner.lines())
    }

    /// What each table says: which policy to take.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> Values<'py> {
        values(py, "Verdict", &self.inner.verdicts())
    }

    /// The runs that failed; they are in no total.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> Values<'py> {
        values(py, "Failure", self.inner.failures())
    }

    /// Notes that a reader of the numbers must know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    /// The bytes of `ctxsim run --totals --format json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.inner.json()).map_err(|it| raised(py, &it))
    }

    fn __repr__(&self) -> String {
        let said: Vec<String> = self.inner.verdicts().iter().map(ToString::to_string).collect();
        format!("<ctxsim.Totals: {}>", said.join(" "))
    }
}

/// Plays one share of the sessions, `(part, of)` from 1, and returns the part of each.
#[pyfunction]
pub(crate) fn parts(
    py: Python<'_>,
    sessions: Option<Bound<'_, PyAny>>,
    shard: (usize, usize),
    given: Arguments<'_>,
) -> PyResult<Vec<String>> {
    let stop = Stop::default();
    let mut comparison = given.comparison(py, &stop)?;
    for name in words(sessions.as_ref())? {
        comparison = comparison.scenario(name);
    }
    let progress = given.progress.as_ref();
    let made = || comparison.plan()?.parts(shard.0, shard.1, |done| stop.told(progress, done));
    watched(py, &stop, made)?.map_err(|error| raised(py, &error))
}

/// A session's path, its ticket, and its bytes if it has no path.
type Planned<'py> = (String, String, Option<Bound<'py, PyBytes>>);

/// Reads all sessions once: returns the job, and each session's path, ticket and bytes.
#[pyfunction]
pub(crate) fn job<'py>(
    py: Python<'py>,
    sessions: &Bound<'py, PyAny>,
    given: Arguments<'py>,
) -> PyResult<(String, Vec<Planned<'py>>)> {
    let min_evidence = given.min_evidence.unwrap_or(MIN_EVIDENCE);
    let comparison = ctxsim::app::Comparison {
        suite: given.suite.as_ref().map(word).transpose()?,
        policies: words(given.policies.as_ref())?,
        profiles: words(given.profiles.as_ref())?,
        set: words(given.set.as_ref())?,
        own_models: given.own_models,
        seed: given.seed,
        trials: given.trials,
        ..Default::default()
    };
    let given = self::sessions(Some(sessions))?.into_iter().map(|it| match it {
        Session::Named(path) => GivenRecording::Path(path),
        Session::Bytes(name, data) => GivenRecording::Bytes(held(&name, data.as_bytes(py).to_vec())),
    });
    let given: Vec<GivenRecording> = given.collect();
    let stop = Stop::default();
    let job = watched(py, &stop, || tickets::new_job(&bundled_catalog(), &comparison, &given, min_evidence))?;
    let (job, all) = job.map_err(|it| raised(py, &it.into()))?;
    let rows = all.into_iter().map(|it| {
        let bytes = it.bytes.map(|it| PyBytes::new(py, &it.bytes));
        Ok((it.ticket.path.clone(), text(&it.ticket)?, bytes))
    });
    Ok((text(&job)?, rows.collect::<PyResult<_>>()?))
}

/// Plays the sessions of an Arrow table (`ticket`, and `bytes` or `path`) and returns a pyarrow table with one row each: `part`, the digest of the
/// job, counts, `base_usd` (exact), what was left out and what was skipped. Another version, or other policies, are refused.
#[pyfunction]
#[pyo3(signature = (job, sessions, threads=None))]
pub(crate) fn batch(
    py: Python<'_>,
    job: &str,
    sessions: Vec<(String, Option<Vec<u8>>)>,
    threads: Option<usize>,
) -> PyResult<Table> {
    bounded(threads)?;
    let job: Job = parsed(job)?;
    let mut all = Vec::with_capacity(sessions.len());
    for (ticket, bytes) in sessions {
        let ticket: Ticket = parsed(&ticket)?;
        let bytes = bytes.map(|it| held(&ticket.path, it));
        all.push(HeldTicket { ticket, bytes });
    }
    let stop = Stop::default();
    let told = |_, _| if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let made = watched(py, &stop, || tickets::play_tickets(&bundled_catalog(), &job, all, &told, threads))?;
    rows(&made.map_err(|it| raised(py, &it.into()))?)
}

/// Folds rows of `batch`, or parts, in any order and however often each is there, to what one process gives, byte for byte.
#[pyfunction]
pub(crate) fn fold(py: Python<'_>, parts: Vec<String>) -> PyResult<Totals> {
    let folded = py.detach(|| ctxsim::Totals::fold(&parts));
    folded.map(|inner| Totals { inner }).map_err(|it| raised(py, &it))
}

/// Returns parts as rows, with what a reader looks for first beside them.
fn rows(parts: &[RunPart]) -> PyResult<Table> {
    let mut of = Columns::default();
    of.names("job", parts.iter().map(|it| it.job.as_str()));
    of.names("version", parts.iter().map(|it| it.version.as_str()));
    of.tokens("nth", parts.iter().map(|it| it.nth as u64));
    of.texts("scenario", parts.iter().map(|it| Some(it.name.clone())));
    of.tokens("sessions", parts.iter().map(|it| it.loads.len() as u64));
    of.tokens("runs", parts.iter().map(|it| it.loads.iter().map(|it| it.runs.len() as u64).sum()));
    let requests = |it: &RunPart| it.loads.iter().filter_map(|it| Some(it.session.as_ref()?.requests)).sum();
    of.tokens("requests", parts.iter().map(requests));
    // What the first policy's requests cost, without what is expected.
    let base = |it: &RunPart| {
        it.loads
            .iter()
            .filter_map(|it| it.runs.first())
            .map(|it| it.tally.costs.base().0)
            .reduce(|sum, it| sum + it)
    };
    of.money("base_usd", parts.iter().map(base));
    let left_out = |it: &RunPart| it.loads.iter().flat_map(|it| &it.left_out).map(|it| it.count as u64).sum();
    of.tokens("records_left_out", parts.iter().map(left_out));
    let skipped = |it: &RunPart| {
        let reasons: Vec<&str> = it.skipped.iter().map(|it| it.reason.as_str()).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    };
    of.texts("skipped", parts.iter().map(skipped));
    let lines: Result<Vec<String>, _> = parts.iter().map(RunPart::to_json_line).collect();
    let lines = lines.map_err(|it| PyValueError::new_err(it.to_string()))?;
    of.texts("part", lines.into_iter().map(Some));
    of.table()
}

fn held(name: &str, bytes: Vec<u8>) -> Arc<PipedBytes> {
    Arc::new(PipedBytes { path: name.into(), bytes, is_file: true })
}

fn text<T: serde::Serialize>(it: &T) -> PyResult<String> {
    serde_json::to_string(it).map_err(|it| PyValueError::new_err(it.to_string()))
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text)
        .map_err(|it| PyValueError::new_err(format!("not made by this version of ctxsim: {it}")))
}
