//! Recordings of other agents against an independent count of their requests, turns and tokens.

use super::*;

/// What `tests/data/formats/count_requests.py` counts in one file.
#[derive(Debug, PartialEq, Eq, serde::Deserialize)]
struct Row {
    format: String,
    requests: u64,
    turns: u64,
    input: u64,
    read: u64,
    written: u64,
    output: u64,
    #[serde(default)]
    summaries: u64,
    #[serde(default)]
    summary_input: u64,
    #[serde(default)]
    summary_output: u64,
}

/// The counts by file; those below `formats/` are of the reference data.
fn rows() -> BTreeMap<String, Row> {
    serde_json::from_str(include_str!("../../data/formats/requests.json")).unwrap()
}

/// Counts the same in what was imported.
fn counted(text: &str, name: &str) -> Row {
    let all = import_all(text, name, &Assume::default(), &[]).unwrap_or_else(|it| panic!("{name}: {it:?}"));
    let mut row = Row {
        format: all[0].format.to_owned(),
        requests: 0,
        turns: 0,
        input: 0,
        read: 0,
        written: 0,
        output: 0,
        summaries: 0,
        summary_input: 0,
        summary_output: 0,
    };
    for imported in &all {
        assert_well_formed(&imported.timeline);
        for summary in imported.timeline.recorded.as_ref().unwrap().summaries() {
            row.summaries += 1;
            row.summary_input += summary.prompt;
            row.summary_output += summary.output;
        }
        row.turns += u64::try_from(imported.timeline.spine.turns.len()).unwrap();
        for usage in imported.timeline.recorded.as_ref().unwrap().usage.iter().flatten() {
            assert_eq!(usage.prompt, usage.uncached + usage.cache_read + usage.cache_write, "{name}");
            row.requests += 1;
            row.input += usage.prompt;
            row.read += usage.cache_read;
            row.written += usage.cache_write;
            row.output += usage.output;
        }
    }
    row
}

#[test]
fn the_copies_hold_the_counted_requests_turns_and_tokens() {
    let folder = root().join("tests/data/recorded");
    let rows = rows();
    let copies = rows.iter().filter(|it| !it.0.starts_with("formats/"));
    let n = copies.map(|(name, row)| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(counted(&text, name), *row, "{name}");
    });
    assert!(n.count() >= 4);
}

#[test]
fn the_reference_files_hold_the_counted_requests_turns_and_tokens() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    for (name, row) in rows().iter().filter(|it| it.0.starts_with("formats/")) {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(counted(&text, name), *row, "{name}");
    }
}

#[test]
fn what_the_copies_read_from_the_cache_is_scored_but_for_totals_that_are_spread() {
    let rows = rows();
    for (name, row) in rows.iter().filter(|it| !it.0.starts_with("formats/") && it.1.read > 0) {
        let file = format!("tests/data/recorded/{name}");
        let args =
            ["import", "--report", "--profile", "anthropic/claude-opus-4.5", "--format", "json", &file];
        let report: Value = parsed(&ctxsim(root(), args));
        let scored = report["as_recorded"]["all"]["requests"].as_u64().unwrap();
        assert_eq!(scored == 0, row.format == "copilot-cli", "{name}: {scored} of {}", row.requests);
    }
}
