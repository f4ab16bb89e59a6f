//! Why a prompt was not read from the cache: each miss has one name, whichever report says it.

use ctxsim::measure::missed::{MissCause, all_misses};
use ctxsim::timeline::{Diagnosis, Occasion, StepIx};

use crate::support::*;

const PROFILE: &str = include_str!("../../profiles/anthropic/claude-opus-4.7.toml");

/// What a request of the made-up session reads and writes, how many minutes after the one before, and what the log has about it.
#[derive(Clone, Copy)]
struct Asked {
    minutes: u32,
    read: u64,
    written: u64,
    tells: Tells,
}

#[derive(Clone, Copy)]
enum Tells {
    Nothing,
    /// What the provider says of its cache.
    Diagnosis(&'static str),
    /// The user's words.
    Says(&'static str),
    /// A record of a hook before it.
    Hook(&'static str),
    /// A summary stands in the place of the history.
    Summary,
    /// It follows the one before within seconds.
    Soon,
    /// Another model answers from here on.
    Model,
    /// The model calls this tool.
    Calls(&'static str),
}

const fn asked(minutes: u32, read: u64, written: u64, tells: Tells) -> Asked {
    Asked { minutes, read, written, tells }
}

/// Requests with entries of five minutes, and the name of what each missed; empty where it missed nothing.
const SESSION: [(Asked, &str); 20] = [
    (asked(0, 0, 30_000, Tells::Nothing), "began"),
    (asked(1, 30_000, 500, Tells::Nothing), ""),
    (asked(11, 0, 31_000, Tells::Diagnosis("previous_message_not_found")), "paused"),
    (asked(1, 0, 31_500, Tells::Diagnosis("previous_message_not_found")), "forgotten"),
    (asked(1, 20_000, 12_000, Tells::Diagnosis("system_changed")), "system"),
    (asked(1, 0, 32_500, Tells::Diagnosis("tools_changed")), "tools"),
    (asked(1, 20_000, 13_000, Tells::Diagnosis("messages_changed")), "messages"),
    // A full read that the provider could not compare is no miss.
    (asked(1, 33_000, 500, Tells::Diagnosis("unavailable")), ""),
    (asked(11, 15_000, 19_000, Tells::Nothing), "paused"),
    (asked(0, 15_000, 19_500, Tells::Soon), "behind"),
    (asked(1, 20_000, 15_000, Tells::Says("<command-message>review</command-message>")), "skill"),
    (asked(1, 21_000, 14_500, Tells::Hook("SessionStart:resume")), "resumed"),
    (asked(1, 35_500, 500, Tells::Calls("ToolSearch")), ""),
    (asked(1, 12_000, 24_500, Tells::Nothing), "tools"),
    (asked(1, 25_000, 12_000, Tells::Nothing), "untold"),
    // What is said to be unavailable is not told.
    (asked(1, 26_000, 11_500, Tells::Diagnosis("unavailable")), "untold"),
    (asked(1, 0, 38_000, Tells::Model), "model"),
    (asked(1, 1_000, 29_500, Tells::Summary), "compacted"),
    (asked(1, 30_500, 500, Tells::Nothing), ""),
    (asked(1, 31_000, 500, Tells::Nothing), ""),
];

/// Writes the session as Claude Code does.
fn session(requests: &[Asked]) -> String {
    let mut lines: Vec<Value> = Vec::new();
    let (mut minute, mut model) = (0, "claude-opus-4-5-20251101");
    let mut answers: Option<String> = None;
    for (nth, asked) in requests.iter().enumerate() {
        minute += asked.minutes;
        let late = if matches!(asked.tells, Tells::Soon) { 4 } else { 0 };
        let mut line = |kind: &str, name: &str, second: u32, more: Value| {
            let parent = lines.last().map(|it| it["uuid"].clone());
            let mut record = json!({
                "type": kind, "uuid": format!("{name}{nth}"), "parentUuid": parent, "sessionId": "s",
                "cwd": "/home/ann/cli", "isSidechain": false, "version": "2.1.150",
                "timestamp": format!("2026-03-01T{:02}:{:02}:{:02}.000Z", 10 + minute / 60, minute % 60, second + late),
            });
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            lines.push(record);
        };
        if let Tells::Hook(name) = asked.tells {
            line("progress", "h", 0, json!({"data": {"type": "hook_progress", "hookName": name}}));
        }
        if matches!(asked.tells, Tells::Summary) {
            let said = json!({"role": "user", "content": "What was done so far."});
            line("user", "c", 0, json!({"isCompactSummary": true, "message": said}));
        }
        let said = if let Tells::Says(said) = asked.tells { said } else { "Go on." };
        let content = match answers.take() {
            Some(call) => json!([{"type": "tool_result", "tool_use_id": call, "content": "Found."}]),
            None => json!(said),
        };
        line("user", "u", 1, json!({"message": {"role": "user", "content": content}}));
        if matches!(asked.tells, Tells::Model) {
            model = "claude-sonnet-4-5-20250929";
        }
        let content = if let Tells::Calls(tool) = asked.tells {
            answers = Some(format!("call{nth}"));
            json!([{"type": "tool_use", "id": format!("call{nth}"), "name": tool, "input": {"query": "files"}}])
        } else {
            json!([{"type": "text", "text": format!("Done {nth}.")}])
        };
        let creation = json!({"ephemeral_5m_input_tokens": asked.written, "ephemeral_1h_input_tokens": 0});
        let usage = json!({
            "input_tokens": 0, "cache_read_input_tokens": asked.read,
            "cache_creation_input_tokens": asked.written, "output_tokens": 40, "cache_creation": creation,
        });
        let mut message = json!({"id": format!("m{nth}"), "role": "assistant", "model": model, "content": content, "usage": usage});
        if let Tells::Diagnosis(reason) = asked.tells {
            message["diagnostics"] = json!({"cache_miss_reason": {"type": reason}});
        }
        line("assistant", "a", 5, json!({"message": message}));
    }
    lines.iter().map(|it| format!("{it}\n")).collect()
}

fn written(text: &str) -> TempDir {
    folder_with(&[("s.jsonl", text)])
}

fn printed(folder: &TempDir, args: &[&str]) -> String {
    out(&ctxsim(folder, [args, &["s.jsonl"]].concat()))
}

/// The request, its cause and the words for it, of each miss in a report.
fn misses(folder: &TempDir) -> Vec<(usize, String, String)> {
    let report = printed(folder, &["run", "--policy", "identity", "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let missed = report["sessions"][0]["filled"]["missed"].as_array().unwrap().clone();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let of = |it: &Value| {
        let request = usize::try_from(it["request"].as_u64().unwrap()).unwrap();
        (request, text(&it["cause"]), text(&it["because"]))
    };
    missed.iter().map(of).collect()
}

#[test]
fn every_miss_of_a_session_has_the_name_that_its_log_its_content_or_its_times_give_it() {
    let folder = written(&session(&SESSION.map(|it| it.0)));

    let expected: Vec<(usize, String)> = SESSION
        .iter()
        .enumerate()
        .filter(|(_, it)| !it.1.is_empty())
        // The summary before the 18th request is a request, too.
        .map(|(nth, it)| (nth + 1 + usize::from(nth >= 17), it.1.to_owned()))
        .collect();
    let found: Vec<(usize, String)> = misses(&folder).into_iter().map(|it| (it.0, it.1)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_first_report_rows_and_an_explanation_call_a_miss_by_the_same_name() {
    let folder = written(&session(&SESSION.map(|it| it.0)));

    let first = printed(&folder, &["run", "--details", "--width", "200"]);
    let rows = printed(&folder, &["run", "--policy", "identity", "--rows", "requests", "--format", "jsonl"]);
    let rows: Vec<Value> = rows.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let misses = misses(&folder);
    for (request, _, because) in &misses {
        assert!(first.contains(because), "{because}: {first}");
        assert_eq!(rows[request - 1]["missed"]["because"], Value::from(because.as_str()));
        let request = request.to_string();
        let told =
            printed(&folder, &["explain", "--policy", "identity", "--width", "200", "--request", &request]);
        assert!(told.contains(&format!("cached and not read, because: {because}.")), "{told}");
    }
    assert_eq!(rows.iter().filter(|it| !it["missed"].is_null()).count(), misses.len());
}

#[test]
fn a_report_on_predictions_calls_a_miss_by_the_same_name() {
    let folder = written(&session(&SESSION.map(|it| it.0)));
    let report = printed(&folder, &["import", "--report", "--width", "200"]);

    for (_, cause, because) in misses(&folder) {
        // Of the first request nothing is predicted, and what a pause lost was predicted to be lost.
        if !["began", "paused", "untold", "compacted", "model"].contains(&cause.as_str()) {
            assert!(report.contains(&because), "{because}: {report}");
        }
    }
}

#[test]
fn what_is_no_diagnosis_changes_nothing() {
    let asked = [asked(0, 0, 30_000, Tells::Nothing), asked(1, 12_000, 18_500, Tells::Diagnosis("x"))];
    let good = session(&asked);
    for broken in [r#""x""#, "7", r#"["messages_changed"]"#, "{}", "null"] {
        let folder = written(&good.replace(r#"{"type":"x"}"#, &format!(r#"{{"type":{broken}}}"#)));
        assert_eq!(misses(&folder)[1].1, "untold", "{broken}");
        let folder = written(&good.replace(r#"{"cache_miss_reason":{"type":"x"}}"#, broken));
        assert_eq!(misses(&folder)[1].1, "untold", "{broken}");
    }
}

#[test]
fn what_a_log_says_of_misses_is_kept_where_its_texts_are_not() {
    let folder = written(&session(&SESSION.map(|it| it.0)));
    let redacted = printed(&folder, &["show", "--redact"]);

    assert_eq!(misses(&written(&redacted)), misses(&folder));
}

/// Returns which names of a miss agree with what a provider says.
fn agreeing(said: Diagnosis) -> &'static [MissCause] {
    use MissCause::{Compacted, Cut, Forgotten, Messages, Model, Paused, Resumed, Skill, System, Tools};
    match said {
        Diagnosis::Model => &[Model],
        Diagnosis::System => &[System],
        Diagnosis::Tools => &[Tools],
        Diagnosis::Messages => &[Messages, Skill, Compacted, Cut, Resumed],
        Diagnosis::Forgotten => &[Forgotten, Paused, Compacted, Cut, Resumed],
    }
}

/// Returns the texts of the logs of 2026.
fn reference() -> Option<Vec<String>> {
    let root = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from)?.join("recorded/2026");
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path());
    let files = below(root).flat_map(below).filter(|it| it.extension().is_some_and(|it| it == "jsonl"));
    Some(files.map(|it| fs::read_to_string(it).unwrap()).collect())
}

#[test]
fn no_name_contradicts_what_a_provider_says_in_the_reference_sessions() {
    let Some(texts) = reference() else { return };
    let profile = profile_from(PROFILE);
    let sessions = texts.iter().filter_map(|it| import_all(it, "s", &Assume::default(), &[]).ok()).flatten();

    let (mut n_diagnosed, mut n_untold, mut n_all) = (0, 0, 0);
    let is_of_claude_code = |it: &Timeline| it.recorded.as_ref().is_some_and(|it| it.format == "claude-code");
    for timeline in sessions.map(|it| it.timeline).filter(is_of_claude_code) {
        let said: BTreeMap<StepIx, Diagnosis> = timeline
            .recorded
            .iter()
            .flat_map(|it| it.occasions.iter())
            .filter_map(|it| match it {
                (step, Occasion::Diagnosed(diagnosis)) => Some((*step, *diagnosis)),
                _ => None,
            })
            .collect();
        for miss in all_misses(&timeline, &profile) {
            n_all += 1;
            n_untold += usize::from(miss.cause == MissCause::Untold);
            if let Some(said) = said.get(&miss.step) {
                n_diagnosed += 1;
                assert!(agreeing(*said).contains(&miss.cause), "{miss:?} {said:?}");
            }
        }
    }

    assert!(n_diagnosed >= 30, "{n_diagnosed}");
    assert!(n_untold * 20 <= n_all, "{n_untold} of {n_all} are not told");
}
