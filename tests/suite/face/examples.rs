//! The programs that a coding-agent crate would write, which are compiled examples.

use crate::support::*;

/// An example, and how many lines it may take, as rustfmt writes it, without blank lines and comments.
const EXAMPLES: [(&str, usize); 8] = [
    ("own_compaction", 16 + 35),
    ("snapshot_guard", 14),
    ("stream_rows", 37),
    ("inputs_in_code", 30),
    ("cache_rule", 68),
    ("sweep_own_code", 26),
    ("quickstart", 20),
    ("typed_answers", 15),
];

#[test]
fn the_examples_are_as_short_as_the_face_promises() {
    for (name, most) in EXAMPLES {
        let path = root().join(format!("examples/{name}.rs"));
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with("//")).count();
        assert!(lines <= most, "{name} has {lines} lines, and {most} are promised");
    }
}

/// Cargo builds examples with the tests, beside them.
#[test]
fn the_examples_run_and_their_assertions_hold() {
    let folder = Path::new(env!("CARGO_BIN_EXE_ctxsim")).with_file_name("examples");
    // One of them is a test, which Cargo runs by itself.
    for (name, _) in EXAMPLES.into_iter().filter(|it| it.0 != "snapshot_guard") {
        let output = Command::new(folder.join(name)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
    }
}
