//! How fast the engine is: DuckAgent's matrix, and requests a second of single policies.

#![expect(clippy::unwrap_used, reason = "a benchmark stops at what it did not expect")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctxsim::app::{Comparison, Plan};
use ctxsim::catalog::bundled_catalog;

/// The whole matrix on one thread: 30 policies × 9 profiles × 1,000 turns, 2.24 million requests.
fn matrix(criterion: &mut Criterion) {
    let comparison = Comparison { suite: Some("duckagent-matrix".to_owned()), ..Comparison::default() };
    let plan = Plan::new(&bundled_catalog(), &comparison).unwrap();
    let requests: u64 =
        plan.report(Some(1), &|_, _| {}).unwrap().runs.iter().map(|it| it.tally.sums.main.n).sum();

    let mut group = criterion.benchmark_group("matrix");
    group.sample_size(10).throughput(Throughput::Elements(requests));
    group.bench_function("one thread", |bencher| bencher.iter(|| plan.report(Some(1), &|_, _| {}).unwrap()));
    group.finish();
}

/// Requests a second: append-only, and the policy that the reference ships.
fn policies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("requests");
    for (policy, profile) in [
        ("identity", "unlimited"),
        ("duckagent/duckagent_recoverable_decay_guarded_mid", "duckagent/openai-gpt-5.4"),
        ("clear_tool_results_at_40k_min_5k", "interval/openai-gpt-5.4"),
    ] {
        let comparison = Comparison {
            policies: vec![policy.to_owned()],
            scenarios: vec!["duckagent/long_run".to_owned()],
            profiles: vec![profile.to_owned()],
            ..Comparison::default()
        };
        let plan = Plan::new(&bundled_catalog(), &comparison).unwrap();
        let requests = plan.report(Some(1), &|_, _| {}).unwrap().runs[0].tally.sums.main.n;
        group.throughput(Throughput::Elements(requests));
        group.bench_function(policy, |bencher| bencher.iter(|| plan.report(Some(1), &|_, _| {}).unwrap()));
    }
    group.finish();
}

criterion_group!(benches, matrix, policies);
criterion_main!(benches);
