//! The best schedule in hindsight: between its bound and keeping everything, with every needed item kept.

use std::path::{Path, PathBuf};

use ctxsim::builtin::hindsight::bound;
use ctxsim::compare::Workload;
use ctxsim::{Catalog, Comparison, Plan};

/// Plays a scenario under `identity` and `hindsight` and holds it against the bound.
fn assert_between(scenario: &str, profile: &str) -> [f64; 3] {
    let comparison = Comparison {
        policies: vec!["identity".into(), "hindsight".into()],
        scenarios: vec![scenario.to_owned()],
        profiles: vec![profile.to_owned()],
        ..Comparison::default()
    };
    let plan = Plan::new(&Catalog::bundled(), &comparison).unwrap();
    let report = plan.clone().without_limits().report(None, &|_, _| {}).unwrap();
    let bounds = plan.each(None, &|_, _| {}, |load, _| match &load.workload {
        Workload::Items(timeline) => bound(timeline, &load.profiles[0]),
        _ => None,
    });
    let low: f64 = bounds.unwrap().into_iter().map(Option::unwrap).sum();
    let cost = |nth: usize| {
        let runs = report.runs.iter().skip(nth).step_by(2);
        runs.map(|it| it.tally.costs.total().unwrap()).sum::<f64>()
    };
    for run in report.runs.iter().skip(1).step_by(2) {
        assert_eq!(
            run.tally.evidence_kept().unwrap_or(1.0),
            1.0,
            "{}: every needed item is kept",
            run.scenario
        );
        assert!(run.looks_ahead);
    }
    let [identity, hindsight] = [cost(0), cost(1)];
    assert!(low <= hindsight * (1.0 + 1e-9), "{scenario}: {low} is no bound of {hindsight}");
    assert!(hindsight <= identity * (1.0 + 1e-9), "{scenario}: {hindsight} is above {identity}");
    [low, hindsight, identity]
}

#[test]
fn hindsight_lies_between_its_bound_and_keeping_everything() {
    let profile = "anthropic/claude-opus-4.5";
    let [_, hindsight, identity] = assert_between("recorded/claude-code", profile);
    assert!(hindsight < identity, "there is something to save");
    for scenario in
        ["duckagent/incremental_workspace_audit", "duckagent/long_log_debug", "duckagent/plain_chat"]
    {
        assert_between(scenario, profile);
    }
}

#[test]
fn hindsight_lies_between_them_on_every_reference_session() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = root.join("recorded");
    let mut n_played = 0;
    for path in sessions(&folder) {
        assert_between(&path.display().to_string(), "anthropic/claude-opus-4.5");
        n_played += 1;
    }
    assert!(n_played > 10, "{n_played} sessions");
}

/// Returns the recorded sessions below a folder.
fn sessions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sessions(&path));
        } else if path.extension().is_some_and(|it| it == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}
