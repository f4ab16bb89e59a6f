//! What all scenarios come to together: the lines of a report's tables, what each table says, and parts of a plan that fold to the same.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::face::plan::RunRequest;
use crate::face::report::{all_metrics, check_known_metric};
use crate::face::{Error, Plan, Progress};
use ctxsim_app::parts::{self, PartsRequest, PlanShard};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::measure::Spread;
use ctxsim_engine::take::FailedRun;
use ctxsim_report::part::{PartSet, RunPart};
use ctxsim_report::sections::{Detail, Section, TableLine};
use ctxsim_report::{RunTotals, json, verdict};

/// One policy in a table of several scenarios, against the first policy of the table.
///
/// Recorded sessions that each ran under the profile of their own model stand in one table. All shares of change are fractions of the first
/// policy's cost: −0.1 is a tenth less.
#[derive(Clone, Debug)]
pub struct Total {
    load: String,
    profile: String,
    policy: String,
    scenarios: usize,
    runs: usize,
    is_part: bool,
    change: Option<f64>,
    spread: Option<Spread>,
    totals: RunTotals,
}

impl Total {
    /// Returns the lines of a table.
    pub(super) fn lines_of_section(section: &Section) -> impl Iterator<Item = Self> {
        section.lines.iter().enumerate().map(|(nth, line)| Self::new(section, line, nth == 0))
    }

    fn new(section: &Section, line: &TableLine, is_first: bool) -> Self {
        Self {
            load: section.load.clone(),
            profile: section.profile.clone(),
            policy: line.policy.clone(),
            scenarios: section.scenarios,
            runs: usize::try_from(line.tally.n_runs).unwrap_or_default(),
            is_part: section.is_part,
            change: if is_first { None } else { section.relative_cost_change(line) },
            spread: line.spread,
            totals: RunTotals::new(&line.tally),
        }
    }

    /// Returns what was run, as the table's heading has it.
    #[must_use]
    pub fn load(&self) -> &str {
        &self.load
    }

    /// Returns the profile, or that each session ran under its own model's.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Returns how many scenarios the table adds up.
    #[must_use]
    pub fn scenarios(&self) -> usize {
        self.scenarios
    }

    /// Returns whether every scenario of the table is in the sum. A policy that failed on some has a sum over the others only, which says
    /// nothing beside the sums of other policies.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.runs >= self.scenarios
    }

    /// Returns whether the table is a part of another one.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// Returns the total cost in US dollars; `None` if any token has no price.
    #[must_use]
    pub fn usd(&self) -> Option<f64> {
        self.totals.number("cost_usd.total")
    }

    /// Returns the share of needed evidence that prompts still contained, from 0 to 1; `None` if no needs are known.
    #[must_use]
    pub fn evidence_kept(&self) -> Option<f64> {
        self.totals.number("evidence_kept")
    }

    /// Returns by which share its cost differs from the first policy's; `None` for the first policy, or if the work done differs.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        self.change
    }

    /// Returns the 95% interval of that share for later sessions, over what is assumed, too.
    #[must_use]
    pub fn change_interval(&self) -> Option<[f64; 2]> {
        self.spread.and_then(|it| it.interval)
    }

    /// Returns that share in the median session.
    #[must_use]
    pub fn change_median(&self) -> Option<f64> {
        self.spread.map(|it| it.median)
    }

    /// Returns the shares of sessions, from 0 to 1, that get cheaper, cost the same within 0.05%, and get more expensive.
    #[must_use]
    pub fn cheaper_same_dearer(&self) -> Option<[f64; 3]> {
        self.spread.map(|it| [it.cheaper, it.same, it.dearer])
    }

    /// Returns any number in the JSON report's `totals` by its path, as [`Run::metric`](crate::Run::metric) does.
    ///
    /// # Errors
    /// No report has such a number (`guard-metric`); the error suggests one.
    pub fn metric(&self, path: &str) -> Result<Option<f64>, Error> {
        check_known_metric(path)?;
        Ok(self.totals.number(path))
    }

    /// Returns every number in the JSON report's `totals` with its path, as [`Run::metrics`](crate::Run::metrics) does.
    pub fn metrics(&self) -> impl Iterator<Item = (String, Option<f64>)> {
        all_metrics(|place| self.totals.number(place))
    }
}

/// What a table of a report says: which policy to take. `Display` is the sentence at the end of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// What was run: a scenario, or a group of them.
    pub load: String,
    /// Under which profile, or that each session ran under its own model's.
    pub profile: String,
    /// How many scenarios are added up.
    pub scenarios: usize,
    /// The share of the evidence that a policy must keep to be recommended, from 0 to 1.
    pub min_evidence: f64,
    /// Whether anything says what is needed, so that losses are known; if not, nothing is recommended.
    pub knows_evidence: bool,
    /// The policy that the others are measured against.
    pub baseline: String,
    /// The cheapest policy that keeps enough, which may be the baseline; `None` if no cost is known.
    pub cheapest: Option<String>,
    /// By which share its cost differs from the baseline's: −0.1 is a tenth less. `None` for the baseline itself.
    pub change: Option<f64>,
    /// The 95% interval of that share for later sessions, over what is assumed, too; `None` for a single session.
    pub interval: Option<[f64; 2]>,
    /// Cheaper policies that lose more evidence, the cheapest first.
    pub lossy: Vec<String>,
    /// All of it in a few sentences.
    pub words: String,
}

impl Verdict {
    pub(super) fn new(verdict: ctxsim_report::Verdict) -> Self {
        let words = verdict.full_text();
        let best = verdict.cheapest.as_ref();
        Self {
            change: best.and_then(|it| it.change),
            interval: best.and_then(|it| it.interval),
            cheapest: verdict.cheapest.map(|it| it.policy),
            lossy: verdict.lossy.into_iter().map(|it| it.policy).collect(),
            load: verdict.load,
            profile: verdict.profile,
            scenarios: verdict.scenarios,
            min_evidence: verdict.min_evidence,
            knows_evidence: verdict.knows_evidence,
            baseline: verdict.baseline,
            words,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.words)
    }
}

/// What all scenarios of a plan come to together: the totals of a [`Report`](crate::Report) without its runs.
#[derive(Clone, Debug)]
pub struct Totals {
    inner: ctxsim_report::Report,
}

impl Plan {
    /// Plays one share of the scenarios, `part` of `of` from 1, and returns what each came to: lines of JSON for [`Totals::fold`], in no order.
    ///
    /// A scenario is in the share that the hash of its name says, on any machine. A recording that cannot be used has a part that says so, unless
    /// it is the only one. `progress` is called after each scenario, as for [`Plan::run_with`].
    ///
    /// ```
    /// # fn main() -> Result<(), ctxsim::Error> {
    /// use std::ops::ControlFlow;
    ///
    /// let plan = ctxsim::Comparison::new()
    ///     .policy("identity")
    ///     .scenario("duckagent/fix_test_loop")
    ///     .scenario("duckagent/plain_chat")
    ///     .profile("anthropic/claude-sonnet-4.5")
    ///     .plan()?;
    /// let share = |part| plan.parts(part, 2, |_| ControlFlow::Continue(()));
    /// let totals = ctxsim::Totals::fold([share(2)?, share(1)?].concat())?;
    /// assert_eq!(totals.json()?, plan.totals()?.json()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A scenario has no parts (`part-findings`, `part-guards`), `part` is not from 1 to `of` (`part-share`), or what [`Plan::run_with`] says.
    pub fn parts(
        &self,
        part: usize,
        of: usize,
        progress: impl Fn(Progress) -> ControlFlow<()> + Sync,
    ) -> Result<Vec<String>, Error> {
        if !(1..=of).contains(&part) {
            let problem = Diagnostic::at(Code("part-share"), "part", format!("{part} of {of} is no share"));
            return Err(problem.help("write a number from 1 to the number of shares").into());
        }
        let RunRequest { threads, min_evidence, .. } = self.asked;
        let made: Mutex<Vec<String>> = Mutex::default();
        let take = |part: RunPart| {
            let line =
                part.to_json_line().map_err(|it| Diagnostic::at(Code("unwritable"), "", it.to_string()))?;
            made.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            Ok(())
        };
        let min_evidence = min_evidence.unwrap_or(verdict::MIN_EVIDENCE);
        let (job, head) = (self.plan.job_digest(min_evidence), self.plan.report_head(min_evidence));
        let shard = PlanShard { part, of };
        let making =
            PartsRequest { threads, job: &job, head: &head, shard, is_made: &|_| false, hand_over: &take };
        self.plan.make_parts(&|done, all| progress(Progress { done, all }), &making)?;
        Ok(made.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs everything and keeps only what all scenarios come to together.
    ///
    /// # Errors
    /// The same as for [`Plan::parts`].
    pub fn totals(&self) -> Result<Totals, Error> {
        let RunRequest { threads, min_evidence, .. } = self.asked;
        let min_evidence = min_evidence.unwrap_or(verdict::MIN_EVIDENCE);
        let inner = self.plan.report_from_parts(threads, &|_, _| ControlFlow::Continue(()), min_evidence)?;
        Ok(Totals { inner })
    }
}

impl Totals {
    /// Folds the parts of a plan, in any order, to what all of its scenarios come to together: the same bytes as one process gives.
    ///
    /// # Errors
    /// Parts are missing (`part-missing`), cut off or no parts (`part-broken`), of another version (`part-version`) or of another plan (`part-job`).
    pub fn fold<P: AsRef<str>>(parts: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let parts: Vec<P> = parts.into_iter().collect();
        let mut whole = PartSet::default();
        let mut problems = Vec::new();
        for (nth, line) in parts.iter().enumerate() {
            let noted = RunPart::from_json_line(line.as_ref())
                .and_then(|it| whole.add_part(&it, nth, xxh3_128(line.as_ref().as_bytes())));
            problems.extend(noted.err().map(|it| *it));
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let order = whole.part_numbers_in_plan_order()?;
        let read = |nth: usize| Ok(RunPart::from_json_line(parts[nth].as_ref())?);
        Ok(Self { inner: parts::fold_parts(&order, read)? })
    }

    /// Returns the lines of the tables, table by table, as [`Report::totals`](crate::Report::totals) does; also of a single scenario.
    #[must_use]
    pub fn lines(&self) -> Vec<Total> {
        self.inner.sections(Detail::Groups).iter().flat_map(Total::lines_of_section).collect()
    }

    /// Returns what each table says: which policy to take.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.inner.verdicts().into_iter().map(Verdict::new).collect()
    }

    /// Returns notes that a reader of the numbers must know, as sentences.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    /// Returns the runs that failed; they are in no total.
    #[must_use]
    pub fn failures(&self) -> &[FailedRun] {
        &self.inner.failures
    }

    /// Returns them as JSON, byte for byte as `ctxsim run --totals --format json` and `ctxsim run --merge --format json` write them.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn json(&self) -> Result<String, Error> {
        json::totals_json(&self.inner).map_err(Error::unwritable)
    }
}
