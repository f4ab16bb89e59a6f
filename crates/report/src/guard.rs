//! Guards on reports: a result that breaks one fails a build.
//!
//! **Guards and references** are part of suites. A guard names a policy, a number of the JSON report and one bound (with `over`, a bound on
//! the ratio to another policy's number). A broken guard ends `run` with exit code 1. Names are resolved when the plan is made
//! (`app/guards.rs`: names, paths, sessions of a recording). A guard that applies to nothing, or names a place that no report has
//! (`report/places.rs`), is a problem of the suite. A guard on a number that has no value fails with that reason. A reference is a column
//! of published figures, addressed by the same places.

use indexmap::IndexMap;

use crate::json::RunNumbers;
use crate::metric::ShownMetric as _;
use crate::{ALL, Report, metric};
use ctxsim_base::diag::Place;
use ctxsim_base::grid::numbers::plain;
use ctxsim_base::list::Listed as _;
use ctxsim_base::quantity::UNLIMITED;
use ctxsim_engine::measure::delta::Pairs;
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later};
use ctxsim_engine::measure::{Better, Tally};
use ctxsim_engine::take::Run;
use ctxsim_input::suite::{BoundOf, Guard, GuardBound, GuardRule};

pub use crate::guards::GuardVerdict;

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
struct Judge<'a> {
    guard: &'a NamedGuard,
    runs: &'a [RunNumbers<'a>],
    /// By recorded session: when its last request was.
    ended_ms: &'a IndexMap<&'a str, i64>,
}

impl NamedGuard {
    fn is_about(&self, run: &Run) -> bool {
        let is_scenario = match &self.scenarios {
            Some(names) => names.iter().any(|it| is_of(&run.scenario, it)),
            None => {
                run.scenario != ALL || self.guard.rules().iter().all(|it| !matches!(it, GuardRule::Fired(_)))
            }
        };
        run.policy == self.policy && is_scenario && self.profile.as_ref().is_none_or(|it| *it == run.profile)
    }
}

/// Returns whether a run's scenario is this one, or a session of it.
fn is_of(scenario: &str, name: &str) -> bool {
    scenario.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a metric of a run, or why it has none.
fn covered(numbers: &RunNumbers<'_>, metric: &str) -> Result<f64, String> {
    if let Some(reason) = numbers.run.findings.as_ref().and_then(|it| it.uncovered(metric)) {
        return Err(reason.to_owned());
    }
    if let Some(failure) = numbers.run.tally.outcome.failure.filter(|_| metric.starts_with(COSTS)) {
        return Err(format!("the run stopped at turn {}, so its cost covers less work", failure.turn));
    }
    numbers
        .at(metric)
        .filter(|it| it.is_finite())
        .ok_or_else(|| "the value is unknown for this run".to_owned())
}

/// Returns the interval of a number, from the recovery assumptions or the trials, if one is known.
fn interval(numbers: &RunNumbers<'_>, metric: &str) -> Option<[f64; 2]> {
    if metric == COST {
        return numbers.run.tally.cost_interval();
    }
    let statistic = metric.strip_suffix(".mean")?;
    let end = |nth: usize| numbers.at_end(&format!("{statistic}.ci95"), nth);
    Some([end(0)?, end(1)?])
}

impl Judge<'_> {
    /// Returns the run with which a run is compared.
    fn other(&self, own: &RunNumbers<'_>, over: &str) -> Result<&RunNumbers<'_>, String> {
        let is_other = |it: &&RunNumbers<'_>| {
            it.run.policy == *over && it.run.scenario == own.run.scenario && it.run.profile == own.run.profile
        };
        self.runs.iter().find(is_other).ok_or_else(|| format!("{over} has no such run"))
    }

    /// Returns a run's number, divided by that of another policy if the guard says so.
    fn number(&self, own: &RunNumbers<'_>, metric: &str) -> Result<GuardedNumber, String> {
        let value = covered(own, metric)?;
        let Some(over) = &self.guard.over else {
            return Ok(GuardedNumber { value, interval: interval(own, metric) });
        };
        match covered(self.other(own, over)?, metric).map_err(|it| format!("{over}: {it}"))? {
            0.0 => Err(format!("{over} is 0 there, so there is no ratio")),
            divisor => Ok(GuardedNumber { value: value / divisor, interval: None }),
        }
    }

    /// Returns the share by which a run's number exceeds the baseline's.
    fn increase(&self, own: &RunNumbers<'_>, metric: &str) -> Result<GuardedNumber, String> {
        let over = self.guard.over.as_deref().unwrap_or_default();
        let value = covered(own, metric)?;
        let other = self.other(own, over)?;
        let base = covered(other, metric).map_err(|it| format!("{over}: {it}"))?;
        if !own.run.tally.outcome.did_as_much_as(&other.run.tally.outcome) {
            return Err(format!("the run stopped earlier than {over}"));
        }
        match base {
            0.0 if value == 0.0 => Ok(GuardedNumber { value: 0.0, interval: None }),
            0.0 => Err(format!("{over} is 0 there, so there is no share")),
            base => {
                let interval = if self.guard.guard.surely { self.spread(own, other, metric) } else { None };
                Ok(GuardedNumber { value: value / base - 1.0, interval })
            }
        }
    }

    /// Returns the interval of an increase: for a sum of several scenarios that of tables, where it is the cost's, else over resampled
    /// scenarios; for a single one the bound over what is assumed.
    fn spread(&self, own: &RunNumbers<'_>, other: &RunNumbers<'_>, place: &str) -> Option<[f64; 2]> {
        if own.run.scenario != ALL {
            return own.run.tally.assumed_bound(&other.run.tally).filter(|_| place == COST);
        }
        let metric = metric::at_place(place.strip_prefix(TOTALS)?)?;
        let single = |it: &&RunNumbers<'_>| it.run.scenario != ALL && it.run.profile == own.run.profile;
        let singles = self.runs.iter().filter(single).filter(|it| it.run.policy == own.run.policy);
        let pairs = singles.filter_map(|it| Some([self.other(it, &other.run.policy).ok()?, it]));
        if place == COST {
            let sample = |[base, own]: [&RunNumbers<'_>; 2]| {
                let pair = own.run.tally.costs.total().zip(base.run.tally.costs.total());
                let at_ms = self.ended_ms.get(own.run.scenario.as_str()).copied();
                pair.map(|pair| RatioSample { pair, project: "", at_ms })
            };
            let samples: Vec<RatioSample<'_>> =
                pairs.filter_map(sample).filter(|it| it.pair.1 > 0.0).listed();
            return ratio_interval_for_later(&samples, own.run.tally.assumed_reach(&other.run.tally));
        }
        let pairs: Vec<[Tally; 2]> = pairs.map(|it| it.map(|it| it.run.tally.clone())).listed();
        let delta = Pairs::new(&pairs).delta(Better::Neither, |it| metric.number(it))?;
        delta.interval.map(|it| it.map(|it| it / delta.base.abs()))
    }

    /// Checks a run against the guard's rules.
    fn verdicts(&self, own: &RunNumbers<'_>) -> Vec<GuardVerdict> {
        let metric = self.guard.guard.metric.as_deref().unwrap_or_default();
        let mut verdicts = Vec::new();
        for rule in self.guard.guard.rules() {
            match rule {
                GuardRule::Bound(word, bound, compare, is_lower) => {
                    let limit = limit(bound, own.run);
                    let found = self.number(own, metric);
                    let found = found.and_then(|it| limit.map(|limit| (it, limit)));
                    let holds =
                        found.as_ref().is_ok_and(|(it, limit)| compare(&self.end(it, is_lower), limit));
                    let bound = format!("{word} {}", in_words(bound));
                    let verdict = self.verdict(own, metric, found.map(|it| it.0), bound, holds);
                    verdicts.push(GuardVerdict { is_better_higher: Some(is_lower), ..verdict });
                }
                GuardRule::MaxIncrease(share) | GuardRule::MaxDecrease(share) => {
                    let is_lower = matches!(rule, GuardRule::MaxDecrease(_));
                    let found = self.increase(own, metric);
                    let holds = found.as_ref().is_ok_and(|it| match is_lower {
                        true => self.end(it, true) >= -share.share(),
                        false => self.end(it, false) <= share.share(),
                    });
                    let (word, most) =
                        if is_lower { ("at least", -share.number) } else { ("at most", share.number) };
                    let over = self.guard.over.as_deref().unwrap_or_default();
                    let bound = format!("{word} {} against {over}", change(most));
                    verdicts.push(GuardVerdict {
                        is_change: true,
                        is_better_higher: Some(is_lower),
                        ..self.verdict(own, metric, found, bound, holds)
                    });
                }
                GuardRule::Fired(stages) => verdicts.extend(stages.iter().map(|it| self.fired(own, it))),
            }
        }
        verdicts
    }

    /// Returns the value that must be within the bound: the number, or the nearer end of its interval.
    fn end(&self, found: &GuardedNumber, is_lower: bool) -> f64 {
        match found.interval.filter(|_| self.guard.guard.surely) {
            Some([low, _]) if is_lower => low.min(found.value),
            Some([_, high]) => high.max(found.value),
            None => found.value,
        }
    }

    /// Describes whether a stage fired.
    fn fired(&self, own: &RunNumbers<'_>, stage: &str) -> GuardVerdict {
        let place = own.run.stages.iter().position(|it| it.name == stage);
        let firing = place.and_then(|it| own.run.tally.outcome.firings.get(it));
        let found = firing.map(|it| GuardedNumber { value: it.fired as f64, interval: None });
        let found = found.ok_or_else(|| "no policy acts on this load".to_owned());
        let holds = found.as_ref().is_ok_and(|it| it.value > 0.0);
        self.verdict(own, &format!("stages.{stage}.fired"), found, "at least 1".to_owned(), holds)
    }

    fn verdict(
        &self,
        own: &RunNumbers<'_>,
        metric: &str,
        found: Result<GuardedNumber, String>,
        bound: String,
        holds: bool,
    ) -> GuardVerdict {
        let Run { policy, scenario, profile, .. } = own.run;
        let surely = self.guard.guard.surely;
        GuardVerdict {
            guard: self.guard.guard.name.clone(),
            run: [policy, scenario, profile].map(String::clone),
            metric: metric.to_owned(),
            over: self.guard.over.clone(),
            value: found.as_ref().ok().map(|it| it.value),
            interval: found.as_ref().ok().and_then(|it| it.interval).filter(|_| surely),
            is_change: false,
            is_better_higher: None,
            bound,
            holds,
            reason: found.err(),
            place: self.guard.place.clone(),
            policy_place: self.guard.policy_place.clone(),
        }
    }
}

/// Returns a change in percent, with its sign.
fn change(percent: f64) -> String {
    format!("{}{}%", if percent < 0.0 { '−' } else { '+' }, percent.abs())
}

/// Returns a bound as the end of a sentence.
fn in_words(bound: GuardBound) -> String {
    match bound.of {
        BoundOf::One => plain(bound.number),
        BoundOf::Percent => bound.to_string(),
        BoundOf::Window => format!("{} of the window", bound.number),
        BoundOf::Limit => format!("{} of the prompt limit", bound.number),
    }
}

/// Returns a bound as a number under a run's limits, or why there is none.
fn limit(bound: GuardBound, run: &Run) -> Result<f64, String> {
    let limits = &run.tally.limits;
    let (tokens, name) = match bound.of {
        BoundOf::One | BoundOf::Percent => return Ok(bound.share()),
        BoundOf::Window => (limits.window, "context window"),
        BoundOf::Limit => (limits.prompt, "prompt limit"),
    };
    if tokens == UNLIMITED {
        return Err(format!("{} has no {name}", run.profile));
    }
    Ok(bound.number * tokens as f64)
}

/// Checks a report against guards.
pub fn judge(guards: &[NamedGuard], report: &Report) -> Vec<GuardVerdict> {
    let is_summed = |it: &NamedGuard| it.scenarios.as_ref().is_some_and(|it| it.iter().any(|it| it == ALL));
    let sums =
        if report.sums.is_empty() && guards.iter().any(is_summed) { report.added_up() } else { Vec::new() };
    let labelled = report.labelled().map(|(run, label)| RunNumbers::new(run, label));
    let runs: Vec<RunNumbers<'_>> = labelled.chain(sums.iter().map(|it| RunNumbers::new(it, None))).listed();
    let ended_ms = report.ended_ms();
    let mut verdicts = Vec::new();
    for guard in guards {
        let judge = Judge { guard, runs: &runs, ended_ms: &ended_ms };
        // What is added up for a guard that asks for it is nothing to the others.
        let is_asked =
            |it: &&RunNumbers<'_>| it.run.scenario != ALL || !report.sums.is_empty() || is_summed(guard);
        let about = runs.iter().filter(is_asked).filter(|it| guard.is_about(it.run));
        verdicts.extend(about.flat_map(|it| judge.verdicts(it)));
    }
    verdicts
}
