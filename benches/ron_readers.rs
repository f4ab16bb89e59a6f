//! How long our reader of RON and the `ron` crate take for every bundled file in RON: policies and scenarios, as types.

#![expect(clippy::unwrap_used, reason = "a bench stops at what it did not expect")]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ctxsim::input::text::source::decode;
use ctxsim::input::{Format, PolicyFile, ScenarioFile};
use ron::extensions::Extensions;

/// How often all files are read.
const ROUNDS: u32 = 20;

/// Returns the texts of a folder in RON.
fn texts(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            all.extend(texts(&path));
        } else if path.extension().is_some_and(|it| it == "ron") {
            all.push(fs::read_to_string(path).unwrap());
        }
    }
    all
}

fn ours(policies: &[String], scenarios: &[String]) {
    policies.iter().for_each(|it| drop(black_box(decode::<PolicyFile>(it, Format::Ron).unwrap())));
    scenarios.iter().for_each(|it| drop(black_box(decode::<ScenarioFile>(it, Format::Ron).unwrap())));
}

fn of_crate(policies: &[String], scenarios: &[String]) {
    let dialect = ron::Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    );
    policies.iter().for_each(|it| drop(black_box(dialect.from_str::<PolicyFile>(it).unwrap())));
    scenarios.iter().for_each(|it| drop(black_box(dialect.from_str::<ScenarioFile>(it).unwrap())));
}

#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let [policies, scenarios] = ["policies", "scenarios"].map(|it| texts(&root.join(it)));
    let bytes: usize = policies.iter().chain(&scenarios).map(String::len).sum();
    println!("{} policies, {} scenarios, {bytes} bytes", policies.len(), scenarios.len());
    for (name, read) in [("ours", ours as fn(&[String], &[String])), ("crate", of_crate)] {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            read(&policies, &scenarios);
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{name}: {:.2} ms", best * 1e3);
    }
}
