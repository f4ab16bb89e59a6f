//! What a file of cache vectors says beyond what is read: a number that nobody looks at could change every row.

use serde_json::Value;

/// The fields that are read, by the place of their object; `*` stands for any name and any place of a list.
const KNOWN: [(&str, &[&str]); 12] = [
    ("", &["format", "prices_microusd_per_mtok", "rules", "policies", "sessions", "cache_vectors"]),
    ("prices_microusd_per_mtok.*", &["input", "read", "write", "output"]),
    (
        "rules.*",
        &["min_tokens", "lookback", "max_marks", "ttl_ms", "step", "live", "readable", "layout", "match"],
    ),
    ("sessions.*", &["ttl", "trace", "runs"]),
    ("sessions.*.trace.*", &["t_ms", "response_start_ms", "boundary", "loop", "enters", "emits"]),
    ("sessions.*.runs.*", &["requests", "expected"]),
    ("sessions.*.runs.*.requests.*", REQUEST),
    ("sessions.*.runs.*.expected.*", &["price", "rows", "total_picodollars"]),
    ("sessions.*.runs.*.expected.*.rows.*", ROW),
    ("cache_vectors.*", &["min_tokens", "requests", "expect"]),
    ("cache_vectors.*.requests.*", REQUEST),
    ("cache_vectors.*.expect.*", ROW),
];
const REQUEST: &[&str] = &["role", "t_ms", "response_start_ms", "output_tokens", "segments", "marks"];
const ROW: &[&str] = &["prompt", "read", "write", "uncached", "output", "picodollars"];

/// Objects whose names are the file's own.
const MAPS: [&str; 7] = [
    "prices_microusd_per_mtok",
    "rules",
    "sessions",
    "sessions.*.trace",
    "sessions.*.runs",
    "sessions.*.runs.*.expected",
    "cache_vectors",
];

/// What the sentences of a rule say when they say what is played.
const SENTENCES: [(&str, &str); 4] = [
    ("live", "now - touched <= ttl"),
    ("readable", "now >= response start of the writer"),
    (
        "layout",
        "last tool, last system, end of the last two messages (message = run of one role; user role: user, tool_result, summary)",
    ),
    ("match", "whole segments"),
];

/// Returns what is passed over, a sentence each, in the order of the file.
pub(super) fn passed_over(text: &str) -> Vec<String> {
    let Ok(file) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let mut found = Vec::new();
    walk(&file, "", &mut found);
    found
}

fn walk(value: &Value, place: &str, found: &mut Vec<String>) {
    let mut note = |it: String| {
        if !found.contains(&it) {
            found.push(it);
        }
    };
    let known = KNOWN.iter().find(|it| it.0 == place).map(|it| it.1);
    match (value, known) {
        (Value::Object(fields), Some(known)) => {
            for (name, field) in fields {
                if !known.contains(&name.as_str()) {
                    note(format!("`{}` is not looked at", join(place, name)));
                }
                let sentence = SENTENCES.iter().find(|it| place == "rules.*" && it.0 == name);
                if sentence.is_some_and(|it| field.as_str().is_none_or(|said| !says(said, it.1))) {
                    note(format!("`{}` says something else than what is played: {field}", join(place, name)));
                }
            }
            for (name, field) in fields {
                walk(field, &join(place, name), found);
            }
        }
        (Value::Object(fields), None) if MAPS.contains(&place) => {
            fields.values().for_each(|it| walk(it, &join(place, "*"), found));
        }
        (Value::Array(list), _) => list.iter().for_each(|it| walk(it, &join(place, "*"), found)),
        _ => {}
    }
}

/// Returns whether two sentences are the same but for blanks and case.
fn says(said: &str, known: &str) -> bool {
    let plain = |it: &str| it.split_whitespace().collect::<String>().to_lowercase();
    plain(said) == plain(known)
}

fn join(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}
