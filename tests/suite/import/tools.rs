//! What each harness's tools do, as templates and policies see it: calls and results as the harness writes them.

use ctxsim::input::policy::wildcard;
use ctxsim::timeline::tool_form::{self, AnswerForm, Argument};
use ctxsim::timeline::{Capability, ItemIx};

use super::*;

/// What a call asks for, and what its result says.
fn told<'o>(
    harness: &str,
    tool: &str,
    input: &str,
    output: &'o str,
) -> (Capability, Vec<(Argument, Value)>, AnswerForm<'o>) {
    let form = tool_form::form_of(harness, tool).unwrap();
    let asked = form.asked(input);
    let answer = form.answer(output, &asked);
    (form.capability, asked, answer)
}

#[test]
fn a_read_of_claude_code_is_a_file_with_its_path_range_and_numbered_lines() {
    let output = "     5→fn main() {\n     6→\n     7→}\n\n<system-reminder>\nWhenever you read a file …\n</system-reminder>\n";
    let input = r#"{"file_path":"/w/a.rs","offset":5,"limit":3}"#;

    let (capability, asked, answer) = told("claude-code", "Read", input, output);

    assert_eq!(capability, Capability::ReadFile);
    let expected =
        [(Argument::Path, "/w/a.rs".into()), (Argument::Offset, 5.into()), (Argument::Limit, 3.into())];
    assert_eq!(asked, expected);
    assert_eq!(answer.content, "     5→fn main() {\n     6→\n     7→}");
    assert!(answer.around.contains("system-reminder"));
    assert_eq!((answer.offset, answer.returned_lines, answer.next_offset), (Some(5), Some(3), Some(8)));
}

#[test]
fn a_whole_file_has_no_cursor_and_a_refused_read_is_what_it_says() {
    let whole = told("claude-code", "Read", r#"{"file_path":"a"}"#, "     1→one").2;
    assert_eq!((whole.offset, whole.next_offset), (Some(1), None));

    let refused = "<tool_use_error>File does not exist.</tool_use_error>";
    let (_, _, answer) = told("claude-code", "Read", r#"{"file_path":"a"}"#, refused);
    assert_eq!((answer.content, answer.offset), (refused, None));
}

#[test]
fn a_command_of_claude_code_has_its_exit_code_apart_from_its_output() {
    let (capability, asked, answer) = told(
        "claude-code",
        "Bash",
        r#"{"command":"cargo test","description":"Run"}"#,
        "Exit code 101\nerror: no",
    );

    assert_eq!(capability, Capability::ProcessStart);
    assert_eq!(asked, [(Argument::Command, "cargo test".into())]);
    assert_eq!((answer.content, answer.facts["exit_code"]), ("error: no", "101"));

    let background =
        "Command running in background with ID: b1f2. Output is being written to: /tmp/b1f2.output";
    assert_eq!(told("claude-code", "Bash", "{}", background).2.facts["process_id"], "b1f2");
    let polled = "<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<stdout>\nok\n</stdout>";
    let (capability, asked, answer) = told("claude-code", "BashOutput", r#"{"bash_id":"b1f2"}"#, polled);
    assert_eq!((capability, asked), (Capability::ProcessRead, vec![(Argument::ProcessId, "b1f2".into())]));
    assert_eq!(
        (answer.content.trim(), answer.facts["status"], answer.facts["exit_code"]),
        ("ok", "completed", "0")
    );
}

#[test]
fn searches_edits_and_pages_of_claude_code_say_what_they_are_about() {
    let asked = |tool, input| {
        let (capability, asked, _) = told("claude-code", tool, input, "");
        (capability, asked)
    };
    let (path, text) = ((Argument::Path, Value::from("a.rs")), (Argument::OldText, Value::from("x")));

    assert_eq!(
        asked("Grep", r#"{"pattern":"fn","path":"a.rs","-n":true}"#),
        (Capability::Search, vec![path.clone(), (Argument::Query, "fn".into())])
    );
    assert_eq!(
        asked("Edit", r#"{"file_path":"a.rs","old_string":"x","new_string":"y"}"#),
        (Capability::EditFile, vec![path, text])
    );
    let page = asked("WebFetch", r#"{"url":"https://a.b","prompt":"why"}"#);
    assert_eq!(page.0, Capability::WebFetch);
    assert_eq!(page.1[0], (Argument::Url, "https://a.b".into()));
}

#[test]
fn a_command_of_codex_has_its_header_apart_from_its_output() {
    let output = "Chunk ID: 7ad0db\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 449\nOutput:\n---\nname: agentv-dev\n";
    let input = r#"{"cmd":"sed -n '1,220p' /home/a/SKILL.md","workdir":"/home/a","yield_time_ms":10000}"#;

    let (capability, asked, answer) = told("codex", "exec_command", input, output);

    assert_eq!(capability, Capability::ProcessStart);
    assert_eq!(asked[0].1, "sed -n '1,220p' /home/a/SKILL.md");
    assert_eq!(asked[1], (Argument::Cwd, "/home/a".into()));
    assert_eq!((answer.content, answer.facts["exit_code"]), ("---\nname: agentv-dev\n", "0"));

    let running = "Chunk ID: 2d\nWall time: 30.0018 seconds\nProcess running with session ID 35405\nOriginal token count: 0\nOutput:\n";
    let (capability, asked, answer) =
        told("codex", "write_stdin", r#"{"session_id":35405,"chars":"","yield_time_ms":1000}"#, running);
    assert_eq!((capability, asked), (Capability::ProcessRead, vec![(Argument::ProcessId, 35405.into())]));
    assert_eq!((answer.content, answer.facts["process_id"]), ("", "35405"));
}

#[test]
fn a_patch_of_codex_is_an_edit_of_its_files() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-one\n+two\n*** End Patch\n";

    let (capability, asked, answer) =
        told("codex", "apply_patch", patch, "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n");

    assert_eq!((capability, asked), (Capability::EditFile, vec![(Argument::Path, "a.rs".into())]));
    assert_eq!((answer.content, answer.facts["exit_code"]), ("Success.\n", "0"));
}

#[test]
fn a_read_of_pi_says_where_to_go_on() {
    let output =
        "line one\n\n[section]\n\n... (620 more lines not shown. Use offset=770 to continue reading)";

    let (capability, asked, answer) =
        told("pi", "read", r#"{"path":"src/a.ts","offset":740,"limit":30}"#, output);

    assert_eq!(capability, Capability::ReadFile);
    assert_eq!(asked[0], (Argument::Path, "src/a.ts".into()));
    assert_eq!((answer.content, answer.next_offset), ("line one\n\n[section]", Some(770)));
    let failed = told("pi", "bash", r#"{"command":"tsgo"}"#, "no such\n\n\nCommand exited with code 2").2;
    assert_eq!((failed.content, failed.facts["exit_code"]), ("no such", "2"));
}

#[test]
fn a_log_of_messages_may_hold_files_in_tags_or_plain() {
    let read = |output| told("messages", "read_file", r#"{"path":"a.rs","offset":3}"#, output).2.content;

    assert_eq!(read("<path>a.rs</path>\n<content>fn a() {}</content>"), "fn a() {}");
    assert_eq!(read("fn a() {}"), "fn a() {}");
}

/// The tools that a timeline knows, by name, with what they do.
fn capabilities(timeline: &Timeline) -> Vec<(&str, Option<&str>)> {
    let tools = timeline.spine.tools.iter().zip(&timeline.spine.capabilities);
    tools.map(|(name, does)| (name.as_str(), does.map(Capability::name))).collect()
}

#[test]
fn policies_know_a_recorded_tool_by_its_name_and_by_what_it_does() {
    let pi = imported(include_str!("../../data/recorded/pi-session.jsonl")).timeline;
    assert!(capabilities(&pi).contains(&("read", Some("read_file"))), "{:?}", capabilities(&pi));
    let codex = imported(include_str!("../../data/recorded/codex-rollout.jsonl")).timeline;
    assert!(
        capabilities(&codex).contains(&("exec_command", Some("process_start"))),
        "{:?}",
        capabilities(&codex)
    );
    let claude = imported(FIXTURE).timeline;
    assert!(capabilities(&claude).contains(&("Read", Some("read_file"))));
    let (assume, file_tools) = bundled_assumptions();
    let declared = import(FIXTURE, "test", &assume, &file_tools).unwrap().timeline;
    assert!(
        capabilities(&declared).contains(&("read_file", None)),
        "what a scenario declares is all there is"
    );

    let edited = r#"(name: "p", about: "P.", stages: [(name: "s", scope: (kinds: [tool_result], tools: ["read_*"]), apply: show(marker(1)))])"#;
    let spec: PolicyFile = decode(edited, Format::Ron).unwrap();
    let policy = ctxsim::input::Policy::new(&spec).unwrap();
    let (limits, rules) = (ctxsim::input::Limits::NONE, ctxsim::input::CacheRules::None);
    let mut rows = ctxsim::ledger::Rows::default();
    ctxsim::engine::Simulation::new(&claude, &policy, &limits, &rules).run(&mut rows);
    let n_reads = claude.spine.items.iter().filter(|it| {
        let is_read = |tool: u16| claude.spine.names(usize::from(tool)).any(|it| wildcard("read_*", it));
        it.kind == Kind::ToolResult && is_read(it.tool)
    });
    assert!(n_reads.count() > 10);
    assert!(rows.requests.last().unwrap().prompt < prompts(&claude).pop().unwrap(), "reads became markers");
}

#[test]
fn an_exact_excerpt_is_the_whole_result_whatever_a_summary_is() {
    let results = |assume: &Assume| {
        let items = import(FIXTURE, "test", assume, &[]).unwrap().timeline.spine.items;
        items.into_iter().filter(|it| it.kind == Kind::ToolResult).collect::<Vec<_>>()
    };

    let whole = results(&Assume::default());
    assert!(whole.iter().all(|it| it.excerpt == it.raw && it.summary <= 256));
    assert!(whole.iter().any(|it| it.raw > 2_000));
    let short: Assume = decode("exact_excerpt = { at_most = 300 }", Format::Toml).unwrap();
    assert!(results(&short).iter().all(|it| it.excerpt == it.raw.min(300) && it.summary <= 256));
}

/// A rollout in which a file is read by a command and then patched.
const PATCHED: &str = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}}
{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"sed -n '1,20p' src/main.rs\",\"workdir\":\"/w\"}","call_id":"c1"}}
{"timestamp":"2026-01-01T00:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: 7a\nWall time: 0.0 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\nfn main() {\n    start_the_engine();\n    and_then_stop_it();\n    whatever_else_there_is();\n}\n"}}
{"timestamp":"2026-01-01T00:00:04.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I patch."}]}}
{"timestamp":"2026-01-01T00:00:05.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: /w/src/main.rs\n@@\n-    start_the_engine();\n+    go();\n*** End Patch\n","call_id":"c2"}}
{"timestamp":"2026-01-01T00:00:06.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n"}}
{"timestamp":"2026-01-01T00:00:07.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#;

#[test]
fn a_patch_needs_the_output_of_the_command_that_showed_its_lines() {
    let timeline = imported(PATCHED).timeline;

    let needs: Vec<(&str, ItemIx)> =
        timeline.needs.of_items().iter().map(|it| (it.inferred.rule, it.inferred.item)).collect();
    let output = (0..).find(|it| timeline.texts.text(*it).is_some_and(|it| it.contains("start_the_engine")));
    assert_eq!(needs, [("old_text", output.unwrap())]);
}
