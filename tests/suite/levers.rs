//! Levers that bills tell: each is worth what its sessions were billed for it, and silent where there is nothing to say.

use super::changes::png;
use crate::support::*;

/// Claude Opus 4.5 in US dollars per token: read, write for five minutes, for an hour, output.
const READ: f64 = 0.5e-6;
const WRITE: f64 = 6.25e-6;
const OUTPUT: f64 = 25e-6;
/// What each answer is billed.
const ANSWER: f64 = 40.0;

/// A request: minutes since the one before, tokens read and written, and what stands in the log before it.
#[derive(Clone, Copy, Default)]
struct Asked {
    minutes: u64,
    read: u64,
    written: u64,
    says: Option<&'static str>,
    hook: Option<&'static str>,
    diagnosis: Option<&'static str>,
    /// Tokens that were neither read nor written.
    plain: u64,
    /// Whether the message has an image, which takes 400 tokens.
    has_image: bool,
    /// A call that the answer makes, and the size of its result in characters.
    calls: Option<(&'static str, usize)>,
}

fn asked(minutes: u64, read: u64, written: u64) -> Asked {
    Asked { minutes, read, written, ..Asked::default() }
}

/// Writes a session as Claude Code does: of a person, in a project, on a day.
fn write(folder: &Path, nth: usize, person: &str, requests: &[Asked]) {
    let mut lines: Vec<Value> = Vec::new();
    let mut minute = nth as u64 * 2 * 1_440;
    let mut answers: Option<(String, usize)> = None;
    let mut before = 0;
    for (at, asked) in requests.iter().enumerate() {
        minute += asked.minutes;
        let prompt = asked.read + asked.written + asked.plain;
        // Four characters a token, of what is new; the first prompt's is the front.
        let of_image = if asked.has_image { 400 } else { 0 };
        let new = if at == 0 { 0 } else { prompt.saturating_sub(before + of_image) as usize * 4 };
        before = prompt;
        let (day, month) = (minute / 1_440 % 28 + 1, minute / 1_440 / 28 + 1);
        let time = format!("2026-{month:02}-{day:02}T{:02}:{:02}", 8 + minute % 1_440 / 60, minute % 60);
        let mut line = |kind: &str, name: &str, second: u64, more: Value| {
            let parent = lines.last().map(|it| it["uuid"].clone());
            let mut record = json!({
                "type": kind, "uuid": format!("{name}{at}"), "parentUuid": parent, "sessionId": format!("s{nth}"),
                "cwd": format!("/Users/{person}/p{}", nth % 3), "isSidechain": false, "version": "2.1.260",
                "timestamp": format!("{time}:{second:02}.000Z"),
            });
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            lines.push(record);
        };
        if let Some(name) = asked.hook {
            line("progress", "h", 0, json!({"data": {"type": "hook_progress", "hookName": name}}));
        }
        let content = match answers.take() {
            Some((call, size)) => {
                json!([{"type": "tool_result", "tool_use_id": call, "content": "word ".repeat(size / 5)}])
            }
            None if asked.has_image => json!([
                {"type": "text", "text": format!("Go on. {}", "word ".repeat(new / 5))},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(560, 560)}},
            ]),
            None => {
                json!(asked.says.map_or_else(|| format!("Go on. {}", "word ".repeat(new / 5)), str::to_owned))
            }
        };
        line("user", "u", 1, json!({"message": {"role": "user", "content": content}}));
        let content = match asked.calls {
            Some((tool, size)) => {
                answers = Some((format!("call{at}"), size));
                json!([{"type": "tool_use", "id": format!("call{at}"), "name": tool, "input": {"query": "files"}}])
            }
            None => json!([{"type": "text", "text": format!("Done {at}.")}]),
        };
        let creation = json!({"ephemeral_5m_input_tokens": asked.written, "ephemeral_1h_input_tokens": 0});
        let usage = json!({
            "input_tokens": asked.plain, "cache_read_input_tokens": asked.read, "output_tokens": ANSWER as u64,
            "cache_creation_input_tokens": asked.written, "cache_creation": creation,
        });
        let mut message = json!({
            "id": format!("m{at}"), "role": "assistant", "model": "claude-opus-4-5-20251101", "content": content, "usage": usage,
        });
        if let Some(reason) = asked.diagnosis {
            message["diagnostics"] = json!({"cache_miss_reason": {"type": reason}});
        }
        line("assistant", "a", 5, json!({"message": message}));
    }
    let text: String = lines.iter().map(|it| format!("{it}\n")).collect();
    fs::write(folder.join(format!("s{nth}.jsonl")), text).unwrap();
}

/// Writes twelve sessions of two people.
fn folder(requests: &[Asked]) -> TempDir {
    let folder = TempDir::new().unwrap();
    (0..12).for_each(|nth| write(folder.path(), nth, if nth % 2 == 0 { "ann" } else { "bob" }, requests));
    folder
}

fn ctxsim(folder: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ctxsim")).arg("advise").arg(folder.path()).args(args).output().unwrap()
}

fn printed(folder: &TempDir, args: &[&str]) -> String {
    out(&ctxsim(folder, args))
}

fn advice(folder: &TempDir, args: &[&str]) -> Value {
    let text = printed(folder, &[args, &["--format", "json"]].concat());
    serde_json::from_str::<Value>(&text).unwrap()["agents"][0].clone()
}

/// The levers by the bills of this name.
fn levers<'a>(advice: &'a Value, name: &str) -> Vec<&'a Value> {
    advice["levers"].as_array().unwrap().iter().filter(|it| it["name"] == name).collect()
}

/// What a lever saves of all that was billed, in US dollars.
fn saved(advice: &Value, lever: &Value) -> f64 {
    -lever["change"].as_f64().unwrap() * advice["as_logged"]["total_usd"].as_f64().unwrap()
}

/// What a session was billed.
fn billed(requests: &[Asked]) -> f64 {
    let of = |it: &Asked| it.read as f64 * READ + it.written as f64 * WRITE + ANSWER * OUTPUT;
    requests.iter().map(of).sum()
}

/// A session in which nothing is missed.
const QUIET: [(u64, u64, u64); 4] = [(0, 0, 30_000), (1, 30_000, 500), (1, 30_500, 500), (1, 31_000, 500)];

fn quiet() -> Vec<Asked> {
    QUIET.iter().map(|it| asked(it.0, it.1, it.2)).collect()
}

#[test]
fn each_habit_is_worth_what_its_misses_were_billed_beyond_reads() {
    let skill = Asked {
        says: Some("<command-message>review</command-message><command-name>/review</command-name>"),
        ..asked(1, 11_500, 20_500)
    };
    let cases = [
        ("skills", skill, 20_000),
        ("tool_changes", Asked { diagnosis: Some("tools_changed"), ..asked(1, 0, 32_000) }, 31_500),
        ("system_changes", Asked { diagnosis: Some("system_changed"), ..asked(1, 1_500, 30_500) }, 30_000),
        ("model_changes", Asked { diagnosis: Some("model_changed"), ..asked(1, 0, 32_000) }, 31_500),
        ("resumes", Asked { hook: Some("SessionStart:resume"), ..asked(1, 21_500, 10_500) }, 10_000),
    ];
    for (name, asked, missed) in cases {
        let requests = [quiet(), vec![asked]].concat();
        let advice = advice(&folder(&requests), &[]);
        let found = levers(&advice, name);

        assert_eq!(found.len(), 1, "{name}: {advice:#}");
        let expected = 12.0 * f64::from(missed) * (WRITE - READ);
        assert!((saved(&advice, found[0]) - expected).abs() < 1e-9, "{name}: {:#}", found[0]);
        assert_eq!(found[0]["known_by"], "bills");
    }
}

#[test]
fn a_skill_is_called_by_its_name() {
    let skill = Asked {
        says: Some("<command-message>review</command-message><command-name>/review</command-name>"),
        ..asked(1, 11_500, 20_500)
    };
    let advice = advice(&folder(&[quiet(), vec![skill]].concat()), &[]);
    let lever = levers(&advice, "skills")[0];

    assert_eq!(lever["of"], "/review");
    assert_eq!(lever["title"], "Call /review early or in its own session");
    assert_eq!(lever["word"], "your_call");
}

#[test]
fn sessions_that_miss_nothing_have_no_lever_on_habits() {
    let advice = advice(&folder(&quiet()), &[]);
    let names: Vec<&str> =
        advice["levers"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();

    let habits: Vec<&str> = names.into_iter().filter(|it| *it != "settings").collect();
    assert!(habits.is_empty(), "{habits:?}");
}

#[test]
fn a_summary_before_a_pause_saves_what_was_sent_again_less_what_it_costs() {
    let requests = [asked(0, 0, 20_000), asked(1, 20_000, 80_000), asked(30, 0, 101_000)];
    let advice = advice(&folder(&requests), &[]);
    let lever = levers(&advice, "pauses")[0];

    // The declared summary, beside a front that is the first prompt without what the user said.
    let summary = 3_066.0;
    let missed = 100_000.0;
    let most = missed * (WRITE - READ) - summary * (WRITE + OUTPUT);
    let per_session = saved(&advice, lever) / 12.0;
    let front = (most - per_session) / WRITE;
    assert!((19_900.0..=20_000.0).contains(&front), "{front}: {lever:#}");
}

#[test]
fn keeping_the_cache_alive_is_paid_in_every_pause_and_after_the_last_request() {
    let requests = [asked(0, 0, 100_000), asked(30, 0, 101_000), asked(1, 101_000, 500)];
    let advice = advice(&folder(&requests), &[]);
    let lever = levers(&advice, "keep_alive").into_iter().find(|it| it["of"] == "1 h");

    // Five requests keep an entry alive for thirty minutes, and eleven for the hour after the last, as entries live a little longer than five.
    let alive = 5.0 * 100_000.0 * READ;
    let after_last = 11.0 * 101_500.0 * READ;
    let expected = 100_000.0 * (WRITE - READ) - alive - after_last;
    assert!(expected < 0.0);
    assert!(lever.is_none(), "what costs more is no lever: {lever:?}");

    let often = [
        asked(0, 0, 100_000),
        asked(30, 0, 101_000),
        asked(30, 0, 101_500),
        asked(30, 0, 102_000),
        asked(30, 0, 102_500),
        asked(30, 0, 103_000),
    ];
    let advice = self::advice(&folder(&often), &[]);
    let lever = levers(&advice, "keep_alive").into_iter().find(|it| it["of"] == "1 h").unwrap();
    let prompts = [100_000.0, 101_000.0, 101_500.0, 102_000.0, 102_500.0];
    let in_pauses: f64 = prompts.iter().map(|it| it * (WRITE - READ) - 5.0 * it * READ).sum();
    let expected = 12.0 * (in_pauses - 11.0 * 103_000.0 * READ);
    assert!((saved(&advice, lever) - expected).abs() < 1e-9, "{} for {expected}", saved(&advice, lever));
}

#[test]
fn a_larger_front_is_worth_what_it_was_billed_beyond_that_of_the_others() {
    let folder = TempDir::new().unwrap();
    let session = |front: u64| [asked(0, 0, front), asked(1, front, 500), asked(1, front + 500, 500)];
    for nth in 0..6 {
        write(folder.path(), nth, "ann", &session(20_000));
        write(folder.path(), 6 + nth, "bob", &session(35_000));
    }
    let advice = advice(&folder, &[]);
    let found = levers(&advice, "front");

    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["whom"], "bob");
    let expected = 6.0 * 15_000.0 * (WRITE + 2.0 * READ);
    assert!(
        (saved(&advice, found[0]) / expected - 1.0).abs() < 1e-3,
        "{} for {expected}",
        saved(&advice, found[0])
    );
    assert_eq!(found[0]["people"][0]["group"], "/Users/bob");
}

#[test]
fn people_with_the_same_front_have_no_lever_on_it_however_many_sessions_they_have() {
    let folder = TempDir::new().unwrap();
    (0..14).for_each(|nth| write(folder.path(), nth, if nth < 4 { "ann" } else { "bob" }, &quiet()));

    assert!(levers(&advice(&folder, &[]), "front").is_empty());
}

#[test]
fn a_new_session_saves_the_reads_of_what_it_leaves_behind_less_what_it_writes_anew() {
    // A front of 20,000, a first turn that gathers 10,000, then 100,000 that are carried for thirty turns.
    let mut requests = vec![asked(0, 0, 20_000), asked(1, 20_000, 10_000), asked(1, 30_000, 100_000)];
    requests.extend((0..30).map(|nth| asked(1, 130_000 + 500 * nth, 500)));
    let advice = advice(&folder(&requests), &[]);
    let lever = levers(&advice, "long_sessions").into_iter().find(|it| it["of"] == "100000").unwrap();

    // The front is the first prompt less what the user said; the third request begins with over 100,000, and goes on from 30,000.
    let (fresh, left) = (30_000.0, 100_000.0);
    let expected = 31.0 * left * READ - fresh * (WRITE - READ);
    let per_session = saved(&advice, lever) / 12.0;
    assert!((per_session / expected - 1.0).abs() < 0.02, "{per_session} for {expected}");
}

#[test]
fn outputs_beyond_a_cap_are_worth_their_write_and_every_later_read() {
    let mut requests =
        vec![Asked { calls: Some(("Grep", 80_000)), ..asked(0, 0, 30_000) }, asked(1, 30_000, 20_100)];
    requests.extend((0..20).map(|nth| asked(1, 50_100 + 100 * nth, 100)));
    let advice = advice(&folder(&requests), &[]);
    let lever = levers(&advice, "outputs")[0];
    assert_eq!(lever["whom"], "Grep");

    // Its size is what the bill shows of it.
    let per_session = saved(&advice, lever) / 12.0;
    let cut = per_session / (WRITE + 20.0 * READ);
    assert!((15_500.0..=16_200.0).contains(&cut), "{cut}");
}

#[test]
fn images_are_worth_their_later_reads_less_what_is_written_anew_behind_them() {
    // One a request from the second on, 13 in all, and 30 requests that carry them on.
    let session = |images: u64, later: u64| -> Vec<Asked> {
        let grown = |nth: u64| asked(1, 29_500 + 500 * nth, 500);
        let with = (1..=images).map(|nth| Asked { has_image: true, ..grown(nth) });
        let without = (images + 1..=images + later).map(grown);
        std::iter::once(asked(0, 0, 30_000)).chain(with).chain(without).collect()
    };
    let found = advice(&folder(&session(13, 30)), &[]);
    let lever = levers(&found, "images")[0];

    // The first stands behind 30,000 tokens; the fourteenth request reads 36,000, and no longer carries ten images.
    // Of the growth that was billed, 375 tokens are the share of each image.
    assert!(lever["about"].as_str().unwrap().contains("120 older images (45,000 tokens)"), "{lever:#}");
    let out = 3_750.0;
    let rewritten = 36_000.0 - 30_000.0 - out;
    let expected = out * READ * 31.0 - rewritten * (WRITE - READ);
    let per_session = saved(&found, lever) / 12.0;
    assert!((per_session - expected).abs() < 1e-9, "{per_session} for {expected}: {lever:#}");
    assert_eq!(lever["word"], "your_call");

    let few = advice(&folder(&session(12, 30)), &[]);
    assert!(levers(&few, "images").is_empty(), "twelve images stay");
    let short = advice(&folder(&session(13, 2)), &[]);
    assert!(levers(&short, "images").is_empty(), "two requests do not pay for what is written anew");
}

#[test]
fn marks_are_worth_reads_of_what_was_sent_before_less_the_price_of_writes() {
    let plain = |minutes: u64| {
        [30_000, 30_500, 31_000, 31_500].map(|plain| Asked { minutes, plain, ..Asked::default() })
    };
    let found = advice(&folder(&plain(1)), &[]);
    let lever = levers(&found, "marks")[0];

    const INPUT: f64 = 5e-6;
    let written = 31_500.0;
    let read = 30_000.0 + 30_500.0 + 31_000.0;
    let expected = 12.0 * (read * (INPUT - READ) - written * (WRITE - INPUT));
    assert!((saved(&found, lever) - expected).abs() < 1e-9, "{} for {expected}", saved(&found, lever));
    assert_eq!(lever["known_by"], "bills");

    let apart = advice(&folder(&plain(30)), &[]);
    assert!(levers(&apart, "marks").is_empty(), "nothing lives for half an hour");
    assert!(levers(&advice(&folder(&quiet()), &[]), "marks").is_empty(), "what is cached is marked");
}

/// Writes twelve sessions of four requests with their bodies, the third and fourth with the tools in another order or not.
fn bodies(is_reordered: bool) -> TempDir {
    let folder = TempDir::new().unwrap();
    let prompts = [4_300, 4_700, 5_100, 5_500];
    for session in 0..12 {
        let (mut messages, mut lines): (Vec<Value>, String) = (Vec::new(), String::new());
        for (nth, prompt) in prompts.into_iter().enumerate() {
            messages.push(json!({"role": "user", "content": format!("question {session} {nth} {}", "word ".repeat(240))}));
            let tool =
                |name: &str| json!({"name": name, "description": format!("{name} {}", "tool ".repeat(800))});
            let mut tools = vec![tool("read"), tool("write")];
            if is_reordered && nth > 1 {
                tools.reverse();
            }
            let read = if nth == 0 || is_reordered && nth == 2 { 0 } else { prompts[nth - 1] };
            let answer = format!("answer {session} {nth} {}", "word ".repeat(80));
            let usage = json!({
                "input_tokens": 0, "cache_read_input_tokens": read, "cache_creation_input_tokens": prompt - read, "output_tokens": 100,
            });
            let line = json!({
                "timestamp": 1_780_000_000 + session * 172_800 + 60 * nth, "model": "claude-sonnet-5",
                "system": format!("Be brief. {}", "rule ".repeat(1_600)), "tools": tools, "messages": messages,
                "response": {
                    "id": format!("m{session}-{nth}"), "type": "message", "role": "assistant", "model": "claude-sonnet-5",
                    "content": [{"type": "text", "text": answer}], "usage": usage,
                },
            });
            messages.push(json!({"role": "assistant", "content": answer}));
            lines += &format!("{line}\n");
        }
        fs::write(folder.path().join(format!("s{session}.jsonl")), lines).unwrap();
    }
    folder
}

#[test]
fn another_order_of_the_same_tools_is_worth_what_it_missed_and_one_order_nothing() {
    let found = advice(&bodies(true), &[]);
    let lever = levers(&found, "tool_order")[0];

    // Claude Sonnet 5 reads at 0.20 dollars and writes at 2.50; the prompt of the second request was there.
    let expected = 12.0 * 4_700.0 * (2.5e-6 - 0.2e-6);
    assert!((saved(&found, lever) - expected).abs() < 1e-9, "{} for {expected}", saved(&found, lever));
    assert_eq!(lever["word"], "do");
    assert!(levers(&advice(&bodies(false), &[]), "tool_order").is_empty());
}

#[test]
fn another_model_is_worth_the_difference_of_prices_and_its_quality_is_not_judged() {
    let requests = quiet();
    let advice = advice(&folder(&requests), &[]);
    let lever = advice["ceilings"].as_array().unwrap().iter().find(|it| it["name"] == "models");
    let lever = lever.unwrap();

    assert!(levers(&advice, "models").is_empty(), "it is no lever");
    assert!(["word", "interval", "saved_interval"].iter().all(|it| lever[it].is_null()), "{lever}");
    assert!(lever["why"].as_str().unwrap().contains("quality not judged"));
    assert!(lever["of"].as_str().unwrap().ends_with("instead of claude-opus models"));
    assert!(saved(&advice, lever) > 0.0 && saved(&advice, lever) < 12.0 * billed(&requests));
}

#[test]
fn one_with_few_sessions_gets_the_words_of_all_and_dollars_of_his_own() {
    let folder = TempDir::new().unwrap();
    let miss = Asked { diagnosis: Some("tools_changed"), ..asked(1, 0, 32_000) };
    let requests = [quiet(), vec![miss]].concat();
    (0..14).for_each(|nth| write(folder.path(), nth, if nth < 3 { "ann" } else { "bob" }, &requests));
    let (ann, bob, all) =
        (advice(&folder, &["--user", "ann"]), advice(&folder, &["--user", "bob"]), advice(&folder, &[]));
    let usd = |it: &Value| levers(it, "tool_changes")[0]["saved_month"].as_f64().unwrap();

    assert!(
        ann["notes"][0].as_str().unwrap().contains("3 sessions of the one asked for"),
        "{:#}",
        ann["notes"]
    );
    assert!(bob.get("notes").is_none(), "{:#}", bob["notes"]);
    assert_eq!(bob["sessions"], 11);
    assert!(usd(&ann) > 0.0 && usd(&ann) < 0.4 * usd(&all), "{} of {}", usd(&ann), usd(&all));
    assert_eq!(levers(&ann, "tool_changes")[0]["word"], "do");
}

#[test]
fn an_unknown_user_is_an_error_that_names_those_who_are_known() {
    let output = ctxsim(&folder(&quiet()), &["--user", "eve"]);
    let text = String::from_utf8_lossy(&output.stderr);

    assert_eq!(output.status.code(), Some(2));
    assert_says(&text, &["no recorded session is one of `eve`", "use one of /Users/ann, /Users/bob"]);
}

#[test]
fn sessions_after_a_last_day_take_no_part() {
    let folder = folder(&quiet());
    assert_eq!(advice(&folder, &["--until", "2026-01-12"])["sessions"], 6);
    let output = ctxsim(&folder, &["--until", "soon"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--until"));
    let output = ctxsim(&folder, &["--since", "2026-03-01", "--until", "2026-01-12"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is after `--until 2026-01-12`"));
}

#[test]
fn rows_have_each_lever_in_all_and_for_each_person_and_project() {
    let miss = Asked { diagnosis: Some("tools_changed"), ..asked(1, 0, 32_000) };
    let text = printed(&folder(&[quiet(), vec![miss]].concat()), &["--format", "csv"]);
    let own: Vec<&str> = text.lines().filter(|it| it.contains("tool_changes")).collect();

    assert!(text.starts_with("agent,lever,of,settings,title,word,known_by,by,group,"), "{text}");
    assert_eq!(own.iter().filter(|it| it.contains(",all,")).count(), 1);
    assert_eq!(own.iter().filter(|it| it.contains(",user,/Users/")).count(), 2);
    assert_eq!(own.iter().filter(|it| it.contains(",project,/Users/")).count(), 6);
}

/// What advice says that all sessions cost as they are, and what they were billed, in US dollars.
fn played_and_billed(requests: &[Asked]) -> [f64; 2] {
    let advice = advice(&folder(requests), &[]);
    let month = &advice["month"];
    let days = month["days"].as_f64().unwrap();
    [month["usd"].as_f64().unwrap() * days / 30.0, 12.0 * billed(requests)]
}

#[test]
fn advice_plays_a_first_request_as_its_bill_says_that_it_found_the_cache() {
    for read in [0, 13_000] {
        let requests = [
            asked(0, read, 20_000 - read),
            asked(1, 20_000, 500),
            asked(1, 20_500, 500),
            asked(1, 21_000, 500),
        ];
        let [played, billed] = played_and_billed(&requests);
        assert!((played / billed - 1.0).abs() < 0.03, "{read}: {played} for {billed}");
    }
}

#[test]
fn advice_plays_what_bills_show_to_have_been_written_anew_though_nothing_says_why() {
    let missed = [quiet(), vec![asked(1, 13_000, 19_000), asked(1, 32_000, 500)]].concat();
    let [played, billed] = played_and_billed(&missed);

    assert!((played / billed - 1.0).abs() < 0.05, "{played} for {billed}");
}
