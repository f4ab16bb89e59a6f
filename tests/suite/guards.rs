//! Guards: what they match, what they need to hold, and where their verdicts stand.

use ctxsim::catalog::InputKind;
use ctxsim::guard::{self, NamedGuard};

use crate::support::*;

const POLICY: &str = r#"(
    name: "mine",
    about: "Cuts the history.",
    stages: [(name: "cut", when: prompt(above: tokens(2_000)), scope: (keep_recent: steps(1), by: steps(1)), apply: drop)],
)"#;

/// Makes a folder with a policy and a suite that has these guards.
fn folder(guards: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("mine.ron"), POLICY).unwrap();
    let suite = format!(
        r#"
name = "suite"
about = "One's own policy, guarded."
policies = ["identity", "mine.ron"]
scenarios = ["duckagent/plain_chat"]
profiles = ["unlimited"]
{guards}"#
    );
    fs::write(folder.path().join("suite.toml"), suite).unwrap();
    folder
}

/// Returns a guard on the policy called so.
fn guard(policy: &str, metric: &str, bound: &str) -> String {
    format!("[[guards]]\nname = \"few requests\"\npolicy = \"{policy}\"\nmetric = \"{metric}\"\n{bound}\n")
}

const RUN: [&str; 3] = ["run", "--suite", "suite.toml"];

#[test]
fn a_guard_on_one_s_own_policy_is_judged_by_path_and_by_name() {
    for name in ["mine.ron", "./mine.ron", "mine"] {
        let folder = folder(&guard(name, "totals.requests", "below = 1.0"));
        let output = ctxsim(folder.path(), RUN);
        let told = String::from_utf8(output.stderr).unwrap();

        assert_eq!(output.status.code(), Some(1), "{name}: {told}");
        assert!(
            told.starts_with("guard failed: few requests: ") && told.contains(" is not below 1 (mine on"),
            "{told}"
        );
    }
}

#[test]
fn a_guard_that_matches_nothing_or_names_no_number_is_told_with_its_place() {
    let cases = [
        (guard("mien", "totals.requests", "below = 1.0"), "suite.toml:9:10", "did you mean `mine`?"),
        (
            guard("mine", "totals.requets", "below = 1.0"),
            "suite.toml:10:10",
            "did you mean `totals.requests`?",
        ),
        (
            guard("mine", "totals.requests", "scenario = \"nope\"\nbelow = 1.0"),
            "suite.toml:11:12",
            "scenarios",
        ),
        (
            guard("mine", "totals.requests", "profile = \"unlimitd\"\nbelow = 1.0"),
            "suite.toml:11:11",
            "`unlimited`?",
        ),
    ];
    for (guards, place, help) in cases {
        let folder = folder(&guards);
        for args in [&RUN[..], &["validate", "suite.toml"]] {
            let told = refusal(&ctxsim(folder.path(), args));
            assert!(told.contains(place) && told.contains(help), "{told}");
        }
    }
}

#[test]
fn verdicts_stand_in_every_format_the_good_ones_too() {
    let bad = guard("mine", "totals.requests", "below = 1.0").replace("few requests", "no requests");
    let folder = folder(&[guard("mine.ron", "totals.requests", "above = 0.0"), bad].concat());
    let with = |format: &str| {
        let output = ctxsim(folder.path(), [&RUN[..], &["--format", format]].concat());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };

    for format in ["table", "markdown", "html"] {
        let text = with(format);
        assert_says(&text, &["Guards (1 of 2 hold)", "fails: no requests: ", "holds: few requests: "]);
    }
    let document: Value = serde_json::from_str(&with("json")).unwrap();
    assert_eq!(document["runs"][0]["guards"], json!([]), "nothing is asked of identity");
    let of_mine = &document["runs"][1]["guards"];
    assert_eq!((&of_mine[0]["guard"], &of_mine[0]["holds"]), (&"few requests".into(), &true.into()));
    assert_eq!((&of_mine[1]["bound"], &of_mine[1]["holds"]), (&"below 1".into(), &false.into()));
    let last: Value = serde_json::from_str(with("jsonl").lines().last().unwrap()).unwrap();
    assert_eq!(&last["guards"], of_mine);
    let csv = with("csv");
    assert_eq!(csv.lines().count(), 1 + 2, "verdicts are a column, not lines");
    assert!(csv.lines().next().unwrap().ends_with(",guards"), "{csv}");
    assert!(csv.contains("holds: few requests; fails: no requests ("), "{csv}");
}

#[test]
fn a_number_that_nothing_covers_fails_its_guard_with_the_reason() {
    let folder = tempdir().unwrap();
    let set = "scenario.load.conversation.implicit_ratio=0";
    let args = ["run", "--suite", "context-decay", "--trials", "2", "--set", set];
    let output = ctxsim(folder.path(), args);
    let told = String::from_utf8(output.stderr).unwrap();

    assert_eq!(output.status.code(), Some(1), "{told}");
    let failed = told.lines().filter(|it| it.contains("Facts said in passing are harder"));
    let reasons: Vec<bool> =
        failed.map(|it| it.contains("`retention.gap`") && it.contains("no fact is implicit")).collect();
    assert_eq!(reasons, [true; 3], "{told}");
}

#[test]
fn a_run_that_leaves_out_what_a_guard_names_says_so() {
    let folder = folder(&guard("mine", "totals.requests", "below = 1.0"));
    let text = out(&ctxsim(folder.path(), [&RUN[..], &["--policy", "identity"]].concat()));
    assert!(text.contains("Note: 1 guard of the suite is not checked"), "{text}");
}

#[test]
fn the_guards_of_a_suite_that_nobody_named_are_not_mentioned() {
    let folder = tempdir().unwrap();
    let session = data("recorded/codex-rollout.jsonl");
    let session = session.display().to_string();
    let printed = |args: &[&str]| String::from_utf8(ctxsim(folder.path(), args).stdout).unwrap();

    assert!(!printed(&["run", &session]).contains("guard of the suite"));
    assert!(!printed(&["run", &session]).contains("guards of the suite"));
    assert!(
        printed(&["run", "--suite", "default", &session]).contains("guards of the suite are not checked")
    );
}

#[test]
fn the_cost_of_a_run_that_stopped_holds_no_guard() {
    let folder = folder(&guard("mine", "totals.cost_usd.total", "at_most = 9.0"));
    let output = ctxsim(folder.path(), [&RUN[..], &["--set", "profile.limits.input_tokens=3000"]].concat());
    let told = String::from_utf8(output.stderr).unwrap();

    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the run stopped at turn 1, so its cost covers less work"), "{told}");
    assert!(ctxsim(folder.path(), RUN).status.success());
}

/// Returns a guard on the policy of the folder with these fields.
fn ruled(fields: &str) -> String {
    format!("[[guards]]\nname = \"a rule\"\npolicy = \"mine\"\n{fields}\n")
}

/// Runs a suite with a guard; returns the exit code and what is told.
fn judged(fields: &str) -> (Option<i32>, String) {
    let folder = folder(&ruled(fields));
    let output = ctxsim(folder.path(), ["check", "--suite", "suite.toml"]);
    let told = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(told).unwrap())
}

#[test]
fn each_kind_of_rule_holds_and_breaks_with_its_figure_and_its_place() {
    let cases = [
        ("metric = \"totals.requests\"", "at_least = 1", "at_least = 100", "is not at least 100"),
        (
            "metric = \"totals.prompt_tokens_max\"\nprofile = \"anthropic/claude-sonnet-4.5\"",
            "below = \"0.9 window\"",
            "below = \"0.001 limit\"",
            "is not below 0.001 of the prompt limit",
        ),
        ("metric = \"totals.requests\"", "at_most = 100", "at_most = 1", "is not at most 1"),
        ("metric = \"totals.requests\"", "above = 0", "above = 100", "is not above 100"),
        (
            "metric = \"totals.requests\"\nover = \"identity\"",
            "at_most = 1.0",
            "below = 1.0",
            "1 is not below 1",
        ),
        ("metric = \"totals.limit_violations\"", "at_most = 0", "at_least = 1", "0 is not at least 1"),
        (
            "metric = \"totals.cache_hit_ratio\"\nprofile = \"anthropic/claude-sonnet-4.5\"",
            "at_least = \"1%\"",
            "at_least = \"99%\"",
            "is not at least 99%",
        ),
        (
            "metric = \"totals.input_tokens\"",
            "max_decrease = \"99%\"",
            "max_decrease = \"1%\"",
            "less than identity; allowed: 1% less",
        ),
        (
            "metric = \"totals.uncached_tokens\"\nscenario = \"ALL\"",
            "above = 0",
            "above = 1e9",
            "(mine on ALL under",
        ),
        ("scenario = \"ALL\"", "fired = [\"cut\"]", "fired = [\"cut\"]\nscenario = \"duckagent/none\"", ""),
    ];
    for (metric, good, bad, told) in cases {
        let profile = if metric.contains("sonnet") { "anthropic/claude-sonnet-4.5" } else { "unlimited" };
        let with = |bound: &str| {
            let folder = folder(&ruled(&format!("{metric}\n{bound}")));
            let path = folder.path().join("suite.toml");
            let text = fs::read_to_string(&path).unwrap().replacen(
                "[\"unlimited\"]",
                &format!("[\"{profile}\"]"),
                1,
            );
            fs::write(&path, text).unwrap();
            let output = ctxsim(folder.path(), ["check", "--suite", "suite.toml"]);
            (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
        };
        let (code, text) = with(good);
        assert_eq!(code, Some(0), "{metric} {good}: {text}");
        assert_says(&text, &["suite passed: 1 of 1 guard check passed", "  ok   a rule: "]);
        if !told.is_empty() {
            let (code, text) = with(bad);
            assert_eq!(code, Some(1), "{metric} {bad}: {text}");
            let flat = one_line(&text);
            assert_says(&flat, &["FAIL a rule: ", told, "suite.toml:7:1"]);
        }
    }
}

#[test]
fn a_stage_that_never_fires_breaks_its_guard_and_one_that_is_not_there_is_told() {
    let (code, text) = judged("fired = [\"cut\"]\nprofile = \"unlimited\"");
    assert_eq!(code, Some(0), "{text}");
    let folder = folder(&ruled("fired = [\"cut\"]"));
    let policy = POLICY.replace("2_000", "900_000");
    fs::write(folder.path().join("mine.ron"), policy).unwrap();
    let output = ctxsim(folder.path(), ["check", "--suite", "suite.toml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("0 is not at least 1"), "{text}");

    let (code, text) = judged("fired = [\"cutt\"]");
    assert_eq!(code, Some(2));
    assert!(text.contains("suite.toml:10:10") && text.contains("did you mean `cut`?"), "{text}");
}

#[test]
fn a_rule_that_has_to_hold_surely_is_held_against_the_whole_interval() {
    let suite = |surely: &str, bound: &str| {
        let folder = folder("");
        let text = format!(
            "name = \"suite\"\nabout = \"x\"\npolicies = [\"identity\", \"clear_tool_results_at_40k_min_5k\"]\n\
             scenarios = [\"duckagent/incremental_workspace_audit\", \"duckagent/long_log_debug\"]\n\
             profiles = [\"anthropic/claude-sonnet-5.5\"]\n[[guards]]\nname = \"a rule\"\n\
             policy = \"clear_tool_results_at_40k_min_5k\"\nscenario = \"ALL\"\nmetric = \"totals.cost_usd.total\"\n\
             max_increase = \"{bound}\"\n{surely}\n"
        );
        fs::write(folder.path().join("suite.toml"), text).unwrap();
        let output = ctxsim(folder.path(), ["check", "--suite", "suite.toml"]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };

    // One session costs 43% more and the other the same, so that both together cost some 30% more.
    let (code, text) = suite("", "40%");
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = suite("surely = true", "40%");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(" less to "), "the interval is told: {text}");
    // Two sessions tell hardly anything of others: their interval reaches to several times the cost.
    assert_eq!(suite("surely = true", "60%").0, Some(1));
    assert_eq!(suite("surely = true", "1000%").0, Some(0));
    let (code, text) = suite("", "20%");
    let flat = one_line(&text);
    assert_eq!(code, Some(1), "{text}");
    assert_says(&flat, &["more than identity; allowed: 20% more", "suite.toml:6:1"]);
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn every_bundled_suite_has_guards_that_hold_and_that_another_of_its_policies_would_break() {
    let catalog = bundled_catalog();
    for name in catalog.names(InputKind::Suite) {
        // At its whole size, this suite takes minutes; its own test plays that.
        let set = match name {
            "aging-responses" => vec!["scenario.load.aging.trials=2".to_owned()],
            _ => Vec::new(),
        };
        let is_whole = set.is_empty();
        let comparison = Comparison { suite: Some(name.to_owned()), set, ..Comparison::default() };
        let plan = Plan::new(&catalog, &comparison).unwrap();

        let report = plan.report(None, &|_, _| {}).unwrap();

        assert!(!plan.guards.is_empty(), "{name} has no guard");
        let broken: Vec<String> =
            report.guard_verdicts.iter().filter(|it| !it.holds).map(ToString::to_string).collect();
        assert!(broken.is_empty() || !is_whole, "{name}: {broken:?}");
        let fails_for = |guard: &NamedGuard, policy: &str| {
            let of_another = NamedGuard { policy: policy.to_owned(), ..guard.clone() };
            guard::check_guards(&[of_another], &report).iter().any(|it| !it.holds)
        };
        let can_fail =
            |guard: &&NamedGuard| plan.policies.iter().any(|it| **it != guard.policy && fails_for(guard, it));
        let idle: Vec<&str> =
            plan.guards.iter().filter(|it| !can_fail(it)).map(|it| it.guard.name.as_str()).collect();
        assert!(idle.len() < plan.guards.len(), "{name}: no policy would break any of {idle:?}");
    }
}

#[test]
fn a_guard_on_the_share_of_turns_holds_at_any_length_and_breaks_where_a_run_stops() {
    let share = guard("mine", "totals.turns_completed_share", "at_least = 1.0");
    let folder = folder(&share);
    assert!(ctxsim(folder.path(), RUN).status.success());

    let limit = ["--set", "profile.limits.input_tokens=3000"];
    let output = ctxsim(folder.path(), [&RUN[..], &limit].concat());
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("0 is not at least 1"), "{told}");

    let policies =
        ["--policy", "duckagent/loop_boundary_evidence_summary", "duckagent/duckagent_recoverable_*"];
    let profile = ["--profile", "duckagent/openai-gpt-5.4"];
    for (more, left_out) in [
        (["--set", "scenario.load.generate.turns=333"], "guard of the suite"),
        (["--scenario", "duckagent/plain_chat"], "2 guards of the suite are not checked"),
    ] {
        let args = [&["run", "--suite", "duckagent-matrix"][..], &policies, &profile, &more].concat();
        let output = ctxsim(folder.path(), &args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{more:?}: {told}");
        let is_noted = String::from_utf8(output.stdout).unwrap().contains(left_out);
        assert_eq!(is_noted, more[0] == "--scenario", "{more:?}");
    }
}

#[test]
fn a_bundled_suite_of_one_scenario_guards_that_scenario_by_name() {
    let catalog = bundled_catalog();
    for name in catalog.names(InputKind::Suite) {
        let suite = catalog.suite(name).unwrap().spec;
        let [scenario] = suite.scenarios.as_slice() else { continue };
        for guard in &suite.guards {
            let is_of =
                guard.scenario.as_ref().is_some_and(|it| it.starts_with(scenario.as_str()) || it == "ALL");
            assert!(
                is_of || scenario.contains('*'),
                "{name}: `{}` would judge any other scenario",
                guard.name
            );
        }
    }
}

#[test]
fn a_guard_s_paths_start_at_the_suite_s_folder_as_the_suite_s_lists_do() {
    let fired = "[[guards]]\nname = \"cuts\"\npolicy = \"mine.ron\"\nfired = [\"cut\"]\n";
    let guards = guard("mine.ron", "totals.requests", "below = 1.0") + fired;
    let folder = folder(&guards);
    let elsewhere = tempdir().unwrap();
    let suite = folder.path().join("suite.toml");
    let suite = suite.to_str().unwrap();

    let output = ctxsim(elsewhere.path(), ["run", "--suite", suite]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.starts_with("guard failed: few requests: "), "{told}");
    let valid = ctxsim(elsewhere.path(), ["validate", suite]);
    assert!(valid.status.success(), "{}", String::from_utf8_lossy(&valid.stderr));
}
