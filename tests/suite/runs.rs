//! What bundled policies come to on bundled loads, one table a load and a profile: no digit changes unseen.
//!
//! A policy that comes to what its base does is counted; it gets a row as soon as it differs.

use ctxsim::catalog::InputKind;
use ctxsim::report::shot::draw_runs_table;
use ctxsim::take::Run;

use crate::support::*;

/// A profile for each kind of cache rule but blocks: none, prefix interval, prefix cap, units, breakpoints, stored.
const PROFILES: [&str; 6] = [
    "unlimited",
    "interval/openai-gpt-5.4",
    "duckagent/openai-gpt-5.4",
    "deepseek/deepseek-v4-flash",
    "anthropic/claude-sonnet-4.5",
    "google/gemini-2.5-pro-explicit",
];

/// The profile of blocks.
const BLOCKS: &str = "open/blocks-512-lru";

/// Every bundled policy but the field's, whose totals are an independent oracle's (`field.rs`), and the agents', whose first edits are locked (`agents.rs`). Those of planted facts show a tool load as it is, which is worth a line; of the policies of tool
/// loads, the conversations below are not asked.
const ALL: &[&str] = &["*"];

/// Policies for what is slow in a build without optimisation.
const FEW: &[&str] = &[
    "identity",
    "truncate_oldest",
    "sliding_window",
    "clear_tool_results_at_40k_min_5k",
    "duckagent/duckagent_recoverable_decay_guarded_mid",
    "duckagent/immediate_summary",
    "clairvoyant",
];

/// A policy that seldom breaks its prefix: the store of blocks takes minutes over the others of a long load.
const STEADY: &[&str] = &["duckagent/immediate_summary"];

/// Runs policies on a load under profiles, and holds each profile's table against its snapshot.
fn assert_runs(load: &str, set: &[&str], what: &[(&[&str], &[&str])]) {
    let kind = if set.contains(&"scenario.recovery=sampled") { "-sampled" } else { "" };
    let folder = format!("../../snapshots/runs/{}{kind}", load.replace('/', "-"));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut written = BTreeSet::new();
    for (profiles, policies) in what {
        let runs = runs(load, set, profiles, policies);
        for profile in *profiles {
            let of_profile: Vec<&Run> = runs.iter().filter(|it| it.profile == *profile).collect();
            let name = profile.replace('/', "-");
            settings.bind(|| insta::assert_snapshot!(name.as_str(), differing(&of_profile)));
            written.insert(format!("{name}.snap"));
        }
    }
    let folder = root().join("tests/suite").join(folder);
    let kept = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    assert_eq!(kept.collect::<BTreeSet<_>>(), written, "a table of no run stays behind");
}

/// Returns the table of the runs that differ from their base (`identity`, or else the first), and how many do not.
fn differing(runs: &[&Run]) -> String {
    let whole = draw_runs_table(runs);
    let of_runs = whole.lines().skip(1).zip(runs);
    let cells: Vec<&str> = of_runs.map(|(line, run)| line[run.policy.len()..].trim_start()).collect();
    let base = runs.iter().position(|it| it.policy == "identity").unwrap_or(0);
    let is_listed = |nth: &usize| *nth == base || cells[*nth] != cells[base];
    let listed: Vec<&Run> = (0..runs.len()).filter(is_listed).map(|nth| runs[nth]).collect();
    let others = match runs.len() - listed.len() {
        0 => return draw_runs_table(&listed),
        1 => "1 other".to_owned(),
        n => format!("{n} others"),
    };
    format!("{}{others}: as {}\n", draw_runs_table(&listed), runs[base].policy)
}

/// Returns whether a policy is left out of those that a pattern means: what acts on no load of items, unless its folder is asked for.
fn is_left_out(policy: &str, asked: &[&str]) -> bool {
    let others = ["field/", "agents/", "aging/", "bases/", "hindsight", "memory_runners/"];
    others.iter().any(|it| policy.starts_with(it) && !asked.iter().any(|asked| asked.starts_with(it)))
}

fn runs(load: &str, set: &[&str], profiles: &[&str], policies: &[&str]) -> Vec<Run> {
    let catalog = bundled_catalog();
    let expanded = policies.iter().flat_map(|it| catalog.expand_pattern(InputKind::Policy, it));
    let comparison = Comparison {
        // A schedule in hindsight is held against its bound and brute force (`hindsight.rs`).
        policies: expanded.filter(|it| !is_left_out(it, policies)).collect(),
        scenarios: vec![load.to_owned()],
        profiles: owned(profiles),
        set: owned(set),
        ..Comparison::default()
    };
    Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap().runs
}

#[test]
fn short_sessions_come_to_what_they_did() {
    for load in [
        "duckagent/plain_chat",
        "duckagent/code_compare_two_files",
        "duckagent/fix_test_loop",
        "duckagent/long_log_debug",
        "duckagent/large_mcp_or_web_result",
        "duckagent/incremental_workspace_audit",
    ] {
        assert_runs(load, &[], &[(&PROFILES, ALL), (&[BLOCKS], ALL)]);
    }
}

#[test]
fn short_sessions_with_drawn_needs_come_to_what_they_did() {
    for load in ["duckagent/long_log_debug", "duckagent/incremental_workspace_audit"] {
        assert_runs(load, &["scenario.recovery=sampled"], &[(&PROFILES, ALL), (&[BLOCKS], ALL)]);
    }
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn a_session_under_stress_comes_to_what_it_did() {
    let load = "duckagent/stress_many_tools_per_loop";
    assert_runs(load, &[], &[(&PROFILES, ALL), (&[BLOCKS], STEADY)]);
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn a_long_session_comes_to_what_it_did() {
    let set = ["scenario.load.generate.turns=80"];
    assert_runs("duckagent/long_run", &set, &[(&PROFILES, ALL), (&[BLOCKS], STEADY)]);
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn a_recorded_session_comes_to_what_it_did() {
    assert_runs("recorded/claude-code", &[], &[(&PROFILES, ALL), (&[BLOCKS], FEW)]);
}

#[test]
fn a_recorded_session_with_drawn_needs_comes_to_what_it_did() {
    let set = ["scenario.recovery=sampled"];
    assert_runs("recorded/claude-code", &set, &[(&PROFILES, FEW), (&[BLOCKS], FEW)]);
}

#[test]
fn a_hundred_experiments_on_planted_facts_come_to_what_they_did() {
    let policies = [
        "context_decay/file_backed",
        "context_decay/memory_banks",
        "context_decay/sliding_window_summary",
        "context_decay/naive_truncation",
    ];
    assert_runs("context_decay/paper", &[], &[(&["context_decay/words"], &policies)]);
}

#[test]
fn every_memory_over_sessions_ages_as_it_did() {
    for load in ["aging/s1", "aging/s2", "aging/s3", "aging/s4", "aging/s5", "aging/s6", "aging/s7"] {
        assert_runs(load, &[], &[(&["unlimited", "anthropic/claude-sonnet-4.5"], &["aging/*"])]);
    }
}

#[test]
fn every_memory_runner_calls_and_answers_as_it_did() {
    let set = ["scenario.load.chats.trials=3"];
    for load in ["memory_runners/spec", "memory_runners/spec_dated", "memory_runners/long"] {
        let profiles: &[&str] = &["unlimited", "anthropic/claude-sonnet-4.5"];
        assert_runs(load, &set, &[(profiles, &["memory_runners/*"])]);
    }
}
