//! The field oracle is an independent simulator of caches and policies, whose workloads, policies and rules are bundled.
//!
//! Its totals are equal to the token and the picodollar, its guards hold, and so do its formulas.
//!
//! `tests/data/field` holds a part of its totals and a trace; `CTXSIM_REFERENCE` names a folder that has all in `field`.

mod editing_65k;
mod formulas;
mod guards;
mod totals;
mod traces;

use ctxsim::price;
use ctxsim::timeline::load::load;

use crate::support::*;

/// A policy of the field, by the last part of its name.
fn policy(name: &str) -> Policy {
    named(&format!("field/{name}"))
}

/// A policy by its whole name.
fn named(name: &str) -> Policy {
    let loaded = bundled_catalog().policy(name).unwrap_or_else(|it| panic!("{it}"));
    Policy::new(&loaded.spec).unwrap_or_else(|it| panic!("{it:#?}"))
}

/// A profile of the field.
fn profile(name: &str) -> Profile {
    let loaded = bundled_catalog().profile(&format!("field/{name}")).unwrap_or_else(|it| panic!("{it}"));
    Profile::new(&loaded.spec).unwrap_or_else(|it| panic!("{it:#?}"))
}

/// A workload of the field as it is written.
fn workload(name: &str) -> ScenarioFile {
    bundled_catalog().scenario(&format!("field/{name}")).unwrap_or_else(|it| panic!("{it}")).spec
}

/// The timeline of a scenario.
fn timeline(spec: &ScenarioFile) -> Timeline {
    let scenario = Scenario::new(spec).unwrap_or_else(|it| panic!("{it:#?}"));
    load(&scenario, |path, _| panic!("{path} is recorded")).unwrap_or_else(|it| panic!("{it}"))
}

/// Plays a timeline to its end.
fn play(timeline: &Timeline, policy: &Policy, profile: &Profile) -> Rows {
    let mut rows = Rows::default();
    let outcome = Simulation::new(timeline, policy, &profile.limits, &profile.cache).run(&mut rows);
    assert_eq!(outcome.failure, None);
    rows
}

/// What all requests cost, those of summaries too, in picodollars.
fn picodollars(rows: &Rows, profile: &Profile) -> u128 {
    rows.requests.iter().map(|it| price::request(it, &profile.prices).map_or(0, |it| it.0)).sum()
}

/// Folders with files of the oracle: the part of them that is here, and all of them where they are named.
fn folders() -> Vec<PathBuf> {
    let here = root().join("tests/data/field");
    let all = std::env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("field"));
    std::iter::once(here).chain(all.filter(|it| it.exists())).collect()
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
}

/// The numbers of a list.
fn numbers(list: &Value) -> Vec<u128> {
    list.as_array().into_iter().flatten().map(|it| it.as_u64().map_or(0, u128::from)).collect()
}
