//! Logs of agents that cannot be read: refused by name, with the reason and a way out.

use super::*;

/// The beginnings of such logs, as the agents write them, with what the message names.
const LOGS: [(&str, &str); 24] = [
    (
        r#"{"uuid":"2","parentUuid":"1","type":"assistant","message":{"role":"model","parts":[]},"usageMetadata":{}}"#,
        "Qwen Code",
    ),
    (
        r#"{"v":3,"id":"T-1","created":1,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"ok"}]}"#,
        "Amp",
    ),
    (r#"{"role":"_checkpoint","id":0}"#, "Kimi"),
    (r#"{"version":1,"approval":{"yolo":false},"additional_dirs":[]}"#, "Kimi"),
    (r#"{"role":"user","message":{"content":[{"type":"text","text":"hello"}]}}"#, "Cursor"),
    ("{not-json\n{\"id\":\"1\",\"role\":\"user\",\"message\":{\"content\":\"hello\"}}", "Cursor"),
    (r#"{"type":"session_start","id":"1","title":"t","owner":"me","version":2,"cwd":"/w"}"#, "Droid"),
    (r#"[{"id":1,"session_id":"s","role":"user","content":"hello"}]"#, "Hermes"),
    (r#"{"session":{"id":"s","source":"tui"},"messages":[{"role":"user","content":"hello"}]}"#, "Hermes"),
    (r#"{"kind":"user","text":"hello","captured_at":"2026-01-01T00:00:00Z"}"#, "Letta Code"),
    (r#"{"method":"session/update","params":{},"timestamp":1}"#, "Grok Build"),
    (r#"{"primaryModelId":"m","contextTokensUsed":9}"#, "Grok Build"),
    (r#"{"info":{"id":"s"},"current_model_id":"m"}"#, "Grok Build"),
    (r#"{"step_index":0,"source":"MODEL","type":"PLANNER_RESPONSE"}"#, "Antigravity"),
    (r#"{"conversationId":"c","rows":[]}"#, "Antigravity"),
    (r#"{"id":"e","event":"agent","timestamp":"2026-01-01T00:00:00Z","data":{}}"#, "Open Design"),
    (r#"{"requests":[{"message":{"text":"hello"}}]}"#, "GitHub Copilot Chat"),
    (
        r#"{"items":[null,{"kind":"MessageEvent","timestamp":"t","source":"user"}]}"#,
        "an OpenHands conversation",
    ),
    (r#"{"id":"c","agent":{},"execution_status":"idle","stats":{}}"#, "an OpenHands conversation"),
    (r#"[{"ts":1,"type":"say","say":"api_req_started","text":"{}"}]"#, "Cline or Roo Code"),
    (r#"{"working_dir":"/w","message_count":4,"total_tokens":900}"#, "Goose"),
    (r#"{"records":[{"role":"meta","source":"pi"}]}"#, "letta's trajectories"),
    ("\n# aider chat started at 2026-01-01 00:00:00\n", "Aider"),
    (
        r#"{"info":{"model_stats":{"api_calls":2}},"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}],"trajectory_format":"mini-swe-agent-1.1"}"#,
        "mini-swe-agent",
    ),
];

#[test]
fn a_log_without_usage_per_request_is_refused_by_the_name_of_its_agent() {
    for (log, name) in LOGS {
        assert_eq!(detect(log), None, "{log}");
        let problems = import(log, "test", &Assume::default(), &[]).unwrap_err();
        assert_eq!(problems[0].code.name(), "recording-refused", "{log}");
        assert!(
            problems[0].message.starts_with(&format!("a log of {name} cannot be read: ")),
            "{problems:?}"
        );
        assert!(problems[0].help.is_some());
    }
}

#[test]
fn a_log_is_refused_although_its_front_is_cut_and_a_folder_names_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let requests = r#"{"message":{"text":"hello"}},"#.repeat(60_000);
    std::fs::write(folder.path().join("long.json"), format!(r#"{{"requests":[{requests}null]}}"#)).unwrap();
    std::fs::copy("tests/data/recorded/omp-session.jsonl", folder.path().join("omp.jsonl")).unwrap();

    let command = program(&folder, ["import", "."]).output();

    let output = command.unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert!(text.contains("a log of GitHub Copilot Chat cannot be read"), "{text}");
}

#[test]
fn a_trajectory_that_keeps_the_responses_has_their_usage_and_is_read() {
    let log = r#"{"info":{"model_stats":{"api_calls":1}},"trajectory_format":"mini-swe-agent-1.1","messages":[{"role":"user","content":"hello"},
        {"role":"assistant","content":"hi","extra":{"response":{"model":"gpt-5.4","usage":{"prompt_tokens":90,"completion_tokens":7}}}}]}"#;

    let read = imported(log);

    assert_eq!((read.format, prompts(&read.timeline)), ("messages", vec![90]));
    assert_eq!(read.timeline.models[0].name, "gpt-5.4");
}

#[test]
fn a_trajectory_says_whether_a_result_was_handed_in_and_nothing_of_whether_it_is_right() {
    let log = |status: &str| {
        format!(
            r#"{{"info":{{"exit_status":"{status}","submission":"diff"}},"trajectory_format":"mini-swe-agent-1.1","messages":[{{"role":"user","content":"hello"}},{{"role":"assistant","content":"hi","extra":{{"response":{{"model":"gpt-5.4","usage":{{"prompt_tokens":90,"completion_tokens":7}}}}}}}}]}}"#
        )
    };
    let outcome = |status: &str| imported(&log(status)).timeline.recorded.unwrap().outcome;

    for (status, value) in [("Submitted", 1.0), ("submitted (exit_cost)", 1.0), ("LimitsExceeded", 0.0)] {
        let outcome = outcome(status).unwrap();
        assert_eq!((outcome.name.as_str(), outcome.value), ("submitted", value), "{status}");
    }
    assert_eq!(outcome(""), None);
}

/// The folders of the reference data of which every file is read or refused.
const FOLDERS: &str = "\
    copilot-cli dsh kimi mini-swe-agent omp openclaw openhands other otel-genai pi request-logs \
    vscode-copilot-chat";

/// Files that are read although they have no bill: messages alone, and records of Claude Code's.
const WITHOUT_BILLS: &str = "\
    github_issue.traj.json local.traj.json openhands_fncall-llm-message.json \
    openhands_nonfncall-llm-message.json codeburn_security_proto-bash.jsonl \
    codeburn_security_proto-model.jsonl codeburn_security_proto-tool.jsonl";

#[test]
fn every_reference_file_is_read_or_refused_by_name() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let counted: Value = serde_json::from_str(include_str!("../../data/formats/requests.json")).unwrap();
    let mut others = Vec::new();
    for name in listed(FOLDERS) {
        for entry in std::fs::read_dir(folder.join("formats").join(name)).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            let is_pi = name == "pi" && !file.ends_with("_expected.json");
            let is_text = path.extension().is_some_and(|it| it == "md" || it == "db");
            let is_read = counted.get(format!("formats/{name}/{file}")).is_some() || is_pi;
            if is_text || is_read || listed(WITHOUT_BILLS).contains(&file.as_str()) {
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            match import(&text, &file, &Assume::default(), &[]) {
                Err(problems) => match problems[0].code.name() {
                    "recording-refused" => {}
                    "recording-empty" if name == "otel-genai" => {}
                    "recording-unknown" if file.ends_with(".zstd") => {}
                    code => others.push(format!("{name}/{file}: {code}")),
                },
                Ok(read) => others.push(format!("{name}/{file}: read as {}", read.format)),
            }
        }
    }
    assert_eq!(others, [""; 0]);
}

#[test]
fn a_database_of_another_agent_is_refused_with_what_to_use_instead() {
    let schemas = [
        ("CREATE TABLE assistant_usage_events (model TEXT)", "Copilot CLI", "events.jsonl"),
        ("CREATE TABLE span_attributes (span_id TEXT)", "VS Code's agent traces", "otel.outfile"),
        ("CREATE TABLE cursorDiskKV (key TEXT)", "Cursor", "LiteLLM"),
        ("CREATE TABLE sessions (accumulated_total_tokens INTEGER)", "Goose", "LiteLLM"),
    ];
    for (schema, name, instead) in schemas {
        let file = format!("SQLite format 3\0\u{10}\0\u{fffd}{schema}");

        let refused = import(&file, "test", &Assume::default(), &[]).unwrap_err();

        let message = format!("a log of {name} cannot be read: ");
        assert!(refused[0].message.starts_with(&message), "{refused:?}");
        assert!(refused[0].help.as_ref().unwrap().contains(instead), "{refused:?}");
    }
}
