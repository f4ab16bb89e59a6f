//! Guards on reports: a result that breaks one fails a build.
//!
//! **Guards and references** are part of suites. A guard names a policy, a number of the JSON report and one bound (with `over`, a bound on
//! the ratio to another policy's number). A broken guard ends `run` with exit code 1. Names are resolved when the plan is made
//! (`app/guards.rs`: names, paths, sessions of a recording). A guard that applies to nothing, or names a place that no report has
//! (`report/places.rs`), is a problem of the suite. A guard on a number that has no value fails with that reason. A reference is a column
//! of published figures, addressed by the same places.

use super::sections::Detail;
use crate::json::RunNumbers;
use crate::metric::ShownMetric as _;
use crate::prelude::*;
use crate::{ALL, metric};
use ctxsim_base::diag::{Diagnostic, Place};
use ctxsim_base::grid::numbers::plain;
use ctxsim_base::quantity::UNLIMITED;
use ctxsim_engine::measure::Better;
use ctxsim_engine::measure::delta::Pairs;
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later};
use ctxsim_input::Format;
use ctxsim_input::suite::{BoundOf, Guard, GuardBound, GuardRule};
use ctxsim_input::text::source::{decode, encode};
use std::fmt;

/// The metrics of costs; a run that stopped has costs of less work.
const COSTS: &str = "totals.cost_usd.";
/// The prefix of metrics in `totals`.
const TOTALS: &str = "totals.";
/// The metric whose interval holds what is assumed.
const COST: &str = "totals.cost_usd.total";

/// A guard with the names that a report gives its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedGuard {
    /// The guard as written.
    pub guard: Guard,
    pub policy: String,
    /// The policy by whose number it is divided, or with which it is compared.
    pub over: Option<String>,
    /// The scenarios on which it is checked; all if empty.
    pub scenarios: Option<Vec<String>>,
    /// The profile under which it is checked; all if `None`.
    pub profile: Option<String>,
    /// Where the guard is in the suite's file.
    pub place: Place,
    /// Its subject in the policy's file: the first stage that must fire, or the policy.
    pub policy_place: Place,
}

/// A number that a guard checks, and its interval.
#[derive(Clone, Copy, Debug)]
struct GuardedNumber {
    value: f64,
    interval: Option<[f64; 2]>,
}

/// The runs of a report, and those that a guard compares them with.
struct GuardContext<'a> {
    guard: &'a NamedGuard,
    runs: &'a [RunNumbers<'a>],
    /// By recorded session: when its last request was.
    ended_ms: &'a IndexMap<&'a str, i64>,
}

impl NamedGuard {
    fn applies_to(&self, run: &Run) -> bool {
        let asks_stages = || self.guard.rules().iter().any(|it| matches!(it, GuardRule::Fired(_)));
        let is_scenario = match &self.scenarios {
            Some(names) => names.iter().any(|it| is_scenario_or_session_of(&run.scenario, it)),
            None => run.scenario != ALL || !asks_stages(),
        };
        run.policy == self.policy && is_scenario && self.profile.as_ref().is_none_or(|it| *it == run.profile)
    }
}

/// Returns whether a run's scenario is this one, or a session of it.
pub(super) fn is_scenario_or_session_of(scenario: &str, name: &str) -> bool {
    scenario.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a metric of a run, or why it has none.
fn metric_value_or_reason(numbers: &RunNumbers<'_>, metric: &str) -> Result<f64, String> {
    if let Some(reason) = numbers.run.findings.as_ref().and_then(|it| it.uncovered(metric)) {
        return Err(reason.to_owned());
    }
    if let Some(failure) = numbers.run.tally.outcome.failure.filter(|_| metric.starts_with(COSTS)) {
        return Err(format!("the run stopped at turn {}, so its cost covers less work", failure.turn));
    }
    let known = numbers.number_at(metric).filter(|it| it.is_finite());
    known.ok_or_else(|| "the value is unknown for this run".to_owned())
}

/// Returns the interval of a number, from the recovery assumptions or the trials, if one is known.
fn metric_interval(numbers: &RunNumbers<'_>, metric: &str) -> Option<[f64; 2]> {
    if metric == COST {
        return numbers.run.tally.cost_interval();
    }
    let statistic = metric.strip_suffix(".mean")?;
    let end = |nth: usize| numbers.list_number_at(&format!("{statistic}.ci95"), nth);
    Some([end(0)?, end(1)?])
}

impl GuardContext<'_> {
    /// Returns the run with which a run is compared.
    fn matching_run_of(&self, run: &RunNumbers<'_>, policy: &str) -> Result<&RunNumbers<'_>, String> {
        let mut others = self.runs.iter().filter(|it| it.run.policy == *policy);
        others.find(|it| it.run.is_beside(run.run)).ok_or_else(|| format!("{policy} has no such run"))
    }

    /// Returns a run's number, divided by that of another policy if the guard says so.
    fn guarded_number(&self, run: &RunNumbers<'_>, metric: &str) -> Result<GuardedNumber, String> {
        let value = metric_value_or_reason(run, metric)?;
        let Some(over) = &self.guard.over else {
            return Ok(GuardedNumber { value, interval: metric_interval(run, metric) });
        };
        let other = metric_value_or_reason(self.matching_run_of(run, over)?, metric);
        match other.map_err(|it| format!("{over}: {it}"))? {
            0.0 => Err(format!("{over} is 0 there, so there is no ratio")),
            divisor => Ok(GuardedNumber { value: value / divisor, interval: None }),
        }
    }

    /// Returns the share by which a run's number exceeds the baseline's.
    fn relative_increase(&self, run: &RunNumbers<'_>, metric: &str) -> Result<GuardedNumber, String> {
        let over = self.guard.over.as_deref().unwrap_or_default();
        let value = metric_value_or_reason(run, metric)?;
        let other = self.matching_run_of(run, over)?;
        let base = metric_value_or_reason(other, metric).map_err(|it| format!("{over}: {it}"))?;
        if !run.run.tally.outcome.did_as_much_as(&other.run.tally.outcome) {
            return Err(format!("the run stopped earlier than {over}"));
        }
        if base == 0.0 {
            let nothing = (value == 0.0).then_some(GuardedNumber { value: 0.0, interval: None });
            return nothing.ok_or_else(|| format!("{over} is 0 there, so there is no share"));
        }
        let interval = self.guard.guard.surely.then(|| self.increase_interval(run, other, metric)).flatten();
        Ok(GuardedNumber { value: value / base - 1.0, interval })
    }

    /// Returns the interval of an increase: for a sum of several scenarios that of tables, where it is the cost's, else over resampled
    /// scenarios; for a single one the bound over what is assumed.
    fn increase_interval(&self, run: &RunNumbers<'_>, base: &RunNumbers<'_>, path: &str) -> Option<[f64; 2]> {
        if run.run.scenario != ALL {
            return run.run.tally.assumed_bound(&base.run.tally).filter(|_| path == COST);
        }
        let metric = metric::at_place(path.strip_prefix(TOTALS)?)?;
        let single = |it: &&RunNumbers<'_>| it.run.scenario != ALL && it.run.profile == run.run.profile;
        let singles = self.runs.iter().filter(single).filter(|it| it.run.policy == run.run.policy);
        let pairs = singles.filter_map(|it| Some([self.matching_run_of(it, &base.run.policy).ok()?, it]));
        if path == COST {
            let sample = |[base, run]: [&RunNumbers<'_>; 2]| {
                let pair = run.run.tally.costs.total().zip(base.run.tally.costs.total());
                let at_ms = self.ended_ms.get(run.run.scenario.as_str()).copied();
                pair.map(|pair| RatioSample { pair, project: "", at_ms })
            };
            let samples = pairs.filter_map(sample).filter(|it| it.pair.1 > 0.0).listed();
            return ratio_interval_for_later(&samples, run.run.tally.assumed_reach(&base.run.tally));
        }
        let pairs: Vec<[Tally; 2]> = pairs.map(|it| it.map(|it| it.run.tally.clone())).listed();
        let delta = Pairs::new(&pairs).delta(Better::Neither, |it| metric.value_in(it))?;
        delta.interval.map(|it| it.map(|it| it / delta.base.abs()))
    }

    /// Checks a run against the guard's rules.
    fn check_run(&self, run: &RunNumbers<'_>) -> Vec<GuardVerdict> {
        let metric = self.guard.guard.metric.as_deref().unwrap_or_default();
        let mut verdicts = Vec::new();
        for rule in self.guard.guard.rules() {
            match rule {
                GuardRule::Bound(word, bound, compare, is_lower) => {
                    let limit = bound_as_number(bound, run.run);
                    let found = self.guarded_number(run, metric).and_then(|number| Ok((number, limit?)));
                    let value = |it: &GuardedNumber| self.least_favourable_value(it, is_lower);
                    let holds = found.as_ref().is_ok_and(|(number, limit)| compare(&value(number), limit));
                    let bound = format!("{word} {}", bound_in_words(bound));
                    let open = self.draft_verdict(run, found.map(|it| it.0));
                    verdicts.push(GuardVerdict { bound, holds, is_better_higher: Some(is_lower), ..open });
                }
                GuardRule::MaxIncrease(share) | GuardRule::MaxDecrease(share) => {
                    let is_lower = matches!(rule, GuardRule::MaxDecrease(_));
                    let found = self.relative_increase(run, metric);
                    let (word, sign) = if is_lower { ("at least", -1.0) } else { ("at most", 1.0) };
                    // By how much it differs in the direction that is bounded.
                    let differs = |number| sign * self.least_favourable_value(number, is_lower);
                    let holds = found.as_ref().is_ok_and(|number| differs(number) <= share.share());
                    let over = self.guard.over.as_deref().unwrap_or_default();
                    let most = sign * share.number;
                    let mark = if most < 0.0 { '−' } else { '+' };
                    let bound = format!("{word} {mark}{}% against {over}", most.abs());
                    let side = if (most < 0.0) || is_lower && most == 0.0 { "less" } else { "more" };
                    let asks = if share.number < 0.0 { "asked for: at least" } else { "allowed:" };
                    let allowed = Some(format!("{asks} {}% {side}", most.abs()));
                    let verdict = GuardVerdict { bound, holds, allowed, ..self.draft_verdict(run, found) };
                    verdicts.push(GuardVerdict { is_better_higher: Some(is_lower), ..verdict });
                }
                GuardRule::Fired(stages) => {
                    verdicts.extend(stages.iter().map(|it| self.check_stage_fired(run, it)));
                }
            }
        }
        verdicts
    }

    /// Returns the value that must be within the bound: the number, or the nearer end of its interval.
    fn least_favourable_value(&self, number: &GuardedNumber, is_lower_bound: bool) -> f64 {
        match number.interval.filter(|_| self.guard.guard.surely) {
            Some([low, _]) if is_lower_bound => low.min(number.value),
            Some([_, high]) => high.max(number.value),
            None => number.value,
        }
    }

    /// Describes whether a stage fired.
    fn check_stage_fired(&self, run: &RunNumbers<'_>, stage: &str) -> GuardVerdict {
        let place = run.run.stages.iter().position(|it| it.name == stage);
        let firing = place.and_then(|it| run.run.tally.outcome.firings.get(it));
        let found = firing.map(|it| GuardedNumber { value: it.fired as f64, interval: None });
        let found = found.ok_or_else(|| "no policy acts on this load".to_owned());
        let holds = found.as_ref().is_ok_and(|it| it.value > 0.0);
        let (metric, bound) = (format!("stages.{stage}.fired"), "at least 1".to_owned());
        GuardVerdict { metric, bound, holds, ..self.draft_verdict(run, found) }
    }

    /// Returns what a verdict says beside its bound, and whether that holds.
    fn draft_verdict(&self, own: &RunNumbers<'_>, number: Result<GuardedNumber, String>) -> GuardVerdict {
        GuardVerdict {
            guard: self.guard.guard.name.clone(),
            run: [&own.run.policy, &own.run.scenario, &own.run.profile].map(String::clone),
            metric: self.guard.guard.metric.clone().unwrap_or_default(),
            over: self.guard.over.clone(),
            value: number.as_ref().ok().map(|it| it.value),
            interval: number.as_ref().ok().and_then(|it| it.interval).filter(|_| self.guard.guard.surely),
            reason: number.err(),
            place: self.guard.place.clone(),
            policy_place: self.guard.policy_place.clone(),
            ..GuardVerdict::default()
        }
    }
}

/// Returns a bound as the end of a sentence.
fn bound_in_words(bound: GuardBound) -> String {
    match bound.of {
        BoundOf::One => plain(bound.number),
        BoundOf::Percent => bound.to_string(),
        BoundOf::Window => format!("{} of the window", bound.number),
        BoundOf::Limit => format!("{} of the prompt limit", bound.number),
    }
}

/// Returns a bound as a number under a run's limits, or why there is none.
fn bound_as_number(bound: GuardBound, run: &Run) -> Result<f64, String> {
    let limits = &run.tally.limits;
    let (tokens, name) = match bound.of {
        BoundOf::One | BoundOf::Percent => return Ok(bound.share()),
        BoundOf::Window => (limits.window, "context window"),
        BoundOf::Limit => (limits.prompt, "prompt limit"),
    };
    let known = (tokens != UNLIMITED).then_some(bound.number * tokens as f64);
    known.ok_or_else(|| format!("{} has no {name}", run.profile))
}

/// Checks a report against guards.
pub fn check_guards(guards: &[NamedGuard], report: &Report) -> Vec<GuardVerdict> {
    let is_summed = |it: &NamedGuard| it.scenarios.as_ref().is_some_and(|it| it.iter().any(|it| it == ALL));
    let is_missed = report.sums.is_empty() && guards.iter().any(is_summed);
    let sums = if is_missed { report.sums_over_scenarios() } else { Vec::new() };
    let labelled = report.runs_with_labels().map(|(run, label)| RunNumbers::new(run, label));
    let runs: Vec<RunNumbers<'_>> = labelled.chain(sums.iter().map(|it| RunNumbers::new(it, None))).listed();
    let ended_ms = report.session_ends_ms();
    let mut verdicts = Vec::new();
    for guard in guards {
        let judge = GuardContext { guard, runs: &runs, ended_ms: &ended_ms };
        // What is added up for a guard that asks for it is nothing to the others.
        let has_sums = !report.sums.is_empty() || is_summed(guard);
        let about = runs.iter().filter(|it| (has_sums || it.run.scenario != ALL) && guard.applies_to(it.run));
        verdicts.extend(about.flat_map(|it| judge.check_run(it)));
    }
    verdicts
}

/// A guard that holds on more runs than this takes one line, unless details are requested.
const RUNS_SHOWN: usize = 3;

/// A guard's verdict on one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GuardVerdict {
    pub guard: String,
    /// The run: policy, scenario, profile.
    #[serde(skip)]
    pub run: [String; 3],
    /// The metric in the JSON report.
    pub metric: String,
    /// The policy by whose number it is divided.
    pub over: Option<String>,
    /// The number; `None` if there is no data.
    pub value: Option<f64>,
    /// The number's interval, if the bound must hold for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Of a relative change: how much of it is allowed, or asked for.
    #[serde(skip)]
    pub allowed: Option<String>,
    /// Whether a higher number is better, by the side of the bound on which it must be; unknown of stages that must fire.
    #[serde(skip)]
    pub is_better_higher: Option<bool>,
    /// The requirement.
    pub bound: String,
    pub holds: bool,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Where the guard is in the suite's file.
    #[serde(skip)]
    pub place: Place,
    /// Its subject in the policy's file.
    #[serde(skip)]
    pub policy_place: Place,
}

impl fmt::Display for GuardVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name that asks or calls keeps its mark, any other has a colon.
        let title = self.title();
        let colon = if title.ends_with(['?', '!', '…', ':']) { "" } else { ":" };
        write!(f, "{title}{colon} {} ({})", self.finding(), self.describe_run())
    }
}

impl GuardVerdict {
    /// Returns the guard's name for a line that goes on: a name that is a sentence loses its period.
    pub fn title(&self) -> &str {
        self.guard.strip_suffix('.').unwrap_or(&self.guard)
    }

    /// Says what was found, without guard and run.
    pub fn finding(&self) -> String {
        let number = |it: f64| match &self.allowed {
            Some(_) => format!("{} {}", percent(it.abs()), if it < 0.0 { "less" } else { "more" }),
            None => format_value(it, &self.bound),
        };
        let Some(value) = self.value.filter(|_| self.reason.is_none()) else {
            let reason = or_nothing(self.reason.as_ref(), |it| format!(": {it}"));
            return format!("`{}` has no value, so it cannot be {}{reason}", self.metric, self.bound);
        };
        let ends = |[low, high]: [f64; 2]| format!(" ({} to {})", number(low), number(high));
        let (found, ends) = (number(value), self.interval.map_or_else(String::new, ends));
        let Some(allowed) = &self.allowed else {
            let is = if self.holds { "is" } else { "is not" };
            return format!("{found}{ends} {is} {}", self.bound);
        };
        let costs = if self.metric == COST { "costs" } else { "is" };
        format!("{costs} {found} than {}{ends}; {allowed}", self.over.as_deref().unwrap_or_default())
    }
}

/// Returns a number with four decimals, or with all if its bound would look the same.
fn format_value(value: f64, bound: &str) -> String {
    let rounded = numbers::plain((value * 1e4).round() / 1e4);
    if rounded == "0" || bound.ends_with(&format!(" {rounded}")) { numbers::plain(value) } else { rounded }
}

impl Report {
    /// Returns the verdicts on a run, or nothing if the report has none at all.
    pub(super) fn guard_verdicts_on(&self, run: &Run) -> Option<Vec<&GuardVerdict>> {
        let run = [&run.policy, &run.scenario, &run.profile].map(String::as_str);
        let of_run = || self.guard_verdicts.iter().filter(|it| it.run == run).listed();
        (!self.guard_verdicts.is_empty()).then(of_run)
    }

    /// Returns the verdicts on a run as one cell of a table.
    pub(super) fn guard_verdicts_cell(&self, run: &Run) -> Option<String> {
        let word = |verdict: &GuardVerdict| {
            let (title, finding) = (verdict.title(), verdict.finding());
            if verdict.holds { format!("holds: {title}") } else { format!("fails: {title} ({finding})") }
        };
        Some(self.guard_verdicts_on(run)?.into_iter().map(word).listed().join("; "))
    }

    /// Counts the verdicts that hold; `None` if there are none.
    pub fn guards_heading(&self) -> Option<String> {
        let n_all = self.guard_verdicts.len();
        let n_held = self.guard_verdicts.iter().filter(|it| it.holds).count();
        (n_all > 0).then(|| format!("Guards ({n_held} of {n_all} hold)"))
    }

    /// Returns the verdicts in words, those that fail first.
    pub fn guard_lines(&self, detail: Detail) -> Vec<String> {
        let (held, failed): (Vec<_>, Vec<_>) = self.guard_verdicts.iter().partition(|it| it.holds);
        let held = grouped(held.into_iter().map(|it| (&it.guard, it))).into_values().flat_map(|verdicts| {
            if detail == Detail::Groups && verdicts.len() > RUNS_SHOWN {
                return vec![format!("holds: {} (on {} runs)", verdicts[0].title(), verdicts.len())];
            }
            verdicts.into_iter().map(|it| format!("holds: {it}")).listed()
        });
        failed.into_iter().map(|verdict| format!("fails: {verdict}")).chain(held).listed()
    }
}

/// The first line of such a file.
pub const RATCHET_HEAD: &str = "# The best values of guarded numbers, kept by `ctxsim check --ratchet`; `--bless` takes today's instead.\n";

ctxsim_input::decoded_here!(Ratchet);
ctxsim_input::encoded_here!(Ratchet);

/// The best values of a suite's guards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratchet {
    #[serde(default)]
    best: Vec<BestValue>,
}

/// The best value of a guard on one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BestValue {
    guard: String,
    metric: String,
    policy: String,
    scenario: String,
    profile: String,
    value: f64,
}

impl Ratchet {
    /// Reads what was kept.
    ///
    /// # Errors
    /// Every problem of the text; the caller adds the file's name.
    pub fn from_toml(text: &str) -> Result<Self, Vec<Diagnostic>> {
        decode(text, Format::Toml)
    }

    /// Returns it as the text of a file.
    ///
    /// # Errors
    /// A number that TOML cannot hold.
    pub fn to_toml(&self) -> Result<String, Box<Diagnostic>> {
        Ok(RATCHET_HEAD.to_owned() + &encode(self, Format::Toml)?)
    }

    /// Returns whether nothing was kept yet.
    pub fn is_empty(&self) -> bool {
        self.best.is_empty()
    }

    /// Holds numbers against the best ones so far, by more than a tolerance none may be worse: a share of the best value, or points of
    /// it where the number is a change itself. Returns a verdict for each, and keeps the better ones; what no guard asks for any more is
    /// kept no longer.
    pub fn check_and_update(&mut self, verdicts: &[GuardVerdict], tolerance: f64) -> Vec<GuardVerdict> {
        let known = std::mem::take(&mut self.best);
        let give = if tolerance > 0.0 { format!(" or {} worse", percent(tolerance)) } else { String::new() };
        let mut all = Vec::new();
        for verdict in verdicts {
            let GuardVerdict { guard, metric, run: [policy, scenario, profile], allowed, .. } = verdict;
            let own = [guard, metric, policy, scenario, profile];
            let kept =
                known.iter().find(|it| own == [&it.guard, &it.metric, &it.policy, &it.scenario, &it.profile]);
            let (Some(value), Some(rises)) = (verdict.value, verdict.is_better_higher) else {
                // A run that came to no number fails its guard, and loosens nothing.
                self.best.extend(kept.cloned());
                continue;
            };
            let best = kept.map_or(value, |it| it.value);
            let worse = if rises { best - value } else { value - best };
            let is_change = allowed.is_some();
            let shown = if is_change { signed(best) } else { plain((best * 1e4).round() / 1e4) };
            all.push(GuardVerdict {
                guard: format!("{} (ratchet)", verdict.title()),
                bound: format!("as good as the best so far, {shown}{give}"),
                allowed: is_change.then(|| format!("the best so far: {shown}{give}")),
                holds: worse <= if is_change { tolerance } else { tolerance * best.abs() },
                interval: None,
                ..verdict.clone()
            });
            let better = if rises { best.max(value) } else { best.min(value) };
            let [guard, metric, policy, scenario, profile] = own.map(String::clone);
            self.best.push(BestValue { guard, metric, policy, scenario, profile, value: better });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_four_decimals_or_all_where_its_bound_would_look_the_same() {
        assert_eq!(format_value(0.712_345_6, "above 0.5"), "0.7123");
        assert_eq!(format_value(0.500_01, "above 0.5"), "0.50001");
    }
}
