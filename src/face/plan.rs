//! Checked inputs, ready to run.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::face::rows::{KeptRows, SinkAdapter};
use crate::face::{Error, Report, Scenario, Sink};
use crate::results::{Answer, Explanation, Sensitivity};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::explain;
use ctxsim_engine::take::{Cell, Load, Take};
use ctxsim_report::carried::kind_or_tool_name;
use ctxsim_report::explain::{explanation_json, render_prompt_text, table};
use ctxsim_report::rows::RowContext;
use ctxsim_report::sensitivity::{markdown, sensitivity_json};
use ctxsim_report::tracer::Tracer;
use ctxsim_timeline::Timeline;

/// Checked inputs, ready to run any number of times.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) plan: Arc<ctxsim_app::Plan>,
    pub(super) asked: RunRequest,
}

/// What is asked of a run beside its inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunRequest {
    pub(super) threads: Option<usize>,
    pub(super) min_evidence: Option<f64>,
    pub(super) keeps_rows: bool,
}

/// How much of a plan is done: scenarios, each session of a folder being one; of a plan with a single scenario, its simulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many are done.
    pub done: usize,
    /// How many there are.
    pub all: usize,
}

/// Which run of a plan: its policy, its scenario and its profile, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[non_exhaustive]
pub struct RunId {
    /// The policy.
    pub policy: String,
    /// The scenario; each session of a recording is a scenario of its own.
    pub scenario: String,
    /// The profile.
    pub profile: String,
}

impl RunId {
    /// Creates the name of a run.
    pub fn new(policy: impl Into<String>, scenario: impl Into<String>, profile: impl Into<String>) -> Self {
        Self { policy: policy.into(), scenario: scenario.into(), profile: profile.into() }
    }

    /// Says that a plan has no such run, or none that can be watched.
    fn missing_run_error(&self) -> Error {
        let Self { policy, scenario, profile } = self;
        let message = format!("no run of {policy} on {scenario} under {profile} has requests to explain");
        Diagnostic::at(Code("run-unknown"), "", message).help("use a `RunId` from `Plan::stream`").into()
    }

    fn from_cell(load: &Load, cell: Cell) -> Self {
        let (policy, profile) = (&load.policies[cell.policy], &load.profiles[cell.profile]);
        Self::new(&policy.name, &load.name, &profile.name)
    }
}

impl Plan {
    /// Returns the checked inputs.
    #[cfg(feature = "testing")]
    pub(crate) fn as_app_plan(&self) -> &ctxsim_app::Plan {
        &self.plan
    }

    pub(super) fn new(plan: ctxsim_app::Plan, asked: RunRequest) -> Self {
        Self { plan: Arc::new(plan), asked }
    }

    /// Returns its runs, in the order of reports; of recordings that hold several sessions, too.
    ///
    /// # Errors
    /// A scenario cannot be read.
    pub fn runs(&self) -> Result<Vec<RunId>, Error> {
        let all = self.plan.map_loads(self.asked.threads, &|_, _| {}, |load, _| {
            load.cells().map(|it| RunId::from_cell(load, it)).collect::<Vec<_>>()
        })?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Runs everything.
    ///
    /// Runs whose code fails are left out of the tables and listed in [`Report::failures`].
    ///
    /// # Errors
    /// A scenario cannot be read.
    pub fn run(&self) -> Result<Report, Error> {
        self.run_with(|_| ControlFlow::Continue(()))
    }

    /// Runs everything, tells how much is done, and stops where the answer is `Break`.
    ///
    /// `progress` is called from the threads that do the work, after each scenario. A stop takes effect before the next scenario; those that
    /// other threads have begun are finished.
    ///
    /// ```
    /// # fn main() -> Result<(), ctxsim::Error> {
    /// use std::ops::ControlFlow;
    ///
    /// let plan = ctxsim::Comparison::new()
    ///     .policy("identity")
    ///     .scenario("recorded/claude-code")
    ///     .profile("anthropic/claude-sonnet-4.5")
    ///     .plan()?;
    /// let stopped = plan.run_with(|_| ControlFlow::Break(())).unwrap_err();
    /// assert_eq!(stopped.problems()[0].code, "run-stopped");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A scenario cannot be read, or `progress` stopped the runs (`run-stopped`).
    pub fn run_with(&self, progress: impl Fn(Progress) -> ControlFlow<()> + Sync) -> Result<Report, Error> {
        let RunRequest { threads, keeps_rows, min_evidence } = self.asked;
        let tracer = Tracer::new(keeps_rows);
        let make = |load: &Load, takes: &[Take]| {
            if !keeps_rows {
                return (Vec::new(), Vec::new());
            }
            let traces =
                if tracer.admit_load(load) { tracer.kept_requests_of_load(load, takes) } else { Vec::new() };
            (KeptRows::one_per_passed_take(load, takes), traces)
        };
        let told = |done, all| progress(Progress { done, all });
        let (mut report, made) = self.plan.report_and_map_takes(threads, &told, |_| keeps_rows, make)?;
        report.min_evidence = min_evidence.unwrap_or(report.min_evidence);
        let (rows, traces): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let traces = keeps_rows.then(|| tracer.into_traces(traces));
        Ok(Report::new(report, &self.plan.policies, rows.into_iter().flatten(), traces))
    }

    /// Reads the recorded sessions of the plan, under the names that reports have for them, for comparisons that need not read them again; files
    /// that are only found in a folder and cannot be used are left out, and so are scenarios of other kinds.
    ///
    /// What a scenario file sets beside `load.recorded` does not come along. `progress` is called after each file, as for [`Plan::run_with`].
    ///
    /// # Errors
    /// A session cannot be read, or `progress` stopped the reading (`run-stopped`).
    pub fn sessions(
        &self,
        progress: impl Fn(Progress) -> ControlFlow<()> + Sync,
    ) -> Result<Vec<Scenario>, Error> {
        let told = |done, all| progress(Progress { done, all });
        let read = self.plan.map_loads_stoppable(self.asked.threads, &told, |load| {
            let timeline = load.timeline().filter(|it| it.recorded.is_some())?;
            Some(Scenario::from_shared(Arc::clone(timeline)))
        })?;
        Ok(read.into_iter().flatten().collect())
    }

    /// Runs everything and hands each row to a sink as it is produced; returns the sinks in report order.
    ///
    /// Each run gets a sink of its own, on the run's thread. A run ends early when its sink returns `Break`. Scenarios without requests of their own
    /// (conversations, ageing memories, chats, block traces) have no rows; of scenarios with several trials, only the first is run.
    ///
    /// # Errors
    /// A scenario cannot be read, or the code of a run failed.
    pub fn stream<S: Sink + Send>(
        &self,
        sink: impl Fn(&RunId) -> S + Sync,
    ) -> Result<Vec<(RunId, S)>, Error> {
        let of_loads = self.plan.map_loads(self.asked.threads, &|_, _| {}, |load, _| {
            load.stream(|cell| SinkAdapter::new(sink(&RunId::from_cell(load, cell)), load, cell)).map(|all| {
                all.into_iter().map(|(cell, it)| (RunId::from_cell(load, cell), it.into_sink())).collect()
            })
        })?;
        let of_loads: Vec<Vec<(RunId, S)>> = of_loads.into_iter().collect::<Result<_, _>>()?;
        Ok(of_loads.into_iter().flatten().collect())
    }

    /// Explains one request of a run, counted from 1 in the order of the rows from [`Plan::stream`], as `ctxsim explain` does.
    ///
    /// ```
    /// # fn main() -> Result<(), ctxsim::Error> {
    /// let plan = ctxsim::Comparison::new()
    ///     .policy("clear_tool_results")
    ///     .scenario("recorded/claude-code")
    ///     .profile("anthropic/claude-sonnet-4.5")
    ///     .plan()?;
    /// let explained = plan.explain(&plan.runs()?[0], 30)?;
    /// assert_eq!((explained.request, explained.requests), (30, 69));
    /// assert_eq!(explained.prefix.compared_with_request, Some(29));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The plan has no such run, the run has no such request, a scenario cannot be read, or the run's code failed.
    pub fn explain(&self, run: &RunId, request_number: usize) -> Result<Answer<Explanation>, Error> {
        self.map_timeline_of_run(run, |load, cell, timeline| {
            let (policy, profile) = (&load.policies[cell.policy], &load.profiles[cell.profile]);
            let context = RowContext::for_single_run(policy, &load.name, timeline, profile);
            let explanation = explain::explain(timeline, policy, profile, request_number)?;
            let text = table::draw_explanation(&explanation, context, table::ExplainStyle::default());
            let json = explanation_json(&explanation, context, false);
            let mut answer: Answer<Explanation> = Answer::from_json(json, text)?;
            answer.values.prompt = render_prompt_text(&explanation);
            Ok(answer)
        })?
    }

    /// Makes something of one run's timeline.
    fn map_timeline_of_run<T: Send>(
        &self,
        run: &RunId,
        make: impl Fn(&Load, Cell, &Timeline) -> T + Sync,
    ) -> Result<T, Error> {
        let found = self.plan.map_loads(Some(1), &|_, _| {}, |load, _| {
            let cell = load.cells().find(|it| RunId::from_cell(load, *it) == *run)?;
            let timeline = load.timeline_of(cell)?;
            Some(make(load, cell, &timeline))
        })?;
        found.into_iter().flatten().next().ok_or_else(|| run.missing_run_error())
    }

    /// Returns what the prompts of one run hold, request by request of the agent: tokens by tool, or by kind for what is no tool's result.
    ///
    /// # Errors
    /// The plan has no such run, or a scenario cannot be read.
    pub fn prompt_tokens_by_source(&self, run: &RunId) -> Result<Vec<BTreeMap<String, u64>>, Error> {
        self.map_timeline_of_run(run, |load, cell, timeline| {
            let named = |sent: Vec<explain::HeldPart>| {
                let mut by_name = BTreeMap::new();
                for held in sent {
                    *by_name.entry(kind_or_tool_name(timeline, held.kind, held.tool)).or_default() +=
                        held.tokens;
                }
                by_name
            };
            let (policy, profile) = (&load.policies[cell.policy], &load.profiles[cell.profile]);
            explain::held(timeline, policy, profile).into_iter().map(named).collect()
        })
    }

    /// Runs everything and compares the policies across the profiles, in the given order, as `ctxsim sensitivity --sort given` does. Its text is
    /// Markdown.
    ///
    /// # Errors
    /// A scenario cannot be read, or the code of a run failed.
    pub fn sensitivity(&self) -> Result<Answer<Sensitivity>, Error> {
        let found = self.plan.sensitivity_to_profiles(self.asked.threads, &|_, _| {})?;
        Answer::from_json(sensitivity_json(&found), markdown(&found, false).to_string())
    }
}
