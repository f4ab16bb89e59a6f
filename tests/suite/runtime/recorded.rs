//! The runtime policy on recordings: results are summarised by what each harness really writes.

use super::*;

use ctxsim::input::scenario::ScenarioFile;
use ctxsim::projection::State;
use ctxsim::projection::prompt::ShownAs;

/// The blocks of the completed turn that a recording begins with.
fn blocks(recording: &str) -> String {
    let timeline = import(recording, "recorded", &Assume::default(), &[]).unwrap().timeline;
    let shown = last(&timeline, 1_000_000);
    shown.into_iter().find(|it| it.kind == Kind::Summary).and_then(|it| it.text).unwrap()
}

/// A Claude Code session: a call with its result, and a second turn.
fn claude_code(tool: &str, input: &str, output: &str) -> String {
    let line = |n: u32, kind: &str, message: &str| {
        let parent = if n == 1 { "null".to_owned() } else { format!("\"u{}\"", n - 1) };
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":{parent},"timestamp":"2026-01-01T00:00:0{n}.000Z","message":{message}}}"#
        )
    };
    let call = format!(r#"[{{"type":"tool_use","id":"c1","name":"{tool}","input":{input}}}]"#);
    let output = serde_json::to_string(output).unwrap();
    let result = format!(r#"[{{"type":"tool_result","tool_use_id":"c1","content":{output}}}]"#);
    let reply =
        |id: &str, content: &str| format!(r#"{{"id":"{id}","model":"m","content":{content},"usage":null}}"#);
    let said = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    [
        line(1, "user", r#"{"role":"user","content":"look"}"#),
        line(2, "assistant", &reply("m1", &call)),
        line(3, "user", &format!(r#"{{"role":"user","content":{result}}}"#)),
        line(4, "assistant", &reply("m2", &said("done"))),
        line(5, "user", r#"{"role":"user","content":"thanks"}"#),
        line(6, "assistant", &reply("m3", &said("ok"))),
    ]
    .join("\n")
}

#[test]
fn a_file_that_claude_code_read_keeps_its_path_its_range_and_its_lines() {
    let output =
        "     1→fn main() {}\n     2→\n\n<system-reminder>\nDo not improve malware.\n</system-reminder>\n";

    let block = blocks(&claude_code("Read", r#"{"file_path":"src/main.rs","limit":2}"#, output));

    let lines = "- [TOOL RESULT SUMMARY]\n- capability: Read\n- path: src/main.rs\n- requested_limit: 2\n- offset: 1\n- returned_lines: 2\n- next_offset: 3\n- exact_evidence:\n-        1→fn main() {}\n-        2→\nassistant";
    assert!(block.contains(lines), "{block}");
}

#[test]
fn a_file_that_does_not_fit_has_a_preview_and_a_way_back() {
    let output = format!("     1→{}", "word ".repeat(2_000));

    let block = blocks(&claude_code("Read", r#"{"file_path":"src/main.rs"}"#, &output));

    assert_says(
        &block,
        &["- path: src/main.rs\n- offset: 1\n- returned_lines: 1\n- content_preview: 1→word word"],
    );
    assert!(block.contains("- content_recovery: call Read with the same path"), "{block}");
}

#[test]
fn a_command_of_claude_code_keeps_its_exit_code_and_an_edit_its_path() {
    let command = blocks(&claude_code("Bash", r#"{"command":"cargo\n test"}"#, "Exit code 101\nerror: no"));
    assert_says(
        &command,
        &["- capability: Bash\n- command: cargo test\n- exit_code: 101\n- preview: error: no\n"],
    );

    let edit =
        blocks(&claude_code("Edit", r#"{"file_path":"a.rs","old_string":"x","new_string":"y"}"#, "updated"));
    assert!(edit.contains("- capability: Edit\n- path: a.rs\n- preview: updated\n"), "{edit}");
}

#[test]
fn a_file_that_pi_read_keeps_its_path_and_says_where_to_go_on() {
    let output = r"one\ntwo\n\n... (620 more lines not shown. Use offset=770 to continue reading)";
    let input = r#"{"path":"a.ts","offset":768,"limit":2}"#;
    let session = format!(
        r#"{{"type":"session","version":3,"id":"s"}}
{{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"look"}}}}
{{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"c1","name":"read","arguments":{input}}}]}}}}
{{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","message":{{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{{"type":"text","text":"{output}"}}]}}}}
{{"type":"message","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:04.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"done"}}]}}}}
{{"type":"message","id":"e","parentId":"d","timestamp":"2026-01-01T00:00:05.000Z","message":{{"role":"user","content":"thanks"}}}}
{{"type":"message","id":"f","parentId":"e","timestamp":"2026-01-01T00:00:06.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"ok"}}]}}}}"#
    );

    let block = blocks(&session);

    let lines = "- capability: read\n- path: a.ts\n- requested_offset: 768\n- requested_limit: 2\n- next_offset: 770\n- exact_evidence:\n-   one\n-   two\n";
    assert!(block.contains(lines), "{block}");
}

#[test]
fn a_command_of_codex_keeps_its_command_and_not_its_header() {
    let output = |text: &str| {
        format!(
            r"Chunk ID: 7a\nWall time: 0.0 seconds\nProcess {text}\nOriginal token count: 9\nOutput:\nls ok\n"
        )
    };
    let call = |n: u32, name: &str, arguments: &str, output: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        format!(
            r#"{{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{{"type":"function_call","name":"{name}","arguments":{arguments},"call_id":"c{n}"}}}}
{{"timestamp":"2026-01-01T00:00:03.000Z","type":"response_item","payload":{{"type":"function_call_output","call_id":"c{n}","output":"{output}"}}}}"#
        )
    };
    let said = |role: &str, text: &str| {
        format!(
            r#"{{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let rollout = [
        said("user", "look"),
        call(
            1,
            "exec_command",
            r#"{"cmd":"ls -a","workdir":"/w"}"#,
            &output("running with session ID 35405"),
        ),
        call(2, "write_stdin", r#"{"session_id":35405,"chars":""}"#, &output("exited with code 0")),
        said("assistant", "done"),
        said("user", "thanks"),
        said("assistant", "ok"),
    ];

    let block = blocks(&rollout.join("\n"));

    let lines = "- capability: exec_command\n- command: ls -a\n- cwd: /w\n- process_id: 35405\n- preview: ls ok\n- output_recovery: ask for the output of this process_id for exact log chunks.\n- [TOOL RESULT SUMMARY]\n- capability: write_stdin\n- process_id: 35405\n- exit_code: 0\n- preview: ls ok\nassistant";
    assert!(block.contains(lines), "{block}");
}

#[test]
fn a_log_of_messages_is_read_by_the_names_that_harnesses_use() {
    let log = r#"[{"role":"user","content":"look"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"read_file","arguments":"{\"absolute_path\":\"/w/a.rs\"}"}}]},
        {"role":"tool","tool_call_id":"t1","content":"apples"},
        {"role":"assistant","content":"Apples."},
        {"role":"user","content":"Thanks."},
        {"role":"assistant","content":"Welcome."}]"#;

    let block = blocks(log);

    assert_says(&block, &["- capability: read_file\n- path: /w/a.rs\n- exact_evidence:\n-   apples\n"]);
}

/// A policy that shows results by a template which leaves nothing of them but a title.
const ERASES: &str = r#"(
    name: "erases", about: "Leaves nothing.",
    tables: { "all": [(as: raw OVER)] },
    templates: { "title": (write: "a title", exact: "") },
    stages: [(name: "s", scope: (kinds: [tool_result]), apply: table(rows: "all", template: "title", grows: true))],
)"#;

#[test]
fn a_result_of_which_a_template_leaves_nothing_is_never_exact() {
    for (over, shown) in [("", ShownAs::Summary), (", over_budget: exact", ShownAs::Preview)] {
        let calls = [("bash", r#"{"command":"ls"}"#, "a.rs\nb.rs".repeat(20))];
        let timeline = told(&[&calls, &[]]);
        let text = ERASES.replace("OVER", over);
        let spec: PolicyFile = decode(&text, ctxsim::input::Format::Ron).unwrap();
        let known = Known::new(&timeline, Limits::NONE);
        let policy = Policy::new(&spec).unwrap();
        let mut spy = Exactness(Program::new(&policy, &timeline, &known), Vec::new());
        play(&timeline, &policy, &Limits::NONE, &mut spy, &mut Rows::default());

        assert!(!spy.1.is_empty());
        assert!(spy.1.iter().all(|it| *it == (shown, false)), "{:?}", spy.1);
    }
}

/// Notes how the results of every request are shown, and whether they count as exact, once their words are a template's.
struct Exactness(Program, Vec<(ShownAs, bool)>);

impl Projector for Exactness {
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.0.project(moment, ambient, edit);
        let prompt = edit.prompt();
        let results = (0..prompt.len()).filter(|it| prompt.kind(*it) == Kind::ToolResult);
        let changed = results.map(|it| prompt.slot(it)).filter(|it| it.rendition != ShownAs::Raw);
        self.1.extend(changed.map(|it| (it.rendition, it.exact)));
    }
}

#[test]
fn whatever_the_runtime_keeps_as_exact_of_the_bundled_session_stands_in_its_words() {
    let scenario = include_str!("../../../scenarios/recorded/claude-code.toml");
    let spec: ScenarioFile = decode(scenario, ctxsim::input::Format::Toml).unwrap();
    let LoadSpec::Recorded { assume, .. } = spec.load else { panic!("the bundled scenario is a recording") };
    let session = include_str!("../../../scenarios/recorded/claude-code-session.jsonl");
    let timeline = import(session, "recorded", &assume, &spec.file_tools).unwrap().timeline;
    let limits = Limits { prompt: UNLIMITED, window: 200_000, output: UNLIMITED };
    let known = Known::new(&timeline, limits);
    let policy = policy();
    let mut spy = Kept { program: Program::new(&policy, &timeline, &known), timeline: &timeline, n: 0 };
    play(&timeline, &policy, &limits, &mut spy, &mut Rows::default());

    assert!(spy.n > 10, "{}", spy.n);
}

/// Looks for the lines of each file that counts as exact in the summary that tells of it.
struct Kept<'t> {
    program: Program,
    timeline: &'t Timeline,
    n: usize,
}

impl Projector for Kept<'_> {
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.program.project(moment, ambient, edit);
        let prompt = edit.prompt();
        let told: String = (0..prompt.len())
            .filter(|it| prompt.slot(*it).is_summary())
            .filter_map(|it| self.program.text(prompt, &self.timeline.texts, it))
            .collect();
        let is_kept = |it: &u32| {
            matches!(prompt.slot(*it).state, State::Folded | State::FoldHost) && prompt.slot(*it).exact
        };
        for slot in (0..prompt.len()).filter(is_kept) {
            let text = self.timeline.texts.text(prompt.item(slot).origin).unwrap();
            let line = text.lines().find(|it| it.contains('→') && it.len() > 20).unwrap();
            assert!(told.contains(line.trim()), "{line}\nin\n{told}");
            self.n += 1;
        }
    }
}
