//! Files whose lines are out of order, stand twice, or are no text at all: what can be read is read, and the rest is told.

use std::process::Command;

use super::*;
use ctxsim::timeline::import::import_all;

const PI: &str = include_str!("../../data/recorded/pi-session.jsonl");
const CODEX: &str = include_str!("../../data/recorded/codex-rollout.jsonl");

/// What is told of a file, without the lines of types that no prompt holds.
fn told(imported: &Imported) -> Vec<String> {
    let losses = imported.losses.iter().filter(|it| !it.what.contains("never part of a prompt"));
    losses.map(ToString::to_string).collect()
}

#[test]
fn the_last_lines_of_a_session_may_stand_in_any_order() {
    let mut lines: Vec<&str> = FIXTURE.lines().collect();
    let whole = prompts(&imported(FIXTURE).timeline);

    let n = lines.len();
    lines.swap(n - 1, n - 2);
    assert_eq!(prompts(&imported(&lines.join("\n")).timeline), whole);
    lines.reverse();
    assert_eq!(prompts(&imported(&lines.join("\n")).timeline), whole);
}

#[test]
fn a_session_whose_records_name_no_parents_is_read_in_the_order_of_its_lines() {
    let line = |n: u32, kind: &str, message: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","timestamp":"2026-01-01T00:00:{n:02}.000Z","message":{message}}}"#
        )
    };
    let reply = |id: &str, write: u32| {
        let usage =
            format!(r#"{{"input_tokens":0,"cache_creation_input_tokens":{write},"output_tokens":20}}"#);
        format!(r#"{{"id":"{id}","content":[{{"type":"text","text":"ok"}}],"usage":{usage}}}"#)
    };
    let lines = [
        line(1, "user", r#"{"content":"hello"}"#),
        line(2, "assistant", &reply("m1", 100)),
        line(3, "user", r#"{"content":"again"}"#),
        line(4, "assistant", &reply("m2", 160)),
    ];

    let imported = imported(&lines.join("\n"));

    assert_eq!(prompts(&imported.timeline), [100, 160]);
    assert_eq!(
        told(&imported),
        ["line 2: records without a parent; the previous line is used instead (3 times)"]
    );
}

#[test]
fn lines_that_stand_twice_are_read_once() {
    for text in [PI, CODEX] {
        let whole = imported(text);
        let twice: String = text.lines().flat_map(|it| [it, "\n", it, "\n"]).collect();

        let imported = imported(&twice);

        assert_eq!(imported.timeline.spine.items, whole.timeline.spine.items);
        let n = text.lines().filter(|it| !it.trim().is_empty()).count();
        assert!(told(&imported).contains(&format!("line 2: repeated lines ({n} times)")));
    }
}

#[test]
fn rows_of_usage_stand_by_their_place_and_what_two_lines_in_one_hide_is_told() {
    let header = "file,session,idx,version,t_start,t_first_line,t_last_line,input,cache_read,cache_write_total,output_logged_max,new_user_chars,new_tool_result_chars,asst_text_chars";
    let row = |idx: u64| {
        let (second, read) = (10 * idx, 1_000 * idx);
        format!("f,s,{idx},2.1.7,{second}.0,{second}.5,{second}.9,10,{read},1000,5,40,0,400")
    };
    let read = |rows: &[String]| {
        let text = [&[header.to_owned()], rows].concat().join("\n");
        import_all(&text, "test", &Assume::default(), &[]).unwrap().remove(0)
    };
    let in_order = read(&[row(0), row(1), row(2), row(3)]);

    let swapped = read(&[row(0), row(2), row(1), row(2), row(3)]);
    let glued = read(&[row(0), row(1) + &row(2), row(3)]);

    assert_eq!(swapped.timeline.spine.items, in_order.timeline.spine.items);
    assert_eq!(
        told(&swapped),
        [
            "line 4: rows after a later request of their session; they are ordered by `idx`",
            "line 5: repeated lines"
        ]
    );
    assert_eq!(glued.timeline.spine.steps.len(), 3);
    assert_eq!(
        told(&glued),
        [
            "line 3: sizes of texts that are not counts; these texts are left out",
            "line 3: fields after the last column"
        ]
    );
}

#[test]
fn a_compressed_file_a_folder_and_an_empty_file_are_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0xff]).unwrap();
    std::fs::write(folder.path().join("b.jsonl"), "").unwrap();
    std::fs::create_dir(folder.path().join("c.jsonl")).unwrap();
    for (file, told) in [
        ("a.jsonl.gz", "the file is compressed"),
        ("b.jsonl", "the file is empty"),
        ("c.jsonl", "the folder contains no recorded sessions"),
    ] {
        for args in [&["import", file][..], &["import", "--report", file], &["run", "--scenario", file]] {
            let command = Command::new(env!("CARGO_BIN_EXE_ctxsim")).args(args).current_dir(&folder).output();
            let output = command.unwrap();

            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            assert!(text.contains(told) && text.contains("= help: "), "{args:?}\n{text}");
        }
    }
}
