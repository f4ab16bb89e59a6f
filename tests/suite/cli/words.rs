//! The grammar of arguments: what a path, a folder and a pattern mean, and which options take which words.

use super::*;

/// Makes a folder `sessions` with one recorded session.
fn sessions() -> TempDir {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("sessions")).unwrap();
    let session = data("recorded").join("pi-session.jsonl");
    fs::copy(session, folder.path().join("sessions/pi-session.jsonl")).unwrap();
    folder
}

#[test]
fn a_folder_means_its_sessions_wherever_it_stands() {
    let folder = sessions();
    let commands: [&[&str]; 9] = [
        &["run", "--policy", "identity", "clear_tool_results", "sessions"],
        &["run", "sessions", "--policy", "identity", "clear_tool_results"],
        &["run", "--policy", "identity", "--profile", "anthropic/claude-opus-4.5", "sessions"],
        &["compare", "--base", "identity", "--candidate", "clear_tool_results", "sessions"],
        &["compare", "sessions", "--base", "identity", "--candidate", "clear_tool_results"],
        &args(
            "sweep --policy clear_tool_results --vary params.trigger.tokens=20000,40000 \
            --profile anthropic/* sessions",
        ),
        &["sensitivity", "sessions", "--policy", "identity", "clear_tool_results", "--profile", "openai/*"],
        &["sensitivity", "--policy", "identity", "clear_tool_results", "--profile", "openai/*", "sessions"],
        &["explain", "--policy", "identity", "--request", "1", "sessions"],
    ];
    for args in commands {
        let text = out(&crate::support::ctxsim(folder.path(), args));
        assert!(
            text.contains("pi-session")
                || text.contains("1 session")
                || text.contains("variant")
                || text.contains("point"),
            "{args:?}: {text}"
        );
    }
    let import = out(&crate::support::ctxsim(folder.path(), ["import", "sessions"]));
    assert!(import.contains("pi-session"), "{import}");
}

#[test]
fn a_pattern_of_files_means_sessions_wherever_it_stands() {
    let folder = sessions();
    for pattern in ["sessions/*.jsonl", "**/*.jsonl", "sess*", "**"] {
        let text = out(&crate::support::ctxsim(folder.path(), ["run", "--policy", "identity", pattern]));
        assert!(text.contains("1 session read"), "{pattern}: {text}");
        let text = out(&crate::support::ctxsim(folder.path(), [pattern]));
        assert!(text.contains("1 session read"), "{pattern}: {text}");
    }
}

#[test]
fn a_pattern_behind_an_option_means_that_option_s_kind_wherever_it_matches_a_name() {
    let folder = sessions();
    let inside = folder.path().join("sessions");
    let args =
        ["run", "--policy", "identity", "clear_tool_*", "--profile", "anthropic/claude-opus-4.5", "--"];

    // Every file here is a session, and every policy matches.
    let every = ["run", "--policy", "identity", "*", "--scenario", "pi-session.jsonl"];
    let told = refused(&crate::support::ctxsim(
        &inside,
        [&every[..], &["--profile", "anthropic/claude-haiku-4.5"]].concat(),
    ));
    assert!(
        told.contains("aging/careful") && told.contains("have no effect on"),
        "policies are meant: {told}"
    );
    let text = out(&crate::support::ctxsim(&inside, [&args[..], &["pi-session.jsonl"]].concat()));
    assert!(text.contains("clear_tool_results") && text.contains("1 session read"), "{text}");
    let told = refused(&crate::support::ctxsim(&inside, ["run", "--policy", "*.jsonl"]));
    assert!(told.contains("`--policy` needs a policy, but `*.jsonl` means sessions"), "{told}");
}

#[test]
fn a_pattern_behind_an_option_means_files_of_that_option_s_kind_alone() {
    let folder = tempdir().unwrap();
    let profile = fs::read_to_string(data("../../profiles/anthropic/claude-haiku-4.5.toml")).unwrap();
    for (name, text) in [
        ("mine.ron", "(name: \"mine\", about: \"Mine.\", base: \"clear_tool_results\")".to_owned()),
        (
            "load.ron",
            "(name: \"load\", about: \"Load.\", load: turns([(user_tokens: 50, answer_tokens: 50)]))"
                .to_owned(),
        ),
        ("priced.toml", profile.replace("anthropic/claude-haiku-4.5", "priced")),
        (
            "all.toml",
            "name = \"all\"\nabout = \"All.\"\npolicies = [\"mine.ron\"]\nscenarios = [\"load.ron\"]\n\
             profiles = [\"priced.toml\"]\n"
                .to_owned(),
        ),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for line in [
        "run --policy * --scenario load.ron --profile priced.toml",
        "run --policy *.ron --scenario load.ron --profile priced.toml",
        "run --policy mine.ron --scenario * --profile priced.toml",
        "run --policy mine.ron --scenario load.ron --profile *.toml",
        "run --policy * --scenario * --profile *",
        "run * --policy *.ron --profile *.toml",
        "check --suite *.toml --bless",
    ] {
        let text = out(&crate::support::ctxsim(folder.path(), line.split(' ').collect::<Vec<_>>()));
        assert!(line.starts_with("check") || text.contains("load · priced"), "{line}: {text}");
        assert!(line.starts_with("check") || text.contains("\nmine "), "{line}: {text}");
    }
    // A pattern that matches another kind alone is told so.
    let line = "run --policy pri*.toml --scenario load.ron";
    let told = refused(&crate::support::ctxsim(folder.path(), line.split(' ').collect::<Vec<_>>()));
    assert!(told.contains("this file is a profile, not a policy"), "{told}");
}

#[test]
fn a_pattern_without_files_means_bundled_names() {
    let folder = sessions();

    let text =
        out(&crate::support::ctxsim(folder.path(), ["run", "duckagent/plain_*", "--policy", "identity"]));

    assert!(text.contains("duckagent/plain_chat"), "{text}");
}

#[test]
fn a_pattern_of_a_bundled_suite_means_no_files_of_the_working_folder() {
    let folder = sessions();
    fs::create_dir(folder.path().join("agents")).unwrap();
    fs::write(folder.path().join("agents/settings.toml"), "name = \"not a policy\"").unwrap();

    let args = ["run", "--suite", "field", "--scenario", "field/short20", "--profile", "field/gpt-5"];
    let text = out(&crate::support::ctxsim(folder.path(), args));

    assert!(text.contains("field/short20"), "{text}");
}

#[test]
fn a_folder_that_holds_sessions_and_policies_is_refused() {
    let folder = sessions();
    fs::write(folder.path().join("sessions/mine.ron"), "(name: \"mine\", about: \"\", stages: [])").unwrap();

    let told = refused(&crate::support::ctxsim(folder.path(), ["run", "--policy", "identity", "sessions"]));

    assert!(told.contains("`sessions` holds sessions and other inputs"), "{told}");
    assert!(told.contains("name its policies one by one, and its sessions with `--scenario`"), "{told}");
    assert!(
        out(&crate::support::ctxsim(folder.path(), ["run", "sessions", "--policy", "identity"]))
            .contains("1 session read")
    );
}

#[test]
fn an_option_with_nothing_but_sessions_is_refused() {
    let told = refused(&crate::support::ctxsim(sessions().path(), ["run", "--policy", "sessions"]));

    assert!(told.contains("`--policy` needs a policy, but `sessions` means sessions"), "{told}");
}

#[test]
fn columns_are_chosen_by_name_or_by_heading() {
    let columns = "recovery_tokens,compression_savings,limit_pressure,cost_usd.total,change";
    let args = ["recorded/claude-code", "--columns", columns];

    let text = out(&crate::support::ctxsim(sessions().path(), args));

    let head: Vec<&str> = text.lines().skip_while(|it| !it.contains("recovery")).take(2).collect();
    let words: Vec<&str> = head.iter().flat_map(|it| it.split_whitespace()).collect();
    let expected = "recovery compression limit cost Δ policy tokens savings pressure USD cost";
    assert_eq!(words, listed(expected), "{text}");
    assert!(!text.contains("columns hidden"), "{text}");
}

#[test]
fn an_unknown_column_is_answered_with_the_one_that_is_meant() {
    let told = |columns| {
        refused(&crate::support::ctxsim(sessions().path(), ["recorded/claude-code", "--columns", columns]))
    };

    let text = told("evidnce_kept,cost,colour");
    assert_says(&text, &["unknown column `evidnce_kept`", "did you mean `evidence_kept`?"]);
    assert!(text.contains("unknown column `colour`") && text.contains("`ctxsim run --help`"), "{text}");
    let args = ["recorded/claude-code", "--columns", "requests", "--format", "json"];
    let text = refused(&crate::support::ctxsim(sessions().path(), args));
    assert!(text.contains("`--columns` chooses the columns of tables"), "{text}");
}

#[test]
fn tables_are_as_wide_as_asked_else_as_the_environment_says_else_100() {
    let folder = sessions();
    let widest = |args: &[&str], columns: Option<&str>| {
        let mut command = program(folder.path(), ["run", "recorded/claude-code"]);
        columns.map(|it| command.env("COLUMNS", it));
        let text = out(&command.args(args).output().unwrap());
        text.lines().map(|it| it.chars().count()).max().unwrap()
    };

    assert!((90..=100).contains(&widest(&[], None)));
    assert!((110..=140).contains(&widest(&[], Some("140"))));
    assert!((60..=72).contains(&widest(&["--width", "72"], Some("140"))));
    assert!((90..=100).contains(&widest(&[], Some("nonsense"))));
}

#[test]
fn help_lists_what_the_code_accepts() {
    let help = out(&crate::support::ctxsim(sessions().path(), ["run", "--help"]));

    for chart in ["frontier", "aging"] {
        assert!(help.split("Chart to write").nth(1).unwrap().contains(chart), "{help}");
    }
    for format in ["junit", "sarif"] {
        assert!(!help.contains(&format!("- {format}")), "{help}");
    }
    assert_says(&help, &["recovery.expected_tokens", "tool_results.saved_share", "limit_pressure", "change"]);
}

#[test]
fn a_number_out_of_range_is_answered_with_its_bounds_whatever_is_wrong() {
    for number in ["-1", "0", "x"] {
        let args =
            ["explain", "--policy", "identity", "--scenario", "recorded/claude-code", "--request", number];
        let told = refused(&crate::support::ctxsim(sessions().path(), args));
        assert!(told.contains("use a whole number of at least 1"), "{told}");
    }
    let told = refused(&crate::support::ctxsim(sessions().path(), ["--threads", "2000"]));
    assert!(told.contains("use a whole number from 1 to 1024"), "{told}");
}

#[test]
fn the_check_against_a_bill_says_which_side_is_lower() {
    let text = out(&crate::support::ctxsim(data("recorded"), ["pi-session.jsonl", "--policy", "identity"]));

    assert!(text.contains("the predicted input cost is"), "{text}");
    assert!(text.replace('\n', " ").contains("below the bill"), "{text}");
}

#[test]
fn a_ranking_shows_ten_and_says_what_changed_nothing() {
    let args = ["run", "--suite", "field", "recorded/claude-code"];
    let short = out(&crate::support::ctxsim(sessions().path(), args));
    let long = out(&crate::support::ctxsim(sessions().path(), [&args[..], &["--details"]].concat()));

    // Two spaces stand between columns, and never within a sentence.
    let n_rows = |text: &str| text.lines().filter(|it| it.contains("%  ") && !it.starts_with(' ')).count();
    assert_eq!(n_rows(&short), 1 + 10, "the first policy and ten others: {short}");
    assert!(n_rows(&long) > 60, "{long}");
    assert_says(&short, &[" policies changed nothing: ", "codex (3)", "--details shows all."]);
    assert!(!long.contains("changed nothing: agent"), "{long}");
}
