//! What changes from one policy to another, and why: paired numbers, costs, edits, requests and needs.

mod beside;
mod causes;
mod page;
mod words;

use super::chart::requests::RunRequests;
use super::firings::StageActivity;
use super::metric::{self, Metric, ShownMetric as _};
use super::remembered::{self, RememberedPair};
use super::trust::TableTrust;
use super::{RunBrief, distinct};
use crate::decide::beside::{ComparedSession, judge_compared_sessions};
use crate::decide::{SESSIONS_TOLD, SessionEffect};
use crate::lever::{Lever, TurnsBreakEven, Word};
use crate::made::VERSION;
use crate::prelude::*;
use crate::verdict::MIN_EVIDENCE;

use ctxsim_engine::measure::delta::Pairs;
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later};
use ctxsim_engine::measure::{Better, Delta, Remembered};
use ctxsim_engine::price::Costs;

pub use beside::{BrokenPrefixes, ChangedStage, ComparisonContext, ContrastPart, FactsChanged, FieldChange};
pub use beside::{InputChange, InputFate, NeedChange, RequestChange};
pub use page::render_contrasts_page;
pub use words::{contrasts_review_markdown, contrasts_summary_markdown, draw_contrasts};
pub(crate) use words::{format_percentage_points, times_in_words};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.compare/1";
/// The most requests, and the most needs, that are shown.
const SHOWN: usize = 5;
/// Smaller changes are shown as equal.
const NOTHING: f64 = 1e-12;

/// A number of two policies.
#[derive(Clone, Debug, Serialize)]
pub struct ContrastNumber {
    /// Its metric in the JSON report.
    pub place: String,
    pub heading: String,
    /// Its better direction.
    pub better: Better,
    /// Both values, and their difference.
    #[serde(flatten)]
    pub delta: Delta,
    #[serde(skip)]
    metric: Option<&'static Metric>,
    /// Whether it is a share, where it is no metric of every run.
    #[serde(skip)]
    is_share: bool,
}

/// A part of the cost, in US dollars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostPart {
    pub name: &'static str,
    /// The base's and the candidate's.
    pub usd: [f64; 2],
}

/// How often a changed stage fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageChange {
    pub name: String,
    /// How often it fired in the base and in the candidate; `None` if a policy lacks it.
    pub fired: [Option<u64>; 2],
    /// Of these, how often it edited anything.
    pub acted: [Option<u64>; 2],
    /// Why it never fired in the candidate, or changed nothing.
    pub idle: Option<String>,
}

/// The changes from a base to a candidate, over loads under one profile or each under its own.
#[derive(Clone, Debug, Serialize)]
pub struct Contrast {
    pub base: String,
    pub candidate: String,
    pub load: String,
    /// The profile, or a note that each session runs under its own model's.
    pub profile: String,
    /// The date of the profile's prices.
    pub as_of: String,
    /// The number of paired sessions or trials.
    pub pairs: usize,
    /// Whether these are trials of one load rather than loads.
    pub are_trials: bool,
    /// The differences between the policy files.
    pub changed: Vec<FieldChange>,
    pub numbers: Vec<ContrastNumber>,
    /// The 95% interval of the relative change in cost over what is assumed alone, if anything is.
    pub cost_change_assumed: Option<[f64; 2]>,
    /// The lowest and the highest of that change where everything that is assumed is wrong in one direction, if anything is.
    pub cost_change_bound: Option<[f64; 2]>,
    /// Of several recorded sessions: the word that the rule gives the candidate, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<Word>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many more turns the candidate's saving bears, where it edits prompts and saves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_at_extra_turns: Option<TurnsBreakEven>,
    /// The cost by part; the differences add up to the total difference.
    pub split: Vec<CostPart>,
    /// Broken prefixes, by author, in the base and in the candidate.
    pub breaks: IndexMap<String, [BrokenPrefixes; 2]>,
    /// The requests with the largest cost differences.
    pub requests: Vec<RequestChange>,
    /// The numbers of needs that are met less, and more.
    pub needs_changed: [usize; 2],
    /// The most important ones.
    pub needs: Vec<NeedChange>,
    /// Facts by their states in the base and in the candidate.
    pub facts: Vec<FactsChanged>,
    /// The stages that differ.
    pub stages: Vec<StageChange>,
    /// How far the sessions carry the numbers.
    pub trust: TableTrust,
    /// Whether nothing says what is needed or asked, so that losses are unknown.
    pub loses_unknown: bool,
    /// Notes that a reader must know.
    pub notes: Vec<String>,
    /// The requests of both runs on the load that costs most in the base, for charts.
    #[serde(skip)]
    pub traces: Vec<RunRequests>,
}

impl Contrast {
    /// Merges the parts of each pair of policies, a base and a candidate by index, under each profile; the candidates of one base are one family.
    pub fn all(groups: &IndexMap<([usize; 2], String), Vec<ContrastPart>>) -> Vec<Self> {
        let mut judged = IndexMap::new();
        let families = grouped(groups.iter().map(|(key, all)| ((key.0[0], &key.1), (key, all.as_slice()))));
        for family in families.into_values() {
            let (keys, parts): (Vec<_>, Vec<_>) = family.into_iter().unzip();
            judged.extend(keys.into_iter().zip(judge_candidates(&parts)));
        }
        let merged = groups.iter().map(|(key, parts)| Self::new(parts, &key.1, judged.get(key).cloned()));
        merged.flatten().listed()
    }

    /// Merges parts of the same two policies.
    fn new(parts: &[ContrastPart], profile: &str, judged: Option<Lever>) -> Option<Self> {
        let first = parts.first()?;
        let [base, candidate] = [0, 1].map(|it| first.runs[it].policy.clone());
        let is_same_work = |[base, candidate]: &[Tally; 2]| base.outcome.did_as_much_as(&candidate.outcome);
        let n_all: usize = parts.iter().map(|it| it.pairs.len()).sum();
        let kept = parts.iter().flat_map(|it| &it.pairs).filter(|it| is_same_work(it)).cloned().listed();
        let samples = parts.iter().flat_map(|it| cost_samples(it, is_same_work)).listed();
        let pairs = Pairs::new(&kept);
        let sums = pairs.sums();
        let reach = sums.map(|[base, own]| own.assumed_reach(base)).unwrap_or_default();
        let assumed = sums.and_then(|[base, own]| Some((base.assumed_cost()?, own.assumed_cost()?)));
        let change = assumed.map(|(base, own)| own.change_from(&base));
        let are_trials = n_all > 1 && parts.iter().all(|it| it.runs[0].scenario == first.runs[0].scenario);
        let tells_of_others = are_trials || kept.len() >= SESSIONS_TOLD;
        // Where runs stop at a limit, the rule says nothing.
        let sampled = || ratio_interval_for_later(&samples, reach).filter(|_| tells_of_others);
        let cost_interval = judged.as_ref().and_then(|it| it.interval).or_else(sampled);
        let mut notes = describe_stops(parts);
        if kept.len() < n_all && !kept.is_empty() {
            let n = n_all - kept.len();
            notes.push(format!("{n} of {n_all} pairs are excluded: one of the policies stopped earlier."));
        }
        // What is left out of the sums explains nothing of them; of several trials, rows are those of the first.
        let counted = parts.iter().filter(|it| it.pairs.iter().any(is_same_work)).listed();
        let mut with_rows = counted.clone();
        with_rows.retain(|it| it.pairs.first().is_some_and(is_same_work));
        let mut needs: Vec<NeedChange> = with_rows.iter().flat_map(|it| it.needs.clone()).listed();
        // By how much it is met more, by its weight.
        let weighted = |it: &NeedChange| it.weight * (it.met[1] - it.met[0]);
        let n_less = needs.iter().filter(|it| weighted(it) < 0.0).count();
        let needs_changed = [n_less, needs.len() - n_less];
        needs.order_by(|a, b| weighted(b).abs().total_cmp(&weighted(a).abs()));
        needs.truncate(SHOWN);
        let mut requests: Vec<RequestChange> = with_rows.iter().flat_map(|it| it.requests.clone()).listed();
        let usd = |it: &RequestChange| (it.usd[1] - it.usd[0]).abs();
        requests.order_by(|a, b| usd(b).total_cmp(&usd(a)));
        requests.truncate(SHOWN);
        let bases = || parts.iter().map(|part| &part.runs[0]);
        let traces = parts.iter().map(|it| it.traces.as_slice());
        let sessions = parts.iter().filter_map(|part| part.session.as_ref()).listed();
        Some(Self {
            base,
            candidate,
            load: match distinct(bases().map(|base| base.scenario.as_str())).as_slice() {
                [only] => (*only).to_owned(),
                all => numbers::counted(all.len(), "scenario"),
            },
            profile: profile.to_owned(),
            as_of: numbers::days(bases().map(|base| base.assumed.as_of.as_str())),
            pairs: kept.len(),
            are_trials,
            changed: first.changed.clone(),
            numbers: compare_numbers(&pairs, &counted, cost_interval, tells_of_others),
            cost_change_assumed: change.filter(|_| reach.is_some()).map(|it| reach.interval(it, 0.0)),
            cost_change_bound: sums.and_then(|[base, own]| own.assumed_bound(base)),
            word: judged.as_ref().and_then(|it| it.word),
            why: judged.filter(|it| it.word.is_some()).map(|it| it.why),
            gone_at_extra_turns: break_even_turns(&kept, cost_interval),
            split: sums.map(|[base, it]| split_cost([&base.costs, &it.costs])).unwrap_or_default(),
            breaks: sum_broken_prefixes(&with_rows),
            requests,
            needs_changed,
            needs,
            facts: sum_changed_facts(&with_rows),
            stages: first.stages.iter().map(|it| sum_stage_change(it, &counted)).listed(),
            // Nothing says what a load needs or asks.
            loses_unknown: bases().all(|base| !base.tally.has_needs && base.findings.is_none()),
            trust: TableTrust::new(&sessions, &bases().map(RunBrief::from).listed()),
            traces: RunRequests::of_dearest_load(traces.filter(|it| it.len() == 2), parts.len()),
            notes,
        })
    }

    /// Returns a number by its place.
    pub fn number_at(&self, metric_path: &str) -> Option<&ContrastNumber> {
        self.numbers.iter().find(|it| it.place == metric_path)
    }

    /// Returns the number of decimals its amounts have.
    fn usd_decimals(&self) -> usize {
        let cost = self.number_at(&format!("totals.{}", metric::COST)).map(|it| &it.delta);
        numbers::decimals(cost.map_or(0.0, |it| it.base.max(it.candidate)))
    }
}

impl ContrastNumber {
    /// Compares a metric of reports.
    fn compare_metric(metric: &'static Metric, pairs: &Pairs) -> Option<Self> {
        let delta = pairs.delta(metric.better_direction(), |it| metric.value_in(it))?;
        let is_silent = delta.base.abs() < NOTHING && delta.candidate.abs() < NOTHING;
        (!is_silent).then(|| Self {
            place: format!("totals.{}", metric.name),
            heading: metric.column_heading().to_owned(),
            better: metric.better_direction(),
            delta,
            metric: Some(metric),
            is_share: metric.is_share(),
        })
    }

    /// Compares what memories hold, trial by trial on the same draws.
    fn from_remembered(both: RememberedPair) -> Self {
        let [base, candidate] = both.numbers;
        let Remembered { place, heading, better, is_share, number } = candidate;
        let interval = both.difference.and_then(|it| it.ci95);
        // Means of other trials each do not say which is better.
        let (n_base, n, n_all) = (base.number.n, number.n, both.n_trials);
        let is_whole = n_base >= n_all && n >= n_all;
        let better = if is_whole { better } else { Better::Neither };
        let few = text_if(!is_whole, || format!(" ({n_base} and {n} of {n_all} trials have one)"));
        let delta = Delta::new([base.number.mean, number.mean], interval, better);
        Self { place, heading: heading.to_owned() + &few, better, delta, metric: None, is_share }
    }

    /// Returns a number of it as people read it.
    pub fn format_number(&self, number: f64, decimals: usize) -> String {
        match self.metric {
            Some(metric) => metric.format_number(number, decimals),
            None if self.is_share => percent(number),
            None => fixed(number, 1),
        }
    }
}

/// Returns comparisons as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn contrasts_json(contrasts: &[Contrast], context: &ComparisonContext) -> serde_json::Result<String> {
    let one = |it: &Contrast| {
        group! { "verdict": it.verdict_sentence(), "causes": it.main_causes() }.and(Value::serialised(it))
    };
    json_text(&group! {
        "schema": SCHEMA,
        "version": VERSION.to_owned(),
        "made": context.made.to_value(),
        "revision": context.revision.clone(),
        "new_policies": Value::serialised(&context.new),
        "changed_beside": Value::serialised(&context.changed),
        "unknown_folders": Value::serialised(&context.unknown),
        "comparisons": contrasts.iter().map(one).listed(),
    })
}

/// Returns the costs of paired sessions or trials that did the same work.
fn cost_samples(part: &ContrastPart, is_same: impl Fn(&[Tally; 2]) -> bool) -> Vec<RatioSample<'static>> {
    let at_ms = part.session.as_ref().and_then(|it| it.last_ms);
    let pair = |[base, own]: &[Tally; 2]| own.costs.total().zip(base.costs.total().filter(|it| *it > 0.0));
    let pairs = part.pairs.iter().filter(|it| is_same(it)).filter_map(pair);
    pairs.map(|pair| RatioSample { pair, project: "", at_ms }).listed()
}

/// Judges candidates of one base on several recorded sessions, by the rule of advice; nothing where not all of them played the same ones.
fn judge_candidates(candidates: &[&[ContrastPart]]) -> Vec<Lever> {
    let session = |nth: usize| {
        let parts = candidates.iter().map(|parts| parts.get(nth)).collect::<Option<Vec<_>>>()?;
        let tally = |it: &ContrastPart, nth: usize| Some(SessionEffect::from_tally(&it.pairs.first()?[nth]));
        let last_ms = parts.first()?.session.as_ref()?.last_ms;
        let others = parts.iter().map(|part| tally(part, 1)).collect::<Option<_>>()?;
        Some(ComparedSession { project: "", last_ms, base: tally(parts[0], 0)?, others })
    };
    let n = candidates.iter().map(|parts| parts.len()).max().unwrap_or_default();
    let sessions = (0..n).map(session).collect::<Option<Vec<_>>>().filter(|it| it.len() > 1);
    let names = vec![String::new(); candidates.len()];
    sessions.map(|it| judge_compared_sessions(&it, &names, MIN_EVIDENCE)).unwrap_or_default()
}

/// Returns how many more turns the saving of what edits prompts bears.
fn break_even_turns(pairs: &[[Tally; 2]], cost_interval: Option<[f64; 2]>) -> Option<TurnsBreakEven> {
    let edits = pairs.iter().any(|it| it[1].outcome.firings.iter().any(|it| it.acted > 0));
    let sum = |of: fn(&[Tally; 2]) -> Option<f64>| pairs.iter().map(of).sum::<Option<f64>>();
    let (base, own) = (sum(|it| it[0].costs.total())?, sum(|it| it[1].costs.total())?);
    let again = sum(|it| it[1].as_many_again())?;
    TurnsBreakEven::new(own / base - 1.0, cost_interval, again / base).filter(|_| edits && base > 0.0)
}

/// Returns the numbers that are known of both policies; of the cost, the interval of its relative change is given.
fn compare_numbers(
    pairs: &Pairs,
    parts: &[&ContrastPart],
    cost_interval: Option<[f64; 2]>,
    tells_of_others: bool,
) -> Vec<ContrastNumber> {
    let metrics = metric::compared_metrics().into_iter();
    let mut numbers = metrics.filter_map(|it| ContrastNumber::compare_metric(it, pairs)).listed();
    for number in &mut numbers {
        let is_cost = number.metric.is_some_and(|it| it.name == metric::COST);
        if is_cost || !tells_of_others {
            let ends = cost_interval.filter(|_| is_cost).map(|ends| ends.map(|end| end * number.delta.base));
            number.delta = Delta::new([number.delta.base, number.delta.candidate], ends, number.better);
        }
    }
    let both = remembered::remembered_pairs(parts.iter().map(|it| &it.runs));
    let at = 1.min(numbers.len());
    numbers.splice(at..at, both.into_iter().map(ContrastNumber::from_remembered));
    numbers
}

/// Returns the cost by what it pays for.
fn split_cost(costs: [&Costs; 2]) -> Vec<CostPart> {
    type CostOf = fn(&Costs) -> f64;
    let parts: [(&str, CostOf); 13] = [
        ("cache reads", |it| it.main.read.usd()),
        ("cache writes", |it| it.main.write.usd()),
        ("uncached input", |it| it.main.uncached.usd()),
        ("output", |it| it.main.output.usd()),
        ("recovery", |it| it.recovery.usd()),
        ("exploration", |it| it.exploration.usd()),
        ("reaction to what is fetched", |it| it.reaction.usd()),
        ("left by other sessions", |it| it.left.usd()),
        ("compaction", |it| it.compaction.usd()),
        ("keep-alive requests", |it| it.keep_alive.usd()),
        ("stored caches", |it| it.storage.usd()),
        ("memory", |it| it.memory.usd()),
        ("penalties", |it| it.penalty.usd()),
    ];
    let is_known = costs.iter().all(|it| it.total().is_some());
    let both = parts.map(|(name, part)| CostPart { name, usd: costs.map(part) });
    both.into_iter().filter(|it| is_known && it.usd.iter().any(|usd| usd.abs() > NOTHING)).listed()
}

/// Adds up facts by their states.
fn sum_changed_facts(parts: &[&ContrastPart]) -> Vec<FactsChanged> {
    let mut all: IndexMap<[&str; 2], FactsChanged> = IndexMap::new();
    for facts in parts.iter().flat_map(|it| &it.facts) {
        let none = || FactsChanged { n: 0, ..facts.clone() };
        all.entry([facts.from, facts.to]).or_insert_with(none).n += facts.n;
    }
    all.sort_by(|_, one, _, other| other.n.cmp(&one.n));
    all.into_values().listed()
}

/// Says how often a changed stage fired over all parts.
fn sum_stage_change(changed: &ChangedStage, parts: &[&ContrastPart]) -> StageChange {
    let sum = |side: usize, n: fn(&ctxsim_engine::ledger::Firing) -> u64| {
        let place = changed.places[side]?;
        Some(parts.iter().filter_map(|it| it.runs[side].tally.outcome.firings.get(place)).map(n).sum())
    };
    let runs: Vec<&Run> = parts.iter().map(|it| &it.runs[1]).listed();
    let acted = [0, 1].map(|side| sum(side, |it| it.acted));
    let is_known = runs.iter().all(|it| !it.tally.outcome.firings.is_empty());
    // What acted under one profile is not idle because it did not under another.
    let idle = changed.places[1].filter(|_| is_known && acted[1] == Some(0));
    let mut stages = StageActivity::default();
    runs.into_iter().for_each(|it| stages.add_run(it));
    let idle = idle.and_then(|place| stages.describe_idle_stage(place));
    let fired = [0, 1].map(|side| sum(side, |it| it.fired));
    StageChange { name: changed.name.clone(), fired, acted, idle }
}

/// Says where a policy stopped at a limit.
fn describe_stops(parts: &[ContrastPart]) -> Vec<String> {
    let stops = parts.iter().flat_map(|it| &it.runs).filter_map(|run| {
        let (policy, scenario, n_turns) = (&run.policy, &run.scenario, run.tally.outcome.turns_requested);
        let turn = run.tally.outcome.failure?.turn;
        Some(format!("{policy} stopped at turn {turn} of {n_turns} in {scenario} (limit)."))
    });
    stops.take(SHOWN).listed()
}

/// Adds up the prefixes that each stage broke, the largest first.
fn sum_broken_prefixes(parts: &[&ContrastPart]) -> IndexMap<String, [BrokenPrefixes; 2]> {
    let mut breaks: IndexMap<String, [BrokenPrefixes; 2]> = IndexMap::new();
    for (who, both) in parts.iter().flat_map(|part| &part.breaks) {
        breaks.entry(who.clone()).or_default().iter_mut().zip(both).for_each(|(sum, more)| *sum += *more);
    }
    breaks.sort_by(|_, a, _, b| b[1].tokens.max(b[0].tokens).cmp(&a[1].tokens.max(a[0].tokens)));
    breaks
}
