//! Streams in files: what generators make is read back as it was, a stream of one's own runs everywhere, and mistakes are placed.

use ctxsim::input::scenario::{AgingLoad, PressurePreset};
use ctxsim::worlds::aging::generate::GENERATORS;
use ctxsim::worlds::aging::written;

use super::*;

/// The stream that a reader writes by hand: 12 sessions, 30 facts, 40 questions.
const HELP_DESK: &str = include_str!("../../data/aging/streams/help_desk.toml");

fn folder() -> PathBuf {
    data("aging/streams")
}

fn out(folder: &Path, args: &[&str]) -> String {
    crate::support::out(&ctxsim(folder, args))
}

/// Returns a scenario whose sessions are in a file.
fn of_file(name: &str, path: &str, trials: u64) -> String {
    format!(
        "name = \"{name}\"\nabout = \"Read from a file.\"\nseed = 42\n\n[load.aging]\npath = \"{path}\"\ntrials = {trials}\nmodels = [\"mid\"]\n"
    )
}

#[test]
fn what_each_generator_makes_is_written_and_read_back_as_it_was() {
    for (generator, _) in GENERATORS {
        for pressure in [PressurePreset::None, PressurePreset::Usual, PressurePreset::Heavy] {
            for sessions in [2, 9, 30] {
                let load = AgingLoad { generator: generator.to_owned(), sessions, pressure, ..load("s1") };
                let made = stream(&load, 0);
                let file = written::write(&made);
                assert_eq!(file.check(), Ok(()), "{generator}");
                let back = written::read(&file, made.seed);
                assert_eq!(back.graph, made.graph, "{generator} over {sessions} sessions");
                assert_eq!(back.probes, made.probes, "{generator} over {sessions} sessions");
                assert_eq!((back.sessions, back.profile_records), (made.sessions, made.profile_records));
                assert_eq!(back.scoring, made.scoring);
            }
        }
    }
}

#[test]
fn a_written_stream_is_the_same_in_toml_and_in_ron() {
    for (generator, _) in GENERATORS {
        let made = AgingLoad { generator: generator.to_owned(), ..load("s2") };
        let own = written::write(&stream(&made, 0));
        let load = AgingLoad {
            generator: String::new(),
            sessions: 0,
            pressure: PressurePreset::default(),
            stream: Some(Box::new(own)),
            ..made
        };
        let file = ScenarioFile { load: LoadSpec::Aging(Box::new(load)), ..ScenarioFile::named(generator) };
        for format in [Format::Toml, Format::Ron] {
            let text = encode(&file, format).unwrap();
            let back: ScenarioFile = decode(&text, format).unwrap();
            assert!(back == file, "{generator}");
        }
    }
}

#[test]
fn what_rows_of_facts_write_a_scenario_reads_back_with_the_same_bytes_and_the_same_results() {
    let there = tempdir().unwrap();
    let facts = |scenario: &str| {
        let args = ["run", "--policy", "aging/lossy", "--profile", "unlimited", "--rows", "facts"];
        out(there.path(), &[&args[..], &["--format", "jsonl", "--scenario", scenario]].concat())
    };
    for name in ["s1", "s2", "s3", "s4", "s5", "s6", "s7"] {
        let of = bundled(name);
        fs::write(there.path().join(format!("{name}.toml")), of).unwrap();
        let made = facts(&format!("{name}.toml"));
        fs::write(there.path().join(format!("{name}.json")), &made).unwrap();
        let back = format!("{name}_back");
        fs::write(there.path().join(format!("{back}.toml")), of_file(&back, &format!("{name}.json"), 1))
            .unwrap();
        let read = facts(&format!("{back}.toml"));
        assert!(read.replace(&back, name) == made, "{name}");
        let number = |scenario: &str| {
            let args = ["run", "--policy", "aging/careful", "--profile", "unlimited", "--format", "json"];
            let report: Value =
                parsed(&ctxsim(there.path(), [&args[..], &["--scenario", scenario]].concat()));
            let own = &report["runs"][0]["aging"];
            (own["curve"].clone(), own["accumulator_error"].clone(), own["attribution"].clone())
        };
        assert_eq!(number(&format!("{name}.toml")), number(&format!("{back}.toml")), "{name}");
    }
}

/// Returns a bundled scenario without what happens to its memory, over one stream.
fn bundled(name: &str) -> String {
    let all = fs::read_to_string(root().join(format!("scenarios/aging/{name}.toml"))).unwrap();
    let calm = all.split("\n[[load.aging.events]]").next().unwrap();
    let lines = calm.lines().filter(|it| !it.starts_with("#:schema")).map(|it| match it {
        it if it.starts_with("trials") => "trials = 1".to_owned(),
        it if it.starts_with("name") => format!("name = \"{name}\""),
        it => it.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn a_stream_written_by_hand_runs_through_every_verb_that_reads_ageing_loads() {
    let there = folder();
    let two = ["--policy", "aging/lossy", "aging/careful"];
    let on = ["--scenario", "help_desk.toml", "--profile", "anthropic/claude-haiku-4.5"];
    let vary = args("--policy aging/append_only --base aging/lossy --vary memory.sessions.read.top.n=2,8");

    assert!(out(&there, &["validate", "help_desk.toml"]).contains("1 input is valid"));
    assert!(out(&there, &["show", "scenario", "help_desk.toml"]).contains("rate_acme_3"));
    assert!(out(&there, &["show", "help_desk.toml", "--as", "ron"]).contains("order_maier"));
    let text = out(&there, &[&["run"], &two[..], &on[..]].concat());
    assert!(text.contains("Repair: "), "{text}");
    assert!(out(&there, &[&["run"], &two[..], &on[..], &["--format", "html"]].concat()).contains("Repair"));
    for rows in ["probes", "facts", "orderings"] {
        let rows =
            out(&there, &[&["run"], &two[..], &on[..], &["--rows", rows, "--format", "jsonl"]].concat());
        assert!(!rows.is_empty());
    }
    let services = ["run", "--policy", "memory_runners/entries", "memory_runners/context_only"];
    assert!(!out(&there, &[&services[..], &on[..]].concat()).is_empty());
    let compared = ["compare", "--base", "aging/lossy", "--candidate", "aging/careful"];
    assert!(out(&there, &[&compared[..], &on[..]].concat()).contains("final score"));
    let swept = out(&there, &[&["sweep"], &vary[..], &on[..], &["--objective", "final", "cost"]].concat());
    assert!(swept.contains("(knee)") && swept.contains("  final "), "{swept}");
    let tuned = out(&there, &[&["tune"], &vary[..], &on[..], &["--objective", "final"]].concat());
    assert!(tuned.contains("The word for it is"), "{tuned}");
    let prices = ["sensitivity", "--policy", "aging/lossy", "aging/careful", "--scenario", "help_desk.toml"];
    let at = ["--profile", "anthropic/claude-haiku-4.5", "anthropic/claude-sonnet-5"];
    assert!(!out(&there, &[&prices[..], &at[..]].concat()).is_empty());
}

/// Mistakes that a reader makes: what stands in the file, and what he writes instead.
const MISTAKES: [(&str, &str); 13] = [
    ("value = 1_350, replaces = \"rate_acme\"", "value = 1_350, replaces = \"rate_acne\""),
    ("{ fact = \"rate_acme\", answer = 1_200 }", "{ fact = \"rate_crux\", answer = 2_000 }"),
    ("{ fact = \"rate_acme\", answer = 1_200 }", "{ fact = \"rate_acme\", answer = 1_350 }"),
    ("{ total = \"budget\", answer = 4_600, scored = false }", "{ total = \"budgets\", answer = 4_600 }"),
    ("replaces = \"rate_acme_2\" }", "replaces = \"rate_acme\" }"),
    ("retracts = [\"rate_bolt\"]", "retracts = [\"rate_acme\"]"),
    ("{ fact = \"approver\" },\n]", "{ fact = \"approver\", total = \"budget\" },\n]"),
    ("{ fact = \"approver\" },\n]", "{ scored = false },\n]"),
    (
        "topic = \"orders\", facts = [{ name = \"order_meyer\"",
        "topic = \"order\", facts = [{ name = \"order_meyer\"",
    ),
    ("{ adds = 600, to = \"budget\" }", "{ adds = 600 }"),
    ("{ apart = \"order_maier\", answer = 4_117 }", "{ apart = \"rate_acme_2\" }"),
    ("{ trend = [\"seats_crux\", \"seats_crux_2\"]", "{ trend = [\"seats_crux\", \"rate_crux\"]"),
    ("name = \"seats_bolt\", value = 12", "name = \"seats_acme\", value = 12"),
];

#[test]
fn each_wrong_version_of_it_is_answered_with_the_place_and_a_fix() {
    let there = tempdir().unwrap();
    let mut told = String::new();
    for (right, wrong) in MISTAKES {
        assert!(HELP_DESK.contains(right), "{right}");
        fs::write(there.path().join("help_desk.toml"), HELP_DESK.replacen(right, wrong, 1)).unwrap();
        let text = refusal(&ctxsim(there.path(), ["validate", "help_desk.toml"]));
        let first = text.split("\n\n").next().unwrap();
        assert!(first.contains("= help: ") && first.contains("help_desk.toml:"), "{text}");
        let _ = writeln!(told, "{wrong}\n{first}\n");
    }
    assert_snapshot("aging", "wrong_streams", &told);
}

/// Returns chats in the shape of LongMemEval: questions about what one of several sessions says.
fn long_mem_eval(n: usize) -> Value {
    let session = |nth: usize, at: usize| {
        let said = |role: &str, turn: usize| json!({ "role": role, "content": format!("turn {turn} of session {at}"), "has_answer": at == nth % 4 && turn == 0 });
        json!([said("user", 0), said("assistant", 1), said("user", 2)])
    };
    let one = |nth: usize| {
        let ids: Vec<String> = (0..4).map(|it| format!("s{it}")).collect();
        json!({
            "question_id": if nth == 0 { "q0_abs".to_owned() } else { format!("q{nth}") },
            "question_type": "single-session-user",
            "haystack_session_ids": ids,
            "haystack_sessions": (0..4).map(|it| session(nth, it)).collect::<Vec<_>>(),
            "answer_session_ids": [format!("s{}", nth % 4)],
        })
    };
    Value::from((0..n).map(one).collect::<Vec<_>>())
}

/// Returns chats in the shape of LoCoMo.
fn locomo() -> Value {
    let turn = |id: &str| json!({ "speaker": "Ann", "dia_id": id, "text": format!("what was said at {id}") });
    json!([{
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann", "speaker_b": "Ben",
            "session_1_date_time": "1:00 pm on 8 May, 2023", "session_1": [turn("D1:1"), turn("D1:2")],
            "session_2_date_time": "1:00 pm on 9 May, 2023", "session_2": [turn("D2:1"), turn("D2:2")],
        },
        "qa": [
            { "question": "a", "answer": "b", "evidence": ["D1:2"], "category": 4 },
            { "question": "a", "answer": "b", "evidence": ["D1:1", "D2:2"], "category": 1 },
            { "question": "a", "adversarial_answer": "b", "evidence": ["D2:1"], "category": 5 },
        ],
    }])
}

/// Runs memories on a file, and returns what the report says of a memory that keeps everything.
fn ran(name: &str, file: &str) -> (Value, String) {
    let there = tempdir().unwrap();
    fs::write(there.path().join("sessions.json"), file).unwrap();
    fs::write(there.path().join(format!("{name}.toml")), of_file(name, "sessions.json", 2)).unwrap();
    let scenario = format!("{name}.toml");
    let args = ["run", "--policy", "aging/full_context", "aging/no_memory", "--profile", "unlimited"];
    let report: Value =
        parsed(&ctxsim(there.path(), [&args[..], &["--scenario", &scenario, "--format", "json"]].concat()));
    (report["runs"][0].clone(), report["notes"].to_string())
}

#[test]
fn chats_of_longmemeval_are_a_stream_for_each_question() {
    let (run, notes) = ran("chats", &long_mem_eval(8).to_string());

    assert_eq!(run["aging"]["sessions"], 5, "the questions stand in a session after all others");
    assert_eq!(run["trials"], 7 * 2);
    assert!(run["aging"]["final"]["mean"].as_f64().unwrap() > 0.8);
    assert!(notes.contains("1 question about what was never said"), "{notes}");
}

#[test]
fn a_conversation_of_locomo_is_one_stream() {
    let (run, notes) = ran("talk", &locomo().to_string());

    assert_eq!((run["aging"]["sessions"].as_u64(), run["trials"].as_u64()), (Some(3), Some(2)));
    assert!(run["aging"]["chain_recall"]["mean"].as_f64().is_some());
    assert!(notes.contains("1 question about what was never said"), "{notes}");
}

#[test]
fn a_graph_of_the_benchmark_alone_is_a_stream_too() {
    let there = tempdir().unwrap();
    let args =
        ["run", "--policy", "aging/lossy", "--profile", "unlimited", "--rows", "facts", "--format", "jsonl"];
    let row: Value = parsed(&ctxsim(there.path(), [&args[..], &["--scenario", "aging/s2"]].concat()));
    let (run, _) = ran("graph", &row["dependency_graph"].to_string());

    assert_eq!(run["aging"]["sessions"], 11, "what is asked after the last session stands in one more");
    for place in ["final", "chain_recall", "accumulator_error", "version_accuracy"] {
        assert!(run["aging"][place]["mean"].is_f64(), "{place}");
    }
}

#[test]
fn what_a_graph_asks_of_retracted_facts_is_left_out_and_counted() {
    let fact = |ended: Value| json!({ "versions": [{ "session": 0, "invalidated_at": ended }] });
    let task = |session: u32, id: &str| json!({ "session": session, "depends_on_facts": [id] });
    let graph = json!({
        "facts": { "rent": fact(Value::Null), "seats": fact(json!(2)) },
        "tasks": { "a": task(1, "seats"), "b": task(2, "seats"), "c": task(3, "rent") },
    });

    let (run, notes) = ran("graph", &graph.to_string());

    assert_eq!(run["aging"]["sessions"], 4);
    assert_says(&notes, &["left out: 1 question about what was never said or had been retracted"]);
}

#[test]
fn a_broken_file_of_sessions_is_told_with_its_place() {
    let there = tempdir().unwrap();
    fs::write(there.path().join("own.toml"), of_file("own", "sessions.json", 1)).unwrap();
    let told = |text: &str| {
        fs::write(there.path().join("sessions.json"), text).unwrap();
        refusal(&ctxsim(there.path(), ["run", "--scenario", "own.toml", "--policy", "aging/lossy"]))
    };

    for (text, wanted) in [
        ("", "the file contains no sessions"),
        ("{\"stream\": {\"sessions\": [{}, {\"asks\": [{\"fact\": \"x\"}]}]}}", "unknown fact `x`"),
        ("{\"stream\": {\"sessions\": [{}, ", "write what `--rows facts --format jsonl` writes"),
        ("[{", "LongMemEval's format"),
        ("{\"other\": 1}", "no `stream`"),
        (
            "{\"facts\": {\"a\": {\"versions\": [{\"session\": 4294967295}]}}}",
            "session 4294967296, which is beyond all limits",
        ),
        ("[]", "the file contains no questions"),
    ] {
        let said = told(text);
        assert!(said.contains(wanted) && said.contains("sessions.json") && said.contains("help:"), "{said}");
    }
}

#[test]
fn the_seed_of_a_scenario_draws_what_its_written_stream_loses() {
    let file = written::write(&stream(&load("s2"), 0));
    let [one, two] = [Seed(1), Seed(2)].map(|it| written::read(&file, it));

    assert_eq!(one.graph, two.graph);
    assert_ne!(one.seed, two.seed);
}
