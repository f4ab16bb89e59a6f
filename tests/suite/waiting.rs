//! How long one waits: what is declared of models holds on sessions that were not fitted, and every number of a run follows from it.

use ctxsim::input::profile::WaitModel;
use ctxsim::ledger::RequestSums;
use ctxsim::measure::waiting::Waited;
use sha2::{Digest as _, Sha256};

use crate::support::*;

/// A timed request: its session, its model, and predicted and waited seconds.
struct Timed {
    session: String,
    model: &'static WaitModel,
    predicted: f64,
    waited: f64,
}

/// Returns the timed requests of sessions that were not fitted; nothing without the reference data.
fn judged() -> Option<Vec<Timed>> {
    let root = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from)?;
    let text = fs::read_to_string(root.join("quality/waits.csv")).unwrap();
    let timed = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        let model = WaitModel::of_model(cells[1])?;
        let [prompt, read, output] = [3, 4, 5].map(number);
        let tokens = TokenUse { read, uncached: prompt - read, output, ..TokenUse::default() };
        let sums = RequestSums { n: 1, tokens, ..RequestSums::default() };
        let waited = cells[6].parse::<f64>().unwrap();
        let predicted = Waited::expected(Some(model), &sums).seconds().unwrap();
        (waited > 0.0).then(|| Timed { session: cells[0].to_owned(), model, predicted, waited })
    };
    let is_judged = |it: &Timed| Sha256::digest(it.session.as_bytes()).last().unwrap() % 2 == 1;
    Some(text.lines().skip(1).filter_map(timed).filter(is_judged).collect())
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}

/// Returns the share of numbers between two ends.
fn inside(values: impl Iterator<Item = (f64, [f64; 2])>) -> f64 {
    let all: Vec<bool> = values.map(|(it, [low, high])| low <= it && it <= high).collect();
    all.iter().filter(|it| **it).count() as f64 / all.len() as f64
}

#[test]
fn declared_waiting_holds_on_the_sessions_that_were_not_fitted() {
    let Some(all) = judged() else { return };
    let errors: Vec<f64> = all.iter().map(|it| (it.predicted / it.waited - 1.0).abs()).collect();
    let mut sessions: BTreeMap<(&str, &str), (f64, f64, &WaitModel)> = BTreeMap::new();
    for it in &all {
        let sum = sessions.entry((&it.session, &it.model.name)).or_insert((0.0, 0.0, it.model));
        (sum.0, sum.1) = (sum.0 + it.predicted, sum.1 + it.waited);
    }
    let totals: Vec<f64> = sessions.values().map(|it| it.0 / it.1 - 1.0).collect();

    assert!(all.len() > 10_000 && sessions.len() > 180, "{} {}", all.len(), sessions.len());
    assert!(quantile(&errors, 0.5) <= 0.2, "a request: {}", quantile(&errors, 0.5));
    let ends = [0.1, 0.9].map(|it| quantile(&totals, it));
    assert!(ends[0] >= -0.2 && ends[1] <= 0.2, "a session's total: {ends:?}");
    let requests = inside(all.iter().map(|it| (it.waited / it.predicted, it.model.request_ratio)));
    let of_sessions = inside(sessions.values().map(|it| (it.1 / it.0, it.2.session_ratio)));
    for share in [requests, of_sessions] {
        assert!((0.85..=0.95).contains(&share), "covered: {requests} and {of_sessions}");
    }
}

/// Returns the rows and the totals of a run on a recorded session.
fn run(profile: &str) -> (Vec<Value>, Value) {
    let folder = root();
    let policy = ["--policy", "agents/anthropic/tool_runner_compaction"];
    let what = ["run", "--scenario", "recorded/claude-code", "--profile", profile, "--format", "json"];
    let json = |more: &[&str]| -> Value { parsed(&ctxsim(folder, [&what[..], &policy[..], more].concat())) };
    let rows = json(&["--rows", "requests"]).as_array().unwrap().clone();
    let report = json(&[]);
    (rows, report["runs"][0]["totals"]["waiting_minutes"].clone())
}

#[test]
fn the_minutes_of_a_run_are_those_of_its_requests() {
    let (rows, totals) = run("anthropic/claude-opus-4.5");

    let of = |role: &str| -> f64 {
        rows.iter().filter(|it| it["role"] == role).map(|it| it["waiting_s"].as_f64().unwrap()).sum::<f64>()
            / 60.0
    };
    for (role, part) in [("main", "requests"), ("summariser", "compaction")] {
        let part = totals[part].as_f64().unwrap();
        assert!((of(role) - part).abs() < 1e-3, "{role}: {} {part}", of(role));
    }
    let total = totals["total"].as_f64().unwrap();
    let parts = ["requests", "compaction", "recovery"].map(|it| totals[it].as_f64().unwrap());
    assert!((parts.iter().sum::<f64>() - total).abs() < 1e-9);
    assert!(totals["total_low"].as_f64().unwrap() < total && total < totals["total_high"].as_f64().unwrap());
}

#[test]
fn a_model_without_data_borrows_none_and_a_note_names_it() {
    let (rows, totals) = run("anthropic/claude-opus-4.7");

    assert!(rows.iter().all(|it| it["waiting_s"].is_null()));
    assert!(totals["total"].is_null() && totals["requests"].is_null());
    let folder = root();
    let what = ["run", "--scenario", "recorded/claude-code", "--policy", "identity"];
    let under = ["--profile", "anthropic/claude-opus-4.7", "--columns", "waiting_minutes"];
    let text = out(&ctxsim(folder, [&what[..], &under[..]].concat()));
    assert!(text.contains("Waiting is unknown under `anthropic/claude-opus-4.7`"), "{text}");
}
