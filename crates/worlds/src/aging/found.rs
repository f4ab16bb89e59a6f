//! How a memory aged, as findings of a run: its numbers, its columns, its tables and its card.

use crate::prelude::*;

use indexmap::IndexSet;
use serde_json::json;

use super::{AgingSummary, LAGS};
use crate::trial::{self, FoundRun, curve, is_beside, subject, titled};
use ctxsim_base::grid::numbers::{NONE, percent, plain_or_none as written, thousands};
use ctxsim_base::grid::{Grid, Of};
use ctxsim_engine::measure::Better;
use ctxsim_engine::take::{Curve, CurvePlaces, Curves, FindingsKind, Number};
use ctxsim_input::suite::Reference;
use ctxsim_timeline::row::{RowColumn, Value, listed, number_heads};

/// What is found of ageing memories.
pub(super) static KIND: FindingsKind = FindingsKind {
    numbers: &[
        Number::share("mean", "aging.mean.mean", "mean score"),
        Number::share("final", "aging.final.mean", "final score"),
        Number { is_share: false, ..Number::share("half_life", "aging.half_life.mean", "half-life") },
        Number {
            is_share: false,
            better: Better::Lower,
            ..Number::share("accumulator_error", "aging.accumulator_error.mean", "error in totals")
        },
        Number::share("version_accuracy", "aging.version_accuracy.mean", "versions right"),
        Number::share("binding", "aging.binding.mean", "bindings right"),
        Number::share("chain_recall", "aging.chain_recall.mean", "chains right"),
        Number {
            better: Better::Lower,
            ..Number::share("violation_rate", "aging.violation_rate.mean", "violations")
        },
        Number::share("shock", "aging.shock.mean", "shock"),
    ],
    is_of_memory: true,
    is_in_sections: false,
    columns: &COLUMNS,
    calls: Vec::new,
    grids,
    curves,
};

static COLUMNS: [RowColumn<Run>; 1] = listed![Run;
    /// What an ageing memory still answers; null for loads of other kinds.
    "aging": Group(of_aging) = |it| it.found::<AgingSummary>().map(Value::serialised),
];

impl Findings for AgingSummary {
    fn kind(&self) -> &'static FindingsKind {
        &KIND
    }

    fn number(&self, name: &str) -> Option<Statistic> {
        self.number(name).copied()
    }

    fn more(&self, name: &str, base: &str) -> Option<Statistic> {
        self.paired.get(base)?.get(name).copied()
    }

    fn repair(&self) -> Option<&StageRepair> {
        self.repair.as_ref()?.get()
    }

    fn without_repair(&self) -> Option<Arc<dyn Findings>> {
        Some(Arc::new(Self { repair: None, ..self.clone() }))
    }

    fn value(&self) -> Value {
        Value::serialised(self)
    }

    fn card(&self, run: &Run, suite: Option<&str>, notes: &[String]) -> Option<serde_json::Value> {
        Some(card(run, self, suite, notes))
    }
}

/// Returns what a run can have.
fn of_aging() -> Vec<Head> {
    number_heads(
        &Value::serialised(&AgingSummary::sample()),
        &["paired", "span", "span_all_hops", "depth", "hop"],
    )
}

/// A run with how its memory ages.
type Aged<'r> = FoundRun<'r, AgingSummary>;

/// A column of the diagnostic matrix: its heading, the metrics, the most telling first, and its decimals.
type Mechanism = (&'static str, &'static [&'static str], usize);

/// The mechanisms, each with its metrics, the most direct first.
const MECHANISMS: [Mechanism; 5] = [
    ("compression: final", &["final"], 3),
    ("interference: binding", &["binding"], 3),
    ("revision: version accuracy", &["version_accuracy", "rev_ex"], 3),
    ("revision: error in totals", &["accumulator_error"], 1),
    ("maintenance: shock", &["shock"], 3),
];

/// Returns the tables of runs.
fn grids(runs: &[&Run], _references: &[Reference]) -> Vec<Grid> {
    let aged = trial::found(runs);
    let mut grids: Vec<Grid> = aged.chunk_by(is_beside).flat_map(|it| [of_curves(it), costs(it)]).collect();
    grids.extend(matrix(&aged));
    grids.extend(half_lives(&aged));
    grids
}

/// Returns the scores by session, and where constraints can be violated, how often they are beside the scores: an agent can go
/// on complying while what it knows is lost.
fn curves(runs: &[&Run]) -> Vec<Curves> {
    let of = |it: &[Aged<'_>]| [Some(by_session(it)), violations(it)];
    trial::found(runs).chunk_by(is_beside).flat_map(of).flatten().collect()
}

/// Returns the curves of the policies of a scenario.
fn by_session(runs: &[Aged<'_>]) -> Curves {
    let one = |(run, it): &Aged<'_>| curve(run, run.policy.clone(), it.curve.clone());
    drawn(format!("Aging by {}", metric(runs)), runs, runs.iter().map(one).collect())
}

/// Returns how often constraints are violated, where a scenario has any; the scores have their own picture.
fn violations(runs: &[Aged<'_>]) -> Option<Curves> {
    let one = |(run, it): &Aged<'_>| curve(run, run.policy.clone(), it.violations.clone());
    let has_any = runs.iter().any(|it| !it.1.violations.is_empty());
    has_any.then(|| drawn("Violated constraints".to_owned(), runs, runs.iter().map(one).collect()))
}

/// Returns curves over the sessions of a scenario.
fn drawn(title: String, runs: &[Aged<'_>], curves: Vec<Curve>) -> Curves {
    let n_places = curves.iter().map(|it| it.numbers.len()).max().unwrap_or(0);
    let places = (0..n_places).map(|it| it.to_string()).collect();
    Curves { axis: CurvePlaces::Session, title, subject: subject(runs), places, curves }
}

fn metric<'r>(runs: &[Aged<'r>]) -> &'r str {
    runs.first().map_or("", |it| it.1.metric.as_str())
}

/// Returns a line for each policy of a scenario.
fn of_curves(runs: &[Aged<'_>]) -> Grid {
    let columns: [Of<'_, Aged<'_>>; 11] = [
        ("policy", &|(run, _)| run.policy.clone()),
        ("first", &|(_, it)| written(it.mean("m0"), 3)),
        ("final", &|(_, it)| written(it.mean("final"), 3)),
        ("± 95%", &|(_, it)| written(it.number("final").and_then(Statistic::reach), 3)),
        ("slope", &|(_, it)| written(it.mean("slope"), 4)),
        ("half-life", &|(_, it)| written(it.mean("half_life"), 1)),
        ("never halved", &|(run, it)| format!("{} of {}", it.half_life_infinite, run.trials)),
        ("floor", &|(_, it)| written(it.floor.last().copied().flatten(), 3)),
        ("ceiling", &|(_, it)| written(it.ceiling.last().copied().flatten(), 3)),
        ("error in totals", &|(_, it)| written(it.mean("accumulator_error"), 1)),
        ("USD per session", &|(_, it)| written(it.usd_per_session, 4)),
    ];
    Grid::from_columns(titled(&format!("Aging by {}", metric(runs)), runs), 1, runs, &columns)
}

/// Returns a line for each policy of a scenario: the cost of remembering.
fn costs(runs: &[Aged<'_>]) -> Grid {
    let columns: [Of<'_, Aged<'_>>; 7] = [
        ("policy", &|(run, _)| run.policy.clone()),
        ("memory tokens", &|(_, it)| written(it.mean("memory_tokens"), 0)),
        ("tokens per session", &|(_, it)| thousands(it.tokens_per_session.round() as u64)),
        ("cache hit", &|(run, _)| percent(run.tally.cache_hit_ratio())),
        ("requests", &|(_, it)| thousands(it.calls)),
        ("summaries alone", &|(_, it)| thousands(it.compaction_calls)),
        ("USD per session", &|(_, it)| written(it.usd_per_session, 4)),
    ];
    Grid::from_columns(titled("Cost of remembering", runs), 1, runs, &columns)
}

/// Returns the half-lives of memories by model, where several models answer a scenario: the mean of those that are finite, and
/// how many of the streams never halve.
fn half_lives(runs: &[Aged<'_>]) -> Option<Grid> {
    let profile = &runs.first()?.0.profile;
    let of_profile: Vec<&Aged<'_>> = runs.iter().filter(|it| it.0.profile == *profile).collect();
    let models: IndexSet<&str> = of_profile.iter().map(|it| it.1.model.as_str()).collect();
    if models.len() < 2 {
        return None;
    }
    let stem = |it: &Aged<'_>| {
        let own = format!("/{}", it.1.model);
        it.0.scenario.strip_suffix(own.as_str()).unwrap_or(&it.0.scenario).to_owned()
    };
    let lines: IndexSet<(&str, String)> =
        of_profile.iter().map(|it| (it.0.policy.as_str(), stem(it))).collect();
    let rows = lines.into_iter().map(|(policy, scenario)| {
        let cell = |model: &&str| {
            let is_it =
                |it: &&&Aged<'_>| it.0.policy == policy && it.1.model == **model && stem(it) == scenario;
            let Some((run, it)) = of_profile.iter().find(is_it) else { return NONE.to_owned() };
            format!("{} ({}/{})", written(it.mean("half_life"), 1), it.half_life_infinite, run.trials)
        };
        [policy.to_owned(), scenario.clone()].into_iter().chain(models.iter().map(cell)).collect::<Vec<_>>()
    });
    let columns: Vec<&str> = ["policy", "scenario"].into_iter().chain(models.iter().copied()).collect();
    Some(Grid::new("Half-life by model (streams that never halve)", 2, &columns, rows))
}

/// Returns a line for each policy, scenario and model: the effect of each ageing mechanism. Profiles differ in prices alone, which it
/// does not show.
fn matrix(runs: &[Aged<'_>]) -> Option<Grid> {
    let profiles: IndexSet<&str> = runs.iter().map(|it| it.0.profile.as_str()).collect();
    let first = *profiles.first()?;
    let title = match profiles.len() {
        1 => "Diagnostic matrix".to_owned(),
        _ => format!(
            "Diagnostic matrix, the same under {}",
            profiles.iter().copied().collect::<Vec<_>>().join(", ")
        ),
    };
    let row = |(run, it): &Aged<'_>| {
        let mean = |names: &[&str]| names.iter().find_map(|name| it.mean(name));
        let numbers = MECHANISMS.iter().map(|(_, names, decimals)| written(mean(names), *decimals));
        let candidate = it.attribution.as_ref().and_then(|it| it.candidate);
        let candidate = candidate.and_then(|it| Some(serde_json::to_value(it).ok()?.as_str()?.to_owned()));
        let mut row = vec![run.policy.clone(), run.scenario.clone(), it.model.clone()];
        row.extend(numbers);
        row.push(candidate.unwrap_or_else(|| NONE.to_owned()));
        row
    };
    let front = ["policy", "scenario", "model"].into_iter();
    let columns = front.chain(MECHANISMS.iter().map(|it| it.0)).chain(["candidate stage"]);
    let rows = runs.iter().filter(|it| it.0.profile == first).map(row);
    Some(Grid::new(title, 3, &columns.collect::<Vec<_>>(), rows))
}

/// The version of the cards' schema.
const SCHEMA_VERSION: &str = "1.0.0";

/// Returns the card of a run; numbers without data are null.
fn card(run: &Run, aging: &AgingSummary, suite: Option<&str>, notes: &[String]) -> serde_json::Value {
    let mean = |name: &str| aging.mean(name);
    let tokens = &run.tally.sums.main.tokens;
    let points = aging.curve.iter().enumerate();
    let checkpoints: Vec<serde_json::Value> =
        points.map(|(at, it)| json!([at, it.as_ref().map(|it| it.mean)])).collect();
    let n = aging.half_life_infinite;
    let unhalved = format!("half_life is the mean of the other streams: {n} of {} never halve", run.trials);
    let warnings: Vec<&String> = notes.iter().chain((n > 0).then_some(&unhalved)).collect();
    // A simulation has no clock; the day is that of the profile's sources.
    let generated_at = format!("{}T00:00:00Z", run.assumed.as_of);
    json!({
        "schema_version": SCHEMA_VERSION,
        "card_type": "agingbench.AgingCard",
        "generated_at": generated_at,
        "run_id": format!("{}:{}:{}:{}", run.scenario, run.policy, run.profile, run.seed),
        "scenario": aging.generator,
        "scenario_version": env!("CARGO_PKG_VERSION"),
        "suite_id": suite.unwrap_or("none"),
        "sut": {
            "sut_id": run.policy,
            "model_provider": null,
            "model_id": aging.model,
            "memory_policy_type": run.policy.rsplit('/').next(),
            "config_yaml_path": null,
            "config_hash_sha256": null,
        },
        "seed": run.seed,
        "n_sessions": aging.sessions,
        "pressure": aging.pressure,
        "headline": {
            "metric_name": aging.metric,
            "m0": mean("m0"),
            "m_final": mean("final"),
            "half_life": mean("half_life"),
            "decay_slope": mean("slope"),
            "hazard_proxy": mean("hazard"),
            "aging_detected": mean("slope").map(|it| it < -0.005),
        },
        "mechanism_metrics": mechanisms(aging),
        "cost_and_efficiency": {
            "total_input_tokens": tokens.prompt(),
            "total_output_tokens": tokens.output,
            "tokens_per_session_mean": aging.tokens_per_session,
            "total_calls": aging.calls,
            "total_cost_usd": run.tally.costs.total(),
        },
        "checkpoints": checkpoints,
        "provenance": {
            "agingbench_version": null,
            "git_sha": null,
            "compute_environment": concat!("ctxsim ", env!("CARGO_PKG_VERSION"), ", a simulation: no model \
                ran"),
            "agent_cli_version": null,
        },
        "warnings": warnings,
        "links": {},
        "spread": { "n_seeds": run.trials, "m_final_sd": aging.number("final").map(|it: &Statistic| it.sd) },
    })
}

/// Returns the numbers of each mechanism of ageing.
fn mechanisms(aging: &AgingSummary) -> serde_json::Value {
    let mean = |name: &str| aging.mean(name);
    let lags: serde_json::Map<String, serde_json::Value> = LAGS
        .iter()
        .filter_map(|(name, ..)| Some((format!("lag_{name}"), json!(mean(&format!("lag.{name}"))?))))
        .collect();
    json!({
        "attribution": aging.attribution,
        "compression": {
            "lag_recall": lags,
            "chain_recall": mean("chain_recall"),
            "ws_fid": mean("ws_fid"),
        },
        "interference": {
            "interference_resistance": mean("interference_resistance"),
            "binding_accuracy": mean("binding"),
            "confusion_rate": mean("confusion_rate"),
            "miss_rate": mean("miss_rate"),
        },
        "revision": {
            "version_accuracy": mean("version_accuracy"),
            "forget_accuracy": mean("forget_accuracy"),
            "accumulator_mean_error": mean("accumulator_error"),
            "accumulator_mean_relative_error": mean("relative_error"),
            "compounding_share": mean("compounding"),
        },
        "maintenance": {
            "shock_delta_m": mean("shock"),
            "shock_window_2": mean("shock_window"),
            "shock_write_error": mean("shock_write_error"),
            "recovery_sessions": mean("shock_recovery_sessions"),
        },
    })
}
