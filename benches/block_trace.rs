//! How fast block traces are read and replayed, in block ids a second; `CTXSIM_REFERENCE` names a folder of full traces.

#![expect(clippy::unwrap_used, reason = "a benchmark stops at what it did not expect")]

mod measure;

use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctxsim::input::profile::{Blocks, Touch};
use ctxsim::input::{CacheRules, Limits};
use ctxsim::ledger::Sums;
use ctxsim::worlds::blocks::trace::{read, replay};
use measure::CoreTime;

/// The cut-down traces, and those of the reference folder where there is one.
fn traces() -> Vec<(&'static str, Vec<String>)> {
    let own = include_str!("../tests/data/blocks/kv-cache-tester.json");
    let mut traces = vec![("fixture", vec![own.to_owned()])];
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("blocks")) else {
        return traces;
    };
    let files = std::fs::read_dir(folder.join("kv-cache-tester")).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.to_string_lossy().contains("trace_"));
    paths.sort();
    traces.push(("kv-cache-tester", paths.iter().map(|it| std::fs::read_to_string(it).unwrap()).collect()));
    for (name, file) in [("mooncake-conversation", "conversation"), ("mooncake-synthetic", "synthetic")] {
        let path = folder.join(format!("mooncake/{file}_trace.jsonl"));
        traces.push((name, vec![std::fs::read_to_string(path).unwrap()]));
    }
    traces
}

fn blocks(criterion: &mut Criterion<CoreTime>) {
    let mut group = criterion.benchmark_group("blocks");
    for (name, texts) in traces() {
        let n_blocks: usize = texts.iter().map(|it| read(it, name).unwrap().blocks.len()).sum();
        group.throughput(Throughput::Elements(n_blocks as u64));
        for (kind, capacity_blocks) in [("infinite", None), ("lru-10000", Some(10_000))] {
            group.bench_function(format!("{name}/{kind}"), |bencher| {
                bencher.iter(|| {
                    for text in &texts {
                        let trace = read(text, name).unwrap();
                        let rules = Blocks {
                            block_tokens: trace.block_tokens,
                            capacity_blocks,
                            touch: Touch::HeadFirst,
                        };
                        let mut sums = Sums::default();
                        replay(&trace, &Limits::NONE, &CacheRules::Blocks(rules), &mut sums);
                        std::hint::black_box(sums);
                    }
                });
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CoreTime).sample_size(20);
    targets = blocks
}
criterion_main!(benches);
