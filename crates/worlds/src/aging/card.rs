//! A run as an aging card: the fields of AgingBench's released schema, version 1.0.0.

use serde_json::{Value, json};

use super::{AgingSummary, LAGS};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::Run;

/// The version of the cards' schema.
const SCHEMA_VERSION: &str = "1.0.0";

/// Returns the card of a run; numbers without data are null.
pub(super) fn card(run: &Run, aging: &AgingSummary, suite: Option<&str>, notes: &[String]) -> Value {
    let mean = |name: &str| aging.mean(name);
    let tokens = &run.tally.sums.main.tokens;
    let points = aging.curve.iter().enumerate();
    let checkpoints: Vec<Value> = points.map(|(at, it)| json!([at, it.as_ref().map(|it| it.mean)])).collect();
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
fn mechanisms(aging: &AgingSummary) -> Value {
    let mean = |name: &str| aging.mean(name);
    let lags: serde_json::Map<String, Value> = LAGS
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
