//! Images in recordings: every importer that knows them finds each once, and its size where the log has its first bytes.

use super::claude_code::Session;
use super::otel::span;
use super::*;
use crate::changes::png;
use ctxsim::input::profile::ImageSize;

/// Something in a log that is JSON, within which one line of the kind stands for an image.
fn with_image(name: &str, place: &str, image: &Value) -> String {
    let path = root().join("tests/data/shapes").join(name);
    let text = fs::read_to_string(path).unwrap();
    let mut line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line.pointer_mut(place).unwrap().as_array_mut().unwrap().push(image.clone());
    line.to_string()
}

/// A rollout of Codex with an image.
fn of_codex(url: &str) -> String {
    let codex = [
        json!({"type": "session_meta", "payload": {"id": "s", "timestamp": "2026-01-01T00:00:00.000Z"}}),
        json!({"type": "turn_context", "payload": {"model": "gpt-5.4"}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": url}]}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "ok"}]}}),
        json!({"type": "event_msg", "payload": {"type": "token_count", "info": {
            "total_token_usage": {"input_tokens": 900, "cached_input_tokens": 0, "output_tokens": 5, "reasoning_output_tokens": 0},
            "last_token_usage": {"input_tokens": 900, "cached_input_tokens": 0, "output_tokens": 5, "reasoning_output_tokens": 0}}}}),
    ];
    let stamped = codex.into_iter().enumerate().map(|(nth, mut it)| {
        it["timestamp"] = format!("2026-01-01T00:00:0{nth}.000Z").into();
        format!("{it}\n")
    });
    stamped.collect()
}

/// A log of each format with one image of 560 by 560 pixels.
fn logs() -> Vec<(&'static str, String)> {
    let data = png(560, 560);
    let url = format!("data:image/png;base64,{data}");
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [
        {"type": "text", "text": "seen"}, {"type": "image", "source": source}]}]});
    let usage = |input: u32| format!(r#"{{"input_tokens":{input},"output_tokens":20}}"#);
    let claude = Session::default().user("look").call("m1", "c", &usage(1_000));
    let claude = claude.line("user", &result.to_string(), "").text("m2", "ok", &usage(1_600));
    let chat = json!({
        "messages": [{"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]}],
        "response": {"id": "r", "model": "gpt-4o", "choices": [{"message": {"role": "assistant", "content": "ok"}}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 2}},
    });
    let gemini = [
        json!({"sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00.000Z", "lastUpdated": "2026-01-01T00:00:00.000Z", "kind": "main"}),
        json!({"id": "m1", "timestamp": "2026-01-01T00:00:01.000Z", "type": "user", "content": [
            {"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": data}}]}),
        json!({"id": "m2", "timestamp": "2026-01-01T00:00:02.000Z", "type": "gemini", "content": "ok", "model": "gemini-2.5-flash",
            "tokens": {"input": 900, "output": 2, "cached": 0, "thoughts": 0, "tool": 0, "total": 902}}),
    ];
    let opencode = json!({"info": {"id": "ses_1", "version": "1.4.3"}, "messages": [
        {"info": {"id": "m1", "role": "user", "time": {"created": 1_000}}, "parts": [
            {"type": "text", "text": "look"}, {"type": "file", "mime": "image/png", "url": url}]},
        {"info": {"id": "m2", "role": "assistant", "modelID": "gpt-5.4", "providerID": "openai", "finish": "stop", "cost": 0.25,
            "tokens": {"input": 900, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "time": {"created": 2_000, "completed": 2_500}}, "parts": [{"type": "text", "text": "ok"}]},
    ]});
    let pi = [
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/a"}),
        json!({"type": "message", "id": "e1", "parentId": null, "timestamp": "2026-01-01T00:00:01.000Z", "message": {"role": "user",
            "content": [{"type": "text", "text": "look"}, {"type": "image", "data": data, "mimeType": "image/png"}]}}),
        json!({"type": "message", "id": "e2", "parentId": "e1", "timestamp": "2026-01-01T00:00:02.000Z", "message": {"role": "assistant",
            "api": "anthropic-messages", "content": [{"type": "text", "text": "ok"}], "timestamp": 1_767_225_602_000_u64,
            "usage": {"input": 900, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.25}}}}),
    ];
    let part = json!([{"role": "user", "parts": [{"type": "text", "content": "look"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": data}]}]);
    let otel = json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 900, "gen_ai.usage.output_tokens": 2,
        "gen_ai.input.messages": part.to_string()});
    let lines = |all: &[Value]| all.iter().map(|it| format!("{it}\n")).collect::<String>();
    let bedrock = json!({"image": {"format": "png", "source": {"bytes": data}}});
    vec![
        ("claude-code", claude.text),
        ("messages", chat.to_string()),
        ("codex", of_codex(&url)),
        ("gemini-cli", lines(&gemini)),
        ("opencode", opencode.to_string()),
        ("pi", lines(&pi)),
        ("otel", span("a", "", 0, "chat m", otel)),
        ("bedrock", with_image("bedrock-converse.jsonl", "/messages/0/content", &bedrock)),
    ]
}

#[test]
fn every_format_finds_an_image_once_and_its_size_in_its_first_bytes() {
    for (name, log) in logs() {
        let timeline = imported(&log).timeline;
        let images = &timeline.images.items;

        assert_well_formed(&timeline);
        assert_eq!(images.len(), 1, "{name}");
        assert_eq!(images[0].1, Some(ImageSize { width: 560, height: 560 }), "{name}");
        let item = &timeline.spine.items[images[0].0 as usize];
        assert_eq!(item.kind, Kind::Image, "{name}");
        assert!(item.raw > 0, "{name}");
        assert_eq!(deviation_max(&timeline), 0, "{name}");
        assert!(!timeline.assumptions.iter().any(|it| it.contains("size of")), "{name}");
    }
}

#[test]
fn an_image_without_its_bytes_has_the_size_that_is_assumed_and_the_report_says_so() {
    let (_, log) = logs().swap_remove(1);
    let log = log.replace(&format!("data:image/png;base64,{}", png(560, 560)), "https://example.com/a.png");

    let timeline = imported(&log).timeline;

    assert_eq!(timeline.images.items.len(), 1);
    assert_eq!(timeline.images.items[0].1, None);
    let said = "The log does not tell the size of 1 image, which counts as 1280 × 800 pixels (from 512 × 512 to 2576 × 1449).";
    assert!(timeline.assumptions.iter().any(|it| it == said), "{:#?}", timeline.assumptions);
}

#[test]
fn a_redacted_session_keeps_the_size_of_its_images() {
    for (name, log) in logs() {
        let timeline = imported(&log).timeline;
        let redacted = {
            let folder = tempfile::TempDir::new().unwrap();
            let path = folder.path().join("log.jsonl");
            fs::write(&path, &log).unwrap();
            ctxsim::app::redact_recording(&ctxsim::catalog::bundled_catalog(), path.to_str().unwrap())
                .unwrap()
        };
        let read = imported(&redacted).timeline;

        assert_eq!(read.images.items, timeline.images.items, "{name}");
        assert_eq!(prompts(&read), prompts(&timeline), "{name}");
    }
}
