//! Recovery as expected along a run against recovery that is drawn and played, on recorded sessions.

use std::path::PathBuf;

use ctxsim::engine::{Ready, simulate_sampled};
use ctxsim::input::{Policy, Profile};
use ctxsim::ledger::Outcome;
use ctxsim::metrics::Tally;
use ctxsim::price::PriceRows;
use ctxsim::rng::Seed;
use ctxsim::run::Workload;
use ctxsim::{Catalog, Plan, Request, Sums, Trace};

/// How many seeds an average is taken over.
const N_SEEDS: u64 = 20;

/// What a run costs in US dollars.
fn cost(sums: &Sums, rows: PriceRows, outcome: &Outcome, profile: &Profile) -> f64 {
    Tally::new(sums, Some(&rows.into()), outcome, true, profile).costs.total().unwrap()
}

/// What a run is expected to cost.
fn expected(trace: &Trace, policy: &Policy, profile: &Profile) -> (f64, Outcome, f64) {
    let mut sink = (Sums::default(), PriceRows::default());
    let outcome = ctxsim::simulate(trace, policy, &profile.limits, &profile.cache, &mut sink);
    let calls = sink.0.needs.calls;
    (cost(&sink.0, sink.1, &outcome, profile), outcome, calls)
}

/// What it costs with each of so many seeds.
fn drawn(trace: &Trace, policy: &Policy, profile: &Profile) -> Vec<(f64, bool, f64)> {
    let ready = Ready::new(trace, policy, &profile.limits);
    let one = |seed| {
        let mut sink = (Sums::default(), PriceRows::default());
        let (limits, rules) = (&profile.limits, &profile.cache);
        let outcome = simulate_sampled(trace, &ready, ready.recovery(), limits, rules, Seed(seed), &mut sink);
        let calls = sink.0.needs.calls;
        (cost(&sink.0, sink.1, &outcome, profile), outcome.failure.is_some(), calls)
    };
    (0..N_SEEDS).map(one).collect()
}

/// The recorded Claude Code sessions of the reference data, where it is given.
fn sessions() -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE") else { return Vec::new() };
    let root = std::path::absolute(root).unwrap();
    let folders = ["recorded/claude-code", "recorded/claude-code-2"].map(|it| root.join(it));
    let mut files: Vec<PathBuf> =
        folders.iter().flat_map(|it| std::fs::read_dir(it).unwrap()).map(|it| it.unwrap().path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "jsonl"));
    files.sort();
    files
}

#[test]
fn what_is_expected_is_what_is_drawn_on_the_average() {
    let mut scenarios: Vec<String> = sessions().iter().map(|it| it.to_str().unwrap().to_owned()).collect();
    if scenarios.is_empty() {
        scenarios.push("recorded/claude-code".to_owned());
    }
    let policies = [
        "identity",
        "truncate_oldest",
        "sliding_window",
        "clear_tool_results",
        "duckagent/duckagent_recoverable_decay_guarded_mid",
        "duckagent/immediate_summary",
        "clairvoyant",
    ];
    let request = Request {
        policies: policies.map(str::to_owned).to_vec(),
        scenarios,
        profiles: vec!["anthropic/claude-opus-4.5".to_owned()],
        ..Request::default()
    };
    let plan = Plan::new(&Catalog::bundled(), &request).unwrap();
    let profile = &plan.profiles[0];
    let mut report = String::new();
    for (nth, name) in policies.iter().enumerate() {
        let (mut all_e, mut all_d) = (0.0, 0.0);
        let mut off = 0;
        for load in &plan.scenarios {
            let Workload::Items(trace) = &load.workload else { continue };
            let (e, outcome, calls) = expected(trace, &load.policies[nth], profile);
            let d = drawn(trace, &load.policies[nth], profile);
            let n_failed = d.iter().filter(|it| it.1).count();
            let mean = d.iter().map(|it| it.0).sum::<f64>() / d.len() as f64;
            let var = d.iter().map(|it| (it.0 - mean).powi(2)).sum::<f64>() / (d.len() - 1) as f64;
            let se = (var / d.len() as f64).sqrt();
            if outcome.failure.is_none() && n_failed == 0 {
                all_e += e;
                all_d += mean;
            }
            if (e - mean).abs() > (0.03 * mean).max(3.0 * se) {
                off += 1;
                report += &format!(
                    "  {name} {}: expected {e:.4} drawn {mean:.4} ± {se:.4} ({:+.1}%) calls {:.2} {:.2} failed {:?} {n_failed} max {} \n",
                    load.name,
                    100.0 * (e - mean) / mean,
                    calls,
                    d.iter().map(|it| it.2).sum::<f64>() / 20.0,
                    outcome.failure.map(|it| it.turn),
                    profile.limits.prompt
                );
            }
        }
        report +=
            &format!("{name}: {all_e:.3} {all_d:.3} {:+.2}% off {off}\n", 100.0 * (all_e - all_d) / all_d);
    }
    panic!("{report}");
}
