//! Results.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};

use crate::face::rows::KeptRows;
use crate::face::{Error, NeedRow, RequestRow, Total, Verdict};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error as InnerError;
use ctxsim_engine::measure::Tally;
#[cfg(feature = "html")]
use ctxsim_report::chart::draw_named_chart_svg;
use ctxsim_report::html::Traces;
use ctxsim_report::sections::Detail;
use ctxsim_report::{RunTotals, distinct, json, places, run_blocks, shot};
use ctxsim_timeline::row::heads;

use ctxsim_engine::take::{self, FailedRuns};

pub use ctxsim_engine::take::FailedRun;

/// A comparison's results: every policy on every scenario under every profile.
///
/// `Display` is the Markdown report: totals first, then each scenario, notes and assumptions. It serialises as the JSON report does.
#[derive(Clone, Debug)]
pub struct Report {
    inner: ctxsim_report::Report,
    runs: Vec<Run>,
    sums: Vec<Result<Run, FailedRun>>,
    /// The requests that a page charts, where rows were kept.
    #[cfg_attr(not(feature = "html"), expect(dead_code, reason = "only pages read them"))]
    traces: Option<Traces>,
}

/// One policy on one scenario under one profile, or summed over all scenarios.
#[derive(Clone, Debug)]
pub struct Run {
    inner: take::Run,
    /// Its numbers by their paths, made when one is asked for.
    totals: OnceLock<RunTotals>,
    rows: Option<Arc<KeptRows>>,
}

/// Numbers selected and rounded so that a release that adds fields does not change any snapshot; `Display` is a table with the date of the prices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    text: String,
}

impl Report {
    pub(super) fn new(
        inner: ctxsim_report::Report,
        policies: &[String],
        rows: impl Iterator<Item = Option<Arc<KeptRows>>>,
        traces: Option<Traces>,
    ) -> Self {
        let rows = rows.chain(std::iter::repeat(None));
        let runs = inner.runs.iter().zip(rows).map(|(run, rows)| Run { rows, ..Run::new(run) }).collect();
        Self { runs, sums: sums_over_scenarios(&inner, policies), inner, traces }
    }

    /// Returns the runs, ordered by scenario, then by profile, then by policy.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the sums over all scenarios, ordered by profile, then by policy.
    ///
    /// A policy that failed on a scenario has no sum: in its place stands the first of its failures. `flatten` leaves these out.
    pub fn sums(&self) -> impl Iterator<Item = Result<&Run, &FailedRun>> {
        self.sums.iter().map(Result::as_ref)
    }

    /// Returns the lines of the tables of several scenarios, table by table, as the JSON report's `totals` has them: with the sessions that each
    /// ran under their own model's profile in one table, and how changes vary over sessions.
    #[must_use]
    pub fn totals(&self) -> Vec<Total> {
        let sections = self.inner.sections(Detail::Groups);
        sections.iter().filter(|it| it.scenarios > 1).flat_map(Total::lines_of_section).collect()
    }

    /// Returns what each table says: which policy to take. Tables with a single policy say nothing.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.inner.verdicts().into_iter().map(Verdict::new).collect()
    }

    /// Returns what to repair in memories, in sentences: the stage that loses most answers, what a perfect one would recover, and what to
    /// change in which file. Empty if no load asks what is remembered.
    #[must_use]
    pub fn repairs(&self) -> Vec<String> {
        self.inner.memory_repair_lines()
    }

    /// Returns the JSON report, byte for byte as `ctxsim run --format json` writes it.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn json(&self) -> Result<String, Error> {
        json::report_json(&self.inner).map_err(Error::unwritable)
    }

    /// Returns the report as one self-contained HTML page, as `ctxsim run --format html` writes it. Its charts of requests need
    /// [`Comparison::rows`](crate::Comparison::rows).
    ///
    /// # Errors
    /// The page cannot be written.
    #[cfg(feature = "html")]
    pub fn html(&self) -> Result<String, Error> {
        ctxsim_report::html::html_page(&self.inner, Detail::Groups, &self.charted_requests())
            .map_err(Error::unwritable)
    }

    /// Returns one chart as SVG, as `ctxsim run --format svg --chart NAME` writes it: such as `frontier`, `cost` or `waiting`. `requests` needs
    /// [`Comparison::rows`](crate::Comparison::rows).
    ///
    /// # Errors
    /// The report has no such chart (`chart-missing`).
    #[cfg(feature = "html")]
    pub fn chart(&self, name: &str) -> Result<String, Error> {
        let Traces { runs, left_out } = self.charted_requests();
        let traces = (&runs[..], left_out.as_deref());
        Ok(draw_named_chart_svg(&self.inner, traces, Detail::Groups, Some(name))?)
    }

    /// Returns the requests that can be charted, or why there are none.
    #[cfg(feature = "html")]
    fn charted_requests(&self) -> Traces {
        let why = "Requests have no charts, because the rows of the runs were not kept.";
        self.traces.clone().unwrap_or_else(|| Traces { runs: Vec::new(), left_out: Some(why.to_owned()) })
    }

    /// Returns the runs that failed; they are in no other list.
    #[must_use]
    pub fn failures(&self) -> &[FailedRun] {
        &self.inner.failures
    }

    /// Returns an error that names every run that failed, or else every guard of the suite that does not hold, if there are any.
    ///
    /// # Errors
    /// The runs that failed, or the guards that are broken.
    pub fn all_passed(&self) -> Result<(), Error> {
        let (failed, broken) = (self.inner.failures.clone(), self.broken_guards());
        if !failed.is_empty() {
            return Err(InnerError::Run(Box::new(FailedRuns(failed))).into());
        }
        if broken.is_empty() { Ok(()) } else { Err(InnerError::Run(broken.join("\n").into()).into()) }
    }

    /// Returns notes that a reader of the numbers must know, as sentences.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    /// Returns the run with these names.
    #[must_use]
    pub fn get(&self, policy: &str, scenario: &str, profile: &str) -> Option<&Run> {
        let mut runs = self.runs.iter();
        runs.find(|it| it.policy() == policy && it.scenario() == scenario && it.profile() == profile)
    }

    /// Returns the guards of the suite that do not hold, as sentences; empty if all hold.
    #[must_use]
    pub fn broken_guards(&self) -> Vec<String> {
        let broken = self.inner.guard_verdicts.iter().filter(|it| !it.holds);
        broken.map(ToString::to_string).collect()
    }

    /// Returns the numbers as a snapshot keeps them.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let tables = self.inner.snapshot_tables().into_iter().map(|shot| {
            let [scenario, profile] = &shot.path;
            format!("{scenario} under {profile}, prices of {}\n{}", shot.as_of, shot.text)
        });
        let failed = self.inner.failures.iter().map(|it| format!("FAILED {it}\n"));
        Snapshot { text: tables.chain(failed).collect::<Vec<_>>().join("\n") }
    }
}

impl Run {
    fn new(run: &take::Run) -> Self {
        Self { totals: OnceLock::new(), inner: run.clone(), rows: None }
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        &self.inner.policy
    }

    /// Returns the scenario; `ALL` for the sum over all scenarios.
    #[must_use]
    pub fn scenario(&self) -> &str {
        &self.inner.scenario
    }

    /// Returns the profile.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.inner.profile
    }

    /// Returns how many requests the agent made.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.inner.tally.sums.main.n
    }

    /// Returns the size of the longest prompt, in tokens.
    #[must_use]
    pub fn prompt_max(&self) -> u64 {
        self.inner.tally.sums.main.prompt_max
    }

    /// Returns the total size of the agent's prompts, in tokens.
    #[must_use]
    pub fn input(&self) -> u64 {
        self.inner.tally.sums.main.tokens.prompt()
    }

    /// Returns how many tokens of the agent's prompts were read from the cache.
    #[must_use]
    pub fn cache_read(&self) -> u64 {
        self.inner.tally.sums.main.tokens.read
    }

    /// Returns how many tokens of the agent's prompts were billed as written to the cache.
    #[must_use]
    pub fn cache_write(&self) -> u64 {
        let [short, long] = self.inner.tally.sums.main.tokens.write;
        short.saturating_add(long)
    }

    /// Returns how many tokens of the agent's prompts were billed as plain input.
    #[must_use]
    pub fn uncached(&self) -> u64 {
        self.inner.tally.sums.main.tokens.uncached
    }

    /// Returns how many output tokens the agent's model wrote.
    #[must_use]
    pub fn output(&self) -> u64 {
        self.inner.tally.sums.main.tokens.output
    }

    /// Returns the total cost in US dollars; `None` if any token has no price.
    #[must_use]
    pub fn usd(&self) -> Option<f64> {
        self.inner.tally.costs.total().filter(|it| it.is_finite())
    }

    /// Returns the total cost at both ends of the recovery assumptions' intervals; `None` if there are none.
    #[must_use]
    pub fn usd_interval(&self) -> Option<[f64; 2]> {
        self.inner.tally.cost_interval().filter(|it| it.iter().all(|end| end.is_finite()))
    }

    /// Returns the share of needed evidence that prompts still contained, from 0 to 1; `None` if no needs are known.
    #[must_use]
    pub fn evidence_kept(&self) -> Option<f64> {
        self.inner.tally.evidence_kept()
    }

    /// Returns any number in the JSON report's `totals` by its path, such as `cost_usd.total`, in the unit that `docs/reference/rows.md` gives;
    /// `None` if this run does not know it.
    ///
    /// ```
    /// # fn main() -> Result<(), ctxsim::Error> {
    /// let report = ctxsim::Comparison::new()
    ///     .policy("identity")
    ///     .scenario("recorded/claude-code")
    ///     .profile("anthropic/claude-sonnet-4.5")
    ///     .run()?;
    /// let run = &report.runs()[0];
    /// assert_eq!(run.metric("cost_usd.total")?, run.usd());
    /// assert!(run.metric("cost_usd.totl").unwrap_err().to_string().contains("cost_usd.total"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// No report has such a number (`guard-metric`); the error suggests one.
    pub fn metric(&self, path: &str) -> Result<Option<f64>, Error> {
        check_known_metric(path)?;
        Ok(self.metric_value(path))
    }

    fn metric_value(&self, path: &str) -> Option<f64> {
        self.totals.get_or_init(|| RunTotals::new(&self.inner.tally)).number(path)
    }

    /// Returns every number in the JSON report's `totals` with its path, in their order there; `docs/reference/rows.md` lists their units.
    pub fn metrics(&self) -> impl Iterator<Item = (String, Option<f64>)> {
        all_metrics(|place| self.metric_value(place))
    }

    /// Returns its requests in order, if rows were kept ([`Comparison::rows`](crate::Comparison::rows)): of several trials, those of the first.
    /// Sums and scenarios without requests of their own have none.
    #[must_use]
    pub fn request_rows(&self) -> Option<&[RequestRow]> {
        self.rows.as_deref().map(|it| it.requests.as_slice())
    }

    /// Returns its needs and how they were met, where it has request rows.
    #[must_use]
    pub fn need_rows(&self) -> Option<&[NeedRow]> {
        self.rows.as_deref().map(|it| it.needs.as_slice())
    }

    /// Returns the numbers as a snapshot keeps them.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let prices = &self.inner.assumed.as_of;
        Snapshot { text: format!("prices of {prices}\n{}", shot::draw_runs_table(&[&self.inner])) }
    }
}

/// Returns the sums by profile, then by policy, with failures in the place of those that are missing.
fn sums_over_scenarios(report: &ctxsim_report::Report, policies: &[String]) -> Vec<Result<Run, FailedRun>> {
    let added_up = report.sums_over_scenarios();
    let profiles = report.runs.iter().map(|it| it.profile.as_str());
    let profiles = distinct(profiles.chain(report.failures.iter().map(|it| it.profile.as_str())));
    let cells = profiles.into_iter().flat_map(|it| policies.iter().map(move |own| (it, own.as_str())));
    let sum = |(profile, policy)| {
        let failed = report.failures.iter().find(|it| it.profile == profile && it.policy == policy);
        let sum = added_up.iter().find(|it| it.profile == profile && it.policy == policy);
        failed.map(|it| Err(it.clone())).or_else(|| sum.map(|it| Ok(Run::new(it))))
    };
    cells.filter_map(sum).collect()
}

/// Returns every number of a report by its path, as a line of the report has it.
pub(super) fn all_metrics(get: impl Fn(&str) -> Option<f64>) -> impl Iterator<Item = (String, Option<f64>)> {
    let columns = heads::<Tally>().into_iter().filter(|it| it.unit.is_number());
    columns.map(move |column| (column.name.clone(), get(&column.name)))
}

/// Says that no report has a number of this path, if none has.
pub(super) fn check_known_metric(path: &str) -> Result<(), Error> {
    let Err(meant) = places::check_or_suggest_metric_path(&format!("totals.{path}")) else { return Ok(()) };
    let help = match meant.as_deref().and_then(|it| it.strip_prefix("totals.")) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`metrics` lists every path, such as `cost_usd.total`".to_owned(),
    };
    let problem = Diagnostic::at(Code("guard-metric"), "metric", format!("unknown metric `{path}`"));
    Err(problem.help(help).into())
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::run_json_value(&self.inner).serialize(serializer)
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = json::report_json(&self.inner).map_err(serde::ser::Error::custom)?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        run_blocks::report_markdown(&self.inner, Detail::Scenarios).fmt(to)
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}
