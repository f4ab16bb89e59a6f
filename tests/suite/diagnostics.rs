//! Broken inputs: what a person is told, where, and what to do about it.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Codes that no single broken file can show, and where they are shown instead.
const ELSEWHERE: [(&str, &str); 15] = [
    ("file", "needs a file that cannot be read: into_problem in error.rs"),
    ("file-format", "of a path, not of a text: the command line's tests"),
    ("folder-empty", "of a folder, not of a text"),
    ("invalid", "stands for several others"),
    ("list-empty", "of a request; a suite that lists nothing runs nothing"),
    ("load-too-large", "needs ten million items"),
    ("name-duplicate", "of two files"),
    ("recording-empty", "of a recording: tests/suite/import.rs"),
    ("rows-format", "of arguments"),
    ("set-empty-step", "of arguments: tests/suite/set.rs"),
    ("set-no-such-field", "of arguments: tests/suite/set.rs"),
    ("set-no-value", "of arguments: tests/suite/set.rs"),
    ("set-value", "of arguments: tests/suite/set.rs"),
    ("tools-too-many", "needs 65,535 tools"),
    ("unwritable", "of a report that cannot be written"),
];

/// Codes of the newer floors (memory, conversations, prices, block traces, cache vectors), whose own tests show most of them;
/// each is to get a broken file too, and then leaves this list.
const STILL_WITHOUT: &[&str] = &[
    "bank-duplicate",
    "bank-unknown",
    "banks-empty",
    "banks-too-many",
    "block-size",
    "block-size-missing",
    "block-size-zero",
    "block-trace-empty",
    "block-trace-rules",
    "block-trace-unknown",
    "breakpoint-nowhere",
    "capacity-zero",
    "categories-empty",
    "category-empty",
    "date-format",
    "domain-words",
    "domains-empty",
    "extract-bar",
    "extract-too-many",
    "extract-passes",
    "guard-bound",
    "guard-policy",
    "hash-seed-missing",
    "hash-seed-stray",
    "length-duplicate",
    "length-range",
    "lengths-empty",
    "memory-never-writes",
    "needle-duplicate",
    "price-ambiguous",
    "price-date-duplicate",
    "price-list-unknown",
    "price-lists",
    "price-not-yet",
    "probability-range",
    "read-nothing",
    "recording-missing",
    "recording-several",
    "request-incomplete",
    "rows-conversation",
    "rows-trials",
    "service-form",
    "service-unknown",
    "share-digits",
    "share-range",
    "stages-too-many",
    "tier-duplicate",
    "tier-mixed",
    "tier-threshold",
    "trials-range",
    "ttl-class",
    "ttl-class-twice",
    "turn-seconds-range",
    "value-decimals",
    "value-none",
    "value-range",
    "vectors-unreadable",
    "window-form",
    "window-hours",
    "window-tiers",
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
    let binary = env!("CARGO_BIN_EXE_ctxsim");
    let output = Command::new(binary).args(["validate", file]).current_dir(root(folder)).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{file}");
    assert!(output.stdout.is_empty(), "{file}");
    String::from_utf8(output.stderr).unwrap()
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
    for file in inputs("tests/invalid") {
        let text = refused("tests/invalid", &file);

        assert!(
            text.contains(&format!(" {file}:")) || text.contains(".jsonl"),
            "no place in {file}:\n{text}"
        );
        assert_told("diagnostics", file.rsplit_once('.').unwrap().0, &text);
    }
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
    let missing: Vec<&String> = codes
        .iter()
        .filter(|it| !shown.contains(*it) && !elsewhere.contains(it.as_str()))
        .filter(|it| !STILL_WITHOUT.contains(&it.as_str()))
        .collect();
    assert!(codes.len() > 50, "{codes:?}");
    assert_eq!(missing, Vec::<&String>::new(), "put a broken file into tests/invalid for each");
    let listed = STILL_WITHOUT.iter().copied().filter(|it| shown.contains(*it)).collect::<Vec<_>>();
    assert_eq!(listed, Vec::<&str>::new(), "these have their broken file now");
    let stale: Vec<&str> = elsewhere.into_iter().filter(|it| !codes.contains(*it)).collect();
    assert_eq!(stale, Vec::<&str>::new(), "no code is called so any more");
}

/// Returns the codes in the library's source: the first literal of each call that makes a problem.
fn codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for text in super::tidy::sources("src") {
        let text = text.1.split("#[cfg(test)]").next().unwrap().to_owned();
        for call in [".push(", "Diagnostic::at(", "Fault::new(", "problem("] {
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
