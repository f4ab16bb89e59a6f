//! Parts: each scenario of a plan by itself, made anywhere, and the totals that they fold to.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use crate::face::plan::RunRequest;
use crate::face::{Error, Plan, Progress, Total, Verdict};
use ctxsim_app::parts::{self, Making, PlanShard};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::take::FailedRun;
use ctxsim_report::part::{PartSet, RunPart};
use ctxsim_report::sections::Detail;
use ctxsim_report::{json, verdict};

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
                part.line().map_err(|it| vec![Diagnostic::at(Code("unwritable"), "", it.to_string())])?;
            made.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            Ok(())
        };
        let min_evidence = min_evidence.unwrap_or(verdict::MIN_EVIDENCE);
        let (job, head) = (self.plan.job(min_evidence), self.plan.head(min_evidence));
        let shard = PlanShard { part, of };
        let making = Making { threads, job: &job, head: &head, shard, has: &|_| false, take: &take };
        self.plan.parts(&|done, all| progress(Progress { done, all }), &making)?;
        Ok(made.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs everything and keeps only what all scenarios come to together.
    ///
    /// # Errors
    /// The same as for [`Plan::parts`].
    pub fn totals(&self) -> Result<Totals, Error> {
        let RunRequest { threads, min_evidence, .. } = self.asked;
        let min_evidence = min_evidence.unwrap_or(verdict::MIN_EVIDENCE);
        let inner = self.plan.folded(threads, &|_, _| ControlFlow::Continue(()), min_evidence)?;
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
            let noted = RunPart::read(line.as_ref())
                .and_then(|it| whole.note(&it, nth, xxh3_128(line.as_ref().as_bytes())));
            problems.extend(noted.err().map(|it| *it));
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let order = whole.order().map_err(|it| vec![*it])?;
        let read = |nth: usize| RunPart::read(parts[nth].as_ref()).map_err(|it| vec![*it].into());
        Ok(Self { inner: parts::fold(&order, read)? })
    }

    /// Returns the lines of the tables, table by table, as [`Report::totals`](crate::Report::totals) does; also of a single scenario.
    #[must_use]
    pub fn lines(&self) -> Vec<Total> {
        self.inner.sections(Detail::Groups).iter().flat_map(Total::of).collect()
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
        json::totals(&self.inner).map_err(|it| Diagnostic::at(Code("unwritable"), "", it.to_string()).into())
    }
}
