//! Which cache rules hold for a recorded session: what the logs of its client show, unless the user says others.

use crate::support::*;

/// A rollout of Codex whose prompts grow by 1,000 tokens a minute; each is billed as a cache in steps of 512 from 384 on would have it.
fn rollout() -> String {
    let mut lines = vec![
        json!({"timestamp": "2026-06-01T00:00:00.000Z", "type": "session_meta", "payload": {"id": "s", "cli_version": "0.140.0"}}),
        json!({"timestamp": "2026-06-01T00:00:00.100Z", "type": "turn_context", "payload": {"model": "gpt-5.5", "cwd": "/w"}}),
    ];
    for nth in 0..4_u64 {
        let at = |second: u64| format!("2026-06-01T00:0{nth}:{second:02}.000Z");
        let text = format!("{nth} {}", "word ".repeat(800));
        let said = |kind: &str, role: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        let (prompt, read) =
            (10_000 + 1_000 * nth, if nth == 0 { 0 } else { 9_600 + 1_000 * (nth - 1) / 512 * 512 });
        let usage = json!({"input_tokens": prompt, "cached_input_tokens": read, "output_tokens": 20, "reasoning_output_tokens": 0, "total_tokens": prompt + 20});
        lines.push(
            json!({"timestamp": at(1), "type": "response_item", "payload": said("input_text", "user")}),
        );
        lines.push(
            json!({"timestamp": at(3), "type": "response_item", "payload": said("output_text", "assistant")}),
        );
        lines.push(json!({"timestamp": at(4), "type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": usage, "total_token_usage": usage}}}));
    }
    lines.iter().map(|it| format!("{it}\n")).collect()
}

/// What is read of the prompts in a folder with the session, and with a profile of one's own.
fn reads(folder: &Path, more: &[&str]) -> Vec<u64> {
    let args = ["run", "session.jsonl", "--policy", "identity", "--rows", "requests", "--format", "json"];
    let rows: Vec<Value> = parsed(&ctxsim(folder, [&args[..], more].concat()));
    rows.iter().map(|it| it["cache_read_tokens"].as_u64().unwrap()).collect()
}

#[test]
fn what_a_user_says_of_a_cache_holds_whatever_logs_of_the_client_show() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("session.jsonl"), rollout()).unwrap();

    let logged = reads(folder.path(), &[]);
    assert!(logged[1..].iter().all(|it| *it > 9_000 && (it - 384) % 512 == 0), "{logged:?}");
    let missed = reads(folder.path(), &["--set", "profile.cache.prefix_interval.hits={ probability = 0 }"]);
    assert_eq!(missed, [0; 4]);

    fs::create_dir(folder.path().join("profiles")).unwrap();
    fs::write(folder.path().join("ctxsim.toml"), "folders = [\".\"]\n").unwrap();
    let own = "name = \"mine\"\nabout = \"Mine.\"\nas_of = \"2026-01-01\"\nsources = [\"me\"]\nmodels = [\"gpt-5.5\"]\n\
        [cache.prefix_interval]\nstep_tokens = 1_000\n[[prices]]\ninput = 1.0\noutput = 2.0\n";
    fs::write(folder.path().join("profiles/mine.toml"), own).unwrap();
    assert_eq!(reads(folder.path(), &[]), [0, 10_000, 11_000, 12_000], "a file of one's own");
}
