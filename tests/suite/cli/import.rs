//! What is printed of recorded sessions and price lists, and what of a folder is left out.

use std::fs;
use std::process::Output;

use tempfile::TempDir;

use super::{assert_drawn, ctxsim, data, out, refused};

/// Returns a folder with two recorded sessions and two files that are none.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["codex-rollout.jsonl", "pi-session.jsonl"] {
        fs::copy(data("recorded").join(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("notes.jsonl"), "{}").unwrap();
    fs::write(folder.path().join("other.csv"), "a,b").unwrap();
    folder
}

#[test]
fn what_is_carried_is_added_up_explained_and_told_with_what_was_skipped() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();

    let text = out(&ctxsim(&["import", "--carried", path]));

    assert_drawn("carried_table", &text);
    let document = out(&ctxsim(&["import", "--carried", path, "--format", "json"]));
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["skipped"].as_array().unwrap().len(), 2);
}

#[test]
fn sessions_are_selected_alike_for_every_kind_of_import() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    for kind in [&[][..], &["--carried"], &["--report"]] {
        let import = |more: &[&str]| ctxsim(&[&["import", path][..], kind, more].concat());

        let (newest, sonnet) = (import(&["--limit", "1"]), import(&["--model", "sonnet"]));
        let told = |it: &Output| {
            let text = out(it) + &String::from_utf8_lossy(&it.stderr);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert!(told(&newest).contains(
            "3 skipped: not a recorded session (2: notes.jsonl, other.csv); older than the newest 1 (1)"
        ));
        assert!(
            told(&sonnet).contains("pi-session")
                && told(&sonnet).contains("recorded with an unknown model (1)")
        );
        assert!(refused(&import(&["--since", "2040-01-01"])).contains("before 2040-01-01 (2)"));
    }
}

#[test]
fn price_lists_that_differ_are_told_apart_from_those_that_lack_a_price() {
    let lists = ["litellm", "models.dev", "genai-prices"].map(|it| format!("../prices/{it}"));
    let lists: Vec<&str> = lists.iter().map(String::as_str).collect();

    let text = out(&ctxsim(&[&["prices", "compare"][..], &lists].concat()));

    assert_drawn("prices_compare", &text);
}
