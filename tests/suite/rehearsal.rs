//! Upgrades rehearsed: numbers are accepted under other inputs than today's, and `check --explain` says which of them moved each number.

use crate::support::*;

const POLICY: &str = r#"(
    name: "mine",
    about: "Clears tool results above a budget.",
    base: "clear_tool_results",
    params: { "trigger": tokens(40_000) },
)"#;

const SUITE: &str = r#"
name = "suite"
about = "One's own policy, guarded."
policies = ["identity", "mine.ron"]
scenarios = ["session.jsonl"]
profiles = ["anthropic/claude-sonnet-5.5"]
[[guards]]
name = "Evidence stays."
policy = "mine"
metric = "totals.evidence_kept"
at_least = 0.5
"#;

fn blessed(folder: &Path, args: &[&str]) {
    let output = check(folder, &[&["--bless"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{}", all_said(&output));
}

/// What moved a number: the cause, and what the number would be with that as it was.
type NamedCauses = Vec<(String, Option<String>)>;

/// Returns the numbers that moved, each with its causes and what it would be with each of them as it was.
fn explained(folder: &Path, args: &[&str]) -> Vec<(Value, NamedCauses)> {
    let output = check(folder, &[&["--format", "json"], args].concat());
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", all_said(&output)));
    let of = |it: &Value| it.as_array().cloned().unwrap_or_default();
    let cause =
        |it: &Value| (it["cause"].as_str().unwrap().to_owned(), it["with_old"].as_str().map(str::to_owned));
    let snapshots = of(&json["suites"][0]["snapshots"]);
    let moved = snapshots.iter().flat_map(|it| of(&it["moved"]));
    moved.map(|it| (it.clone(), of(&it["by"]).iter().map(cause).collect())).collect()
}

#[test]
fn an_assumption_that_an_upgrade_changes_is_named_for_every_number_that_it_moves() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    blessed(path, &["--assume", "recovery.own_request=0.1"]);

    let moved = explained(path, &["--explain"]);

    assert!(!moved.is_empty());
    for (number, causes) in moved {
        let old = number["values"][0].as_str().unwrap().to_owned();
        assert_eq!(causes, [("recovery.own_request (0.1 → 0.3)".to_owned(), Some(old))], "{number}");
    }
    let text = all_said(&check(path, &["--explain"]));
    assert!(text.contains("because of recovery.own_request (0.1 → 0.3): mine, evidence kept: "), "{text}");
}

#[test]
fn two_assumptions_and_an_old_policy_are_told_apart_each_with_what_it_moves() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    let git = |args: &[&str]| {
        let run = Command::new("git")
            .args(["-c", "user.name=me", "-c", "user.email=me@here"])
            .args(args)
            .current_dir(path)
            .output();
        assert!(run.unwrap().status.success(), "{args:?}");
    };
    blessed(path, &["--assume=recovery.own_request=0.1", "--assume=user_messages.earlier=0.1"]);
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "begin"]);
    fs::write(path.join("mine.ron"), POLICY.replace("40_000", "55_000")).unwrap();

    let moved = explained(path, &["--explain"]);

    let policy = "the policy mine".to_owned();
    let mut seen = BTreeSet::new();
    for (number, causes) in &moved {
        let names: Vec<&String> = causes.iter().map(|it| &it.0).collect();
        assert!(names.contains(&&policy), "nothing else moves requests: {number} {causes:?}");
        assert!(!names.iter().any(|it| it.starts_with("code")), "{number} {causes:?}");
        let is_alone = causes.len() == 1;
        let column = number["column"].as_str().unwrap();
        assert_eq!(is_alone, !["US dollars", "evidence kept"].contains(&column), "{number} {causes:?}");
        seen.insert(column.to_owned());
    }
    assert!(seen.contains("US dollars") && seen.contains("cache write"), "{seen:?}");
    let dollars = moved.iter().find(|it| it.0["column"] == "US dollars").unwrap();
    assert!(dollars.1.iter().any(|it| it.0 == "recovery.own_request (0.1 → 0.3)"), "{dollars:?}");
    assert!(dollars.1.iter().any(|it| it.0 == "together"), "{dollars:?}");
    // What git does not have as it was is not taken for it.
    git(&["commit", "--quiet", "-a", "-m", "later"]);
    let text = all_said(&check(path, &["--explain"]));
    assert_says(
        &text,
        &["the policy mine could not be simulated as it was: its file in `HEAD` is not the one"],
    );
    assert!(text.contains("code or what could not be simulated"), "{text}");
    let before = explained(path, &["--explain=HEAD~1"]);
    assert_eq!(
        before.iter().map(|it| &it.1).collect::<Vec<_>>(),
        moved.iter().map(|it| &it.1).collect::<Vec<_>>()
    );
}

#[test]
fn what_no_input_moved_is_code_and_the_version_is_named() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    blessed(path, &[]);
    let snapshot = path.join("snapshots/suite/session/anthropic-claude-sonnet-5.5.snap");
    let text = fs::read_to_string(&snapshot).unwrap();
    let line = text.lines().find(|it| it.starts_with("identity")).unwrap();
    let requests = line.split_whitespace().nth(1).unwrap();
    let other = line.replacen(requests, &"7".repeat(requests.len()), 1);
    let version = format!("ctxsim {}", env!("CARGO_PKG_VERSION"));
    fs::write(&snapshot, text.replace(line, &other).replace(&version, "ctxsim 0.0.9")).unwrap();

    let moved = explained(path, &["--explain"]);

    assert_eq!(moved.len(), 1);
    let cause = format!("code (ctxsim 0.0.9 → {})", env!("CARGO_PKG_VERSION"));
    assert_eq!(moved[0].1, [(cause, Some(requests.to_owned()))]);
}

#[test]
fn a_number_that_nobody_assumes_or_of_another_kind_is_refused_with_what_to_write() {
    let folder = folder_of_suite(POLICY, SUITE);
    for (number, words) in [
        ("recovery.own_requst=0.2", "did you mean `recovery.own_request`?"),
        ("recovery.call_tokens=1.5", "`1.5` cannot stand in the place of `recovery.call_tokens`"),
        ("recovery.call_tokens", "is not NAME=VALUE"),
    ] {
        let output = check(folder.path(), &["--assume", number]);
        assert_eq!(output.status.code(), Some(2), "{number}");
        assert!(all_said(&output).contains(words), "{}", all_said(&output));
    }
}

#[test]
fn a_blessed_change_of_a_policy_is_one_line_of_the_diff() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    blessed(path, &[]);
    let snapshot = path.join("snapshots/suite/session/anthropic-claude-sonnet-5.5.snap");
    let before = fs::read_to_string(&snapshot).unwrap();
    let assumed = fs::read_to_string(path.join("snapshots/suite/assumed.toml")).unwrap();
    assert!(assumed.contains("\n\"recovery.own_request\" = 0.3\n"), "{assumed}");

    // Prompts of six digits in the place of five widen a number.
    fs::write(path.join("mine.ron"), POLICY.replace("40_000", "108_000")).unwrap();
    blessed(path, &[]);

    let after = fs::read_to_string(&snapshot).unwrap();
    let changed: Vec<(&str, &str)> =
        before.lines().zip(after.lines()).filter(|(old, new)| old != new).collect();
    assert_eq!(before.lines().count(), after.lines().count());
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert!(changed[0].1.starts_with("mine "), "{changed:?}");
    assert_eq!(fs::read_to_string(path.join("snapshots/suite/assumed.toml")).unwrap(), assumed);
}

#[test]
fn snapshots_of_the_earlier_form_still_hold_and_ask_to_be_blessed() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    blessed(path, &[]);
    let snapshot = path.join("snapshots/suite/session/anthropic-claude-sonnet-5.5.snap");
    let text = fs::read_to_string(&snapshot).unwrap();
    // The header without what is assumed, and lines without the files and with other widths.
    let earlier: String = text
        .lines()
        .map(|line| match line.split_once("; suite ") {
            Some((head, _)) => format!("{head}; policies 0123456789abcdef\n"),
            None if line.starts_with("policy")
                || line.starts_with("identity")
                || line.starts_with("mine") =>
            {
                let cut = line.trim_end().rsplit_once("  ").unwrap().0.trim_end();
                format!("{}\n", cut.replacen("      ", "  ", 1))
            }
            None => format!("{line}\n"),
        })
        .collect();
    fs::write(&snapshot, &earlier).unwrap();
    fs::remove_file(path.join("snapshots/suite/assumed.toml")).unwrap();

    let output = check(path, &[]);

    assert_eq!(output.status.code(), Some(0), "{earlier}{}", all_said(&output));
    assert_says(&all_said(&output), &["of an earlier form and carry no assumed numbers"]);
    blessed(path, &[]);
    assert_eq!(fs::read_to_string(&snapshot).unwrap(), text);
    assert!(!all_said(&check(path, &[])).contains("earlier form"));
}

#[test]
fn a_ratchet_and_the_snapshots_are_held_in_one_run() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    blessed(path, &[]);
    assert_eq!(check(path, &["--ratchet"]).status.code(), Some(0));

    fs::write(path.join("mine.ron"), POLICY.replace("40_000", "90_000")).unwrap();

    let output = check(path, &["--ratchet"]);
    let text = all_said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("evidence kept: ") || text.contains("numbers changed"), "{text}");
    assert!(text.contains("2 of 2 guard checks passed"), "{text}");
    blessed(path, &["--ratchet"]);
    assert_eq!(check(path, &["--ratchet"]).status.code(), Some(0));
}

#[test]
fn a_project_that_pins_prices_has_them_in_every_command_and_one_that_pins_a_version_is_told_of_another() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    let priced = "name = \"priced\"\nabout = \"Dated prices.\"\nas_of = \"2026-07-01\"\nsources = [\"none\"]\ncache = \"none\"\n\
        [[prices]]\ninput = 1.0\noutput = 2.0\n[[prices]]\nfrom = \"2026-06-01\"\ninput = 5.0\noutput = 9.0\n";
    fs::write(path.join("priced.toml"), priced).unwrap();
    fs::write(path.join("gen.ron"), GENERATED).unwrap();
    let suite =
        SUITE.replace("anthropic/claude-sonnet-5.5", "priced.toml").replace("session.jsonl", "gen.ron");
    fs::write(path.join("suite.toml"), suite.split("[[guards]]").next().unwrap()).unwrap();
    let dollars = || {
        let json: Value = parsed(&ctxsim(path, ["run", "--suite", "suite.toml", "--format", "json"]));
        json["runs"][0]["totals"]["cost_usd"]["total"].as_f64().unwrap()
    };
    let newest = dollars();
    fs::write(path.join("ctxsim.toml"), "version = \"0.0.9\"\nprices = \"2026-05-01\"\n").unwrap();
    assert!(dollars() < newest / 2.0, "{} of {newest}", dollars());
    blessed(path, &[]);

    let text = all_said(&check(path, &[]));
    assert_says(
        &text,
        &[
            "prices of 2026-05-01; newer: 2026-07-01, change `prices` in ctxsim.toml to adopt them",
            &format!("ctxsim.toml names version 0.0.9, and this is {}", env!("CARGO_PKG_VERSION")),
        ],
    );
    fs::write(path.join("ctxsim.toml"), "prices = \"2026-07-01\"\n").unwrap();
    let moved = explained(path, &["--explain"]);
    assert_eq!(moved.len(), 2, "{moved:?}");
    assert!(
        moved.iter().all(|it| it.1[0].0 == "the prices of priced (2026-05-01 → 2026-07-01)"),
        "{moved:?}"
    );
    fs::write(path.join("ctxsim.toml"), "prices = \"May\"\n").unwrap();
    assert!(all_said(&check(path, &[])).contains("this is not a date"));
}

const GENERATED: &str = r#"(
    name: "gen",
    about: "Calls whose results are read again.",
    sources: ["made up"],
    stable: [(kind: system, tokens: 2_500)],
    load: generate(turns: 8, patterns: [(
        user_tokens: 200,
        answer_tokens: 300,
        answer_needs: { exact_evidence: 1.0 },
        calls: [(tool: "read_file", times: 2, args_tokens: 30, result: (raw: 4_000), recover: { exact_evidence: 600 })],
    )]),
)"#;

/// Perturbs every assumed number that a suite's snapshots carry, one after another; whatever moves must be explained by that number alone.
#[expect(clippy::print_stdout, reason = "how many numbers were perturbed is read in the log of the run")]
#[test]
#[ignore = "slow: three checks for each of some ninety numbers"]
fn every_assumed_number_that_moves_anything_is_named_for_all_that_it_moves() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    blessed(path, &[]);
    let assumed = fs::read_to_string(path.join("snapshots/suite/assumed.toml")).unwrap();
    // The session has no image.
    let numbers =
        assumed.lines().filter(|it| !it.starts_with("\"images.")).filter_map(|it| it.split_once(" = "));
    let (mut n_numbers, mut n_moving, mut n_moved) = (0, 0, 0);
    for (name, value) in numbers {
        let name = name.trim_matches('"');
        let Some(other) = perturbed(value) else { continue };
        n_numbers += 1;
        let output = check(path, &["--bless", "--assume", &format!("{name}={other}")]);
        assert!(output.status.code().is_some_and(|it| it < 2), "{name}={other}: {}", all_said(&output));
        let moved = explained(path, &["--explain"]);
        n_moving += usize::from(!moved.is_empty());
        n_moved += moved.len();
        for (number, causes) in moved {
            let cause = format!("{name} ({other} → {value})");
            assert_eq!(causes.iter().map(|it| &it.0).collect::<Vec<_>>(), [&cause], "{number}");
        }
    }
    println!("{n_numbers} numbers, of which {n_moving} move something: {n_moved} moved numbers, all named");
    assert!(n_moving >= 5, "{n_moving} of {n_numbers}");
}

/// Returns another value of the same kind; nothing for a switch or a time.
fn perturbed(value: &str) -> Option<String> {
    if let Ok(number) = value.parse::<u64>() {
        return Some((number + number / 4 + 1).to_string());
    }
    let number = value.parse::<f64>().ok()?;
    Some(if number > 0.5 { (number * 0.75).to_string() } else { (number * 1.25 + 0.05).to_string() })
}
