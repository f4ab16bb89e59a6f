//! Verbs of a comparison that answer more than a report: sweeps, searches, advice, bills and checks.

#[cfg(feature = "cli")]
use std::path::Path;

use crate::face::{Comparison, Error};
#[cfg(feature = "cli")]
use crate::results::Check;
use crate::results::{Advice, Answer, FirstScreen, Realised, SweptGrid, Tuned};
use ctxsim_app::advise::stated::SettingsFile;
use ctxsim_app::advise::{self, AdviceRequest};
use ctxsim_app::grid::OverrideGrid;
use ctxsim_app::tune::{Tuning, default_variants, tuned_policy_text, variants_from_grid};
use ctxsim_app::{RealisedRequest, check_forecasts, describe_sweep, first_screen_and_advice};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_input::Format;
use ctxsim_report::advise::{draw_advice, saved};
use ctxsim_report::sweep::{Objective, PointGuard, json};
use ctxsim_report::tune::{TriedVariants, TuneGoal};
use ctxsim_report::verdict::MIN_EVIDENCE;
use ctxsim_report::{realised as told, screen, sweep, tune};
use ctxsim_timeline::row::json::json_text;

/// The characters of a line.
const WIDTH: usize = 100;

/// The policy that others are compared with where one alone is named.
const BASE: &str = "identity";

/// What searches vary and look for, and which settings are judged whatever their word.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchRequest {
    vary: Vec<String>,
    objectives: Vec<String>,
    guards: Vec<String>,
    pairs: Vec<String>,
}

impl SearchRequest {
    /// Returns the objectives and the bounds, or every problem of them.
    fn parse_goal(&self) -> Result<TuneGoal, Error> {
        let mut problems = Vec::new();
        let mut note = |it: String| problems.push(Diagnostic::at(Code("usage"), "", it));
        let objectives = self.objectives.iter().map(|it| Objective::try_from(it.clone()));
        let objectives = objectives.filter_map(|it| it.map_err(&mut note).ok()).collect();
        let guards = self.guards.iter().map(|it| PointGuard::try_from(it.clone()));
        let guards = guards.filter_map(|it| it.map_err(&mut note).ok()).collect();
        if problems.is_empty() { Ok(TuneGoal { objectives, guards }) } else { Err(problems.into()) }
    }
}

/// Answers of the verbs, with the numbers of the command line.
impl Comparison {
    /// Varies a field of the last policy, as `--vary PATH=VALUES` does: `LO..HI:STEP` or `A,B,C`. Several make a grid.
    #[must_use]
    pub fn vary(mut self, path: &str, values: &str) -> Self {
        self.search.vary.push(format!("{path}={values}"));
        self
    }

    /// Adds an objective of [`Comparison::sweep`] and [`Comparison::tune`]: `cost`, `evidence`, `retention`, `prompt`, `recovery`, or a number of
    /// what memories remember. By default a sweep has the first three, and a search looks for the lowest cost.
    #[must_use]
    pub fn objective(mut self, name: impl Into<String>) -> Self {
        self.search.objectives.push(name.into());
        self
    }

    /// Adds a bound that a point must keep to be recommended, as in `final>=0.5`.
    #[must_use]
    pub fn require(mut self, bound: impl Into<String>) -> Self {
        self.search.guards.push(bound.into());
        self
    }

    /// Judges this setting, too, `KEY=VALUE`, whatever its word, in [`Comparison::advise`]; several are judged together.
    #[must_use]
    pub fn try_setting(mut self, key_value: impl Into<String>) -> Self {
        self.search.pairs.push(key_value.into());
        self
    }

    /// Names the base where one policy alone is named, and refuses any other number of policies.
    fn with_base_policy(self) -> Result<Self, Error> {
        match self.n_policies() {
            1 => Ok(self.with_policy_first(BASE)),
            2 => Ok(self),
            n => {
                let problem =
                    Diagnostic::at(Code("usage"), "", format!("a search varies one policy, not {n}"));
                Err(problem.help("name the base and the policy to vary, or that policy alone").into())
            }
        }
    }

    /// Simulates each point of the grid that [`Comparison::vary`] lays out, as `ctxsim sweep` does. It varies the last policy; the first is what
    /// the points are compared with, `identity` if one policy alone is named.
    ///
    /// ```
    /// # fn main() -> Result<(), ctxsim::Error> {
    /// let swept = ctxsim::Comparison::new()
    ///     .policy("clear_tool_results")
    ///     .scenario("recorded/claude-code")
    ///     .profile("anthropic/claude-sonnet-4.5")
    ///     .vary("params.trigger.tokens", "40000,85000")
    ///     .sweep()?;
    /// let cost = |nth: usize| swept.points[nth].numbers["cost_usd.total"].unwrap();
    /// assert!(cost(1) < cost(0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Every problem of the inputs and of the grid, or a run failed.
    pub fn sweep(self) -> Result<Answer<SweptGrid>, Error> {
        let mut this = self.with_base_policy()?;
        let search = std::mem::take(&mut this.search);
        let TuneGoal { mut objectives, guards } = search.parse_goal()?;
        if objectives.is_empty() {
            objectives = vec![Objective::Cost, Objective::Evidence, Objective::Retention];
        }
        let grid = OverrideGrid::parse(&search.vary)?;
        let (catalog, comparison, asked) = this.into_app_inputs()?;
        let indices: Vec<usize> = (0..grid.len()).collect();
        let head = describe_sweep(&grid, &comparison, objectives, guards);
        let points =
            ctxsim_app::sweep_points(&catalog, &comparison, &grid, &indices, asked.threads, &|_, _| {})?;
        let found = sweep::Sweep::new(head, points);
        Answer::from_json(json::sweep_json(&found), sweep::terminal_text(&found, false, Some(WIDTH)))
    }

    /// Finds the cheapest parameters that keep what is needed, as `ctxsim tune` does: chosen on the older half of the sessions, tested on the
    /// newer one. Without [`Comparison::vary`], every number that the user of the agent can set is varied. [`Comparison::seed`] parts projects.
    ///
    /// # Errors
    /// Every problem of the inputs and of the grid, or a run failed.
    pub fn tune(self) -> Result<Answer<Tuned>, Error> {
        let mut this = self.with_base_policy()?;
        let search = std::mem::take(&mut this.search);
        let goal = search.parse_goal()?;
        let (catalog, comparison, asked) = this.into_app_inputs()?;
        let seed = comparison.seed.unwrap_or(0);
        // The seed is that of the choice; what is drawn in a scenario has its own.
        let comparison = ctxsim_app::Comparison { seed: None, ..comparison };
        let tried = if search.vary.is_empty() {
            default_variants(&catalog, &comparison, asked.threads, &|_, _| {})?
        } else {
            variants_from_grid(&OverrideGrid::parse(&search.vary)?)?
        };
        let min_evidence = asked.min_evidence.unwrap_or(MIN_EVIDENCE);
        let tuning = Tuning::new(&catalog, &comparison, TriedVariants { goal, ..tried }, min_evidence, seed)?;
        let tuned = tuning.tune(asked.threads, &|_, _| {})?;
        let file = tuned_policy_text(&catalog, &comparison.policies[1], "tuned", &tuned, Format::Ron)?;
        let (json, text) = (json_text(&tuned), tune::terminal_text(&tuned, false, Some(WIDTH)));
        Answer::from_values(Tuned { file, ..tuned }, json, text)
    }

    /// Checks the guards and the snapshots of its suite, or of every suite in your folders, as `ctxsim check` does, and writes nothing.
    /// `snapshots` is the folder of the snapshots. Only [`Comparison::catalog`], [`Comparison::suite`], [`Comparison::threads`] and
    /// [`Comparison::allow_process`] matter.
    ///
    /// # Errors
    /// A suite cannot be read or run.
    #[cfg(feature = "cli")]
    pub fn check(self, snapshots: impl AsRef<Path>) -> Result<Answer<Check>, Error> {
        let (catalog, comparison, asked) = self.into_app_inputs()?;
        let (suites, allows) = (comparison.suite.into_iter().collect(), comparison.allow_process);
        let all =
            ctxsim_cli::check_suites_silently(&catalog, suites, snapshots.as_ref(), allows, asked.threads)?;
        let text = ctxsim_report::checkup::draw_suite_checks(&all, Some(WIDTH));
        Answer::from_json(ctxsim_report::checkup::check_ups_json(&all), text)
    }

    /// Advises on the settings of the agents that recorded its sessions, as `ctxsim advise` does; its policies are not used. `agent` names the
    /// agent whose sessions are meant, and that of logs whose format does not tell; `settings` is the name and the text of its settings file;
    /// without one, the current values come from the logs, else from the agent's defaults.
    ///
    /// # Errors
    /// Every problem of the inputs, no session is one of a known agent, a run failed, or this build has no templates (`templates-missing`).
    pub fn advise(
        self,
        agent: Option<&str>,
        settings_file: Option<(&str, &str)>,
    ) -> Result<Answer<Advice>, Error> {
        check_has_templates()?;
        let (catalog, comparison, asked, threads) = self.into_sessions_request(settings_file)?;
        let asked = AdviceRequest { agent: agent.map(str::to_owned), has_wishes: true, ..asked };
        let (found, saved) = advise::advise(&catalog, &comparison, &asked, threads, &|_, _| {})?;
        let forecast = (!saved.is_empty()).then(|| json_text(&saved::ForecastFile(saved)));
        let forecast = forecast.transpose().map_err(Error::unwritable)?;
        let (json, text) = (found.to_json(), draw_advice(&found, false, Some(WIDTH)));
        Answer::from_values(Advice { forecast, ..found }, json, text)
    }

    /// Compares a forecast with what later sessions were billed, as `ctxsim realised` does; its policies are not used. `forecast` is the text of
    /// [`Advice::forecast`] or of a file that `ctxsim advise --save` wrote; `changed` is the day (`YYYY-MM-DD`) from which the settings hold, where
    /// logs do not show them.
    ///
    /// # Errors
    /// Every problem of the inputs, or `forecast` is none (`forecast-broken`).
    pub fn realised(self, forecast: &str, changed_on: Option<&str>) -> Result<Answer<Realised>, Error> {
        let saved = ctxsim_app::parse_forecasts("forecast", forecast)?;
        let asked = RealisedRequest { changed: changed_on.map(str::to_owned), ..RealisedRequest::default() };
        let (catalog, comparison, _, threads) = self.into_sessions_request(None)?;
        let found = check_forecasts(&catalog, &comparison, (&saved, &asked), threads, &|_, _| {})?;
        let (json, text) = (json_text(&found), told::terminal_text(&found, Some(WIDTH)));
        Answer::from_values(found, json, text)
    }

    /// Says what its recorded sessions were billed, where that goes, and what can be done about it, as `ctxsim SESSIONS` does, without the
    /// commands that go on from there. Its policies are not used.
    ///
    /// # Errors
    /// Every problem of the inputs, no session is recorded, or this build has no templates (`templates-missing`).
    pub fn bill(self) -> Result<Answer<FirstScreen>, Error> {
        self.screen(None).map(|it| it.0)
    }

    /// Returns the same and the advice that its levers come from, under the settings of a file: its name and its text.
    ///
    /// # Errors
    /// The same as for [`Comparison::bill`].
    pub fn screen(
        self,
        settings_file: Option<(&str, &str)>,
    ) -> Result<(Answer<FirstScreen>, Answer<Advice>), Error> {
        check_has_templates()?;
        let (catalog, comparison, asked, threads) = self.into_sessions_request(settings_file)?;
        let (bill, advice) = first_screen_and_advice(&catalog, &comparison, &asked, threads, &|_, _| {})?;
        let (bill_json, bill_text) = (bill.to_json(), screen::terminal_text(&bill, Some(WIDTH)));
        let (json, text) = (advice.to_json(), draw_advice(&advice, false, Some(WIDTH)));
        Ok((Answer::from_values(bill, bill_json, bill_text)?, Answer::from_values(advice, json, text)?))
    }

    /// Returns what advice on its sessions is asked with.
    fn into_sessions_request(mut self, settings: Option<(&str, &str)>) -> Result<SessionsRequest, Error> {
        let pairs = std::mem::take(&mut self.search.pairs);
        let (catalog, comparison, asked) = self.into_app_inputs()?;
        let own_models = comparison.own_models || comparison.profiles.is_empty();
        let comparison = ctxsim_app::Comparison { policies: Vec::new(), own_models, ..comparison };
        let wanted = AdviceRequest {
            settings: settings.map(|it| SettingsFile::new(it.0, it.1, None)).into_iter().collect(),
            min_evidence: asked.min_evidence.unwrap_or(MIN_EVIDENCE),
            pairs,
            ..AdviceRequest::default()
        };
        Ok((catalog, comparison, wanted, asked.threads))
    }
}

/// The catalog, the sessions, what is asked of them, and the number of threads.
type SessionsRequest = (ctxsim_app::catalog::Catalog, ctxsim_app::Comparison, AdviceRequest, Option<usize>);

/// Says that something cannot be written.
/// Says that advice cannot be written, if this build has no templates.
fn check_has_templates() -> Result<(), Error> {
    if cfg!(feature = "templates") {
        return Ok(());
    }
    let message = "this build of ctxsim has no text templates, and advice is written with them";
    let help = "enable its feature `templates`";
    Err(Diagnostic::at(Code("templates-missing"), "", message).help(help).into())
}
