//! Folders as people have them: every session is counted once, what is left out is named, and nothing fills the memory.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;

use super::*;

/// The most memory that a command may take, in KiB: half of what a file of 300 MB would take twice.
const MEMORY_MAX_KIB: u64 = 1 << 20;

/// The bytes of a file with a single line.
const LONG: u64 = 300_000_000;

/// Runs ctxsim where no more memory is to be had.
fn bounded(folder: &Path, line: &str) -> Output {
    let limited = format!("ulimit -v {MEMORY_MAX_KIB}; exec \"$0\" {line}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited, env!("CARGO_BIN_EXE_ctxsim")]).current_dir(folder);
    shell.stdin(Stdio::null()).output().unwrap()
}

fn recording() -> PathBuf {
    data("../../scenarios/recorded/claude-code-session.jsonl")
}

/// Returns a log of the session with an id.
fn log(id: &str) -> String {
    let text = fs::read_to_string(recording()).unwrap();
    text.replace("{\"type\":\"user\",", &format!("{{\"type\":\"user\",\"sessionId\":\"{id}\","))
}

/// Writes two sessions as usage: the one of the recording, and another one.
fn usage(path: &Path) {
    let header = "file,session,idx,version,model,t_start,t_first_line,t_last_line,input,cache_read,cache_write_total,\
        output_logged_max,new_user_chars,new_tool_result_chars,asst_text_chars";
    let row = |file: &str, session: &str| {
        format!("{file},{session},0,2.1.7,claude-opus-4-5,100.0,101.0,102.0,10,0,20000,50,100,0,100")
    };
    let rows = [header.to_owned(), row("recorded", "session-1"), row("other", "another-session")];
    fs::write(path, rows.join("\n")).unwrap();
}

fn long_line(path: &Path) {
    let mut file = File::create(path).unwrap();
    write!(file, "{{\"type\":\"user\",\"text\":\"").unwrap();
    // Nothing is written: the file has a hole of zeros.
    file.set_len(LONG).unwrap();
}

#[test]
fn a_folder_of_all_sorts_counts_each_session_once_and_names_what_it_leaves_out() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = log("session-1");
    fs::write(at("session.jsonl"), &text).unwrap();
    fs::write(at("copy.jsonl"), &text).unwrap();
    // What the log was some time earlier.
    let lines: Vec<&str> = text.lines().collect();
    fs::write(at("earlier.jsonl"), lines[..lines.len() - 4].join("\n")).unwrap();
    usage(&at("usage.csv"));
    let negative = log("session-2").replace("\"cache_read_input_tokens\":", "\"cache_read_input_tokens\":-");
    fs::write(at("negative.jsonl"), negative).unwrap();
    fs::write(at("empty.jsonl"), "").unwrap();
    long_line(&at("long.jsonl"));
    assert!(Command::new("mkfifo").arg(at("pipe.jsonl")).status().unwrap().success());
    symlink(".", at("loop")).unwrap();
    symlink("itself.jsonl", at("itself.jsonl")).unwrap();

    let told = out(&bounded(folder.path(), ". --policy identity"));
    let report: Value = parsed(&bounded(folder.path(), ". --policy identity --format json"));

    let mut sessions: Vec<&str> =
        report["sessions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    // Usage that cannot be is told by another rule, which may leave the session out.
    sessions.retain(|it| *it != "negative");
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    assert!(sessions.iter().any(|it| it.contains("other")), "{sessions:?}");
    let skipped: Vec<(&str, &str)> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["file"].as_str().unwrap(), it["reason"].as_str().unwrap()))
        .collect();
    let mut files: Vec<String> =
        skipped.iter().map(|(file, reason)| format!("{}: {reason}", file.trim_start_matches("./"))).collect();
    files.retain(|it| !it.starts_with("negative"));
    files.sort();
    assert_eq!(
        files,
        [
            "earlier.jsonl: the same session in another file",
            "empty.jsonl: no request",
            "itself.jsonl: a link that leads nowhere",
            "long.jsonl: line 1 is longer than 64 MiB",
            "pipe.jsonl: a pipe, a socket or a device",
            "session.jsonl: the same content",
            "usage.csv: the same session in another file",
        ]
    );
    for (file, reason) in &skipped {
        let name = file.trim_start_matches("./");
        let head = told.split("Under ").next().unwrap().replace('\n', " ");
        assert!(head.contains(name) && head.contains(reason), "{name}: {reason} is not in {head}");
    }
}

#[test]
fn links_are_followed_inside_the_folder_that_was_named_and_nothing_is_walked_twice() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("logs/below")).unwrap();
    fs::create_dir(at("others")).unwrap();
    fs::write(at("logs/below/own.jsonl"), log("session-1")).unwrap();
    fs::write(at("others/foreign.jsonl"), log("session-2")).unwrap();
    symlink("below", at("logs/again")).unwrap();
    symlink(".", at("logs/round")).unwrap();
    symlink("../others", at("logs/out")).unwrap();
    symlink("..", at("logs/up")).unwrap();

    let json = out(&bounded(folder.path(), "logs --policy identity --format json"));

    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["sessions"].as_array().unwrap().len(), 1);
    let left_out = |it: &Value| format!("{}: {}", it["file"], it["reason"]).replace('"', "");
    let left_out: Vec<String> = report["skipped"].as_array().unwrap().iter().map(left_out).collect();
    let reason = "a link that leads out of the folder";
    assert_eq!(left_out, [format!("logs/out: {reason}"), format!("logs/up: {reason}")]);
    // Whoever names a link means what it leads to.
    let named = out(&bounded(folder.path(), "logs/out --policy identity --format json"));
    assert!(named.contains("foreign"), "{named}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_opens_but_cannot_be_listed_is_left_out_with_its_reason() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("own.jsonl"), log("session-1")).unwrap();
    // The kernel opens a process's folder of descriptors, and fails once it is read where the process is gone or another's.
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let unlisted = PathBuf::from(format!("/proc/{}/map_files", child.id()));
    let is_listed = fs::read_dir(&unlisted).is_ok_and(|mut it| it.all(|entry| entry.is_ok()));
    if !is_listed {
        let output = bounded(Path::new("/proc"), &format!("{}/map_files --policy identity", child.id()));
        assert!(refused(&output).contains("no permission"), "who names it is told");
    }
    symlink(format!("/proc/{}", child.id()), folder.path().join("link")).unwrap();

    let json = out(&bounded(folder.path(), ". --policy identity --format json"));

    child.kill().unwrap();
    child.wait().unwrap();
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["sessions"].as_array().unwrap().len(), 1);
    assert!(json.contains("a link that leads out of the folder"), "{json}");
}

#[test]
fn a_broken_copy_never_takes_the_place_of_a_file_that_can_be_read() {
    let folder = tempdir().unwrap();
    let text = log("session-1");
    fs::write(folder.path().join("good.jsonl"), &text).unwrap();
    // Longer, and its bills are no counts.
    let field = "\"cache_read_input_tokens\":";
    fs::write(folder.path().join("broken.jsonl"), text.replace(field, &format!("{field}-1"))).unwrap();

    let report: Value = parsed(&bounded(folder.path(), ". --policy identity --format json"));

    assert_eq!(report["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(report["sessions"][0]["name"], "good");
    let skipped = &report["skipped"][0];
    assert!(skipped["file"].as_str().unwrap().ends_with("broken.jsonl"), "{skipped}");
    assert_eq!(skipped["reason"], "a broken copy of a session that another file has");
}

#[test]
fn a_transcript_is_kept_whichever_file_comes_first() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = log("session-1");
    fs::write(at("b.jsonl"), &text).unwrap();
    usage(&at("a.csv"));
    usage(&at("c.csv"));
    let requests = |line: &str| -> u64 {
        let json = out(&bounded(folder.path(), line));
        let report: Value = serde_json::from_str(&json).unwrap();
        report["sessions"].as_array().unwrap().iter().map(|it| it["requests"].as_u64().unwrap()).sum()
    };
    let alone = requests("b.jsonl --policy identity --format json");

    for files in ["a.csv b.jsonl", "b.jsonl a.csv", "a.csv b.jsonl b.jsonl"] {
        assert_eq!(requests(&format!("{files} --policy identity --format json")), alone + 1, "{files}");
    }
    for command in ["import", "run --policy identity"] {
        let json = out(&bounded(folder.path(), &format!("{command} a.csv b.jsonl --format json")));
        assert!(!json.contains("\"requests\": 2,") || command == "import", "{json}");
    }
    let imported: Value = parsed(&bounded(folder.path(), "import a.csv b.jsonl --format json"));
    let sessions: usize =
        imported["files"].as_array().unwrap().iter().map(|it| it["sessions"].as_array().unwrap().len()).sum();
    assert_eq!(sessions, 2);
}

#[test]
fn a_line_without_end_and_a_device_without_end_are_errors() {
    let folder = tempdir().unwrap();
    long_line(&folder.path().join("long.jsonl"));

    let told = refused(&bounded(folder.path(), "long.jsonl"));
    assert_says(&told, &["error[recording-line]: line 1 is longer than 64 MiB", "--> long.jsonl:1:1"]);
    for line in ["/dev/zero", "run --policy identity --scenario /dev/zero", "import /dev/zero"] {
        let told = refused(&bounded(folder.path(), line));
        assert!(told.contains("it is larger than 256 MiB"), "{line}: {told}");
    }
}

#[test]
fn a_pipe_that_is_named_is_read_once_to_its_end() {
    let folder = tempdir().unwrap();
    let path = recording();
    let file = out(&bounded(folder.path(), &format!("{} --policy identity --format csv", path.display())));
    let shell = format!("cat '{}' | \"$0\" /dev/stdin --policy identity --format csv", path.display());
    let piped = Command::new("sh").args(["-c", &shell, env!("CARGO_BIN_EXE_ctxsim")]).output().unwrap();

    let numbers = |text: &str| text.replace("claude-code-session", "stdin");
    assert_eq!(out(&piped), numbers(&file));
}

/// Two logs of a Claude Code session; the second one begins with what was said last in the first, under a request's id.
fn taken_up_again(request: &str) -> TempDir {
    let folder = tempdir().unwrap();
    let exchange = |session: &str, minute: u32, request: &str| {
        let record = |kind: &str, minute: u32, message: Value| {
            let at = format!("2026-03-01T10:{minute:02}:00.000Z");
            let record = json!({"type": kind, "sessionId": session, "requestId": request, "timestamp": at, "message": message});
            record.to_string() + "\n"
        };
        let usage =
            json!({"input_tokens": 3, "cache_creation_input_tokens": minute * 1_000, "output_tokens": 5});
        let reply = json!({"id": format!("msg{minute}"), "role": "assistant", "model": "claude-opus-4-6",
            "content": [{"type": "text", "text": "yes"}], "usage": usage});
        let said = json!({"role": "user", "content": format!("question {minute}")});
        record("user", minute, said) + &record("assistant", minute + 1, reply)
    };
    let first = exchange("a", 10, "req10") + &exchange("a", 20, "req20");
    fs::write(folder.path().join("first.jsonl"), first).unwrap();
    fs::write(folder.path().join("second.jsonl"), exchange("b", 20, request) + &exchange("b", 30, "req30"))
        .unwrap();
    folder
}

#[test]
fn a_reply_that_two_logs_of_a_session_hold_is_billed_once_and_one_of_another_request_of_its_own() {
    let billed = |folder: &TempDir, line: &str| {
        let report: Value = parsed(&bounded(folder.path(), line));
        report.to_string().matches(SAID).count()
    };
    const SAID: &str = "replies that another session's log holds, too, and that are billed there: 1";
    for verb in ["import . --format json", "run . --format json"] {
        assert!(billed(&taken_up_again("req20"), verb) > 0, "{verb}");
        assert_eq!(billed(&taken_up_again("another"), verb), 0, "{verb}");
        assert_eq!(billed(&taken_up_again("req20"), &format!("{verb} --alone")), 0, "{verb}");
    }
    // The bills of 10, 20 and 30 thousand written tokens cost $0.375 together, and the one of 20 again $0.125.
    for (request, more, usd) in
        [("req20", "", "$0.3754 "), ("another", "", "$0.5006 "), ("req20", "--alone", "$0.5006 ")]
    {
        let screen = out(&bounded(taken_up_again(request).path(), &format!(". {more}")));
        assert!(screen.contains(usd), "{request} {more}: {screen}");
    }
}
