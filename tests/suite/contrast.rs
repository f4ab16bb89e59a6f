//! What changes from one policy to another: numbers, causes, and policies of other revisions.

use crate::support::*;

const MINE: &str = r#"(
    name: "mine",
    about: "Clears tool results above a budget.",
    base: "clear_tool_results",
    params: { "trigger": tokens(BUDGET) },
)"#;

/// A scenario in whose prompts a budget of 40,000 tokens is exceeded.
const SCENARIO: &str = "duckagent/incremental_workspace_audit";

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn git(folder: &Path, args: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(settings).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a folder with two budgets as policies.
fn budgets(base: &str, candidate: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("mine.ron"), MINE.replace("BUDGET", candidate)).unwrap();
    let base = MINE.replace("BUDGET", base).replace("\"mine\"", "\"base\"");
    fs::write(folder.path().join("base.ron"), base).unwrap();
    folder
}

fn compare() -> Vec<&'static str> {
    args(
        "compare --base base.ron --candidate mine.ron --scenario duckagent/incremental_workspace_audit \
        --profile anthropic/claude-sonnet-5.5",
    )
}

fn compared(folder: &Path, more: &[&str]) -> Value {
    let args = [&compare()[..], more, &["--format", "json"]].concat();
    parsed(&ctxsim(folder, &args))
}

/// Returns a number of a comparison.
fn number<'v>(compared: &'v Value, place: &str) -> &'v Value {
    let numbers = compared["comparisons"][0]["numbers"].as_array().unwrap();
    numbers.iter().find(|it| it["place"] == place).unwrap()
}

#[test]
fn a_changed_budget_is_told_with_its_numbers_and_its_causes() {
    let folder = budgets("100_000", "40_000");
    let text = out(&ctxsim(folder.path(), compare()));

    assert_says(
        &text,
        &[
            "`params.trigger.tokens`: 100000 → 40000",
            "`clear` fired 2 times (base: never)",
            "stage `clear`: 2 breaks",
            "of cache reads",
            "mine costs more (+",
            "Worse: cache hit (−",
            "ctxsim explain --policy mine.ron --scenario duckagent/incremental_workspace_audit --profile",
        ],
    );
    let command = text.lines().find_map(|it| it.trim().strip_prefix("ctxsim explain ")).unwrap();
    let words: Vec<&str> = std::iter::once("explain").chain(command.split(' ')).collect();
    assert!(out(&ctxsim(folder.path(), &words)).contains("stage `clear`"), "{command}");
}

#[test]
fn the_numbers_are_those_of_a_run_and_the_parts_add_up() {
    let folder = budgets("100_000", "40_000");
    let compared = compared(folder.path(), &[]);
    let args = ["run", "--policy", "base.ron", "--policy", "mine.ron", "--scenario", SCENARIO];
    let args = [&args[..], &["--profile", "anthropic/claude-sonnet-5.5", "--format", "json"]].concat();
    let run: Value = parsed(&ctxsim(folder.path(), &args));

    for (place, pointer) in [
        ("totals.cost_usd.total", "/totals/cost_usd/total"),
        ("totals.cache_hit_ratio", "/totals/cache_hit_ratio"),
        ("totals.evidence_kept", "/totals/evidence_kept"),
        ("totals.prompt_tokens_max", "/totals/prompt_tokens_max"),
    ] {
        let delta = number(&compared, place);
        for (side, nth) in [("base", 0), ("candidate", 1)] {
            let of_run = run["runs"][nth].pointer(pointer).unwrap().as_f64();
            assert_eq!(delta[side].as_f64(), of_run, "{place} of the {side}");
        }
    }
    let parts = compared["comparisons"][0]["split"].as_array().unwrap();
    let differences = parts.iter().map(|it| it["usd"][1].as_f64().unwrap() - it["usd"][0].as_f64().unwrap());
    let total = number(&compared, "totals.cost_usd.total")["difference"].as_f64().unwrap();
    assert!((differences.sum::<f64>() - total).abs() < 1e-9);
}

#[test]
fn a_changed_stage_that_never_fires_is_said_to_do_nothing() {
    let folder = budgets("100_000", "90_000");
    let told = one_line(&out(&ctxsim(folder.path(), compare())));
    assert_says(
        &told,
        &[
            "`clear` never fired: no prompt exceeded 90,000; the longest was 58,634",
            "the stage never fired in the base either, so this change has no effect here",
            "mine costs the same. The changed stage `clear` had no effect here.",
        ],
    );
}

#[test]
fn a_stage_that_fired_in_the_base_alone_has_had_an_effect() {
    let folder = budgets("40_000", "90_000");
    let text = out(&ctxsim(folder.path(), compare()));

    let told = one_line(&text);
    assert_says(&told, &["The changed stage `clear` no longer fires; in the base it fired 2 times."]);
    assert!(!told.contains("no effect"), "{text}");
}

#[test]
fn a_comparison_says_that_a_bill_is_not_reproduced_and_that_losses_are_unknown() {
    let recorded = |name: &str| {
        let path = data("recorded").join(name);
        let args =
            ["compare", "--base", "identity", "--candidate", "duckagent/immediate_summary", "--scenario"];
        one_line(&out(&ctxsim(Path::new("."), [&args[..], &[path.to_str().unwrap()]].concat())))
    };

    let pi = recorded("pi-session.jsonl");
    assert!(pi.contains("), but input cost is predicted 6.6% below the recorded bill"), "{pi}");
    let codex = recorded("codex-rollout.jsonl");
    assert!(codex.contains("Nothing says which evidence is needed, so what it loses is unknown."), "{codex}");
}

#[test]
fn drawn_trials_are_paired_and_give_intervals() {
    let folder = budgets("100_000", "40_000");
    let more = ["--set", "scenario.recovery=sampled", "--trials", "40"];
    let compared = compared(folder.path(), &more);

    assert_eq!(
        (&compared["comparisons"][0]["pairs"], &compared["comparisons"][0]["are_trials"]),
        (&40.into(), &true.into())
    );
    let cost = number(&compared, "totals.cost_usd.total");
    let [low, high] = [0, 1].map(|it| cost["interval"][it].as_f64().unwrap());
    let difference = cost["difference"].as_f64().unwrap();
    assert!(low < difference && difference < high, "{cost}");
    assert_eq!(cost["standing"], "worse");
}

#[test]
fn a_comparison_has_the_same_bytes_on_any_number_of_threads() {
    let folder = budgets("100_000", "40_000");
    let with = |n| {
        out(&ctxsim(
            folder.path(),
            ["compare", "--base", "base.ron", "--candidate", "mine.ron", "--threads", n],
        ))
    };

    assert_eq!(with("1"), with("2"));
}

#[test]
fn whose_edits_broke_prefixes_adds_up_to_what_the_rows_say_was_not_read() {
    let plan = planned(&comparing(
        &["identity", "clear_tool_results_at_40k_min_5k"],
        &[SCENARIO],
        &["anthropic/claude-sonnet-5.5"],
    ));
    let contrast = plan.contrast_pairs(&[[0, 1]], None, &|_, _| {}).unwrap().remove(0);

    let [identity, cleared] = contrast.breaks["stage `clear`"];
    assert_eq!((identity.times, identity.tokens), (0, 0), "what edits nothing breaks nothing");
    assert_eq!(cleared.times, 2);
    // What stood behind the first cleared result is written again, less what was taken out of it.
    let written = contrast.number_at("totals.cache_write_tokens").unwrap().delta;
    assert!(cleared.tokens as f64 > written.difference && written.difference > 0.0);
}

/// Makes a repository whose main branch has a budget of 100,000 tokens, and whose tree has another.
fn repository(budget: &str) -> TempDir {
    let folder = tempdir().unwrap();
    let policies = folder.path().join("ctx/policies/team");
    fs::create_dir_all(&policies).unwrap();
    fs::write(folder.path().join("ctxsim.toml"), "folders = [\"ctx\"]\n").unwrap();
    let own = MINE.replace("\"mine\"", "\"team/mine\"").replace("BUDGET", "100_000");
    fs::write(policies.join("mine.ron"), &own).unwrap();
    let variant = "(name: \"team/variant\", about: \"Stands on mine.\", base: \"team/mine\")";
    fs::write(policies.join("variant.ron"), variant).unwrap();
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message", "as it was"]);
    git(folder.path(), &["branch", "--force", "old"]);
    fs::write(policies.join("mine.ron"), own.replace("100_000", budget)).unwrap();
    folder
}

#[test]
fn a_policy_is_compared_with_what_another_revision_has_and_the_tree_stays_as_it_is() {
    let folder = repository("40_000");
    let path = folder.path().join("ctx/policies/team/mine.ron");
    let before = fs::read_to_string(&path).unwrap();
    let on = ["--scenario", SCENARIO, "--profile", "anthropic/claude-sonnet-5.5"];

    for candidate in ["team/mine", "ctx/policies/team/mine.ron"] {
        let args = [&["compare", "--base", "rev:old", "--candidate", candidate][..], &on].concat();
        let text = out(&ctxsim(folder.path(), &args));
        assert_says(&text, &["\nteam/mine against team/mine@old", "`params.trigger.tokens`: 100000 → 40000"]);
    }
    // A variant stands on its base of the same revision.
    let args = [&["compare", "--base", "rev:old", "--candidate", "team/variant"][..], &on].concat();
    assert!(out(&ctxsim(folder.path(), &args)).contains("`params.trigger.tokens`: 100000 → 40000"));
    // All that differ.
    let all = out(&ctxsim(folder.path(), [&["compare", "--base", "rev:old"][..], &on].concat()));
    assert!(all.contains("team/mine against team/mine@old") && all.contains("team/variant against"), "{all}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    let status =
        Command::new("git").args(["status", "--porcelain"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(String::from_utf8(status.stdout).unwrap(), " M ctx/policies/team/mine.ron\n");
}

#[test]
fn an_unchanged_policy_changes_nothing() {
    let folder = repository("100_000");

    let text = out(&ctxsim(folder.path(), ["compare", "--base", "rev:old"]));

    assert!(text.contains("nothing changes"), "{text}");
}

/// Adds a suite, a scenario and prices to a repository, and commits them.
fn with_inputs(folder: &Path) -> impl Fn(&str, &str, &str) {
    let root = folder.join("ctx");
    for (kind, name, text) in [
        (
            "suites",
            "own",
            "name = \"own\"\nabout = \"Ours.\"\npolicies = [\"team/mine\"]\nscenarios = [\"work\"]\nprofiles = [\"prices\"]\n[[guards]]\nname = \"evidence stays.\"\npolicy = \"team/mine\"\nmetric = \"totals.evidence_kept\"\nat_least = 0.8\n",
        ),
        (
            "scenarios",
            "work",
            "name = \"work\"\nabout = \"Work.\"\nseed = 1\n[load.generate]\nturns = 10\n[[load.generate.patterns]]\nuser_tokens = 40\nanswer_tokens = 90\n",
        ),
        (
            "profiles",
            "prices",
            "name = \"prices\"\nabout = \"Ours.\"\nas_of = \"2026-05-01\"\nsources = [\"none\"]\ncache = \"none\"\n[[prices]]\ninput = 1.0\noutput = 2.0\n",
        ),
    ] {
        fs::create_dir_all(root.join(kind)).unwrap();
        fs::write(root.join(kind).join(format!("{name}.toml")), text).unwrap();
    }
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message", "with inputs"]);
    git(folder, &["branch", "--force", "old"]);
    move |file: &str, from: &str, to: &str| {
        let path = root.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

#[test]
fn what_changed_beside_the_policies_is_told_in_every_format() {
    let folder = repository("100_000");
    let change = with_inputs(folder.path());
    let compare =
        |format: &str| out(&ctxsim(folder.path(), ["compare", "--base", "rev:old", "--format", format]));
    // A comment changes nothing.
    change("scenarios/work.toml", "seed = 1", "seed = 1 # one");
    let nothing = compare("table");
    assert!(nothing.contains("nothing changes") && nothing.contains("ctxsim 0."), "{nothing}");

    change("scenarios/work.toml", "turns = 10", "turns = 14");
    change("suites/own.toml", "at_least = 0.8", "at_least = 0.1");
    change("profiles/prices.toml", "input = 1.0", "input = 3.0");

    for format in ["table", "markdown", "github", "html", "json"] {
        let text = compare(format).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_says(
            &text,
            &["load.generate.turns", "guards.evidence stays.at_least", "prices.0.input", "0.1", "14"],
        );
        assert!(!text.contains("nothing changes"), "{format}: {text}");
    }
    let json: Value = serde_json::from_str(&compare("json")).unwrap();
    let kinds: Vec<&str> =
        json["changed_beside"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["scenario", "profile", "suite"]);
    // Beside a policy that changed, too.
    change("policies/team/mine.ron", "100_000", "40_000");
    let text = compare("table");
    assert_says(&text, &["\nteam/mine against team/mine@old", "Changed beside the policies since `old`:"]);
}

#[test]
fn a_policy_that_was_deleted_is_told_even_where_it_was_the_only_one() {
    let folder = repository("100_000");
    let _ = with_inputs(folder.path());
    fs::remove_file(folder.path().join("ctx/policies/team/variant.ron")).unwrap();
    let one = out(&ctxsim(folder.path(), ["compare", "--base", "rev:old"]));
    assert!(one.contains("policy team/variant: removed"), "{one}");
    fs::remove_dir_all(folder.path().join("ctx/policies")).unwrap();

    let none = out(&ctxsim(folder.path(), ["compare", "--base", "rev:old", "--format", "github"]));

    assert_says(&none, &["policy team/mine: removed", "policy team/variant: removed"]);
    let before = refused(&ctxsim(folder.path(), ["compare", "--base", "rev:nope"]));
    assert!(before.contains("git fetch"), "{before}");
}

#[test]
fn a_revision_that_is_not_there_is_told_with_what_to_do() {
    let folder = repository("40_000");
    let with = |base: &str, candidate: &str| {
        refused(&ctxsim(folder.path(), ["compare", "--base", base, "--candidate", candidate]))
    };

    assert!(with("rev:nope", "team/mine").contains("git fetch"));
    assert!(with("rev:old", "identity").contains("`identity` is bundled"));
    let alone = refused(&ctxsim(folder.path(), ["compare", "--base", "identity"]));
    assert!(alone.contains("`--candidate` is missing"), "{alone}");
    fs::write(
        folder.path().join("ctx/policies/team/new.ron"),
        MINE.replace("\"mine\"", "\"team/new\"").replace("BUDGET", "1"),
    )
    .unwrap();
    assert!(with("rev:old", "team/new").contains("`old` does not contain `"));
}

#[test]
fn memory_runners_are_compared_on_the_same_chats_though_their_requests_are_not_the_same() {
    let folder = tempdir().unwrap();
    let args = args(
        "compare --base memory_runners/entries --candidate memory_runners/context_only \
        --scenario memory_runners/spec --profile anthropic/claude-haiku-4.5",
    );

    let told = out(&ctxsim(folder.path(), &args));

    assert!(told.contains("right answers"), "{told}");
    assert!(told.starts_with("memory_runners/context_only is cheaper"), "{told}");
    assert!(told.contains("Worse: right answers"), "{told}");
}

/// Under this profile, one of the two stops in the long load at a limit, and both play the other one to its end.
#[test]
fn a_pair_that_is_left_out_of_the_sums_is_left_out_of_every_list_beside_them() {
    let folder = tempdir().unwrap();
    let compared = |loads: &[&str]| {
        let front =
            args("compare --base duckagent/immediate_summary --candidate duckagent/runtime_guarded_mid");
        let rest = ["--profile", "duckagent/openai-gpt-5.4", "--format", "json", "--scenario"];
        let json: Value = parsed(&ctxsim(folder.path(), [&front[..], &rest, loads].concat()));
        json["comparisons"][0].clone()
    };
    let counted = "duckagent/stress_fullstack_refactor";

    let (both, alone) = (compared(&["duckagent/long_run", counted]), compared(&[counted]));

    assert!(both["notes"].to_string().contains("1 of 2 pairs are excluded"), "{both}");
    for list in ["split", "breaks", "requests", "needs_changed", "needs", "stages"] {
        assert!(!alone[list].is_null(), "{list}");
        assert_eq!(both[list], alone[list], "{list}");
    }
    assert!(alone["requests"].as_array().is_some_and(|it| !it.is_empty()), "{alone}");
}
