//! Changes have a moment: what a request log shows of marks, tools, system prompt and settings, and what a scenario says of them.

use base64::Engine as _;

use crate::support::*;

/// What each request of a load reads and writes.
fn uses(folder: &Path, load: &[&str], profile: &str) -> Vec<[u64; 3]> {
    let args = ["--policy", "identity", "--profile", profile, "--rows", "requests", "--format", "json"];
    let rows: Value = parsed(&ctxsim(folder, [&["run"], load, &args].concat()));
    let rows = rows["rows"].as_array().or(rows.as_array()).unwrap().clone();
    let count = |row: &Value, name: &str| row[name].as_u64().unwrap_or(0);
    let of =
        |row: &Value| ["prompt_tokens", "cache_read_tokens", "cache_write_tokens"].map(|it| count(row, it));
    rows.iter().map(of).collect()
}

/// What differs between the requests of a log besides their messages.
#[derive(Clone, Default)]
struct Body {
    more: Value,
    tools: Vec<&'static str>,
    system: &'static str,
    /// Whether its message has an image, which takes 400 tokens.
    has_image: bool,
}

/// The first bytes of a PNG of this size, in base64.
pub(crate) fn png(width: u32, height: u32) -> String {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let bytes = [&head[..], &width.to_be_bytes(), &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A log of requests a minute apart: the sizes of their prompts grow by a message of 300 tokens and an answer of 100.
fn log(bodies: &[Body], prompts: &[u64]) -> String {
    let mut messages: Vec<Value> = Vec::new();
    let mut lines = String::new();
    for (nth, body) in bodies.iter().enumerate() {
        let text = format!("question {nth} {}", "word ".repeat(240));
        let source = json!({"type": "base64", "media_type": "image/png", "data": png(560, 560)});
        messages.push(match body.has_image {
            true => json!({"role": "user", "content": [{"type": "text", "text": text}, {"type": "image", "source": source}]}),
            false => json!({"role": "user", "content": text}),
        });
        let tool =
            |name: &&str| json!({"name": name, "description": format!("{name} {}", "tool ".repeat(800))});
        let mut line = json!({
            "timestamp": 1_000 + 60 * nth, "model": "claude-sonnet-5",
            "system": format!("{} {}", body.system, "rule ".repeat(1_600)),
            "tools": body.tools.iter().map(tool).collect::<Vec<_>>(), "messages": messages,
        });
        line.as_object_mut().unwrap().extend(body.more.as_object().cloned().unwrap_or_default());
        let answer = format!("answer {nth} {}", "word ".repeat(80));
        line["response"] = json!({
            "id": format!("m{nth}"), "type": "message", "role": "assistant", "model": "claude-sonnet-5",
            "content": [{"type": "text", "text": answer}],
            "usage": {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": prompts[nth], "output_tokens": 100},
        });
        messages.push(json!({"role": "assistant", "content": answer}));
        lines.push_str(&format!("{line}\n"));
    }
    lines
}

const TOOLS: [&str; 2] = ["read", "write"];

fn body(more: Value) -> Body {
    Body { more, tools: TOOLS.to_vec(), system: "Be brief.", has_image: false }
}

/// The stable prefix of the scripted load, as `log` has it.
fn stable(first: &str, system: &str) -> String {
    format!(
        r#"[{{ kind = "tool_schema", tokens = 1_000{first} }}, {{ kind = "tool_schema", tokens = 1_000 }}, {{ kind = "system", tokens = 2_000{system} }}]"#
    )
}

/// A scripted load whose turns say these things besides their messages.
fn scripted(turns: &[String]) -> String {
    let turn = |it: &String| {
        format!("[[load.turns]]\nuser_tokens = 300\nanswer_tokens = 100\ngap_ms = 60_000\n{it}\n")
    };
    let turns: String = turns.iter().map(turn).collect();
    format!("name = \"changes\"\nabout = \"Changes.\"\nstable = {}\n{turns}", stable("", ""))
}

#[test]
fn every_kind_of_change_gives_the_same_rows_scripted_and_as_a_request_log() {
    let other_tools = Body { tools: vec!["search", "write"], ..body(json!({})) };
    let other_system = Body { system: "Be long.", ..body(json!({})) };
    let changes: [(&str, Body, String, String); 6] = [
        (
            "images",
            Body { has_image: true, ..body(json!({})) },
            "images = [{ width = 560, height = 560 }]".to_owned(),
            String::new(),
        ),
        (
            "tools",
            other_tools,
            format!("stable = {}", stable(", name = \"search\"", "")),
            format!("stable = {}", stable("", "")),
        ),
        (
            "system",
            other_system,
            format!("stable = {}", stable("", ", name = \"long\"")),
            format!("stable = {}", stable("", "")),
        ),
        (
            "effort",
            body(json!({"output_config": {"effort": "low"}})),
            "effort = \"low\"".to_owned(),
            "effort = \"\"".to_owned(),
        ),
        (
            "thinking",
            body(json!({"thinking": {"type": "enabled", "budget_tokens": 4_000}})),
            "thinking = \"enabled\"".to_owned(),
            "thinking = \"\"".to_owned(),
        ),
        (
            "tool choice",
            body(json!({"tool_choice": {"type": "any"}})),
            "tool_choice = \"any\"".to_owned(),
            "tool_choice = \"\"".to_owned(),
        ),
    ];
    for (name, changed, there, back) in changes {
        let folder = TempDir::new().unwrap();
        let bodies = [body(json!({})), body(json!({})), changed, body(json!({}))];
        let more = if name == "images" { 400 } else { 0 };
        let prompts = [4_300, 4_700, 5_100 + more, 5_500 + more];
        fs::write(folder.path().join("log.jsonl"), log(&bodies, &prompts)).unwrap();
        let turns = [String::new(), String::new(), there, back];
        fs::write(folder.path().join("changes.toml"), scripted(&turns)).unwrap();
        for profile in ["anthropic/claude-sonnet-5", "anthropic/claude-opus-5", "anthropic/claude-fable-5.1"]
        {
            let logged = uses(folder.path(), &["log.jsonl"], profile);
            let written = uses(folder.path(), &["--scenario", "changes.toml"], profile);

            // Where tools end before the system prompt is an estimate in a log: what is read of a front may differ by that alone.
            let close =
                |(one, other): (&[u64; 3], &[u64; 3])| one[0] == other[0] && one[1].abs_diff(other[1]) <= 400;
            assert!(logged.iter().zip(&written).all(close), "{name}, {profile}: {logged:?} for {written:?}");
            let moves = logged[2][1] < logged[1][0];
            let is_kept = name == "images" || name == "effort" && profile.contains("fable");
            assert_eq!(moves, !is_kept, "{name}, {profile}: {logged:?}");
            assert!(logged[3][1] >= logged[1][0], "what was there before is there again: {name}, {logged:?}");
        }
    }
}

#[test]
fn an_effort_that_changes_invalidates_what_the_model_says() {
    let folder = TempDir::new().unwrap();
    let turns = [String::new(), "effort = \"low\"".to_owned()];
    fs::write(folder.path().join("changes.toml"), scripted(&turns)).unwrap();
    let read = |profile: &str| uses(folder.path(), &["--scenario", "changes.toml"], profile)[1][1];

    assert_eq!(read("anthropic/claude-opus-5"), 0);
    assert_eq!(read("anthropic/claude-sonnet-5"), 4_000);
    assert_eq!(read("anthropic/claude-fable-5.1"), 4_300);
}

#[test]
fn an_effort_that_a_message_sets_rewrites_nothing_where_the_provider_takes_one_and_elsewhere_the_request_sets_it()
 {
    let folder = TempDir::new().unwrap();
    let low = "effort = \"low\"".to_owned();
    let turns = [String::new(), format!("{low}\nin_band = true"), low];
    fs::write(folder.path().join("changes.toml"), scripted(&turns)).unwrap();
    let reads = |profile: &str| {
        let uses = uses(folder.path(), &["--scenario", "changes.toml"], profile);
        [uses[1][1], uses[2][1]]
    };

    // First by a message, then by the request itself: for the last profile that is no change any more.
    assert_eq!(reads("anthropic/claude-opus-5"), [4_300, 0]);
    assert_eq!(reads("anthropic/claude-opus-5.5"), [4_300, 4_000]);
    assert_eq!(reads("anthropic/claude-fable-5.1"), [4_300, 4_700]);
    assert_eq!(reads("anthropic/claude-sonnet-5"), [4_000, 4_700]);
    let profiles = ["--profile", "anthropic/claude-opus-5", "--profile", "anthropic/claude-sonnet-5"];
    let said = ctxsim(
        folder.path(),
        [&args("run --details --policy identity --scenario changes.toml"), &profiles[..]].concat(),
    );
    let told = "changes: no message can set the effort (`in_band`) under anthropic/claude-sonnet-5: the request sets it, which rewrites the messages.";
    assert_says(&one_line(&out(&said)), &[told]);
}

#[test]
fn a_message_as_a_text_and_as_one_block_is_one_message_and_marks_count() {
    let marked = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]});
    let plain = |role: &str, text: &str| json!({"role": role, "content": text});
    let words = "word ".repeat(2_000);
    let line = |at: u64, messages: Vec<Value>, written: u64| {
        json!({
            "timestamp": at, "model": "claude-sonnet-5", "system": "Be brief.", "messages": messages,
            "response": {"id": format!("m{at}"), "type": "message", "role": "assistant", "model": "claude-sonnet-5",
                "content": [{"type": "text", "text": "yes"}],
                "usage": {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": written, "output_tokens": 2}},
        })
    };
    let first = line(1_000, vec![marked(&words)], 2_500);
    // The mark stands where it stood: what comes behind it is neither read nor written.
    let second = line(1_060, vec![marked(&words), plain("assistant", "yes"), plain("user", &words)], 5_000);
    let third = line(
        1_120,
        vec![
            plain("user", &words),
            plain("assistant", "yes"),
            plain("user", &words),
            plain("assistant", "yes"),
            marked(&words),
        ],
        7_500,
    );
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("log.jsonl"), format!("{first}\n{second}\n{third}\n")).unwrap();

    let uses = uses(folder.path(), &["log.jsonl"], "anthropic/claude-sonnet-5");

    assert_eq!(uses.len(), 3, "one session");
    assert_eq!(uses[0], [2_500, 0, 2_500]);
    assert_eq!(uses[1], [5_000, 2_500, 0]);
    assert_eq!(uses[2], [7_500, 2_500, 5_000]);
}

#[test]
fn calls_of_a_round_may_be_made_at_once() {
    let folder = TempDir::new().unwrap();
    let call = |n: u64| {
        format!(
            "[[load.turns.calls]]\ntool = \"look\"\ntimes = {n}\nargs_tokens = 10\nresult = {{ raw = 1_000 }}\n"
        )
    };
    let turn = "rounds = 2\nparallel = true\n";
    fs::write(folder.path().join("changes.toml"), scripted(&[format!("{turn}{}{}", call(3), call(1))]))
        .unwrap();

    let uses = uses(folder.path(), &["--scenario", "changes.toml"], "anthropic/claude-opus-5");

    let prompts: Vec<u64> = uses.iter().map(|it| it[0]).collect();
    assert_eq!(prompts, [4_300, 8_340, 12_380]);
}

#[test]
fn sub_agents_with_one_message_share_it_and_one_word_more_is_another() {
    let folder = TempDir::new().unwrap();
    let session = |name: &str, at: u64, says: &str| {
        format!(
            "[[load.sessions]]\nname = \"{name}\"\nat = \"{at}s\"\nturns = [{{ user_tokens = 5_000, answer_tokens = 50{says} }}]\n"
        )
    };
    let write = |says: [&str; 3]| {
        let sessions: String =
            (0..3).map(|nth| session(&format!("a{nth}"), 30 * nth as u64, says[nth])).collect();
        let text =
            format!("name = \"siblings\"\nabout = \"Siblings.\"\nstable = {}\n{sessions}", stable("", ""));
        fs::write(folder.path().join("siblings.toml"), text).unwrap();
        uses(folder.path(), &["--scenario", "siblings.toml"], "anthropic/claude-opus-5")
    };

    let task = ", says = \"task\"";
    assert_eq!(
        write([task, task, ", says = \"other\""]),
        [[9_000, 0, 9_000], [9_000, 9_000, 0], [9_000, 4_000, 5_000]]
    );
    assert_eq!(write(["", "", ""])[1], [9_000, 4_000, 5_000]);
}

#[test]
fn a_layout_that_an_api_refuses_is_a_warning_and_no_run_under_its_profile() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("changes.toml"), scripted(&[String::new()])).unwrap();
    let cases = [
        ("marks-order", r#"(at: end_of(tools), ttl: "5m"), (at: end_of(system), ttl: "1h")"#),
        (
            "marks-too-many",
            "(at: end_of(tools)), (at: end_of(system)), (at: last_messages(n: 2)), (at: before_turn(1))",
        ),
        ("marks-mixed", r#"(at: last_messages(n: 1), ttl: "1h"), (at: automatic)"#),
    ];
    for (code, marks) in cases {
        let policy =
            format!("(name: \"bad\", about: \"Bad.\", layout: (breakpoints: [{marks}]), stages: [])");
        fs::write(folder.path().join("bad.ron"), policy).unwrap();
        let run = |profile: &str| {
            ctxsim(
                folder.path(),
                ["run", "--policy", "bad.ron", "--scenario", "changes.toml", "--profile", profile],
            )
        };
        let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
        let valid = ctxsim(folder.path(), ["validate", "bad.ron"]);
        let refused = run("anthropic/claude-sonnet-4.6");

        assert!(
            valid.status.success() && told(&valid).contains(&format!("warning[{code}]")),
            "{}",
            told(&valid)
        );
        assert!(told(&valid).contains("bedrock/claude-opus-5"), "{}", told(&valid));
        assert_eq!(refused.status.code(), Some(2), "{code}");
        assert!(told(&refused).contains(&format!("error[{code}]")) && told(&refused).contains("bad.ron:1:"));
        assert!(run("openai/gpt-5.6-sol").status.success(), "the latest count there: {code}");
    }
}

/// What a load of 26 rounds of three shell calls and a screenshot writes and costs, where these stages apply; a screenshot is an image, or as
/// many tokens of text.
fn of_screenshots(is_image: bool, stages: &str) -> (u64, f64) {
    let folder = TempDir::new().unwrap();
    let result = match is_image {
        true => "result = { raw = 0 }\nimages = [{ width = 560, height = 560 }]",
        false => "result = { raw = 400 }",
    };
    let load = format!(
        r#"name = "screens"
about = "Screens."
stable = [{{ kind = "tool_schema", tokens = 16_000 }}, {{ kind = "system", tokens = 6_000 }}]
[[load.turns]]
user_tokens = 400
answer_tokens = 300
rounds = 26
[[load.turns.calls]]
tool = "terminal"
times = 3
args_tokens = 90
gap_ms = 12_000
result = {{ raw = 1_150 }}
[[load.turns.calls]]
tool = "screenshot"
args_tokens = 40
gap_ms = 12_000
{result}
"#
    );
    let policy = format!("(name: \"evict\", about: \"Evicts.\", stages: [{stages}])");
    fs::write(folder.path().join("screens.toml"), load).unwrap();
    fs::write(folder.path().join("evict.ron"), policy).unwrap();
    let args = args("run --scenario screens.toml --policy evict.ron --profile anthropic/claude-opus-5");
    let report: Value = parsed(&ctxsim(folder.path(), [&args[..], &["--format", "json"]].concat()));
    let totals = &report["runs"][0]["totals"];
    (totals["cache_write_tokens"].as_u64().unwrap(), totals["cost_usd"]["total"].as_f64().unwrap())
}

#[test]
fn images_that_go_one_by_one_cost_more_than_in_batches_as_results_and_as_images() {
    let by = |unit: &str, kinds: &str, count: &str| {
        let scope =
            |more: &str| format!("scope: (kinds: [{kinds}], {more}keep_recent: {unit}(3), shown: [raw])");
        let each = format!("(name: \"evict\", {}, apply: show(marker(12)))", scope(""));
        let ten = scope(&format!("by: {unit}(10), whole: true, "));
        let ten = format!("(name: \"evict\", when: count(of: {count}), {ten}, apply: show(marker(12)))");
        [each, ten, String::new()]
    };
    let results = by("tool_uses", "tool_result], tools: [\"screenshot\"", "tool_uses, at_least: 14");
    let images = by("items", "image", "items, at_least: 13");
    let rounded = |(written, usd): (u64, f64)| ((written + 500) / 1_000, (usd * 100.0).round() / 100.0);

    let written = results.map(|it| rounded(of_screenshots(false, &it)));
    assert_eq!(written, [(1_458, 12.42), (218, 5.45), (131, 4.99)]);
    // The first image invalidates nothing.
    let written = images.map(|it| rounded(of_screenshots(true, &it)));
    assert_eq!(written, [(1_458, 12.42), (218, 5.45), (131, 4.99)]);
}

#[test]
fn a_scope_of_results_has_the_images_of_results_and_units_hold_both() {
    let marker = "apply: show(marker(12)))";
    let ten = "by: tool_uses(10), whole: true, keep_recent: tool_uses(3), shown: [raw])";
    let of = |kinds: &str| {
        format!(
            "(name: \"evict\", when: count(of: tool_uses, at_least: 14), scope: (kinds: [{kinds}], tools: [\"screenshot\"], {ten}, {marker}"
        )
    };
    let (written, _) = of_screenshots(true, &of("tool_result"));

    assert!((218_000..230_000).contains(&written), "two batches, each as one of images alone: {written}");
}

#[test]
fn an_image_that_leaves_brings_back_what_was_there_without_it() {
    let folder = TempDir::new().unwrap();
    let image = "images = [{ width = 560, height = 560 }]".to_owned();
    let turns = [String::new(), image, String::new(), String::new()];
    fs::write(folder.path().join("changes.toml"), scripted(&turns)).unwrap();
    let policy = "(name: \"drop\", about: \"Drop.\", stages: [(name: \"evict\", at: [turn_start], scope: (part: completed, kinds: [image]), apply: drop)])";
    fs::write(folder.path().join("drop.ron"), policy).unwrap();
    let args = args("run --scenario changes.toml --policy drop.ron --rows requests --format json");
    let more = ["--set", "profile.cache.breakpoints.invalidates={ images = \"messages\" }", "--profile"];
    let reads = |profile: &str| -> Vec<u64> {
        let rows: Value = parsed(&ctxsim(folder.path(), [&args[..], &more, &[profile]].concat()));
        let rows = rows["rows"].as_array().or(rows.as_array()).unwrap().clone();
        rows.iter().map(|it| it["cache_read_tokens"].as_u64().unwrap_or(0)).collect()
    };

    // With it, only tools and system prompt are read; without it, what the first request had written is there again.
    assert_eq!(reads("anthropic/claude-sonnet-5"), [0, 4_000, 4_300, 5_100]);
}

#[test]
fn an_image_takes_what_the_rule_of_the_model_says() {
    let folder = TempDir::new().unwrap();
    let load = "name = \"sizes\"\nabout = \"Sizes.\"\n[[load.turns]]\nuser_tokens = 100\nanswer_tokens = 10\nimages = [{ width = 1_024, height = 1_024 }, { count = 2 }]\n";
    fs::write(folder.path().join("sizes.toml"), load).unwrap();
    let prompt = |profile: &str| uses(folder.path(), &["--scenario", "sizes.toml"], profile)[0][0];

    // Patches of 28 pixels, tiles of 512, tiles of 768; where the size is not known, 1,280 by 800.
    assert_eq!(prompt("anthropic/claude-sonnet-4.6"), 100 + 37 * 37 + 2 * 46 * 29);
    assert_eq!(prompt("duckagent/openai-gpt-5.4"), 100 + 1_229 + 2 * 1_200);
    assert_eq!(prompt("field/gpt-4o"), 100 + 765 + 2 * 1_105);
}

#[test]
fn a_change_may_come_within_a_turn_and_a_request_that_it_has_not_is_refused() {
    let folder = TempDir::new().unwrap();
    let call =
        "[[load.turns.calls]]\ntool = \"look\"\ntimes = 2\nargs_tokens = 10\nresult = { raw = 1_000 }\n";
    let write = |request: u64| {
        let changes = format!("changes = [{{ request = {request}, effort = \"low\" }}]\n{call}");
        fs::write(folder.path().join("changes.toml"), scripted(&[changes, String::new()])).unwrap();
    };
    let reads = |request: u64| {
        write(request);
        let found = uses(folder.path(), &["--scenario", "changes.toml"], "anthropic/claude-opus-5");
        found.iter().map(|it| it[1]).collect::<Vec<_>>()
    };

    // Prompts of 4,300, 5,310 and 6,320 tokens, then the next turn's: what was set stays set.
    assert_eq!(reads(2), [0, 0, 5_310, 6_320]);
    assert_eq!(reads(3), [0, 4_300, 0, 6_320]);
    write(4);
    let refused = ctxsim(folder.path(), ["validate", "changes.toml"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("the turn has no request 4"), "{refused:?}");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_log_whose_own_marks_break_a_rule_is_played_and_noted() {
    let folder = TempDir::new().unwrap();
    let marks = |n: usize| {
        let block = |nth: usize| {
            let mark = if nth < n { json!({"type": "ephemeral"}) } else { Value::Null };
            json!({"type": "text", "text": format!("{nth} {}", "word ".repeat(400)), "cache_control": mark})
        };
        let content: Vec<Value> = (0..6).map(block).collect();
        let usage = json!({"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 3_000, "output_tokens": 2});
        let line = json!({
            "timestamp": 1_000, "model": "claude-sonnet-5", "system": "Be brief.",
            "messages": [{"role": "user", "content": content}],
            "response": {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-5",
                "content": [{"type": "text", "text": "yes"}], "usage": usage},
        });
        fs::write(folder.path().join("log.jsonl"), format!("{line}\n")).unwrap();
        out(&ctxsim(folder.path(), ["run", "--details", "log.jsonl"]))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };

    assert!(marks(5).contains("In 1 of 1 request, the prompt"), "{}", marks(5));
    assert!(!marks(4).contains("documented to refuse"), "{}", marks(4));
}

#[test]
fn a_layout_that_an_override_makes_is_held_against_the_api_too() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("changes.toml"), scripted(&[String::new()])).unwrap();
    let policy = "(name: \"two\", about: \"Two marks.\", layout: (breakpoints: [(at: end_of(tools), ttl: \"1h\"), (at: end_of(system), ttl: \"1h\")]), stages: [])";
    fs::write(folder.path().join("two.ron"), policy).unwrap();
    let run = |set: &[&str]| {
        let args = args("run --policy two.ron --scenario changes.toml --profile anthropic/claude-sonnet-5");
        ctxsim(folder.path(), [&args, set].concat())
    };

    let refused = run(&["--set", "two.layout.breakpoints.0.ttl=5m"]);

    assert!(run(&[]).status.success());
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("error[marks-order]"), "{refused:?}");
}

/// Runs a policy with these breakpoints on prompts of 148,100, 156,200 and 164,300 tokens, twenty minutes apart.
fn run_on_growing_prompts(breakpoints: &str, more: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    let turn = "[[load.turns]]\ntimes = 3\nuser_tokens = 8_000\nanswer_tokens = 100\ngap_ms = 1_200_000\n";
    let front = "stable = [{ kind = \"system\", tokens = 140_100 }]";
    fs::write(
        folder.path().join("growing.toml"),
        format!("name = \"growing\"\nabout = \"Grows.\"\n{front}\n{turn}"),
    )
    .unwrap();
    let params = "params: {\"edge\": tokens(150_000)}";
    let params = if breakpoints.contains("param") { params } else { "params: {}" };
    let policy = format!(
        "(name: \"sized\", about: \"Sized.\", {params}, layout: (breakpoints: [{breakpoints}]), stages: [])"
    );
    fs::write(folder.path().join("sized.ron"), policy).unwrap();
    ctxsim(folder.path(), [&args("run --policy sized.ron --scenario growing.toml"), more].concat())
}

#[test]
fn a_lifetime_may_depend_on_the_size_of_the_prompt() {
    let written = |breakpoints: &str| -> Vec<[u64; 3]> {
        let more = args("--profile anthropic/claude-opus-5.5 --rows requests --format json");
        let rows: Value = parsed(&run_on_growing_prompts(breakpoints, &more));
        let rows = rows["rows"].as_array().or(rows.as_array()).unwrap().clone();
        let count = |it: &Value| it.as_u64().unwrap_or(0);
        let by_ttl = |row: &Value| ["5m", "1h"].map(|it| count(&row["cache_write_by_ttl"][it]));
        rows.iter()
            .map(|row| {
                let [short, long] = by_ttl(row);
                [count(&row["cache_read_tokens"]), short, long]
            })
            .collect()
    };
    let sized = |bound: &str| format!("(at: last_messages(n: 2), ttl: \"1h\", when: prompt({bound}))");
    let below_and_above = [[0, 148_100, 0], [0, 0, 156_200], [156_200, 0, 8_100]];

    // As a number, a parameter, a share of the limit; what follows at the same place holds where it does not.
    for bound in ["above: tokens(150_000)", "at_least: param(\"edge\")", "above: ratio(0.15)"] {
        assert_eq!(written(&sized(bound)), below_and_above, "{bound}");
    }
    let next = format!("{}, (at: last_messages(n: 2), ttl: \"5m\")", sized("above: tokens(160_000)"));
    assert_eq!(written(&next), [[0, 148_100, 0], [0, 156_200, 0], [0, 0, 164_300]]);
    // The boundary itself, on both sides; without a lifetime the breakpoint itself depends on the size.
    assert_eq!(written(&sized("above: tokens(156_200)"))[1], [0, 156_200, 0]);
    assert_eq!(written(&sized("at_least: tokens(156_200)"))[1], [0, 0, 156_200]);
    assert_eq!(written("(at: automatic, when: prompt(above: tokens(150_000)))")[0], [0, 0, 0]);
}

#[test]
fn breakpoints_that_depend_on_the_size_are_held_against_the_api_at_every_size() {
    let is_refused = |system: u32, last: u32| {
        let mark =
            |at: &str, above: u32| format!("(at: {at}, ttl: \"1h\", when: prompt(above: tokens({above})))");
        let both = format!("{}, {}", mark("end_of(system)", system), mark("last_messages(n: 2)", last));
        let output = run_on_growing_prompts(&both, &["--profile", "anthropic/claude-opus-5.5"]);
        String::from_utf8_lossy(&output.stderr).contains("error[marks-order]")
    };

    assert_eq!([(100, 100), (100, 150), (150, 100)].map(|it| is_refused(it.0, it.1)), [false, false, true]);
}

#[test]
fn what_a_profile_does_not_have_is_told_with_what_is_done_instead_unless_the_policy_allows_it() {
    let said = |ttl: &str, profile: &str| {
        let marks = format!("(at: last_messages(n: 2), ttl: \"{ttl}\")");
        one_line(&out(&run_on_growing_prompts(&marks, &["--details", "--profile", profile])))
    };

    let told = "sized: no cache entry lives 1h under openai/gpt-5.6-sol: each lives 30m (`layout.breakpoints.0.ttl`)";
    assert_says(
        &said("1h", "openai/gpt-5.6-sol"),
        &[told, "or allow it with the reason: `allows: {\"lifetime-not-offered\": \"…\"}`"],
    );
    assert_says(&said("12h", "anthropic/claude-opus-5.5"), &["no cache entry lives 12h", ": each lives 1h"]);
    assert_says(
        &said("1h", "openai/gpt-5.4"),
        &["breakpoints have no effect under openai/gpt-5.4, whose cache takes none"],
    );
    assert!(!said("1h", "anthropic/claude-opus-5.5").contains("cache entries of"));
    let pings = out(&ctxsim(
        root(),
        args(
            "run --details --policy lifetimes/main_pings --scenario agents/coding_day --profile alibaba/qwen3-coder-plus",
        ),
    ));
    assert_says(&one_line(&pings), &["lifetimes/main_pings: pings keep nothing alive under"]);
    let early = out(&ctxsim(
        root(),
        args(
            "run --details --policy identity --scenario tests/lints/gap-before-reply.broken.toml --profile unlimited",
        ),
    ));
    assert_says(&one_line(&early), &["requests start before the reply to the one before is there"]);
}
