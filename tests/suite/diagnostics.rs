//! Broken inputs: what a person is told, where, and what to do about it.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Codes that neither a broken file nor a command line can show, and where they are shown instead.
const ELSEWHERE: [(&str, &str); 10] = [
    (
        "block-trace-unknown",
        "of the library's `blocks::read`, which the binary asks only for traces that it knows",
    ),
    ("invalid", "stands for several others"),
    ("list-empty", "of a request of the library; a suite that lists nothing runs nothing"),
    ("load-too-large", "needs ten million items"),
    ("recording-empty", "of a recording: tests/suite/import/claude_code.rs"),
    ("recording-several", "of the library's `import`, which takes one session"),
    ("store-differs", "of a folder: tests/suite/cli.rs"),
    ("store-input-missing", "of a folder: tests/suite/cli.rs"),
    ("tools-too-many", "needs 65,535 tools"),
    ("unwritable", "of a report that cannot be written"),
];

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the names of a folder's input files, sorted.
fn inputs(folder: &str) -> Vec<String> {
    let names = fs::read_dir(root(folder)).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|it| it.ends_with(".ron") || it.ends_with(".toml")).collect();
    names.sort();
    names
}

/// Validates a file of a folder, which must be refused with nothing printed; returns what is told.
fn refused(folder: &str, file: &str) -> String {
    refused_line(folder, &["validate", file])
}

/// Runs a command line in a folder, which must be refused with nothing printed; returns what is told.
fn refused_line(folder: &str, args: &[&str]) -> String {
    let binary = env!("CARGO_BIN_EXE_ctxsim");
    let output = Command::new(binary).args(args).current_dir(root(folder)).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let helped = text.matches("= help: ").count();
    assert_eq!(helped, text.matches("error[").count(), "every answer names its way out:\n{text}");
    text
}

fn assert_told(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn every_broken_file_is_answered_with_places_and_ways_out() {
    let is_sound_here = |file: &str| cfg!(feature = "tokens") && file == "scenario.tokenizer_not_built.toml";
    for file in inputs("tests/invalid").into_iter().filter(|it| !is_sound_here(it)) {
        let text = refused("tests/invalid", &file);

        assert!(text.contains(&format!(" {file}:")) || text.contains(".json"), "no place in {file}:\n{text}");
        assert_told("diagnostics", file.rsplit_once('.').unwrap().0, &text);
    }
}

#[test]
fn every_mistaken_command_line_is_answered_with_a_way_out() {
    let blocks = ["run", "--scenario", "../data/blocks/mooncake.jsonl", "--policy", "identity"];
    let plain =
        ["run", "--scenario", "duckagent/plain_chat", "--policy", "identity", "--profile", "unlimited"];
    let lines: &[Vec<&str>] = &[
        [&plain[..], &["--rows", "requests", "--format", "table"]].concat(),
        [&plain[..], &["--rows", "trials"]].concat(),
        [
            &plain[..],
            &["--set", "params.x", "--set", "params..x=1", "--set", "parms.x=1", "--set", "params.x=1..5"],
        ]
        .concat(),
        [&plain[..], &["--set", "scenario.sed=1"]].concat(),
        [&plain[..], &["--set", "scenario.seed=many"]].concat(),
        vec![
            "run",
            "--suite",
            "context-decay",
            "--set",
            "scenario.load.conversation.needle_density=0",
            "--set",
            "memory.write.extract.2.p=1.5",
        ],
        vec!["run", "--scenario", "context_decay/trials", "--rows", "requests", "--profile", "unlimited"],
        [&blocks[..], &["--profile", "open/blocks-64-infinite"]].concat(),
        [&blocks[..], &["--profile", "anthropic/claude-opus-4.5"]].concat(),
        [&blocks[..], &["--profile", "open/blocks-512-lru", "--set", "profile.cache.capacity_blocks=0"]]
            .concat(),
        [&blocks[..], &["--profile", "open/blocks-512-lru", "--set", "profile.cache.capacity_blocks=-5"]]
            .concat(),
        [
            &blocks[..],
            &["--profile", "open/blocks-64-infinite", "--set", "profile.cache.capacity_blocks=9e9"],
        ]
        .concat(),
        vec!["run", "--scenario", "blocks_negative.jsonl"],
        vec!["run", "--scenario", "blocks_cut.json"],
        vec!["run", "--scenario", "nowhere.jsonl"],
        vec!["run", "--scenario", "../data/blocks"],
        vec!["run", "--scenario", "vectors.series_malformed.json"],
        [&["explain"], &plain[1..], &["--request", "99"]].concat(),
        vec![
            "explain",
            "--scenario",
            "vectors.series_malformed.json",
            "--policy",
            "identity",
            "--request",
            "1",
        ],
        vec!["validate", "nowhere.ron"],
        vec!["validate", "../data/twice"],
        vec!["validate", "../data/blocks"],
        vec!["convert", "unknown.jsonl", "--to", "ron"],
        vec!["prices", "compare", "../data/prices/models.dev"],
        vec!["prices", "compare", "../data/prices/litellm"],
        vec!["prices", "import", "unknown.jsonl", "--as-of", "today"],
        vec!["prices", "import", "unknown.jsonl", "--as-of", "2026-11-21"],
        vec!["prices", "import", "nowhere.json", "--as-of", "2026-11-21"],
        vec!["prices", "import", "prices_nan.json", "--as-of", "2026-11-21"],
        vec!["prices", "import", "prices_twice.json", "--as-of", "2026-11-21"],
        vec!["prices", "import", "prices_negative.json", "--as-of", "2026-11-21"],
    ];

    assert_told("diagnostics", "command_lines", &transcript(lines));
}

/// Returns what is told of each of some command lines.
fn transcript(lines: &[Vec<&str>]) -> String {
    let told = |line: &Vec<&str>| {
        let text = refused_line("tests/invalid", line);
        format!("$ ctxsim {}\n{text}\n", line.join(" "))
    };
    lines.iter().map(told).collect()
}

#[test]
fn every_mistaken_command_line_for_conversations_is_answered_with_a_way_out() {
    let suite = ["run", "--suite", "context-decay"];
    let lines = [
        [
            &suite[..],
            &["--set", "scenario.seed=99999999999999999999"],
            &["--set", "scenario.load.conversation.hash_seed=99999999999999999999"],
        ]
        .concat(),
        [&suite[..], &["--trials", "99999999999"]].concat(),
        vec!["run", "--suite", "default", "--trials", "3"],
        vec!["sensitivity", "--trials", "3"],
        [&suite[..], &["--rows", "needs"]].concat(),
        [&suite[..], &["--set", "memory.oracle=[write]", "--set", "memory.use=[exact, summarised]"]].concat(),
        [&suite[..], &["--set", "memory.oracle=write"]].concat(),
        [&suite[..], &["--set", "memory.store={ entries = { tokens_per_fact = 5, capactiy = 9 } }"]].concat(),
    ];

    assert_told("diagnostics", "command_lines_of_conversations", &transcript(&lines));
}

#[test]
fn every_code_has_its_broken_file() {
    let mut shown = BTreeSet::new();
    for file in fs::read_dir(root("snapshots/diagnostics")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        shown.extend(
            text.split("error[").skip(1).filter_map(|it| it.split_once(']')).map(|it| it.0.to_owned()),
        );
    }
    let elsewhere: BTreeSet<&str> = ELSEWHERE.iter().map(|it| it.0).collect();

    let codes = codes();
    let missing: Vec<&String> =
        codes.iter().filter(|it| !shown.contains(*it) && !elsewhere.contains(it.as_str())).collect();
    assert!(codes.len() > 50, "{codes:?}");
    assert_eq!(missing, Vec::<&String>::new(), "put a broken file into tests/invalid for each");
    let listed: Vec<&&str> = elsewhere.iter().filter(|it| shown.contains(**it)).collect();
    assert_eq!(listed, Vec::<&&str>::new(), "these are shown now");
    let stale: Vec<&str> = elsewhere.into_iter().filter(|it| !codes.contains(*it)).collect();
    assert_eq!(stale, Vec::<&str>::new(), "no code is called so any more");
}

/// Returns the codes in the library's source: the first literal of each call that makes a problem.
fn codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for text in super::tidy::sources("src") {
        let text = text.1.split("#[cfg(test)]").next().unwrap().to_owned();
        for call in [".push(", ".push_at(", "Diagnostic::at(", "Fault::new(", "problem("] {
            for rest in text.split(call).skip(1) {
                let Some(rest) = rest.trim_start().strip_prefix('"') else { continue };
                let Some((code, behind)) = rest.split_once('"') else { continue };
                let is_code = code.len() > 3 && code.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
                if is_code && behind.starts_with(',') {
                    codes.insert(code.to_owned());
                }
            }
        }
    }
    codes
}

#[test]
fn ten_mistakes_of_a_newcomer_are_answered_with_place_and_fix() {
    let mut transcript = String::new();
    for file in inputs("tests/newcomer").iter().filter(|it| !it.contains("of_base")) {
        let text = refused("tests/newcomer", file);
        assert!(text.contains("= help: "), "{text}");
        transcript += &format!("$ ctxsim validate {file}\n{text}\n");
    }

    assert_told("cli", "newcomer", &transcript);
}
