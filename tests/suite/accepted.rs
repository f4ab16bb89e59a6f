//! What a command line asks for is done, or refused with what helps; what it begins to write it writes whole.

use crate::faults::can_trace;
use crate::support::*;

/// A recorded session, and the scenario of another.
const SESSION: &str = "scenarios/recorded/claude-code-session.jsonl";
const CHAT: [&str; 4] = ["--scenario", "duckagent/plain_chat", "--profile", "anthropic/claude-sonnet-5.5"];

/// Returns what a command that is refused says.
fn refused(folder: &Path, line: &str) -> String {
    refusal(&ctxsim(folder, args(line)))
}

#[test]
fn rows_of_any_kind_have_the_page_of_their_runs_beside_them() {
    let folder = tempdir().unwrap();
    let run = |more: &[&str]| {
        out(&ctxsim(folder.path(), [&["run", "--policy", "identity"], &CHAT[..], more].concat()))
    };
    run(&["--html", "runs.html"]);
    let page = fs::read_to_string(folder.path().join("runs.html")).unwrap();

    for rows in ["requests", "needs"] {
        let alone = run(&["--rows", rows]);
        assert_eq!(run(&["--rows", rows, "--html", "rows.html"]), alone);
        assert_eq!(fs::read_to_string(folder.path().join("rows.html")).unwrap(), page, "{rows}");
        fs::remove_file(folder.path().join("rows.html")).unwrap();
    }
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let folder = tempdir().unwrap();
    for line in [
        "run --rows requests --chart cost",
        "run --rows needs --details",
        "sweep --policy clear_tool_results --vary params.keep=2,3 --shard 1/2 --html p.html",
        "sweep --policy clear_tool_results --vary params.keep=2,3 --shard 1/2 --format svg",
        "check --laws --policy identity --html p.html",
        "check --laws --policy identity --explain",
    ] {
        refused(folder.path(), line);
    }
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn what_is_suggested_exists_and_helps() {
    let folder = tempdir().unwrap();
    fs::copy(data("small/policies/cap.ron"), folder.path().join("cap.ron")).unwrap();

    assert!(refused(folder.path(), "tune --policy cap.ron --format html").contains("did you mean `--html`?"));
    assert!(refused(folder.path(), "tune --policy cap.ron --format json").contains("did you mean `--json`?"));
    let laws = refused(folder.path(), "check --laws cap.ron");
    assert!(laws.contains("`--policy cap.ron`"), "{laws}");
    out(&ctxsim(folder.path(), ["check", "--laws", "--policy", "cap.ron", "--sessions", "2"]));
    let repeated = refused(folder.path(), "check --suite default nothing.txt --bless nothing.ron");
    assert!(!repeated.contains("repeat the option: `--bless"), "a flag takes no value: {repeated}");
    let missing = refused(folder.path(), "advise s.jsonl --dry-run");
    assert!(missing.contains("missing: `--apply` or `--undo <FORECAST>`"), "{missing}");
}

#[test]
fn all_means_every_profile_wherever_profiles_are_named() {
    let folder = tempdir().unwrap();
    let profiles = |args: &[&str]| {
        let json: Value = parsed(&ctxsim(
            folder.path(),
            [args, &["--scenario", "duckagent/plain_chat", "--policy", "identity"], &["--profile", "all"]]
                .concat(),
        ));
        json
    };

    let run = profiles(&["run", "--format", "json"]);

    let bundled = bundled_catalog();
    let all = bundled.names(ctxsim::catalog::InputKind::Profile).count();
    assert_eq!(run["runs"].as_array().unwrap().len(), all);
}

#[test]
fn an_input_is_shown_in_the_format_that_its_file_is_called_after() {
    let folder = tempdir().unwrap();
    for (kind, name) in
        [("policy", "clear_tool_results"), ("suite", "default"), ("scenario", "duckagent/plain_chat")]
    {
        let base = name.rsplit('/').next().unwrap();
        for (format, file) in [("ron", format!("{base}.ron")), ("toml", format!("{base}.toml"))] {
            out(&ctxsim(folder.path(), ["show", kind, name, "--output", &file]));
            let text = fs::read_to_string(folder.path().join(&file)).unwrap();
            assert_eq!(text, out(&ctxsim(folder.path(), ["show", kind, name, "--as", format])), "{file}");
        }
    }
    let merged =
        ["show", "policy", "clear_tool_results_at_40k_min_5k", "--merged", "--output", "merged.toml"];
    out(&ctxsim(folder.path(), merged));
    assert!(fs::read_to_string(folder.path().join("merged.toml")).unwrap().contains("name = \""));
}

/// A repository with a policy and without a suite.
fn project() -> TempDir {
    let folder = tempdir().unwrap();
    let policies = folder.path().join("own/policies");
    fs::create_dir_all(&policies).unwrap();
    fs::write(folder.path().join("ctxsim.toml"), "folders = [\"own\"]\n").unwrap();
    fs::write(policies.join("ours.ron"), "(name: \"ours\", about: \"Ours.\", base: \"clear_tool_results\")")
        .unwrap();
    folder
}

#[test]
fn what_a_check_without_a_suite_advises_works_there() {
    let folder = project();

    assert!(refused(folder.path(), "check").contains("run `ctxsim init` to create one"));
    out(&ctxsim(folder.path(), ["init"]));

    assert_eq!(names_in(&folder.path().join("own")), ["policies", "scenarios", "suites"]);
    assert_eq!(fs::read_to_string(folder.path().join("ctxsim.toml")).unwrap(), "folders = [\"own\"]\n");
    out(&ctxsim(folder.path(), ["check"]));
}

#[test]
fn what_begins_with_sessions_is_green_and_prices_each_under_its_own_model() {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("sess")).unwrap();
    fs::copy(root().join(SESSION), folder.path().join("sess/one.jsonl")).unwrap();

    let told = out(&ctxsim(folder.path(), ["init", "--sessions", "sess"]));

    out(&ctxsim(folder.path(), ["check"]));
    let kept = folder.path().join("snapshots/mine");
    let snapshots: Vec<String> = names_in(&kept)
        .iter()
        .filter(|it| !it.ends_with(".toml"))
        .flat_map(|it| names_in(&kept.join(it)))
        .collect();
    assert_eq!(snapshots, ["anthropic-claude-opus-4.5.snap"], "the log says which model it was");
    let suite = fs::read_to_string(folder.path().join("ctx/suites/mine.toml")).unwrap();
    assert!(suite.contains("own_models = true"), "{suite}");
    // A guard that fails from the start is a comment, with what was found.
    let n_failed = suite.matches("# [[guards]]").count();
    assert_eq!(n_failed, suite.matches("# Today: ").count(), "{suite}");
    assert_eq!(n_failed > 0, told.contains("These guards fail today"), "{told}");
    assert_eq!(n_failed + suite.matches("\n[[guards]]").count(), 4, "{suite}");
}

#[test]
fn a_comparison_without_loads_is_on_the_users_own_and_its_first_line_names_them() {
    let folder = project();
    let compare = |more: &[&str]| {
        let args = ["compare", "--base", "identity", "--candidate", "truncate_oldest"];
        let text = out(&ctxsim(folder.path(), [&args[..], more].concat()));
        text.lines().next().unwrap().to_owned()
    };

    let bundled = compare(&[]);
    fs::create_dir_all(folder.path().join("own/scenarios")).unwrap();
    fs::copy(root().join(SESSION), folder.path().join("own/scenarios/session.jsonl")).unwrap();
    let own = compare(&[]);
    let named = compare(&CHAT);

    assert!(bundled.starts_with("On the bundled suite `default`"), "{bundled}");
    assert!(
        own.starts_with("On the scenarios and sessions of your folders: ") && own.contains("session.jsonl"),
        "{own}"
    );
    assert!(!named.starts_with("On "), "who names loads knows them: {named}");
}

/// Has the n-th write of a command fail, as on a full disk.
fn on_a_full_disk(folder: &Path, nth: usize, args: &[&str]) -> Output {
    let inject = format!("inject=write:error=ENOSPC:when={nth}+");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &inject, env!("CARGO_BIN_EXE_ctxsim")]);
    command.args(args).current_dir(folder).output().unwrap()
}

#[test]
fn what_is_begun_on_a_full_disk_leaves_nothing_behind_and_replaces_nothing() {
    if !can_trace() {
        return;
    }
    for nth in [1, 2, 4, 6, 7] {
        let folder = tempdir().unwrap();
        let done = on_a_full_disk(folder.path(), nth, &["init"]);
        assert_eq!(done.status.code(), Some(2), "{nth}");
        let is_written = names_in(folder.path()).len() == 4;
        assert!(names_in(folder.path()).is_empty() || is_written, "{nth}: {:?}", names_in(folder.path()));
    }
    // Snapshots are accepted together.
    let folder = project();
    out(&ctxsim(folder.path(), ["init"]));
    let kept = folder.path().join("snapshots/mine/example/anthropic-claude-sonnet-5.5.snap");
    let before = fs::read_to_string(&kept).unwrap();
    let policy = folder.path().join("own/policies/ours.ron");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace(")", ", params: { \"trigger\": tokens(40_000) })")).unwrap();
    let done = on_a_full_disk(folder.path(), 1, &["check", "--bless"]);
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&kept).unwrap(), before);
    out(&ctxsim(folder.path(), ["check", "--bless"]));
    assert_ne!(fs::read_to_string(&kept).unwrap(), before, "it is written where there is room");
}

/// Writes files below a folder.
fn with_files(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        write_below(folder, path, text);
    }
}

#[test]
fn a_file_that_is_read_leads_to_no_write_outside_of_what_was_named_and_to_those_that_were() {
    const BANK: &str = "{\"key\": \"value\"}\n";
    let top = tempdir().unwrap();
    let folder = top.path().join("work");
    fs::create_dir(&folder).unwrap();
    with_files(top.path(), &[("outside/bank.json", BANK)]);
    let is_untouched = || {
        assert_eq!(names_in(top.path()), ["outside", "work"]);
        assert_eq!(names_in(&top.path().join("outside")), ["bank.json"]);
        assert_eq!(fs::read_to_string(top.path().join("outside/bank.json")).unwrap(), BANK);
    };

    // A store's index may name banks: those beside it, and no others.
    let store = ["run", "--store", "write", "--policy", "context_decay/file_backed", "--output", "export"];
    let store = [&store[..], &["--scenario", "context_decay/paper", "--length", "100"]].concat();
    out(&ctxsim(&folder, &store));
    let banks = names_in(&folder.join("export"));
    let index = fs::read_to_string(folder.join("export/index.json")).unwrap();
    assert!(index.contains("\"bank\": \"explicit\""), "{index}");
    let elsewhere = index.replacen("\"bank\": \"explicit\"", "\"bank\": \"../../outside/bank\"", 1);
    let stale = elsewhere.replacen("\"bank\": \"explicit\"", "\"bank\": \"gone\"", 1);
    with_files(&folder, &[("export/index.json", &stale), ("export/gone.json", BANK)]);
    out(&ctxsim(&folder, &store));
    is_untouched();
    assert_eq!(
        names_in(&folder.join("export")),
        banks,
        "a bank that the index had is replaced, and a stale one is gone"
    );
    fs::remove_dir_all(folder.join("export")).unwrap();
    // A price list names models: their profiles are below the folder that is named.
    let entry = |name: &str| {
        format!(
            r#""{name}": {{"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 5e-6, "max_input_tokens": 200000}}"#
        )
    };
    let list = format!("{{{}, {}, {}}}", entry("../../outside/bank"), entry("/tmp/up"), entry("plain"));
    with_files(&folder, &[("prices.json", &list)]);
    out(&ctxsim(
        &folder,
        ["prices", "import", "prices.json", "--as-of", "2026-11-21", "--output", "profiles"],
    ));
    is_untouched();
    assert!(
        folder.join("profiles/anthropic/plain.toml").exists(),
        "{:?}",
        names_in(&folder.join("profiles"))
    );
    // A configuration names folders: what begins a project writes below the working folder alone.
    with_files(&folder, &[("ctxsim.toml", "folders = [\"../outside/own\"]\n")]);
    with_files(
        top.path(),
        &[("outside/own/policies/x.ron", "(name: \"x\", about: \"X.\", base: \"identity\")")],
    );
    assert!(refused(&folder, "init").contains("is not below this one"));
    assert_eq!(names_in(&top.path().join("outside/own")), ["policies"]);
    fs::remove_dir_all(top.path().join("outside/own")).unwrap();
    // A suite and its loads have names: snapshots are where snapshots are.
    let suite = "name = \"..\"\nabout = \"Up.\"\npolicies = [\"identity\"]\nscenarios = [\"duckagent/plain_chat\"]\nprofiles = [\"anthropic/claude-sonnet-5.5\"]\n";
    with_files(&folder, &[("ctxsim.toml", "folders = [\"own\"]\n"), ("own/suites/...toml", suite)]);
    ctxsim(&folder, ["check", "--suite", "own/suites/...toml", "--bless"]);
    is_untouched();
    assert!(
        names_in(&folder)
            .iter()
            .all(|it| ["ctxsim.toml", "own", "prices.json", "profiles", "snapshots"].contains(&it.as_str()))
    );
}
