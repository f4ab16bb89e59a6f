//! Files whose lines are out of order, stand twice, or are no text at all: what can be read is read, and the rest is told.

use super::*;
use ctxsim::timeline::import::{detect_from, import_from, redact};

const PI: &str = include_str!("../../data/recorded/pi-session.jsonl");
const CODEX: &str = include_str!("../../data/recorded/codex-rollout.jsonl");

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
        losses_but_of_records(&imported),
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
        assert!(losses_but_of_records(&imported).contains(&format!("line 2: repeated lines ({n} times)")));
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
        losses_but_of_records(&swapped),
        [
            "line 4: rows after a later request of their session; they are ordered by `idx`",
            "line 5: repeated lines"
        ]
    );
    assert_eq!(glued.timeline.spine.steps.len(), 3);
    assert_eq!(
        losses_but_of_records(&glued),
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
            let command = program(&folder, args).output();
            let text = refusal(&command.unwrap());
            assert!(text.contains(told) && text.contains("= help: "), "{args:?}\n{text}");
        }
    }
}

/// The samples of all formats.
fn samples() -> Vec<(String, Vec<u8>)> {
    let folders = [data("recorded"), data("shapes"), root().join("scenarios/recorded")];
    let reference = std::env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("formats"));
    let mut samples = Vec::new();
    for path in folders.into_iter().chain(reference).flat_map(|it| files_below(&it, &[])) {
        let bytes = fs::read(&path).unwrap();
        let is_read = import_from(&mut bytes.as_slice(), "test", &Assume::default(), &[]);
        if is_read.is_ok_and(|it| it.is_ok()) {
            samples.push((path.file_name().unwrap().to_str().unwrap().to_owned(), bytes));
        }
    }
    let redacted =
        redact(&mut PI.as_bytes(), "test", &Assume::default(), &[], &[], &|_| None).unwrap().unwrap();
    samples.push(("redacted".to_owned(), redacted.into_bytes()));
    samples.sort();
    samples
}

/// What was read of a file, in numbers: sessions, requests, and billed tokens.
fn read(bytes: &[u8]) -> Result<([usize; 3], Vec<String>), String> {
    let read = import_from(&mut &*bytes, "test", &Assume::default(), &[]).map_err(|it| it.to_string())?;
    let all = read.map_err(|problems| {
        assert!(problems.iter().all(|it| it.help.is_some()), "{problems:?}");
        problems[0].message.clone()
    })?;
    let mut counts = [all.len(), 0, 0];
    for imported in &all {
        assert_well_formed(&imported.timeline);
        counts[1] += imported.timeline.spine.steps.len();
        let bills = imported.timeline.recorded.iter().flat_map(|it| it.usage.iter().flatten());
        counts[2] += bills.map(|it| usize::try_from(it.prompt + it.output).unwrap()).sum::<usize>();
    }
    Ok((counts, all[0].losses.iter().map(ToString::to_string).collect()))
}

/// Returns what is wrong where a damaged file is read without a note, and less or other things are read than before.
fn silent(damage: &str, whole: [usize; 3], bytes: &[u8]) -> Option<String> {
    let (counts, told) = read(bytes).ok()?;
    let is_told = counts == whole || !told.is_empty();
    (!is_told).then(|| format!("{damage}: {counts:?} of {whole:?}"))
}

#[test]
fn a_cut_shuffled_doubled_or_mixed_file_of_any_format_is_refused_or_read_with_a_note() {
    let samples = samples();
    let format = |bytes: &[u8]| detect_from(&mut &*bytes).unwrap().unwrap();
    let formats: BTreeSet<&str> = samples.iter().map(|it| format(&it.1)).collect();
    assert!(formats.len() >= 16, "{formats:?}");
    let mut wrong = Vec::new();
    for (nth, (name, bytes)) in samples.iter().enumerate() {
        let mut try_out = |damage: &str, whole, bytes: &[u8]| {
            wrong.extend(silent(damage, whole, bytes).map(|it| format!("{name}, {it}")));
        };
        let (whole, _) = read(bytes).unwrap();
        for part in [3, 10, 29, 50, 71, 90, 97] {
            let mut cut = bytes.len() * part / 100;
            // At the end of a line, nothing shows that there was more.
            while cut > 0 && bytes[..cut].trim_ascii_end().ends_with(b"}") {
                cut -= 1;
            }
            try_out(&format!("cut at {part}%"), whole, &bytes[..cut]);
        }
        let lines: Vec<&[u8]> = bytes.split_inclusive(|it| *it == b'\n').collect();
        let reversed: Vec<u8> = lines.iter().rev().flat_map(|it| [it, &b"\n"[..]].concat()).collect();
        try_out("reversed", whole, &reversed);
        let mut shuffled = lines.clone();
        let n = shuffled.len();
        for at in 0..n {
            shuffled.swap(at, (at * 7 + 3) % n);
        }
        try_out("shuffled", whole, &shuffled.join(&b"\n"[..]));
        let doubled: Vec<u8> = lines.iter().flat_map(|it| [it, &b"\n"[..], it, b"\n"].concat()).collect();
        try_out("doubled", whole, &doubled);
        try_out("twice", whole, &[bytes, &b"\n"[..], bytes].concat());
        let others = samples[nth..].iter().chain(&samples[..nth]).map(|it| &it.1);
        let other = others.clone().find(|it| format(it) != format(bytes)).unwrap();
        try_out("with another behind it", whole, &[bytes, &b"\n"[..], other].concat());
        try_out("with another before it", whole, &[other, &b"\n"[..], bytes].concat());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
