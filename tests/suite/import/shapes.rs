//! Logs of one shape are read as that shape and as no other, and what they say was billed is what is read.

use ctxsim::input::policy::Kind::{Assistant, System, ToolCall, ToolResult, ToolSchema, User};
use ctxsim::timeline::import::recognised_by;

use super::*;

/// Formats that several others recognise a log of, and why the first of them is right.
const SHARED: [(&str, &str, &str); 2] = [
    ("usage-rows", "messages", "its rows may have messages, but their bills have other names"),
    ("bedrock", "messages", "its messages have roles, but blocks and bills have other names"),
];

fn text_of(name: &str) -> String {
    fs::read_to_string(root().join("tests/data/shapes").join(name)).unwrap()
}

fn bills(text: &str) -> Vec<Usage> {
    let all = import_all(text, "test", &Assume::default(), &[]).unwrap();
    all.iter().flat_map(|it| it.timeline.recorded.as_ref().unwrap().usage.to_vec()).flatten().collect()
}

/// What was billed in all: input that was neither read nor written, what was read, what was written, and output.
fn billed(name: &str) -> [u64; 4] {
    let bills = bills(&text_of(name));
    let sum = |part: fn(&Usage) -> u64| bills.iter().map(part).sum();
    [sum(|it| it.uncached), sum(|it| it.cache_read), sum(|it| it.cache_write), sum(|it| it.output)]
}

/// Adds up the numbers under a key, wherever it stands in a log of JSON values.
fn summed(name: &str, key: &str) -> u64 {
    fn within(value: &Value, key: &str) -> u64 {
        match value {
            Value::Array(list) => list.iter().map(|it| within(it, key)).sum(),
            Value::Object(members) => {
                let own = members.get(key).and_then(Value::as_u64).unwrap_or(0);
                own + members.values().map(|it| within(it, key)).sum::<u64>()
            }
            _ => 0,
        }
    }
    let text = text_of(name);
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    values.map(|it| within(&it.unwrap(), key)).sum()
}

#[test]
fn each_sample_is_recognised_by_one_format_alone_or_the_first_of_two_is_right_for_a_reason() {
    let root = root();
    let mut wrong = Vec::new();
    for folder in ["tests/data/recorded", "tests/data/shapes", "scenarios/recorded"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = fs::read_to_string(&path) else { continue };
            match recognised_by(&text).as_slice() {
                [] | [_] => {}
                [first, second] if SHARED.iter().any(|it| (it.0, it.1) == (*first, *second)) => {}
                several => wrong.push(format!("{}: {several:?}", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_list_of_claude_codes_records_is_read_as_its_lines_are() {
    let text = text_of("claude-code-verbose.json");
    let records: Vec<Value> = serde_json::from_str(&text).unwrap();
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let pretty = serde_json::to_string_pretty(&records).unwrap();

    let of_list = bills(&text);

    assert_eq!(of_list, bills(&lines.join("\n")));
    assert_eq!(of_list, bills(&pretty));
    let result = &records.last().unwrap()["usage"];
    let [uncached, read, written, _] = billed("claude-code-verbose.json");
    let told = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    assert_eq!([uncached, read, written], told.map(|it| result[it].as_u64().unwrap()));
}

#[test]
fn the_totals_of_gemini_clis_stream_hold_however_they_are_spread() {
    let name = "gemini-stream.jsonl";
    let [uncached, read, written, output] = billed(name);

    assert_eq!(uncached + read, summed(name, "input_tokens"));
    assert_eq!((read, written), (summed(name, "cached"), 0));
    assert_eq!(uncached + read + output, summed(name, "total_tokens"));
    let text = text_of(name);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(0, 1);
    let swapped = import(&lines.join("\n"), "test", &Assume::default(), &[]).unwrap();
    assert_eq!((swapped.format, swapped.timeline.spine.steps.len()), ("gemini-stream", 4));
}

#[test]
fn bodies_of_the_providers_own_interfaces_are_billed_as_they_say() {
    let converse = "bedrock-converse.jsonl";
    let told = ["cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens"];
    let [uncached, read, written, output] = billed(converse);
    assert_eq!([read, written, output], told.map(|it| summed(converse, it)));
    assert_eq!(uncached + read + written + output, summed(converse, "totalTokens"));

    let logged = "bedrock-invocations.jsonl";
    let all = import_all(&text_of(logged), "test", &Assume::default(), &[]).unwrap();
    assert_eq!((all.len(), billed(logged)), (2, [709, 0, 500, 46]));
}

#[test]
fn rows_of_tracing_services_are_billed_as_they_say() {
    let name = "langfuse-observations.json";
    let [uncached, read, written, output] = billed(name);
    let told = ["input", "cache_read_input_tokens", "cache_creation_input_tokens", "output"];
    assert_eq!([uncached, read, written, output], told.map(|it| summed(name, it)));

    let name = "langfuse-messages.jsonl";
    let all = import_all(&text_of(name), "test", &Assume::default(), &[]).unwrap();
    let spine = &all[0].timeline.spine;
    assert_eq!((all.len(), spine.turns.len(), spine.steps.len()), (1, 1, 2));
    let [uncached, read, written, output] = billed(name);
    assert_eq!([uncached, read, written], ["input", "input_cached_tokens", "no"].map(|it| summed(name, it)));
    assert_eq!(output, summed(name, "output") + summed(name, "output_reasoning_tokens"));

    let name = "langsmith-runs.jsonl";
    let rows: Vec<Value> = text_of(name).lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let requests = || rows.iter().filter(|it| it["run_type"] == "llm");
    let sum = |path: &str| requests().map(|it| it.pointer(path).and_then(Value::as_u64).unwrap_or(0)).sum();
    let told: [u64; 4] = [
        "/prompt_tokens",
        "/prompt_token_details/cache_read",
        "/prompt_token_details/cache_creation",
        "/completion_tokens",
    ]
    .map(sum);
    let [uncached, read, written, output] = billed(name);
    assert_eq!([uncached + read + written, read, written, output], told);

    let name = "prompt-cache-bench.jsonl";
    let rows: Vec<Value> = text_of(name).lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let sum = |key: &str| rows.iter().map(|it| it[key].as_u64().unwrap()).sum();
    let [uncached, read, written, output] = billed(name);
    let told: [u64; 3] = ["prompt_tokens", "cache_read_tokens", "completion_tokens"].map(sum);
    assert_eq!(([uncached + read, read, output], written), (told, 0));

    assert_eq!(billed("phoenix-spans.csv"), [30, 10_680, 5_890, 250]);

    let name = "langsmith-messages.jsonl";
    let spine = &imported(&text_of(name)).timeline.spine;
    let kinds: Vec<Kind> = spine.items.iter().map(|it| it.kind).collect();
    // What the first prompt has more than its texts stands before them.
    assert_eq!(kinds, [System, System, User, Assistant, ToolCall, ToolResult, Assistant]);
    assert_eq!(billed(name), [1_304, 896, 0, 100]);
}

#[test]
fn openinferences_names_are_read_within_opentelemetry() {
    let name = "otel-openinference.jsonl";
    let [uncached, read, written, output] = billed(name);
    assert_eq!([uncached + read + written, read, written, output], [13_600, 8_448, 4_736, 180]);

    let imported = imported(&text_of(name));
    let spine = &imported.timeline.spine;
    assert_eq!((imported.format, spine.turns.len(), spine.steps.len()), ("otel", 1, 3));
    let kinds: Vec<Kind> = spine.items.iter().map(|it| it.kind).collect();
    let step = [Assistant, ToolCall, ToolResult];
    let expected = [&[System, ToolSchema, System, User, User][..], &step, &step, &[Assistant]].concat();
    assert_eq!(kinds, expected);
}

#[test]
fn rows_without_texts_make_prompts_of_the_sizes_that_were_billed() {
    let table = include_str!("../../data/deepseek/usage.csv");
    let usage = bills(table);

    let imported = import(table, "test", &Assume::default(), &[]).unwrap();

    assert_eq!((imported.format, usage.len(), imported.losses.len()), ("usage-rows", 30, 0));
    let sum = |column: usize| -> u64 {
        table.lines().skip(1).map(|it| it.split(',').nth(column).unwrap().parse::<u64>().unwrap()).sum()
    };
    let ours = |part: fn(&Usage) -> u64| usage.iter().map(part).sum::<u64>();
    let billed =
        [ours(|it| it.uncached), ours(|it| it.cache_read), ours(|it| it.cache_write), ours(|it| it.output)];
    assert_eq!(billed, [8, 9, 10, 11].map(sum));
    assert_eq!(prompts(&imported.timeline), usage.iter().map(|it| it.prompt).collect::<Vec<_>>());
}

#[test]
fn a_cell_or_a_field_of_a_row_that_is_no_count_refuses_the_file() {
    let table = include_str!("../../data/deepseek/usage.csv").replace(",5796,20224,", ",5796,-20224,");
    let problems = import(&table, "test", &Assume::default(), &[]).unwrap_err();
    assert_eq!(
        (problems[0].place.field.as_str(), problems[0].place.line_column),
        ("cache_read", Some((3, 1)))
    );

    let runs = text_of("langsmith-runs.jsonl").replace("\"prompt_tokens\": 4400", "\"prompt_tokens\": 4.5");
    let problems = import(&runs, "test", &Assume::default(), &[]).unwrap_err();
    assert_eq!(
        (problems[0].place.field.as_str(), problems[0].place.line_column.unwrap().0),
        ("prompt_tokens", 3)
    );
}

#[test]
fn a_wrong_count_in_a_body_is_told_by_its_own_name_where_it_stands() {
    for (name, before, field) in [
        ("bedrock-converse.jsonl", "\"cacheReadInputTokens\": ", "usage.cacheReadInputTokens"),
        ("gemini-stream.jsonl", "\"cached\": ", "stats.cached"),
    ] {
        let text = text_of(name).replace(before, &format!("{before}-"));
        let problems = import(&text, "test", &Assume::default(), &[]).unwrap_err();

        assert_eq!(problems[0].place.field, field, "{problems:?}");
        let (line, column) = problems[0].place.line_column.unwrap();
        let rest: String = text.lines().nth(line - 1).unwrap().chars().skip(column - 1).collect();
        assert!(rest.starts_with(&before[..3]), "{problems:?}");
    }
}
