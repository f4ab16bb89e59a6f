//! What was billed: a number that is not a count refuses the recording, and a missing one is told as an estimate.

use ctxsim::diag::Diagnostic;
use ctxsim::quantity::Decimal;
use ctxsim::timeline::AsideKind;

use super::*;

const CODEX: &str = include_str!("../../data/recorded/codex-rollout.jsonl");
const PI: &str = include_str!("../../data/recorded/pi-session.jsonl");
const MESSAGES: &str = r#"[{"role":"user","content":"hello"},
 {"role":"assistant","content":"hi","usage":{"input_tokens":10,"output_tokens":3}}]"#;
const CSV: &str = "session,idx,version,t_start,t_first_line,t_last_line,input,cache_read,cache_write_total,output_logged_max,new_user_chars,new_tool_result_chars,asst_text_chars
a,0,2.1.0,1.0,2.0,3.0,10,500,20,7,40,0,8
a,1,2.1.0,4.0,5.0,6.0,10,500,20,7,0,40,8
";

/// What is written instead of a count of tokens.
const WRONG: [(&str, &str); 9] = [
    ("-7", "negative"),
    ("3.5", "not a whole number"),
    ("1e18", "more than 100,000,000 tokens"),
    ("99999999999999999999", "more than 100,000,000 tokens"),
    ("100000001", "more than 100,000,000 tokens"),
    ("\"12\"", "not a number"),
    ("[1]", "not a number"),
    ("{\"a\":1}", "not a number"),
    ("true", "not a number"),
];

/// A format's recording, what stands before a count in it, and the count's field.
const COUNTS: [(&str, &str, &str); 5] = [
    (FIXTURE, "\"cache_read_input_tokens\":", "message.usage.cache_read_input_tokens"),
    (CODEX, "\"last_token_usage\":{\"input_tokens\":", "payload.info.last_token_usage.input_tokens"),
    (PI, "\"cacheRead\":", "message.usage.cacheRead"),
    (MESSAGES, "\"output_tokens\":", "usage.output_tokens"),
    (CSV, "3.0,10,", "cache_read"),
];

/// Replaces the number behind some text, wherever it stands.
fn with_number(text: &str, before: &str, number: &str) -> String {
    let mut parts = text.split(before);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, rest| {
        let rest = rest.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        all + before + number + &rest[digits..]
    })
}

fn problems(text: &str) -> Vec<Diagnostic> {
    import(text, "test", &Assume::default(), &[]).unwrap_err()
}

#[test]
fn a_number_that_is_not_a_count_refuses_the_recording_with_line_and_field_in_every_format() {
    for (text, before, field) in COUNTS {
        let line = 1 + text.lines().position(|it| it.contains(before)).unwrap();
        for (number, why) in WRONG {
            let is_table = text == CSV;
            if is_table && number.contains(['"', '[', '{']) {
                continue;
            }
            let wrong = with_number(text, before, number);
            let found = problems(&wrong);
            let told = format!("{field} {number}: {found:?}");
            let first = found.first().unwrap();

            assert_eq!((first.code.name(), first.place.field.as_str()), ("recording-usage", field), "{told}");
            assert!(first.message.starts_with(why), "{told}");
            assert!(first.help.is_some(), "{told}");
            let place = first.place.line_column.unwrap();
            assert_eq!(place.0, line, "{told}");
            let key = format!("\"{}\"", field.rsplit('.').next().unwrap());
            let rest: String = wrong.lines().nth(line - 1).unwrap().chars().skip(place.1 - 1).collect();
            assert!(rest.starts_with(if is_table { number } else { &key }), "{told}");
        }
    }
}

#[test]
fn a_log_of_messages_says_where_each_wrong_number_stands_however_its_lines_are_broken() {
    let reply = r#"{"role":"assistant","content":"ä \"usage\" {\"input_tokens\":1}","usage":{"input_tokens":-1,"output_tokens":3}}"#;
    let user = r#"{"role":"user","content":"hello"}"#;
    let pretty = reply.replace(',', ",\n  ");
    for reply in [reply, &pretty] {
        for text in [
            format!("{user}\n{reply}"),
            format!("[{user}, {reply}]"),
            format!("{{\"messages\": [{user}, {reply}]}}"),
            format!("{{\"messages\": [{user}],\n \"response\": {reply}}}"),
        ] {
            let found = problems(&text);

            let (line, column) = found[0].place.line_column.unwrap();
            let rest: String = text.lines().nth(line - 1).unwrap().chars().skip(column - 1).collect();
            assert!(rest.starts_with("\"input_tokens\":-1"), "{text}\n{found:?}");
        }
    }
}

#[test]
fn a_cell_of_a_table_is_told_by_the_column_where_it_starts() {
    let wide = CSV.replace("a,1,2.1.0,4.0", "ä, 123456789012 ,2.1.0,4.0").replace("0,40,8", "0,7e9,8");

    let found = problems(&wide);

    let told: Vec<_> = found.iter().map(|it| (it.place.field.as_str(), it.place.line_column)).collect();
    assert_eq!(told, [("new_tool_result_chars", Some((3, 50))), ("idx", Some((3, 4)))]);
    assert!(found.iter().all(|it| it.message == "more than 100,000,000"), "{found:?}");
}

#[test]
fn an_item_that_is_larger_than_any_request_is_an_error_of_what_makes_it_so() {
    let assume = Assume { chars_per_token: Decimal::parse("0.000000001"), ..Assume::default() };

    let found = import(CSV, "test", &assume, &[]).unwrap_err();

    assert_eq!((found[0].code.name(), found[0].place.field.as_str()), ("size-too-large", "chars_per_token"));
}

#[test]
fn a_recording_with_more_tools_than_can_be_told_apart_is_refused() {
    let call =
        |it: usize| format!(r#"{{"id":"c{it}","function":{{"name":"tool_{it}","arguments":"{{}}"}}}}"#);
    let line = |nth: usize| {
        let calls = (nth * 1_024..(nth + 1) * 1_024).map(call).collect::<Vec<_>>().join(",");
        format!(r#"{{"role":"assistant","content":"","tool_calls":[{calls}]}}"#)
    };
    let text: Vec<String> = (0..64).map(line).collect();

    assert_eq!(problems(&text.join("\n"))[0].code.name(), "tools-too-many");
    assert!(import(&text[0], "test", &Assume::default(), &[]).is_ok());
}

#[test]
fn every_wrong_field_is_told_once_with_the_number_of_its_lines() {
    let text = with_number(FIXTURE, "\"cache_read_input_tokens\":", "-1");
    let text = with_number(&text, "\"output_tokens\":", "-1");

    let found = problems(&text);

    let fields: Vec<&str> = found.iter().map(|it| it.place.field.as_str()).collect();
    assert_eq!(fields, ["message.usage.cache_read_input_tokens", "message.usage.output_tokens"]);
    let n_lines = FIXTURE.lines().filter(|it| it.contains("\"cache_read_input_tokens\":")).count();
    assert_eq!(found[0].message, format!("negative, on {n_lines} lines"));
}

#[test]
fn a_part_that_is_larger_than_its_prompt_and_a_bill_that_is_not_an_object_are_refused() {
    let more =
        with_number(CODEX, "\"last_token_usage\":{\"input_tokens\":1000,\"cached_input_tokens\":", "1001");
    assert_eq!(problems(&more)[0].message, "more than the whole prompt");

    for usage in ["5", "\"none\"", "[]", "false"] {
        let text = PI.replacen("\"usage\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}", &format!("\"usage\":{usage}"), 1);
        assert_ne!(text, PI);
        assert_eq!(problems(&text)[0].message, "not an object", "{usage}");
    }
}

#[test]
fn a_recording_whose_bills_have_another_name_is_still_a_recording_without_bills() {
    let renamed = [
        FIXTURE.replace("\"usage\"", "\"tokens\""),
        FIXTURE.replace("\"input_tokens\"", "\"inputTokens\""),
        CODEX.replace("\"info\"", "\"numbers\""),
        PI.replace("\"usage\"", "\"tokens\""),
        MESSAGES.replace("\"usage\"", "\"tokens\""),
    ];
    for text in &renamed {
        let timeline = imported(text).timeline;
        let recorded = timeline.recorded.as_ref().unwrap();
        assert!(recorded.usage.iter().all(Option::is_none));
        assert_eq!(recorded.usage.len(), timeline.spine.steps.len());
    }
}

/// Returns the prompt and the output of a request's own bill, and the kind, prompt and output of each that stands beside it.
fn divided(usage: &str) -> ([u64; 2], Vec<(AsideKind, u64, u64)>) {
    let line = format!(
        r#"{{"request":{{"model":"m","messages":[{{"role":"user","content":"hello"}}]}},"response":{{"id":"r","role":"assistant","content":"hi","usage":{usage}}}}}"#
    );
    let session = format!(
        r#"{{"type":"user","uuid":"a","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"hello"}}}}
{{"type":"assistant","uuid":"b","parentUuid":"a","timestamp":"2026-01-01T00:00:01Z","message":{{"id":"r","model":"m","content":[{{"type":"text","text":"hi"}}],"usage":{usage}}}}}"#
    );
    let of = |text: &str| {
        let recorded = imported(text).timeline.recorded.unwrap();
        let own = recorded.usage[0].map(|it| [it.prompt, it.output]).unwrap();
        (own, recorded.aside.iter().map(|it| (it.kind, it.usage.prompt, it.usage.output)).collect())
    };
    let (of_request, of_session) = (of(&line), of(&session));
    assert_eq!(of_request, of_session, "{usage}");
    of_request
}

#[test]
fn what_ran_inside_a_request_is_billed_apart_in_every_log_that_says_so() {
    let numbers = |input: u64, read: u64, output: u64| {
        format!(r#""input_tokens":{input},"cache_read_input_tokens":{read},"output_tokens":{output}"#)
    };
    let usage = |[input, read, output]: [u64; 3], entries: &[(&str, [u64; 3])]| {
        let entry = |(kind, [input, read, output]): &(&str, [u64; 3])| {
            format!(r#"{{"type":"{kind}","model":"{kind}",{}}}"#, numbers(*input, *read, *output))
        };
        let entries: Vec<String> = entries.iter().map(entry).collect();
        format!(r#"{{{},"iterations":[{}]}}"#, numbers(input, read, output), entries.join(","))
    };
    let (compaction, message) = (("compaction", [5, 900, 30]), ("message", [20, 80, 9]));
    let summary = (AsideKind::Summary, 905, 30);

    assert_eq!(divided(&usage([20, 80, 9], &[message])), ([100, 9], vec![]));
    assert_eq!(divided(&usage([20, 80, 9], &[compaction, message])), ([100, 9], vec![summary]));
    // A gateway adds everything up.
    assert_eq!(divided(&usage([25, 980, 39], &[compaction, message])), ([100, 9], vec![summary]));
    // The provider waits after the summary, and nothing else was sent.
    assert_eq!(divided(&usage([0, 0, 0], &[compaction])), ([905, 30], vec![]));
    // A server's tool: the numbers beside the list are the sum of both, or those of the first.
    let (again, advisor) = (("message", [2, 100, 4]), ("advisor_message", [500, 0, 7]));
    for total in [[22, 180, 13], [20, 80, 13]] {
        let beside = vec![(AsideKind::Advisor, 500, 7), (AsideKind::Inner, 102, 0)];
        assert_eq!(divided(&usage(total, &[message, advisor, again])), ([100, 13], beside));
    }
}

#[test]
fn what_a_bill_leaves_out_of_a_usage_is_told_once_a_file() {
    let more = [
        (FIXTURE, "message.usage", "\"cache_read_input_tokens\":"),
        (CODEX, "payload.info.last_token_usage", "\"cached_input_tokens\":"),
        (PI, "message.usage", "\"cacheRead\":"),
        (MESSAGES, "usage", "\"output_tokens\":"),
    ];
    for (text, within, before) in more {
        let with = |field: &str| imported(&text.replace(before, &format!("{field},{before}"))).losses;
        let told = |field: &str| -> Vec<String> {
            let all = with(field).into_iter().map(|it| it.what);
            all.filter(|it| it.contains("which the bill leaves out")).collect()
        };
        let expected = format!("`{within}.details.holo_tokens` of the usage, which the bill leaves out");
        let found = told("\"details\":{\"holo_tokens\":7,\"none\":0,\"empty\":null}");
        assert!(found.contains(&expected), "{found:?}");
        assert_eq!(told("\"details\":{\"none\":0,\"empty\":\"\"}"), [""; 0]);
    }
}

#[test]
fn each_list_of_fields_is_that_of_a_format_and_has_its_sources() {
    let known: Vec<&str> = ctxsim::timeline::import::formats().iter().map(|it| it.name).collect();
    for file in fs::read_dir(root().join("assumptions/logs")).unwrap().map(|it| it.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let table: toml::Table = fs::read_to_string(&file).unwrap().parse().unwrap();
        assert!(known.contains(&name) || name == "refused", "{name}");
        assert_eq!(table.contains_key("taken"), table.contains_key("sources"), "{name}");
    }
}
