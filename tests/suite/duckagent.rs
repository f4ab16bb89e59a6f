//! The stage engine against DuckAgent's published simulator, to the last digit; and what that simulator's own tests demand.
//!
//! `tests/data/duckagent/expected.json` holds numbers that the reference printed, on its grid and off it. All of its rows are
//! compared when `CTXSIM_REFERENCE` names the folder that has them.

use ctxsim::report::{ALL, RunTotals};

use crate::support::*;

/// Names a policy or a profile of the reference.
fn full(name: &str) -> String {
    format!("duckagent/{name}")
}

fn run(comparison: &Comparison) -> Report {
    reported(comparison)
}

/// Returns what a run of ours came to, whether it stands among the runs or among their sums.
fn totals<'r>(report: &'r Report, scenario: &str, policy: &str) -> Option<(&'r str, RunTotals)> {
    let runs = report.sums.iter().chain(&report.runs);
    let mut found = runs
        .filter(|it| it.policy == full(policy) && (it.scenario == scenario || it.scenario == full(scenario)));
    found.next().map(|it| (it.scenario.as_str(), RunTotals::new(&it.tally)))
}

/// Returns our number for a column of the reference, and how far it may be off.
fn ours(column: &str, totals: &RunTotals) -> Option<(f64, f64)> {
    static COLUMNS: LazyLock<IndexMap<&str, &str>> =
        LazyLock::new(|| table("duckagent_columns").into_iter().collect());
    let (place, tolerance) = COLUMNS.get(column)?.split_once(' ').unwrap();
    Some((totals.number(place).unwrap_or(f64::NAN), tolerance.parse().unwrap()))
}

/// Returns a number that every run has.
fn number(totals: &RunTotals, place: &str) -> f64 {
    totals.number(place).unwrap()
}

/// Compares one row of the reference; returns what differs, and how many fields were compared.
fn differences<'v>(
    totals: &RunTotals,
    row: impl Iterator<Item = (&'v str, &'v Value)>,
) -> (Vec<String>, usize) {
    let mut n = 0;
    let mut found = Vec::new();
    for (column, theirs) in row {
        let Some((ours, tolerance)) = ours(column, totals) else { continue };
        n += 1;
        let theirs = theirs.as_f64().unwrap_or(f64::NAN);
        // The reference rounds what it prints, so half a unit of its last place comes on top.
        let agrees = (ours - theirs).abs() <= tolerance * 1.0001 || (ours.is_nan() && theirs.is_nan());
        if !agrees {
            found.push(format!("{column}: {ours} instead of {theirs}"));
        }
    }
    (found, n)
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_row_of_the_trimmed_reference_is_reproduced() {
    let text = fs::read_to_string(root().join("tests/data/duckagent/expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let columns = strings(&expected["columns"]);
    let mut n_rows = 0;
    let mut wrong = Vec::new();
    for table in expected["tables"].as_array().unwrap() {
        let profile = table["profile"].as_str().unwrap();
        let report = run(&Comparison {
            suite: table["suite"].as_str().map(str::to_owned),
            profiles: vec![full(profile)],
            // Of all policies that have the parameter.
            set: strings(&table["set"]).iter().map(|it| it.replacen("params.", "*.params.", 1)).collect(),
            ..Comparison::default()
        });
        for row in table["rows"].as_array().unwrap() {
            let row = columns.iter().map(String::as_str).zip(row.as_array().unwrap());
            let policy = row.clone().nth(1).unwrap().1.as_str().unwrap();
            let scenario = if report.sums.is_empty() { "long_run" } else { ALL };
            let (_, totals) = totals(&report, scenario, policy).unwrap();
            let (found, n_fields) = differences(&totals, row);
            assert_eq!(n_fields, 34, "every number of a row is compared");
            n_rows += 1;
            wrong.extend(found.iter().map(|it| format!("{} · {profile} · {policy}: {it}", table["name"])));
        }
    }

    assert_eq!(n_rows, 30 * 10 + 28);
    assert!(wrong.is_empty(), "{} numbers differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// docs/src/content/docs/benchmark/results.md of selfonomy/duckagent: 1,188 turns, threshold 0.8, target 0.3.
#[test]
fn the_seven_published_costs_are_reproduced() {
    let published = [
        ("openai-gpt-5.4", "1199.144484"),
        ("openai-gpt-5.5", "2398.288967"),
        ("openai-gpt-5.4-mini", "195.798758"),
        ("kimi-k2.6", "302.727538"),
        ("deepseek-chat", "74.952810"),
        ("deepseek-v4-flash", "29.190571"),
        ("deepseek-v4-pro-promo", "71.593043"),
    ];

    let report = run(&Comparison { suite: Some("duckagent-published".to_owned()), ..Comparison::default() });

    let ours = published.map(|(profile, _)| {
        let mut sums = report.sums.iter().filter(|it| it.profile == full(profile));
        let row = sums.find(|it| it.policy.ends_with("guarded_mid_one_shot")).unwrap();
        let totals = RunTotals::new(&row.tally);
        assert_eq!(number(&totals, "turns_completed"), 1_188.0);
        (profile, format!("{:.6}", number(&totals, "cost_usd.total")))
    });
    assert_eq!(ours.each_ref().map(|(profile, cost)| (*profile, cost.as_str())), published);
}

/// Returns the folder of the whole reference, where there is one.
fn reference() -> Option<PathBuf> {
    std::env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("duckagent/expected"))
}

#[test]
fn every_number_of_the_whole_reference_is_reproduced() {
    let Some(folder) = reference() else { return };
    let (mut n_rows, mut wrong) = (0, Vec::new());
    for (prefix, suite) in
        [("default_stress_validation__", "duckagent-fixture"), ("long1000__", "duckagent-matrix")]
    {
        let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
        files.retain(|it| it.file_name().unwrap().to_str().unwrap().starts_with(prefix));
        for file in files {
            let profile =
                file.file_stem().unwrap().to_str().unwrap().strip_prefix(prefix).unwrap().to_owned();
            let expected: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            let comparison = Comparison {
                suite: Some(suite.to_owned()),
                profiles: vec![full(&profile)],
                ..Comparison::default()
            };
            let report = run(&comparison);
            let rows = ["aggregate", "scenarios"].iter().flat_map(|it| expected[it].as_array().unwrap());
            for row in rows {
                let workload = row["workload"].as_str().unwrap();
                let is_long = workload.starts_with("long_run") || (report.sums.is_empty() && workload == ALL);
                let policy = row["policy"].as_str().unwrap();
                let (_, totals) =
                    totals(&report, if is_long { "long_run" } else { workload }, policy).unwrap();
                let fields = row.as_object().unwrap().iter().map(|(column, value)| (column.as_str(), value));
                let (found, _) = differences(&totals, fields);
                n_rows += 1;
                wrong.extend(found.iter().map(|it| format!("{profile} · {workload} · {policy}: {it}")));
            }
        }
    }

    assert_eq!(n_rows, 4 * (450 + 30) + 3 * 60);
    assert!(wrong.is_empty(), "{} numbers differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The suite that the reference's own tests use: a long run under one profile.
fn long_run(profile: &str, turns: u32, policies: &[&str]) -> Vec<RunTotals> {
    let report = run(&Comparison {
        suite: Some("duckagent-matrix".to_owned()),
        policies: policies.iter().map(|it| full(it)).collect(),
        profiles: vec![full(profile)],
        set: vec![format!("scenario.load.generate.turns={turns}")],
        ..Comparison::default()
    });
    report.runs.iter().map(|it| RunTotals::new(&it.tally)).collect()
}

#[test]
fn all_policies_complete_220_turns_within_the_limits_and_compact_in_batches() {
    let suite = Comparison { suite: Some("duckagent-matrix".to_owned()), ..Comparison::default() };
    let policies = planned(&suite).policies;
    let short: Vec<&str> = policies.iter().map(|it| it.strip_prefix("duckagent/").unwrap()).collect();

    for (policy, totals) in policies.iter().zip(long_run("deepseek-chat", 220, &short)) {
        let number = |place: &str| number(&totals, place);
        assert_eq!((number("turns_completed"), number("limit_violations")), (220.0, 0.0), "{policy}");
        assert!(
            number("compaction.items") > number("compaction.requests"),
            "{policy}: a request compacts several turns"
        );
        assert!(number("compaction.requests") < 40.0 || policy != "duckagent/immediate_summary");
    }
}

#[test]
fn recoverable_history_shows_less_than_evidence_summaries() {
    let policies = ["duckagent_recoverable_boundary", "loop_boundary_evidence_summary"];

    let [recoverable, evidence] = long_run("openai-gpt-5.4", 120, &policies).try_into().unwrap();

    let visible = |it| number(it, "tool_results.visible_tokens");
    assert!(visible(&recoverable) < visible(&evidence));
}

#[test]
fn an_agent_that_rereads_whole_files_repeats_itself_and_one_that_pins_ranges_does_not() {
    let report = run(&Comparison {
        suite: Some("duckagent-fixture".to_owned()),
        scenarios: vec![full("validation_recovery_oscillation_work")],
        policies: ["", "_naive_recovery"]
            .map(|it| full(&format!("duckagent_recoverable_decay_guarded_mid{it}")))
            .to_vec(),
        profiles: vec![full("deepseek-chat")],
        ..Comparison::default()
    });

    let repeats: Vec<f64> = report.runs.iter().map(|it| it.tally.sums.needs.repeats.to_f64()).collect();
    assert_eq!(repeats[0], 0.0);
    assert!(repeats[1] > 0.0);
}

#[test]
fn budgets_that_are_shares_of_the_limit_are_smaller_in_a_smaller_window() {
    let visible = |profile: &str, policy: &str| {
        number(&long_run(profile, 60, &[policy])[0], "tool_results.visible_tokens")
    };

    for policy in ["duckagent_recoverable_decay_relative", "duckagent_recoverable_decay_adaptive"] {
        assert!(visible("deepseek-chat", policy) < visible("openai-gpt-5.4", policy), "{policy}");
    }
}

/// What a policy cost under one cache rule, over a group of workloads.
struct Cost {
    policy: String,
    usd: f64,
    hit: f64,
}

/// Returns the costs of a suite under GPT-5.4's prices, cheapest first; of all workloads, or of the default fixture.
fn ranked(suite: &str, whole: bool) -> Vec<Cost> {
    let comparison = Comparison {
        suite: Some(suite.to_owned()),
        profiles: vec![full("openai-gpt-5.4")],
        ..Comparison::default()
    };
    let report = run(&comparison);
    let is_fixture = |name: &str| !name.contains("stress_") && !name.contains("validation_");
    let runs: Vec<_> = if whole {
        report.sums.iter().collect()
    } else {
        report.runs.iter().filter(|it| is_fixture(&it.scenario)).collect()
    };
    let mut costs: indexmap::IndexMap<&str, [f64; 3]> = indexmap::IndexMap::new();
    for row in runs {
        let totals = RunTotals::new(&row.tally);
        let sum = costs.entry(row.policy.as_str()).or_default();
        sum[0] += number(&totals, "cost_usd.total");
        sum[1] += number(&totals, "cache_read_tokens");
        sum[2] += number(&totals, "input_tokens");
    }
    let cost = |(policy, [usd, read, input]): (&str, [f64; 3])| Cost {
        policy: policy.strip_prefix("duckagent/").unwrap().to_owned(),
        usd,
        hit: 100.0 * read / input,
    };
    let mut costs: Vec<Cost> = costs.into_iter().map(cost).collect();
    costs.sort_by(|left, right| left.usd.total_cmp(&right.usd));
    costs
}

#[test]
fn the_document_on_capped_and_exact_caching_shows_what_the_suites_say() {
    let document = fs::read_to_string(root().join("docs/studies/duckagent-caching.md")).unwrap();

    for whole in [true, false] {
        let (capped, exact) = (ranked("duckagent-fixture", whole), ranked("duckagent-exact", whole));
        let mut table =
            "| policy | capped USD | rank | hit | exact USD | rank | hit |\n|---|---|---|---|---|---|---|\n"
                .to_owned();
        for (n, row) in capped.iter().enumerate() {
            let at = exact.iter().position(|it| it.policy == row.policy).unwrap();
            let (usd, hit) = (exact[at].usd, exact[at].hit);
            table += &format!(
                "| {} | {:.6} | {} | {:.1}% | {usd:.6} | {} | {hit:.1}% |\n",
                row.policy,
                row.usd,
                n + 1,
                row.hit,
                at + 1
            );
        }
        assert!(document.contains(&table), "docs/studies/duckagent-caching.md should hold:\n{table}");
    }
}

/// All seven recorded sessions run under every bundled policy; one that outgrows a profile stops there, and says so.
#[test]
fn every_recorded_session_runs_under_every_bundled_policy() {
    let Some(folder) = reference() else { return };
    let sessions = folder.join("../../recorded/claude-code");
    let catalog = bundled_catalog();
    let names = catalog.names(ctxsim::catalog::InputKind::Policy);
    // Those of other loads change no prompt.
    let others = ["aging/", "memory_runners/"];
    let of_prompts = names.filter(|it| !others.iter().any(|folder| it.starts_with(folder)));
    let policies: Vec<String> = of_prompts.map(str::to_owned).collect();
    let scenarios: Vec<String> =
        fs::read_dir(sessions).unwrap().map(|it| it.unwrap().path().display().to_string()).collect();
    assert_eq!(scenarios.len(), 7);
    let profiles =
        vec![full("anthropic-claude-sonnet-4"), full("deepseek-chat"), "interval/openai-gpt-5.4".to_owned()];
    // A short prompt, so that some session outgrows it however its model counts.
    let set = vec!["profile.limits.input_tokens=60_000".to_owned()];
    let plan =
        Plan::new(&catalog, &Comparison { policies, scenarios, profiles, set, ..Comparison::default() })
            .unwrap();

    let report = plan.report(None, &|_, _| {}).unwrap();

    assert!(report.runs.len() >= 7 * 3 * 36);
    for row in &report.runs {
        let outcome = &row.tally.outcome;
        assert!(row.tally.sums.main.n > 0, "{} · {}", row.scenario, row.policy);
        assert_eq!(
            outcome.failure.is_none(),
            outcome.turns_completed == outcome.turns_requested,
            "{} · {}",
            row.scenario,
            row.policy
        );
    }
    assert!(
        report.runs.iter().any(|it| it.tally.outcome.failure.is_some()),
        "some session outgrows some profile"
    );
}
