//! A report: its tables, its bytes and what it says.

use ctxsim::diag::{Code, Diagnostic};
use ctxsim::{CostParts, FailedRun, Run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{Values, raised, values};
use crate::table::{Columns, Table};

/// The number that tables show first, after the policy.
const COST: &str = "cost_usd.total";

/// The result of a comparison: every policy on every session under every profile. `str(report)` is the Markdown report; a notebook shows a table and a
/// chart of it, and `html()` is the whole page.
#[pyclass(frozen, module = "ctxsim")]
pub(crate) struct Report {
    pub(crate) inner: ctxsim::Report,
}

#[pymethods]
impl Report {
    /// One row per policy, session and profile: `policy`, `cost_usd.total` (US dollars), `scenario`, `profile`, `failed` (why the run has no numbers),
    /// and every other number of the JSON report by its path, such as `input_tokens`.
    #[getter]
    fn runs(&self) -> PyResult<Table> {
        let passed = self.inner.runs().iter().map(Ok);
        lines(passed.chain(self.inner.failures().iter().map(Err)).collect())
    }

    /// The same columns, summed over all sessions, by profile. A policy that failed on one of them has no numbers, and `failed` says why.
    #[getter]
    fn sums(&self) -> PyResult<Table> {
        lines(self.inner.sums().collect())
    }

    /// The lines of the tables over several sessions, whatever profiles these ran under: `policy`, `cost_usd.total` (US dollars), then `change`, `change_low`, `change_high` (95% interval) and
    /// `change_median` are shares of the first policy's cost; `cheaper`, `same` and `dearer` are shares of the sessions; `is_whole` is false if the
    /// policy failed on some of them.
    #[getter]
    fn totals(&self) -> PyResult<Table> {
        totals(&self.inner.totals())
    }

    /// One row per model request of the same runs: `policy`, then money as exact decimals with 12 places, `turn`, `step`, `n` (all from 0), `role`,
    /// `at_ms` (milliseconds since the start), tokens and `actions` (edits since the last request). `cost_usd` is the request's own cost; `total_usd`
    /// adds what is expected beside it (`recovery_usd`, `exploration_usd`, `left_by_others_usd`) and, in the last row of a run, what is known of the run
    /// as a whole (`reaction_usd`; `rest_usd`: stored caches, calls of memories, penalties). The sum of `total_usd` over a run is `cost_usd.total` in
    /// `runs`. `pair` names the same request under every policy, to join on; turns and places in a step differ between policies.
    ///
    /// Raises `ValueError` if the comparison was made with `rows=False`.
    #[getter]
    fn requests(&self) -> PyResult<Table> {
        let rows = self.rows(Run::request_rows)?;
        let mut of = Columns::default();
        let all = || rows.iter().map(|it| it.1);
        let part = |of: fn(&CostParts) -> i128| all().map(move |it| it.parts.as_ref().map(of));
        of.names("policy", rows.iter().map(|it| it.0.policy()));
        of.money("total_usd", part(|it| it.total));
        of.money("cost_usd", all().map(|it| it.picodollars));
        named(&mut of, rows.iter().map(|it| it.0));
        of.counts("turn", all().map(|it| it.turn));
        of.counts("step", all().map(|it| it.step));
        of.counts("n", all().map(|it| it.n));
        of.names("role", all().map(|it| role(it.role)));
        of.whole("at_ms", all().map(|it| Some(it.at_ms)));
        of.tokens("prompt_tokens", all().map(|it| it.prompt));
        of.tokens("cache_read_tokens", all().map(|it| it.cache_read));
        of.tokens("cache_write_tokens", all().map(|it| it.cache_write));
        of.tokens("uncached_tokens", all().map(|it| it.uncached));
        of.tokens("output_tokens", all().map(|it| it.output));
        of.counts("actions", all().map(|it| it.edits));
        of.texts("pair", all().map(|it| it.pair.map(|it| it.to_string())));
        of.money("recovery_usd", part(|it| it.recovery));
        of.money("exploration_usd", part(|it| it.exploration));
        of.money("left_by_others_usd", part(|it| it.left_by_others));
        of.money("reaction_usd", part(|it| it.reaction));
        of.money("rest_usd", part(|it| it.rest));
        of.table()
    }

    /// One row per thing that later work needs: `turn` (from 0), `weight` and `met` (0 to 1), `expected_calls` that fetch it again, `fetched_tokens`
    /// of one such call, `expected_failures`.
    #[getter]
    fn needs(&self) -> PyResult<Table> {
        let rows = self.rows(Run::need_rows)?;
        let mut of = Columns::default();
        of.names("policy", rows.iter().map(|it| it.0.policy()));
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

    /// Any number of a policy by its path in the JSON report, such as `cost_usd.total` (US dollars) or `evidence_kept` (0 to 1): of one `scenario`, or
    /// summed over all. None if it is unknown. `profile` chooses one of several.
    ///
    /// Raises `Error` if there is no such number, with the nearest that there is, or no such run.
    #[pyo3(signature = (policy, place, *, scenario=None, profile=None))]
    fn metric(
        &self,
        py: Python<'_>,
        policy: &str,
        place: &str,
        scenario: Option<&str>,
        profile: Option<&str>,
    ) -> PyResult<Option<f64>> {
        let is_meant = |it: &&Run| {
            it.policy() == policy
                && profile.is_none_or(|name| it.profile() == name)
                && scenario.is_none_or(|name| it.scenario() == name)
        };
        let found: Vec<&Run> = match scenario {
            Some(_) => self.inner.runs().iter().filter(is_meant).collect(),
            None => self.inner.sums().flatten().filter(is_meant).collect(),
        };
        let [run] = found[..] else {
            let message = format!("{} runs are of policy `{policy}`", found.len());
            let help = if found.is_empty() {
                "`report.runs` lists the runs"
            } else {
                "choose one with `profile=NAME`"
            };
            return Err(raised(py, &Diagnostic::at(Code("run-unknown"), "", message).help(help).into()));
        };
        run.metric(place).map_err(|it| raised(py, &it))
    }

    /// One chart as SVG, that of `ctxsim run --format svg --chart NAME`: such as `frontier`, `cost` or `waiting`.
    ///
    /// Raises `Error` if the report has no such chart.
    #[pyo3(signature = (name="cost"))]
    fn chart(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        py.detach(|| self.inner.chart(name)).map_err(|it| raised(py, &it))
    }

    /// The runs that failed.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> Values<'py> {
        values(py, "Failure", self.inner.failures())
    }

    /// Raises `Error` if any run failed, or a guard of the suite does not hold.
    fn all_passed(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.all_passed().map_err(|it| raised(py, &it))
    }

    /// Which policy to take, in a few sentences; empty if there is nothing to compare.
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
    fn verdicts<'py>(&self, py: Python<'py>) -> Values<'py> {
        values(py, "Verdict", &self.inner.verdicts())
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

    /// A table and a chart, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ctxsim.display")?.call_method1("report", (slf,))
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

/// Adds the columns that say which run a row is of.
fn named<'r>(of: &mut Columns, runs: impl Iterator<Item = &'r Run> + Clone) {
    of.names("scenario", runs.clone().map(Run::scenario));
    of.names("profile", runs.map(Run::profile));
}

/// Makes a table of the lines of tables over several sessions.
pub(crate) fn totals(all: &[ctxsim::Total]) -> PyResult<Table> {
    let mut of = Columns::default();
    of.names("policy", all.iter().map(ctxsim::Total::policy));
    of.numbers(COST, all.iter().map(|it| it.metric(COST).ok().flatten()));
    of.numbers("change", all.iter().map(ctxsim::Total::change));
    of.numbers("change_low", all.iter().map(|it| it.change_interval().map(|it| it[0])));
    of.numbers("change_high", all.iter().map(|it| it.change_interval().map(|it| it[1])));
    of.numbers("change_median", all.iter().map(ctxsim::Total::change_median));
    for (nth, name) in ["cheaper", "same", "dearer"].into_iter().enumerate() {
        of.numbers(name, all.iter().map(|it| it.cheaper_same_dearer().map(|it| it[nth])));
    }
    of.names("load", all.iter().map(ctxsim::Total::load));
    of.names("profile", all.iter().map(ctxsim::Total::profile));
    of.tokens("scenarios", all.iter().map(|it| it.scenarios() as u64));
    of.flags("is_whole", all.iter().map(|it| Some(it.is_whole())));
    of.flags("is_part", all.iter().map(|it| Some(it.is_part())));
    let places = all.first().map_or_else(Vec::new, |it| it.metrics().map(|it| it.0).collect::<Vec<_>>());
    for place in places.into_iter().filter(|it| it != COST) {
        of.numbers(&place, all.iter().map(|it| it.metric(&place).ok().flatten()));
    }
    of.table()
}

/// Makes a table of runs or sums.
fn lines(all: Vec<Result<&Run, &FailedRun>>) -> PyResult<Table> {
    let mut of = Columns::default();
    let runs: Vec<Option<&Run>> = all.iter().map(|it| it.ok()).collect();
    of.names("policy", all.iter().map(|it| it.map_or_else(|it| it.policy.as_str(), Run::policy)));
    of.numbers(COST, runs.iter().map(|it| it.and_then(|it| it.metric(COST).ok().flatten())));
    of.names("scenario", all.iter().map(|it| it.map_or_else(|it| it.scenario.as_str(), Run::scenario)));
    of.names("profile", all.iter().map(|it| it.map_or_else(|it| it.profile.as_str(), Run::profile)));
    of.texts("failed", all.iter().map(|it| it.err().map(ToString::to_string)));
    let names: Vec<String> =
        runs.iter().flatten().next().map_or_else(Vec::new, |it| it.metrics().map(|it| it.0).collect());
    for place in names.into_iter().filter(|it| it != COST) {
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
