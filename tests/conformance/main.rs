//! Sessions with the rows that a provider's cache must give: tokens and picodollars, from listed prompts and from traces.
//!
//! The format stands in `file.rs`. `CTXSIM_REFERENCE` names a folder with more sessions in `cache-vectors`, and
//! `CTXSIM_CONFORMANCE_OUT` a file for all rows: those of the reference where there is one, else those of the test data.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod file;
mod play;
mod policy;
mod prompts;
mod rules;

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Value, json};

use play::Played;

/// Three sessions under four policies and two rules, and nine vectors of a rule alone, worked by hand.
const BY_HAND: &str = include_str!("../data/cache-vectors/conformance.json");

/// Plays every JSON file of a folder.
#[expect(clippy::print_stderr, reason = "what is left out is told")]
fn play_folder(folder: &Path) -> Played {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "json"));
    paths.sort();
    let mut played = Played::default();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        played.file(&name, &fs::read_to_string(path).unwrap());
    }
    for name in &played.of_sentences {
        eprintln!(
            "{name}: its policies are sentences, so that its listed requests are played and its traces are not"
        );
    }
    played
}

/// Plays the sessions worked by hand, with something changed.
fn play_with(change: impl FnOnce(&mut Value)) -> Played {
    let mut file = serde_json::from_str(BY_HAND).unwrap();
    change(&mut file);
    let mut played = Played::default();
    played.file("changed.json", &file.to_string());
    played
}

#[test]
fn every_row_is_as_expected_from_requests_and_from_traces() {
    let here = play_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cache-vectors"));
    let reference = env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("cache-vectors"));
    let reference = reference.map(|it| play_folder(&it));
    if let Some(path) = env::var_os("CTXSIM_CONFORMANCE_OUT") {
        let lines = &reference.as_ref().unwrap_or(&here).lines;
        fs::write(path, lines.iter().map(|it| format!("{it}\n")).collect::<String>()).unwrap();
    }

    let problems: Vec<String> = [here.problems, reference.unwrap_or_default().problems].concat();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn both_sides_of_every_session_are_played() {
    let played = play_with(|_| {});

    assert_eq!(played.problems, [] as [&str; 0]);
    let runs = 3 * 4 * 2;
    assert_eq!(played.compared, [runs + 9, runs], "sessions, policies, rules; vectors of a rule alone");
}

#[test]
fn a_wrong_number_is_told() {
    let row = "/sessions/G1_one_loop/runs/mask_rolling_2/expected/breakpoints/rows/3";
    let total = "/sessions/G1_one_loop/runs/none/expected/prefix_interval/total_picodollars";
    let vector = "/cache_vectors/mixed_ttl_billing/expect/1";
    for (place, n_told) in [
        (format!("{row}/read"), 2),
        (format!("{row}/picodollars"), 2),
        (total.to_owned(), 2),
        (format!("{vector}/write/5m"), 1),
    ] {
        let played = play_with(|file| {
            let number = file.pointer_mut(&place).unwrap();
            *number = (number.as_u64().unwrap() + 1).into();
        });
        assert_eq!(played.problems.len(), n_told, "{place}: {:?}", played.problems);
    }
    let played = play_with(|file| drop(file.pointer_mut(row).map(Value::take)));
    assert_eq!(played.problems.len(), 1, "{:?}", played.problems);
}

#[test]
fn what_is_not_known_is_an_error_and_passes_nothing_over() {
    let policies = [
        (json!("append only"), "unknown variant `append only`"),
        (json!({ "forget": {} }), "unknown variant `forget`"),
        (json!({ "append_only": { "keep": 1 } }), "unknown field `keep`"),
        (json!({ "mask": { "keep": 1, "batch": 1, "marker": 10, "newest": 1 } }), "unknown field `newest`"),
        (json!({ "mask": { "keep": 1, "marker": 10 } }), "missing field `batch`"),
    ];
    for (policy, problem) in policies {
        let played = play_with(|file| file["policies"]["none"] = policy);
        let n_told = played.problems.iter().filter(|it| it.contains(problem)).count();
        assert_eq!((n_told, played.problems.len()), (7, 7), "{:?}", played.problems);
    }
    let fields = [
        ("/rules", "lru"),
        ("/rules/breakpoints", "grace_ms"),
        ("/sessions/G1_one_loop", "weather"),
        ("/sessions/G1_one_loop/trace/0", "weather"),
        ("/cache_vectors/availability/requests/0", "weather"),
    ];
    for (place, name) in fields {
        let played = play_with(|file| file.pointer_mut(place).unwrap()[name] = 1.into());
        assert!(played.problems[0].contains(&format!("unknown field `{name}`")), "{:?}", played.problems);
    }
    let played = play_with(|file| file["rules"]["breakpoints"]["live"] = "now - touched < ttl".into());
    assert!(played.problems[0].contains("unknown variant `now - touched < ttl`"), "{:?}", played.problems);
}

#[test]
fn a_compaction_may_keep_less_than_was_written() {
    let compact = |output: u64| json!({ "compact": { "at": 5000, "prompt": "aligned", "instruction": 100, "output": output, "summary": 300 } });
    let lines = |output| {
        let played = play_with(|file| {
            file["policies"]["compact_5000_aligned"] = compact(output);
            file["sessions"]["G3_runs_lookback_1h"]["runs"] = json!({});
        });
        let is_compacted = |it: &String| it.contains("compact_5000_aligned") && it.contains("G3_runs");
        played.lines.into_iter().filter(is_compacted).collect::<Vec<_>>()
    };

    let (plain, longer) = (lines(300), lines(301));

    assert_eq!(
        longer,
        plain.iter().map(|it| it.replace("\"output\":300,", "\"output\":301,")).collect::<Vec<_>>()
    );
    assert_ne!(longer, plain);
}
