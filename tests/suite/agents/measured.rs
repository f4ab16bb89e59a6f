//! Claude Code's compaction beside 42 that were measured: the trigger by version and model, and the prompt behind it.

use ctxsim::app::ListPrices;
use ctxsim::calibrate::compaction::{compacting, prompt_behind};
use ctxsim::projection::test::{Known, Num};

use crate::support::*;

/// Numbers only; `README.md` beside it says what each column is.
const MEASURED: &str = include_str!("../../data/compactions/measured.csv");

/// A compaction that the harness made by itself.
struct Row {
    name: &'static str,
    version: &'static str,
    model: &'static str,
    pre_tokens: u64,
    prompt_after: u64,
    front: u32,
    summary: u64,
    begins_with: u32,
    /// The newest first.
    reads: Vec<u32>,
}

fn rows() -> Vec<Row> {
    let mut lines = MEASURED.lines().map(|it| it.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = |name: &str| header.iter().position(|it| *it == name).unwrap();
    let number = |row: &[&str], name: &str| row[at(name)].parse::<u64>().unwrap();
    let small = |row: &[&str], name: &str| u32::try_from(number(row, name)).unwrap();
    let automatic = lines.filter(|it| it[at("trigger")] == "auto");
    let row = |it: Vec<&'static str>| Row {
        name: it[at("compaction")],
        version: it[at("version")],
        model: it[at("model")],
        pre_tokens: number(&it, "pre_tokens"),
        prompt_after: number(&it, "prompt_after"),
        front: small(&it, "front"),
        summary: number(&it, "summary"),
        begins_with: small(&it, "begins_with"),
        reads: it[at("reads")].split_whitespace().map(|it| it.parse().unwrap()).collect(),
    };
    automatic.map(row).collect()
}

fn spec() -> PolicyFile {
    bundled_catalog().policy("agents/claude_code/auto_compact").unwrap().spec
}

/// A log of one request by some version, model and prompt.
fn logged(version: &str, model: &str, prompt: u64) -> Timeline {
    import_all(&log(version, model, prompt), "logged", &Assume::default(), &[]).unwrap().remove(0).timeline
}

/// Its text.
fn log(version: &str, model: &str, prompt: u64) -> String {
    let common = format!(r#""sessionId":"s","version":"{version}","timestamp":"2026-01-01T00:00:00.000Z""#);
    let usage = format!(
        r#"{{"input_tokens":4,"cache_read_input_tokens":0,"cache_creation_input_tokens":{},"output_tokens":50}}"#,
        prompt - 4
    );
    format!(
        r#"{{"type":"user","uuid":"a","parentUuid":null,{common},"message":{{"role":"user","content":"Mend it."}}}}
{{"type":"assistant","uuid":"b","parentUuid":"a",{common},"message":{{"role":"assistant","id":"m","model":"{model}","content":[{{"type":"text","text":"Done."}}],"usage":{usage}}}}}
"#
    )
}

/// The prompt at which the preset compacts a session, under the profile of the session's own model.
fn trigger(version: &str, model: &str, prompt: u64) -> u64 {
    let catalog = bundled_catalog();
    let profile = ListPrices::read(&catalog).profile_of(model).unwrap().clone();
    let policy = Policy::new(&spec()).unwrap();
    let known = Known::new(&logged(version, model, prompt), profile.limits);
    Num::known(&policy.params["trigger"], &known).unwrap()
}

/// One logged size is far from what the request before was billed: 176,700 beside 150,210.
const FAR_OFF: &str = "ccf26628-1";

#[test]
fn every_automatic_compaction_came_within_one_result_of_the_trigger_of_its_version_under_its_own_model() {
    let rows = rows();

    // The result that crosses it has at most 25,000 tokens, and hardly one has 8,000.
    let is_off = |it: &&Row| {
        let trigger = trigger(it.version, it.model, 150_000);
        !(trigger..trigger + 8_000).contains(&it.pre_tokens)
    };
    let far_off: Vec<&str> = rows.iter().filter(is_off).map(|it| it.name).collect();
    assert_eq!((rows.len(), far_off), (39, vec![FAR_OFF]));
}

#[test]
fn the_trigger_follows_version_and_model_of_the_log() {
    for (version, model, prompt, expected) in [
        ("2.0.76", "claude-opus-4-5-20251101", 150_000, 155_000),
        ("2.1.20", "claude-opus-4-6", 150_000, 155_000),
        ("2.1.21", "claude-sonnet-4-5-20250929", 150_000, 167_000),
        ("2.1.42", "claude-opus-4-6", 150_000, 167_000),
        ("2.1.330", "claude-sonnet-4-6", 150_000, 167_000),
        ("2.1.330", "claude-opus-5", 150_000, 967_000),
        // A prompt that no window of 200,000 holds.
        ("2.1.42", "claude-opus-4-6", 250_000, 967_000),
        // Newer than all that is described: as the newest.
        ("2.9.0", "claude-opus-4-6", 150_000, 167_000),
    ] {
        assert_eq!(trigger(version, model, prompt), expected, "{version} {model} {prompt}");
    }
}

#[test]
fn a_log_newer_than_all_that_is_described_says_so() {
    let newer = |version| logged(version, "claude-opus-5", 1_000).recorded.unwrap().newer_than;

    assert_eq!(["2.1.42", "2.1.330"].map(newer), [None; 2]);
    assert_eq!(newer("2.1.331").map(|it| (&*it.harness, &*it.to)), Some(("Claude Code", "2.1.330")));
    assert!(newer("3.0.0").is_some());
}

#[test]
fn a_report_says_beside_its_verdict_that_logs_are_of_a_newer_version() {
    let folder = tempfile::tempdir().unwrap();
    for (name, version) in [("a", "2.1.330"), ("b", "2.1.400"), ("c", "2.9.0")] {
        let text = log(version, "claude-opus-5", 20_000)
            .replace("\"sessionId\":\"s\"", &format!("\"sessionId\":\"{name}\""));
        std::fs::write(folder.path().join(name).with_extension("jsonl"), text).unwrap();
    }
    let of = |file: &str| {
        let comparison = Comparison {
            own_models: true,
            ..comparing(
                &["identity"],
                &[&folder.path().join(file).display().to_string()],
                &["anthropic/claude-opus-5"],
            )
        };
        let notes = reported(&comparison).notes;
        notes.into_iter().find(|it| it.contains("newer than"))
    };
    let said = |which: &str| {
        format!(
            "{which}, newer than 2.1.330, the newest version that is described here: when it compacts, and what it does to the cache, may have changed."
        )
    };

    assert_eq!(of("a.jsonl"), None);
    assert_eq!(of("c.jsonl"), Some(said("This log is of Claude Code 2.9.0")));
    assert_eq!(of(""), Some(said("2 of 3 logs are of Claude Code 2.1.400 to 2.9.0")));
}

/// The prompt that the engine leaves behind a compaction of a history with what a row tells.
fn behind(row: &Row) -> u64 {
    let mut spec = spec();
    spec.params.insert("summary".to_owned(), Size::Tokens(row.summary));
    let mut load = TimelineBuilder::new("measured", &[]);
    load.stable(Kind::System, row.front);
    load.stable(Kind::User, row.begins_with - row.front);
    load.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    let bulk = NewItem::result("search", 0, ItemSizes::whole(80_000), Preserve::None, Default::default());
    load.step(0, 10, &[NewItem::call("search", 10)], &[bulk]);
    for tokens in row.reads.iter().rev() {
        let read =
            NewItem::result("read_file", 0, ItemSizes::whole(*tokens), Preserve::None, Default::default());
        load.step(0, 10, &[NewItem::call("read_file", 10)], &[read]);
    }
    load.step(0, 10, &[NewItem::plain(Kind::Assistant, 10)], &[]);
    let n_steps = u32::try_from(row.reads.len()).unwrap() + 2;
    prompt_behind(&load.finish(), n_steps, &compacting(&spec).unwrap())
}

/// The sizes of the preset come from sessions that contain these, but none was chosen for this number.
#[test]
fn the_prompt_behind_a_compaction_is_within_15_percent_of_the_bill_in_seven_of_ten() {
    let rows = rows();
    let errors: Vec<(&Row, f64)> =
        rows.iter().map(|it| (it, behind(it) as f64 / it.prompt_after as f64 - 1.0)).collect();
    let close = |is_in: &dyn Fn(&Row) -> bool| {
        let of = errors.iter().filter(|it| is_in(it.0));
        let n_close = of.clone().filter(|it| it.1.abs() <= 0.15).count();
        [n_close, of.count()]
    };
    let is_even = |it: &Row| u32::from_str_radix(&it.name[..8], 16).unwrap().is_multiple_of(2);
    let mut sizes: Vec<f64> = errors.iter().map(|it| it.1.abs()).collect();
    sizes.sort_by(f64::total_cmp);

    let [all, even, odd] = [close(&|_| true), close(&is_even), close(&|it: &Row| !is_even(it))];
    assert!(all[0] * 10 >= all[1] * 7, "{all:?} {even:?} {odd:?}");
    assert_eq!([all, even, odd], [[28, 39], [16, 21], [12, 18]]);
    // A constant does no better: the median of either half for the other.
    let constant = |of_even: bool| {
        let mut other: Vec<u64> =
            rows.iter().filter(|it| is_even(it) != of_even).map(|it| it.prompt_after).collect();
        other.sort_unstable();
        let (n, of) = (other.len(), |it: usize| other[it] as f64);
        let median = f64::midpoint(of((n - 1) / 2), of(n / 2));
        let own = rows.iter().filter(|it| is_even(it) == of_even);
        own.filter(|it| (median / it.prompt_after as f64 - 1.0).abs() <= 0.15).count()
    };
    assert_eq!([constant(true), constant(false)], [14, 11]);
    assert!(sizes[sizes.len() / 2] < 0.125, "{sizes:?}");
    let mean: f64 = errors.iter().map(|it| it.1).sum::<f64>() / errors.len() as f64;
    assert!(mean.abs() < 0.03, "{mean}");
}
