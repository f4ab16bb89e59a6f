//! Suites in continuous integration: guards and snapshots, what passes, what fails, and how it ends.

use crate::support::*;

const POLICY: &str = r#"(
    name: "mine",
    about: "Clears tool results above a budget.",
    base: "clear_tool_results",
    params: { "trigger": tokens(40_000) },
    stages: [
        (name: "clear"),
    ],
)"#;

const SUITE: &str = r#"
name = "suite"
about = "One's own policy, guarded."
policies = ["identity", "mine.ron"]
scenarios = ["duckagent/incremental_workspace_audit", "session.jsonl"]
profiles = ["anthropic/claude-sonnet-5.5"]
[[guards]]
name = "it clears"
policy = "mine"
scenario = "ALL"
fired = ["clear"]
[[guards]]
name = "evidence stays"
policy = "mine"
metric = "totals.evidence_kept"
at_least = 0.7
"#;

#[test]
fn a_ratchet_lets_guarded_numbers_move_to_the_better_alone_until_today_is_blessed() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    let kept = path.join("snapshots/suite/ratchet.toml");
    let trigger = |tokens: &str| fs::write(path.join("mine.ron"), POLICY.replace("40_000", tokens)).unwrap();
    let ratchet = |args: &[&str]| {
        let output = check(path, args);
        (output.status.code(), all_said(&output), fs::read_to_string(&kept).unwrap())
    };

    trigger("60_000");
    let (code, text, first) = ratchet(&["--ratchet"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(first.contains("guard = \"evidence stays\"") && !first.contains("it clears"), "{first}");
    // A lower trigger clears more, so less evidence stays; it is still above the guard's own bound.
    trigger("40_000");
    let (code, text, after) = ratchet(&["--ratchet"]);
    assert_eq!((code, &after), (Some(1), &first), "{text}");
    assert_says(&text, &["evidence stays (ratchet)", "is not as good as the best so far"]);
    assert_eq!(ratchet(&["--ratchet=50%"]).0, Some(0));
    let (code, _, loosened) = ratchet(&["--ratchet", "--bless"]);
    assert!(code == Some(0) && loosened != first);
    // What is better is kept, and cannot be lost again.
    trigger("90_000");
    let (code, text, better) = ratchet(&["--ratchet"]);
    assert!(code == Some(0) && better != loosened, "{text}");
    trigger("60_000");
    assert_eq!(ratchet(&["--ratchet"]).0, Some(1));
    fs::remove_file(&kept).unwrap();
    let mut in_ci = program(path, ["check", "--suite", "suite.toml", "--ratchet"]);
    assert_says(&refusal(&in_ci.env("CI", "1").output().unwrap()), &["[ratchet-missing]"]);
    fs::write(&kept, "best = 3\n").unwrap();
    let (code, text, _) = ratchet(&["--ratchet"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("ratchet.toml:1:8"), "{text}");
}

/// Returns the snapshots of the suite and those that wait for a review.
fn kept(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for scenario in fs::read_dir(folder.join("snapshots/suite")).unwrap() {
        let scenario = scenario.unwrap();
        // Best values and assumed numbers stand beside the folders.
        if scenario.path().is_file() {
            continue;
        }
        for file in fs::read_dir(scenario.path()).unwrap() {
            let names = [scenario.file_name(), file.unwrap().file_name()];
            found.push(names.map(|it| it.into_string().unwrap()).join("/"));
        }
    }
    found.sort();
    found
}

#[test]
fn an_unchanged_tree_passes_and_a_changed_budget_shows_which_numbers_moved() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    assert_eq!(check(path, &["--bless"]).status.code(), Some(0));
    let names = ["duckagent-incremental_workspace_audit", "session"];
    assert_eq!(kept(path), names.map(|it| format!("{it}/anthropic-claude-sonnet-5.5.snap")));

    let unchanged = check(path, &[]);
    let text = all_said(&unchanged);
    assert_eq!(unchanged.status.code(), Some(0), "{text}");
    assert!(text.contains("suite passed: 3 of 3 guard checks passed, 2 of 2 snapshots unchanged"), "{text}");

    fs::write(path.join("mine.ron"), POLICY.replace("40_000", "55_000")).unwrap();
    let changed = check(path, &[]);
    let text = all_said(&changed);
    assert_eq!(changed.status.code(), Some(1));
    assert_says(&text, &["mine, longest prompt: 39,958 → 4", "mine, US dollars: 0.299", "%)", "--bless"]);
    let waiting = kept(path).into_iter().filter(|it| it.ends_with(".snap.new")).count();
    assert_eq!(waiting, 2, "`cargo insta review` finds them");
    assert_eq!(check(path, &["--bless"]).status.code(), Some(0));
    assert!(kept(path).iter().all(|it| it.ends_with(".snap")), "nothing waits any more");
    assert_eq!(check(path, &[]).status.code(), Some(0));
}

#[test]
fn a_build_machine_leaves_nothing_for_review() {
    let folder = folder_of_suite(POLICY, SUITE);
    check(folder.path(), &["--bless"]);
    fs::write(folder.path().join("mine.ron"), POLICY.replace("40_000", "55_000")).unwrap();

    let output = program(folder.path(), ["check", "--suite", "suite.toml"]).env("CI", "1").output();

    assert_eq!(output.unwrap().status.code(), Some(1));
    assert!(kept(folder.path()).iter().all(|it| it.ends_with(".snap")));
}

#[test]
fn runs_without_a_snapshot_and_snapshots_without_a_run_fail() {
    let folder = folder_of_suite(POLICY, SUITE);
    check(folder.path(), &["--bless"]);
    let snapshots = folder.path().join("snapshots/suite");
    fs::rename(snapshots.join("session"), snapshots.join("other")).unwrap();

    let output = check(folder.path(), &[]);

    let text = all_said(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("no snapshot yet") && text.contains("the suite no longer has this run"), "{text}");
}

#[test]
fn a_check_never_passes_where_a_scenario_could_not_be_run() {
    let folder = folder_of_suite(POLICY, SUITE);
    fs::create_dir(folder.path().join("sessions")).unwrap();
    let broken = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":3}}\n{";
    fs::write(folder.path().join("sessions/broken.jsonl"), broken).unwrap();
    fs::copy(folder.path().join("session.jsonl"), folder.path().join("sessions/good.jsonl")).unwrap();
    let suite = |scenario: &str| {
        let text = SUITE.replace("\"session.jsonl\"", &format!("\"{scenario}\""));
        fs::write(folder.path().join("suite.toml"), text).unwrap();
        check(folder.path(), &[])
    };

    assert_eq!(suite("nowhere.jsonl").status.code(), Some(2));
    assert_eq!(suite("sessions/broken.jsonl").status.code(), Some(2));
    fs::write(folder.path().join("sessions/scenario.toml"), "load = 3\nname = \"scenario\"\n").unwrap();
    let output = suite("sessions");
    assert_eq!(output.status.code(), Some(2), "{}", all_said(&output));
}

#[test]
fn prices_of_a_later_day_move_nothing_by_themselves() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path().join("priced.toml");
    let day = |day: &str| {
        let text = format!(
            "name = \"priced\"\nabout = \"Dated prices.\"\nas_of = \"{day}\"\nsources = [\"none\"]\ncache = \"none\"\n\
             [[prices]]\ninput = 1.0\noutput = 2.0\n[[prices]]\nfrom = \"2026-06-01\"\ninput = 5.0\noutput = 9.0\n"
        );
        fs::write(&path, text).unwrap();
    };
    day("2026-05-01");
    let suite = SUITE.replace("anthropic/claude-sonnet-5.5", "priced.toml");
    fs::write(folder.path().join("suite.toml"), suite).unwrap();
    assert_eq!(check(folder.path(), &["--bless"]).status.code(), Some(0));

    day("2026-07-01");

    let output = check(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", all_said(&output));
    assert_eq!(check(folder.path(), &["--bless"]).status.code(), Some(0));
    let text = fs::read_to_string(folder.path().join("snapshots/suite/session/priced.snap")).unwrap();
    assert!(text.contains("prices of 2026-07-01"), "{text}");
}

/// Makes a folder whose numbers are accepted at some prices, and adds dearer ones of a later day.
fn repriced() -> TempDir {
    let folder = folder_of_suite(POLICY, SUITE);
    let write = |day: &str| {
        let text = format!(
            "name = \"priced\"\nabout = \"Dated prices.\"\nas_of = \"{day}\"\nsources = [\"none\"]\ncache = \"none\"\n\
             [[prices]]\ninput = 1.0\noutput = 2.0\n[[prices]]\nfrom = \"2026-06-01\"\ninput = 5.0\noutput = 9.0\n"
        );
        fs::write(folder.path().join("priced.toml"), text).unwrap();
    };
    let cheap = "[[guards]]\nname = \"It stays cheap.\"\npolicy = \"mine\"\nmetric = \"totals.cost_usd.total\"\nbelow = 6.0\n\
        [[guards]]\nname = \"Is it used?\"\npolicy = \"mine\"\nmetric = \"totals.requests\"\nabove = 1\n";
    let suite = SUITE.replace("anthropic/claude-sonnet-5.5", "priced.toml") + cheap;
    fs::write(folder.path().join("suite.toml"), suite).unwrap();
    write("2026-05-01");
    let blessed = check(folder.path(), &["--bless"]);
    assert_eq!(blessed.status.code(), Some(0), "{}", all_said(&blessed));
    write("2026-07-01");
    folder
}

#[test]
fn newer_prices_are_told_with_what_the_guards_say_under_them_in_every_format() {
    let folder = repriced();
    let words = "prices of 2026-05-01; newer: 2026-07-01, `--bless` adopts them";
    for format in ["table", "json", "html", "github", "junit", "sarif"] {
        let output = check(folder.path(), &["--format", format]);
        let text = all_said(&output).replace("&#x27;", "'").replace("&#96;", "`");
        let text = text.replace("<code>", "`").replace("</code>", "`");
        assert_eq!(output.status.code(), Some(0), "{format}: {text}");
        assert!(text.contains(words), "{format}: {text}");
        assert!(text.contains(env!("CARGO_PKG_VERSION")), "{format}: {text}");
        // A program counts the guards itself.
        if format != "json" {
            assert!(text.contains("under the newer prices, 6 of 7 guard checks pass"), "{format}: {text}");
            assert!(text.contains("is not below 6 (mine on"), "{format}: {text}");
        }
    }
    let json: Value = serde_json::from_slice(&check(folder.path(), &["--format", "json"]).stdout).unwrap();
    let suite = &json["suites"][0];
    assert_eq!(suite["made"]["prices"]["priced"], "2026-05-01", "the day of the numbers, not of the file");
    let guards = suite["newer_prices"]["guards"].as_array().unwrap();
    assert_eq!((guards.len(), guards.iter().filter(|it| it["holds"] == false).count()), (7, 1));
    let after = check(folder.path(), &["--bless"]);
    assert_eq!(
        after.status.code(),
        Some(1),
        "the guard fails once the prices are adopted: {}",
        all_said(&after)
    );
    assert!(!all_said(&check(folder.path(), &[])).contains("newer:"));
}

#[test]
fn what_waits_for_review_says_the_day_of_its_own_numbers() {
    let folder = repriced();
    fs::write(folder.path().join("mine.ron"), POLICY.replace("40_000", "55_000")).unwrap();

    check(folder.path(), &[]);

    let waiting = fs::read_to_string(folder.path().join("snapshots/suite/session/priced.snap.new")).unwrap();
    assert!(waiting.contains("prices of 2026-05-01;"), "{waiting}");
}

#[test]
fn every_artefact_says_the_version_the_day_of_the_prices_and_the_digests_of_its_inputs() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    assert_eq!(check(path, &["--bless"]).status.code(), Some(0));
    let made = || {
        let json: Value = serde_json::from_slice(&check(path, &["--format", "json"]).stdout).unwrap();
        json["suites"][0]["made"].clone()
    };
    let before = made();
    assert_eq!(before["ctxsim"], env!("CARGO_PKG_VERSION"));
    assert_eq!(before["prices"]["anthropic/claude-sonnet-5.5"], "2026-11-21");
    let inputs = before["inputs"].as_object().unwrap();
    let names = |kind: &str| inputs[kind].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names("policy"), ["identity", "mine"]);
    assert_eq!(names("scenario"), ["duckagent/incremental_workspace_audit", "session"]);
    assert_eq!((names("suite").len(), names("profile").len()), (1, 1));
    let digest = before["inputs"]["scenario"]["session"].as_str().unwrap();
    let with = format!("ctxsim {}, prices of 2026-11-21, inputs ", env!("CARGO_PKG_VERSION"));
    for format in ["table", "html", "github"] {
        let text = all_said(&check(path, &["--format", format]));
        assert!(text.contains(&with), "{format}: {text}");
    }
    for format in ["junit", "sarif"] {
        let text = all_said(&check(path, &["--format", format]));
        assert!(text.contains(digest) && text.contains("2026-11-21"), "{format}: {text}");
    }
    let snapshot = path.join("snapshots/suite/session/anthropic-claude-sonnet-5.5.snap");
    let text = fs::read_to_string(&snapshot).unwrap();
    let header = format!(
        "---\nsource: ctxsim check\ndescription: prices of 2026-11-21; ctxsim {}; scenario {digest}; profile ",
        env!("CARGO_PKG_VERSION")
    );
    assert!(text.starts_with(&header), "{text}");
    // A comment moves the digest of its file alone; the ends of lines move none.
    fs::write(path.join("mine.ron"), format!("// mine\n{POLICY}").replace('\n', "\r\n")).unwrap();
    let commented = made();
    fs::write(path.join("mine.ron"), format!("// mine\n{POLICY}")).unwrap();
    assert_eq!(made(), commented);
    assert_ne!(commented["inputs"]["policy"]["mine"], before["inputs"]["policy"]["mine"]);
    assert_eq!(commented["inputs"]["scenario"], before["inputs"]["scenario"]);
}

#[test]
fn an_upgrade_and_a_changed_scenario_are_told_as_such_and_old_headers_are_still_read() {
    let folder = folder_of_suite(POLICY, SUITE);
    let path = folder.path();
    check(path, &["--bless"]);
    let snapshot = path.join("snapshots/suite/session/anthropic-claude-sonnet-5.5.snap");
    let text = fs::read_to_string(&snapshot).unwrap();
    let version = format!("ctxsim {}", env!("CARGO_PKG_VERSION"));
    let line = text.lines().find(|it| it.starts_with("description: ")).unwrap();
    let moved = text.replacen("identity", "identit", 1);
    let with = |header: &str| {
        fs::write(&snapshot, moved.replace(line, header)).unwrap();
        let output = check(path, &[]);
        assert_eq!(output.status.code(), Some(1));
        all_said(&output)
    };

    let upgraded = with(&line.replace(&version, "ctxsim 0.0.9"));
    let words = format!("written by ctxsim 0.0.9, you run {}", env!("CARGO_PKG_VERSION"));
    assert!(upgraded.contains(&words) && !upgraded.contains("has changed"), "{upgraded}");
    let other = with(&line.replace("scenario ", "scenario 0"));
    assert!(other.contains("the scenario has changed") && !other.contains("written by"), "{other}");
    let old = with("description: prices of 2026-11-21");
    assert!(old.contains("the snapshot does not say which version of ctxsim wrote it"), "{old}");
    // An old header whose numbers hold is as good as a new one.
    fs::write(&snapshot, text.replace(line, "description: prices of 2026-11-21")).unwrap();
    assert_eq!(check(path, &[]).status.code(), Some(0));
}

#[test]
fn a_guard_whose_name_is_a_sentence_keeps_its_punctuation_in_every_format() {
    let folder = repriced();
    for format in ["table", "json", "html", "github", "junit", "sarif"] {
        let text = all_said(&check(folder.path(), &["--format", format]));
        assert!(!text.contains(".:") && !text.contains("?:") && !text.contains(". ("), "{format}: {text}");
    }
    let text = all_said(&check(folder.path(), &[]));
    assert!(text.contains("It stays cheap: ") && text.contains("Is it used? "), "{text}");
    let run = ctxsim(folder.path(), ["run", "--suite", "suite.toml"]);
    assert!(all_said(&run).contains("guard failed: It stays cheap: "), "{}", all_said(&run));
    assert!(!all_said(&run).contains("cheap.:"), "{}", all_said(&run));
}

/// Makes a folder in which a guard is broken.
fn broken() -> TempDir {
    let folder = folder_of_suite(POLICY, SUITE);
    fs::write(folder.path().join("mine.ron"), POLICY.replace("40_000", "900_000")).unwrap();
    folder
}

#[test]
fn junit_has_a_case_a_verdict_and_a_failure_with_both_places() {
    let folder = broken();
    let output = check(folder.path(), &["--format", "junit"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();

    let root = document.root_element();
    assert_eq!(
        (root.tag_name().name(), root.attribute("tests"), root.attribute("failures")),
        ("testsuites", Some("3"), Some("1"))
    );
    let failure = document.descendants().find(|it| it.has_tag_name("failure")).unwrap();
    assert_eq!(failure.attribute("type"), Some("guard"));
    let place = failure.text().unwrap();
    assert!(
        place.starts_with("mine.ron:7:9: 0 is not at least 1") && place.contains("suite.toml:7:1"),
        "{place}"
    );
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let of = |text: &str| text.split(' ').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let Some((_, attributes, required, children)) =
            JUNIT.iter().find(|it| it.0 == node.tag_name().name())
        else {
            panic!("{node:?} is not an element of the schema");
        };
        let [attributes, required, children]: [Vec<String>; 3] = [*attributes, *required, *children].map(of);
        assert!(node.attributes().all(|it| attributes.iter().any(|known| known == it.name())), "{node:?}");
        assert!(required.iter().all(|it| node.attribute(it.as_str()).is_some()), "{node:?}");
        let own = node.children().filter(roxmltree::Node::is_element);
        assert!(own.into_iter().all(|it| children.iter().any(|known| known == it.tag_name().name())));
    }
}

/// What Jenkins' schema (junit-10.xsd of its xUnit plugin) says of each element that is written: the attributes that it may have and must
/// have, and the elements within it.
const JUNIT: [(&str, &str, &str, &str); 7] = [
    ("testsuites", "name time tests failures errors", "", "testsuite"),
    (
        "testsuite",
        "name tests failures errors group time skipped timestamp hostname id package file log url",
        "name tests failures errors",
        "testsuite properties testcase system-out system-err",
    ),
    ("testcase", "name time classname group", "name", "skipped error failure system-out system-err"),
    ("failure", "type message", "", ""),
    ("properties", "", "", "property"),
    ("property", "name value", "name value", ""),
    ("system-out", "", "", ""),
];

/// What the schema of SARIF 2.1.0 says of each object that is written: where it stands, the properties that it must have, and others that it
/// may have. The schema allows no others than it names.
const SARIF: [(&str, &str, &str); 12] = [
    ("", "version runs", "$schema"),
    ("/runs/*", "tool", "results properties"),
    ("/runs/*/tool", "driver", ""),
    ("/runs/*/tool/driver", "name", "semanticVersion rules informationUri"),
    ("/runs/*/tool/driver/rules/*", "id", "shortDescription"),
    ("/runs/*/tool/driver/rules/*/shortDescription", "text", ""),
    ("/runs/*/results/*", "message", "ruleId level locations relatedLocations"),
    ("/runs/*/results/*/message", "text", ""),
    ("/location", "", "physicalLocation message"),
    ("/location/physicalLocation", "artifactLocation", "region"),
    ("/location/physicalLocation/artifactLocation", "uri", ""),
    ("/location/physicalLocation/region", "startLine", "startColumn"),
];

/// Holds an object and all below it against the schema of SARIF.
fn assert_sarif(value: &Value, place: &str) {
    let place = match place.strip_suffix("/locations/*").or(place.strip_suffix("/relatedLocations/*")) {
        Some(_) => "/location".to_owned(),
        None => place.to_owned(),
    };
    match value {
        Value::Array(all) => all.iter().for_each(|it| assert_sarif(it, &format!("{place}/*"))),
        // A bag of properties may hold anything.
        Value::Object(_) if place.ends_with("/properties") => {}
        Value::Object(fields) if !place.ends_with("/location/message") => {
            let of = SARIF.iter().find(|it| it.0 == place);
            let (_, required, optional) = of.unwrap_or_else(|| panic!("an object at {place}"));
            let is_in = |name: &str, names: &str| names.split(' ').any(|it| it == name);
            for name in required.split(' ').filter(|it| !it.is_empty()) {
                assert!(fields.contains_key(name), "{place} has no {name}");
            }
            for (name, value) in fields {
                assert!(is_in(name, required) || is_in(name, optional), "{place} has {name}");
                assert_sarif(value, &format!("{place}/{name}"));
            }
        }
        _ => {}
    }
}

#[test]
fn sarif_points_at_the_line_of_the_policy_file() {
    let folder = broken();
    let output = check(folder.path(), &["--format", "sarif"]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();

    assert_sarif(&log, "");
    assert_eq!((&log["version"], log["runs"].as_array().unwrap().len()), (&"2.1.0".into(), 1));
    assert_eq!(log["runs"][0]["results"][0]["level"], "error");
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&"mine.ron".into(), &7.into())
    );
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|it| it["id"] == results[0]["ruleId"]), "{log}");
}

#[test]
fn a_workflow_gets_a_summary_and_marks_at_lines() {
    let folder = broken();
    let output = check(folder.path(), &["--format", "github", "--output", "summary.md"]);
    let marks = String::from_utf8(output.stdout).unwrap();
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();

    assert!(
        marks.starts_with("::error file=mine.ron,line=7,col=9,title=it clears::0 is not at least 1"),
        "{marks}"
    );
    assert!(summary.contains("❌ suite failed: 2 of 3") && summary.contains("<details>"), "{summary}");
}

#[test]
fn a_run_as_the_summary_of_a_workflow_folds_the_detail_and_marks_what_failed() {
    let folder = broken();
    let args = ["run", "--suite", "suite.toml", "--format", "github", "--output", "summary.md"];
    let output = ctxsim(folder.path(), args);
    let marks = String::from_utf8(output.stdout).unwrap();
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();

    assert_eq!(output.status.code(), Some(1));
    assert!(
        marks.starts_with("::error file=mine.ron,line=7,col=9,title=it clears::0 is not at least 1"),
        "{marks}"
    );
    let (open, folded) = summary.split_once("<details>").unwrap();
    assert_says(open, &["| policy |", "Δ cost", "❌ it clears"]);
    assert!(folded.contains("Notes:") && folded.contains("Assumptions:") && folded.contains("</details>"));
}
