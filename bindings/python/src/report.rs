//! A report: its tables, its bytes and what it says.

use ctxsim::{CostParts, FailedRun, Run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::raised;
use crate::table::{Columns, Table};

/// The result of a comparison: every policy on every session under every profile. `str(report)` is the Markdown report.
#[pyclass(frozen, module = "ctxsim")]
pub(crate) struct Report {
    pub(crate) inner: ctxsim::Report,
}

/// A run that came to no result, because code outside ctxsim failed.
#[pyclass(frozen, get_all, module = "ctxsim")]
pub(crate) struct Failure {
    policy: String,
    scenario: String,
    profile: String,
    turn: u32,
    request: u32,
    reason: String,
    words: String,
}

/// What a table of a report says: which policy to take.
#[pyclass(frozen, get_all, module = "ctxsim")]
pub(crate) struct Verdict {
    load: String,
    profile: String,
    scenarios: usize,
    min_evidence: f64,
    knows_evidence: bool,
    baseline: String,
    cheapest: Option<String>,
    change: Option<f64>,
    interval: Option<(f64, f64)>,
    lossy: Vec<String>,
    words: String,
}

#[pymethods]
impl Failure {
    fn __str__(&self) -> &str {
        &self.words
    }

    fn __repr__(&self) -> String {
        format!("<ctxsim.Failure: {}>", self.words)
    }
}

#[pymethods]
impl Verdict {
    fn __str__(&self) -> &str {
        &self.words
    }

    fn __repr__(&self) -> String {
        format!("<ctxsim.Verdict: {}>", self.words)
    }
}

#[pymethods]
impl Report {
    /// One row per policy, session and profile, with every number of the JSON report by its path. A run that failed has its reason in
    /// `failed`, and no numbers.
    #[getter]
    fn runs(&self) -> PyResult<Table> {
        let passed = self.inner.runs().iter().map(Ok);
        lines(passed.chain(self.inner.failures().iter().map(Err)).collect())
    }

    /// The same summed over all sessions, by profile. A policy that failed on one of them has its reason in `failed`, and no numbers.
    #[getter]
    fn sums(&self) -> PyResult<Table> {
        lines(self.inner.sums().collect())
    }

    /// The lines of the tables over several sessions, whatever profiles these ran under, with how the change in cost varies over sessions.
    #[getter]
    fn totals(&self) -> PyResult<Table> {
        totals(&self.inner.totals())
    }

    /// One row per model request, as it was made in the run.
    #[getter]
    fn requests(&self) -> PyResult<Table> {
        let rows = self.rows(Run::request_rows)?;
        let mut of = Columns::default();
        named(&mut of, rows.iter().map(|it| it.0));
        let all = || rows.iter().map(|it| it.1);
        of.counts("turn", all().map(|it| it.turn));
        of.counts("step", all().map(|it| it.step));
        of.counts("n", all().map(|it| it.n));
        of.names("role", all().map(|it| role(it.role)));
        of.times("at_ms", all().map(|it| it.at_ms));
        of.tokens("prompt_tokens", all().map(|it| it.prompt));
        of.tokens("cache_read_tokens", all().map(|it| it.cache_read));
        of.tokens("cache_write_tokens", all().map(|it| it.cache_write));
        of.tokens("uncached_tokens", all().map(|it| it.uncached));
        of.tokens("output_tokens", all().map(|it| it.output));
        of.counts("actions", all().map(|it| it.edits));
        of.texts("pair", all().map(|it| it.pair.map(|it| it.to_string())));
        of.money("cost_usd", all().map(|it| it.picodollars));
        let part = |of: fn(&CostParts) -> i128| all().map(move |it| it.parts.as_ref().map(of));
        of.money("recovery_usd", part(|it| it.recovery));
        of.money("exploration_usd", part(|it| it.exploration));
        of.money("left_by_others_usd", part(|it| it.left_by_others));
        of.money("reaction_usd", part(|it| it.reaction));
        of.money("rest_usd", part(|it| it.rest));
        of.money("total_usd", part(|it| it.total));
        of.table()
    }

    /// One row per thing that a later step needs, and how it was met.
    #[getter]
    fn needs(&self) -> PyResult<Table> {
        let rows = self.rows(Run::need_rows)?;
        let mut of = Columns::default();
        named(&mut of, rows.iter().map(|it| it.0));
        let all = || rows.iter().map(|it| it.1);
        of.counts("turn", all().map(|it| it.turn));
        of.numbers("weight", all().map(|it| Some(it.weight)));
        of.numbers("met", all().map(|it| Some(it.met)));
        of.numbers("expected_calls", all().map(|it| Some(it.calls)));
        of.tokens("fetched_tokens", all().map(|it| it.fetched));
        of.numbers("expected_failures", all().map(|it| Some(it.failed)));
        of.table()
    }

    /// The runs that failed.
    #[getter]
    fn failures(&self) -> Vec<Failure> {
        self.inner.failures().iter().map(Failure::new).collect()
    }

    /// Raises `Error` if any run failed.
    fn all_passed(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.all_passed().map_err(|it| raised(py, &it))
    }

    /// What the tables say, in sentences; empty if there is nothing to compare.
    #[getter]
    fn verdict(&self) -> String {
        let all = self.inner.verdicts();
        let one = |it: &ctxsim::Verdict| match all.len() {
            1 => it.words.clone(),
            _ => format!("{} under {}: {}", it.load, it.profile, it.words),
        };
        all.iter().map(one).collect::<Vec<_>>().join("\n")
    }

    /// What each table says, for code that acts on it.
    #[getter]
    fn verdicts(&self) -> Vec<Verdict> {
        self.inner.verdicts().into_iter().map(Verdict::new).collect()
    }

    /// What to repair in memories, in sentences; empty if no load asks what is remembered.
    #[getter]
    fn repairs(&self) -> Vec<String> {
        self.inner.repairs()
    }

    /// Notes that a reader of the numbers must know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    /// The guards of the suite that do not hold, as sentences.
    #[getter]
    fn broken_guards(&self) -> Vec<String> {
        self.inner.broken_guards()
    }

    /// The JSON report, byte for byte that of `ctxsim run --format json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.inner.json()).map_err(|it| raised(py, &it))
    }

    /// The report as one self-contained HTML page, that of `ctxsim run --format html`.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.inner.html()).map_err(|it| raised(py, &it))
    }

    /// The page in a frame, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let page = self.html(py)?.replace('&', "&amp;").replace('"', "&quot;");
        Ok(format!(
            "<iframe srcdoc=\"{page}\" sandbox=\"allow-same-origin\" style=\"width:100%;height:70vh;border:0\"></iframe>"
        ))
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __repr__(&self) -> String {
        let failed = match self.inner.failures().len() {
            0 => String::new(),
            n => format!(", {n} FAILED"),
        };
        format!("<ctxsim.Report: {} runs{failed}; {}>", self.inner.runs().len(), self.verdict())
    }
}

impl Report {
    /// Returns the rows of all runs, each with its run.
    fn rows<'r, T>(&'r self, of: fn(&'r Run) -> Option<&'r [T]>) -> PyResult<Vec<(&'r Run, &'r T)>> {
        let runs = self.inner.runs();
        if !runs.is_empty() && runs.iter().all(|it| of(it).is_none()) {
            let words =
                "this report has no rows: call `compare` with rows=True, on scenarios that have requests";
            return Err(PyValueError::new_err(words));
        }
        let rows = runs.iter().flat_map(|run| of(run).unwrap_or_default().iter().map(move |it| (run, it)));
        Ok(rows.collect())
    }
}

impl Failure {
    pub(crate) fn new(it: &FailedRun) -> Self {
        Self {
            words: it.to_string(),
            policy: it.policy.clone(),
            scenario: it.scenario.clone(),
            profile: it.profile.clone(),
            turn: it.turn,
            request: it.request,
            reason: it.reason.clone(),
        }
    }
}

impl Verdict {
    pub(crate) fn new(it: ctxsim::Verdict) -> Self {
        Self {
            load: it.load,
            profile: it.profile,
            scenarios: it.scenarios,
            min_evidence: it.min_evidence,
            knows_evidence: it.knows_evidence,
            baseline: it.baseline,
            cheapest: it.cheapest,
            change: it.change,
            interval: it.interval.map(Into::into),
            lossy: it.lossy,
            words: it.words,
        }
    }
}

/// Adds the columns that say which run a row is of.
fn named<'r>(of: &mut Columns, runs: impl Iterator<Item = &'r Run> + Clone) {
    of.names("policy", runs.clone().map(Run::policy));
    of.names("scenario", runs.clone().map(Run::scenario));
    of.names("profile", runs.map(Run::profile));
}

/// Makes a table of the lines of tables over several sessions.
pub(crate) fn totals(all: &[ctxsim::Total]) -> PyResult<Table> {
    let mut of = Columns::default();
    of.names("load", all.iter().map(ctxsim::Total::load));
    of.names("profile", all.iter().map(ctxsim::Total::profile));
    of.names("policy", all.iter().map(ctxsim::Total::policy));
    of.tokens("scenarios", all.iter().map(|it| it.scenarios() as u64));
    of.flags("is_whole", all.iter().map(ctxsim::Total::is_whole));
    of.flags("is_part", all.iter().map(ctxsim::Total::is_part));
    of.numbers("change", all.iter().map(ctxsim::Total::change));
    of.numbers("change_low", all.iter().map(|it| it.change_interval().map(|it| it[0])));
    of.numbers("change_high", all.iter().map(|it| it.change_interval().map(|it| it[1])));
    of.numbers("change_median", all.iter().map(ctxsim::Total::change_median));
    for (nth, name) in ["cheaper", "same", "dearer"].into_iter().enumerate() {
        of.numbers(name, all.iter().map(|it| it.cheaper_same_dearer().map(|it| it[nth])));
    }
    for place in all.first().map_or_else(Vec::new, |it| it.metrics().map(|it| it.0).collect::<Vec<_>>()) {
        of.numbers(&place, all.iter().map(|it| it.metric(&place).ok().flatten()));
    }
    of.table()
}

/// Makes a table of runs or sums.
fn lines(all: Vec<Result<&Run, &FailedRun>>) -> PyResult<Table> {
    let mut of = Columns::default();
    of.names("policy", all.iter().map(|it| it.map_or_else(|it| it.policy.as_str(), Run::policy)));
    of.names("scenario", all.iter().map(|it| it.map_or_else(|it| it.scenario.as_str(), Run::scenario)));
    of.names("profile", all.iter().map(|it| it.map_or_else(|it| it.profile.as_str(), Run::profile)));
    of.texts("failed", all.iter().map(|it| it.err().map(ToString::to_string)));
    let runs: Vec<Option<&Run>> = all.iter().map(|it| it.ok()).collect();
    let names: Vec<String> =
        runs.iter().flatten().next().map_or_else(Vec::new, |it| it.metrics().map(|it| it.0).collect());
    for place in names {
        of.numbers(&place, runs.iter().map(|it| it.and_then(|it| it.metric(&place).ok().flatten())));
    }
    of.table()
}

fn role(role: ctxsim::Role) -> &'static str {
    match role {
        ctxsim::Role::Main => "main",
        ctxsim::Role::Summariser => "summariser",
        ctxsim::Role::KeepAlive => "keep_alive",
        _ => "other",
    }
}
