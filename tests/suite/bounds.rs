//! Limits that hold together, not only one by one: what is large in every way at once is refused in words, or read in passable time.

use std::fs::{self, File};
use std::io::Write as _;

use crate::support::*;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

/// Runs a command that is refused, and returns what it says.
fn refused(folder: &Path, line: &str) -> String {
    refusal(&ctxsim(folder, args(line)))
}

/// A scenario of turns that are all alike.
fn turns(n: u64, tokens: u64) -> String {
    format!(
        "name=\"large\"\nabout=\"x\"\nstable=[{{kind=\"system\",tokens=1800}}]\n[load.generate]\nturns={n}\n\
         [[load.generate.patterns]]\nuser_tokens={tokens}\nanswer_tokens={tokens}\n"
    )
}

#[test]
fn requests_and_tokens_are_bounded_by_their_product_and_not_only_each() {
    let run = "run --policy identity --scenario large.toml --profile context_decay/words";
    // Each number is within its own limit.
    for (n, tokens) in [(500_000, 100_000_000), (1_000_000, 5_000), (10_000, 100_000_000)] {
        let folder = folder(&[("large.toml", &turns(n, tokens))]);
        let said = refused(folder.path(), run);
        assert!(said.contains("error[load-too-large]") && said.contains("--> large.toml:"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    let folder = folder(&[("large.toml", &turns(2_000, 100_000_000))]);
    assert!(out(&ctxsim(folder.path(), run.split(' ').collect::<Vec<_>>())).contains("2,000"));
}

#[test]
fn trials_count_in_the_product() {
    let with = |trials: u64| format!("trials={trials}\n{}", turns(1_000, 100_000));

    let large = folder(&[("large.toml", &with(1_000_000))]);
    let small = folder(&[("large.toml", &with(10))]);

    assert!(refused(large.path(), "validate large.toml").contains("load-too-large"));
    out(&ctxsim(small.path(), ["validate", "large.toml"]));
}

#[test]
fn sessions_of_ageing_are_bounded_by_the_work_that_they_are_together() {
    let load = |sessions: u64, trials: u64| {
        format!(
            "name=\"a\"\nabout=\"x\"\n[load.aging]\ngenerator=\"multi_domain\"\nsessions={sessions}\ntrials={trials}\nmodels=[\"mid\"]\n"
        )
    };
    for (sessions, trials, help) in [(2_000, 500, "at most 793 sessions"), (200, 5_000, "trials = 62")] {
        let said = refused(folder(&[("a.toml", &load(sessions, trials))]).path(), "validate a.toml");
        assert!(said.contains("error[aging-range]") && said.contains(help), "{said}");
    }
    let fits = folder(&[("a.toml", &load(200, 62))]);
    out(&ctxsim(fits.path(), ["validate", "a.toml"]));
}

#[test]
fn a_session_of_more_requests_than_are_read_is_refused_with_its_number() {
    let logs = folder(&[("long.jsonl", &requests(100_001)), ("short.jsonl", &requests(3))]);

    let said = refused(logs.path(), "run long.jsonl --policy identity");
    assert!(said.contains("a session of 100001 requests is longer than 100000"), "{said}");

    // In a folder, it is skipped with its reason.
    let done = out(&ctxsim(logs.path(), ["run", ".", "--policy", "identity"])).replace('\n', " ");
    assert!(done.contains("1 session read (3 requests)") && done.contains("a session of 100001"), "{done}");
}

/// A session of so many requests.
fn requests(n: u64) -> String {
    let mut text = String::new();
    for nth in 0..n {
        let (day, second) = (1 + nth / 4_000, nth % 4_000 * 20);
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        let at = format!("2026-03-{day:02}T{hour:02}:{minute:02}:{:02}.000Z", second % 60);
        let parent = nth.checked_sub(1).map_or("null".to_owned(), |it| format!("\"a{it}\""));
        text += &format!(
            "{{\"type\":\"user\",\"uuid\":\"u{nth}\",\"parentUuid\":{parent},\"sessionId\":\"s{n}\",\"timestamp\":\"{at}\",\"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n\
            {{\"type\":\"assistant\",\"uuid\":\"a{nth}\",\"parentUuid\":\"u{nth}\",\"sessionId\":\"s{n}\",\"timestamp\":\"{at}\",\"message\":{{\"id\":\"m{nth}\",\"role\":\"assistant\",\"model\":\"claude-opus-4-6\",\"content\":[{{\"type\":\"text\",\"text\":\"hi\"}}],\"usage\":{{\"input_tokens\":3,\"output_tokens\":5}}}}}}\n"
        );
    }
    text
}

#[test]
fn problems_by_the_thousand_in_one_long_line_are_drawn_in_part_and_counted() {
    let params = |n: usize| {
        let mut text = "(name:\"p\",about:\"x\",params:{".to_owned();
        (0..n).for_each(|nth| write!(text, "\"p{nth}\":tokens({nth}),").unwrap());
        text + "})\n"
    };
    let many = folder(&[("p.ron", &params(3_000))]);
    let few = folder(&[("p.ron", &params(3))]);

    let said = refused(many.path(), "validate p.ron");

    assert_says(&said, &["… and 2,900 more\n", "3,000 problems; nothing was run or written"]);
    assert!(said.len() < 100_000, "{} bytes", said.len());
    let last = said.lines().filter(|it| it.contains("--> p.ron:1:")).count();
    assert_eq!(last, 100);
    let said = refused(few.path(), "validate p.ron");
    assert!(said.contains("3 problems") && !said.contains("more"), "{said}");
    assert!(
        said.contains("1 | (name:\"p\",about:\"x\",params:{\"p0\":tokens(0),"),
        "a short line is whole: {said}"
    );
}

#[test]
fn a_line_of_parts_is_bounded_as_a_line_of_sessions_is() {
    let folder = folder(&[]);
    let mut long = File::create(folder.path().join("part.jsonl")).unwrap();
    long.write_all(b"{\"schema\":\"ctxsim.part/1\",").unwrap();
    long.set_len(3 << 30).unwrap();

    let said = refused(folder.path(), "run --merge part.jsonl");

    assert!(said.contains("error[part-broken]") && said.contains("longer than 64 MiB"), "{said}");
    let run = "run --scenario duckagent/plain_chat --policy identity --parts .";
    assert!(refused(folder.path(), run).contains("longer than 64 MiB"));
}

#[test]
fn numbers_of_parts_that_cannot_be_added_up_are_refused() {
    let recorded = data("recorded/pi-session.jsonl");
    let folder = folder(&[]);
    fs::copy(recorded, folder.path().join("s.jsonl")).unwrap();
    let run = |line: &str| ctxsim(folder.path(), line.split(' ').collect::<Vec<_>>());
    out(&run("run s.jsonl --policy identity --policy truncate_oldest --parts parts"));
    let path = folder.path().join("parts/part-1-of-1.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    out(&run("run --merge parts --html whole.html"));
    // Every number of a tally in turn becomes one that has no place in a sum.
    let begin = whole.find("\"tally\":").unwrap();
    let digits: Vec<usize> = whole
        .char_indices()
        .skip(begin)
        .filter(|(at, it)| it.is_ascii_digit() && matches!(whole.as_bytes()[at - 1], b'[' | b','))
        .map(|it| it.0)
        .take(60)
        .collect();
    let mut n_refused = 0;
    for at in digits {
        let end = whole[at..].find([',', ']']).unwrap() + at;
        for number in ["18446744073709551615", "1e308", "-1e308"] {
            fs::write(&path, format!("{}{number}{}", &whole[..at], &whole[end..])).unwrap();
            let done = run("run --merge parts --html x.html");
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(
                matches!(done.status.code(), Some(0 | 2)) && !said.contains("panicked"),
                "{number} at {at}: {said}"
            );
            n_refused += usize::from(said.contains("[part-broken]"));
        }
    }
    assert!(n_refused > 100, "{n_refused}");
}

#[test]
fn a_shard_of_more_points_than_a_sweep_has_is_refused() {
    let folder = folder(&[]);
    let line = "sweep --policy clear_tool_results --vary params.keep.count=1,2 --scenario duckagent/plain_chat --shard 1/1";
    let shard = out(&ctxsim(folder.path(), line.split(' ').collect::<Vec<_>>()));
    fs::write(folder.path().join("a.json"), &shard).unwrap();
    out(&ctxsim(folder.path(), ["run", "--merge", "a.json"]));

    let huge = shard.replacen("\"points\": 2", "\"points\": 18446744073709551615", 1);
    assert_ne!(huge, shard);
    fs::write(folder.path().join("a.json"), huge).unwrap();

    assert!(refused(folder.path(), "sweep --merge a.json").contains("out of range"));
}

#[test]
fn a_long_chain_of_bases_is_not_called_a_circle() {
    let folder = folder(&[("p0.ron", "(name: \"p0\", about: \"x\", recovery: one_shot)\n")]);
    for nth in 1..=40 {
        let text = format!("(name: \"p{nth}\", about: \"x\", base: \"p{}\")\n", nth - 1);
        fs::write(folder.path().join(format!("p{nth}.ron")), text).unwrap();
    }

    let said = refused(folder.path(), "validate p40.ron");

    assert!(said.contains("more than 32 bases") && !said.contains("circular"), "{said}");
    out(&ctxsim(folder.path(), ["validate", "p20.ron"]));
}

/// A record of Claude Code.
fn record(kind: &str, nth: u32, at: &str, message: &str) -> String {
    let parent = nth.checked_sub(1).map_or("null".to_owned(), |it| format!("\"u{it}\""));
    format!(
        "{{\"type\":\"{kind}\",\"uuid\":\"u{nth}\",\"parentUuid\":{parent},\"timestamp\":\"{at}\",\"sessionId\":\"s\",\"message\":{message}}}\n"
    )
}

/// A session of two requests, the second of which is as given.
fn session(times: [&str; 4], second: &str) -> String {
    let reply = "{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"claude-opus-4-6\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\
                 \"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":0,\"cache_creation_input_tokens\":5000,\"output_tokens\":50}}";
    let said = "{\"role\":\"user\",\"content\":\"hello \\ud83d\"}";
    let again = reply.replace("m1", "m2");
    record("user", 0, times[0], said)
        + &record("assistant", 1, times[1], reply)
        + &record("user", 2, times[2], "{\"role\":\"user\",\"content\":\"more\"}")
        + &if second.is_empty() { record("assistant", 3, times[3], &again) } else { format!("{second}\n") }
}

const TIMES: [&str; 4] = [
    "2026-03-06T14:15:22.394Z",
    "2026-03-06T14:15:30.000Z",
    "2026-03-06T14:16:00.000Z",
    "2026-03-06T14:16:10.000Z",
];

#[test]
fn a_request_that_cannot_be_read_is_told_where_totals_stand() {
    let logs = folder(&[
        ("whole.jsonl", &session(TIMES, "")),
        ("broken.jsonl", &session(TIMES, "{\"type\": \"assistant\" \"uuid\"}")),
        ("times.jsonl", &session(["x", "y", "z", ""], "")),
    ]);
    let told = |line: &str| out(&ctxsim(logs.path(), line.split(' ').collect::<Vec<_>>()));

    let broken = told("run broken.jsonl --policy identity");
    let whole = told("run whole.jsonl --policy identity");

    let words = |text: &str| one_line(text);
    assert_says(
        &words(&broken),
        &["1 record of this log cannot be read and is left out: if it was a request"],
    );
    assert!(!whole.contains("cannot be read"), "{whole}");
    assert!(words(&told("run broken.jsonl --policy identity --totals")).contains("1 record of"), "totals");
    let times = told("import times.jsonl");
    assert!(times.contains("3  times that cannot be read"), "{times}");
    assert!(told("import whole.jsonl").contains("nothing is left out"), "half of an emoji loses nothing");
}

#[test]
#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "where it cannot be tried is told")]
fn a_folder_that_cannot_be_read_is_left_out_as_a_file_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let logs = folder(&[("a.jsonl", &session(TIMES, ""))]);
    let below = logs.path().join("below");
    fs::create_dir(&below).unwrap();
    let args = ["run", ".", "--policy", "identity"];
    assert!(!out(&ctxsim(logs.path(), args)).contains("cannot be read"), "it can be read so far");

    fs::set_permissions(&below, fs::Permissions::from_mode(0o000)).unwrap();
    let is_refused = fs::read_dir(&below).is_err();
    // Whoever may read everything is refused by strace alone.
    if !is_refused && !crate::faults::can_trace() {
        eprintln!(
            "left out: this user may read everything, and strace, which has calls fail, does not run here"
        );
        return;
    }
    let done = match is_refused {
        true => out(&ctxsim(logs.path(), args)),
        false => {
            let mut traced = Command::new("strace");
            traced.args(["-f", "-qq", "-o", "/dev/null", "-P", "./below"]);
            traced.args(["-e", "trace=open,openat", "-e", "inject=open,openat:error=EACCES"]);
            traced.arg(env!("CARGO_BIN_EXE_ctxsim")).args(args);
            out(&traced.current_dir(logs.path()).output().unwrap())
        }
    };
    fs::set_permissions(&below, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(
        done.contains("1 session read") && done.replace('\n', " ").contains("a folder that cannot be read"),
        "{done}"
    );
}

#[test]
fn parts_whose_head_is_not_that_of_their_job_or_of_their_loads_are_refused() {
    let recorded = data("recorded");
    let folder = folder(&[]);
    fs::create_dir(folder.path().join("s")).unwrap();
    for name in ["pi-session.jsonl", "kimi-session.jsonl"] {
        fs::copy(recorded.join(name), folder.path().join("s").join(name)).unwrap();
    }
    let run = |line: &str| ctxsim(folder.path(), line.split(' ').collect::<Vec<_>>());
    out(&run("tune s --policy clear_tool_results --vary params.keep.count=1,2 --parts parts"));
    let path = folder.path().join("parts/part-1-of-1.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    out(&run("run --merge parts"));

    let point = "[\"params.keep.count=1\"]";
    let more = format!("{point},{point}");
    for (text, reason) in [
        (whole.replace(point, &more), "a load does not have one result for each variant"),
        (whole.replacen("0.9", "0.8", 1), "its `head` differs from that of other parts of its job"),
    ] {
        assert_ne!(text, whole);
        fs::write(&path, text).unwrap();
        let said = refused(folder.path(), "run --merge parts");
        assert!(said.contains("error[part-broken]") && said.contains(reason), "{said}");
    }
}
