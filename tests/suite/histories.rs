//! What sessions fetch again of earlier ones, and what memories make of it: against counts and costs that were worked out by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use ctxsim::app::{Comparison, Plan};
use ctxsim::catalog::bundled_catalog;
use ctxsim::quantity::Cost;
use ctxsim::take::Run;
use ctxsim::worlds::histories::FetchSummary;
use serde_json::Value;
use tempfile::TempDir;

/// Prices of the model of these tests, in picodollars a token.
const INPUT: u64 = 5_000_000;
const READ: u64 = 500_000;
const WRITE: u64 = 6_250_000;
const OUTPUT: u64 = 25_000_000;
const PROFILE: &str = "anthropic/claude-opus-4.5";

/// Tokens of a generated session: of what stands in front, of the user's message and of a call.
const STABLE: u64 = 10_000;
const USER: u64 = 100;
const CALL: u64 = 20;

/// Sessions that are all alike.
#[derive(Clone, Copy)]
struct Alike {
    sessions: u64,
    sources: u64,
    tokens: u64,
    more: u64,
    changes_every: u64,
}

impl Alike {
    fn text(self) -> String {
        let Self { sessions, sources, tokens, more, changes_every } = self;
        format!(
            "(name: \"alike\", about: \"Sessions that are all alike.\", load: history(from: generated(sessions: {sessions}, sources: {sources}, \
             source_tokens: {tokens}, more_requests: {more}, changes_every: {changes_every})))"
        )
    }

    /// Returns how many requests a session has.
    fn requests(self) -> u64 {
        self.sources + self.more + 1
    }

    /// Returns the tokens that a request reads: the prompt of the one before.
    fn read(self, request: u64) -> u64 {
        STABLE + USER + (request - 1).min(self.sources) * (CALL + self.tokens)
    }
}

/// Runs a memory and none over sessions.
fn run(alike: Alike, layout: &str, memory: &str, set: &[&str]) -> [Run; 2] {
    let mut catalog = bundled_catalog();
    assert!(catalog.hold_text("scenarios/alike.ron", alike.text()));
    let policy = format!(
        "(name: \"mine\", about: \"A memory.\", layout: (memory: {layout}), memory: sources({memory}))"
    );
    assert!(catalog.hold_text("policies/mine.ron", policy));
    let comparison = Comparison {
        policies: vec!["histories/none".to_owned(), "mine".to_owned()],
        scenarios: vec!["alike".to_owned()],
        profiles: vec![PROFILE.to_owned()],
        set: set.iter().map(|it| (*it).to_owned()).collect(),
        ..Comparison::default()
    };
    let report = Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap();
    report.runs.try_into().unwrap()
}

fn found(run: &Run) -> &FetchSummary {
    run.found::<FetchSummary>().unwrap()
}

/// Returns an amount of US dollars to the picodollar.
fn picodollars(usd: f64) -> i128 {
    (usd * 1e12).round() as i128
}

fn exact(cost: Cost) -> i128 {
    i128::try_from(cost.0).unwrap()
}

#[test]
fn a_memory_of_fixed_size_costs_its_tokens_in_each_request_and_the_prefix_that_each_rewrite_breaks() {
    let alike = Alike { sessions: 6, sources: 8, tokens: 900, more: 20, changes_every: 1 };
    let n = alike.requests();
    let size = 8 * 60;

    // Written at the end of each session: cold in the first request of the next, then read.
    let [_, at_end] =
        run(alike, "behind_system", "write: (by: harness), store: file()", &["history.use.trusts_note=0"]);
    let per_session = size * WRITE + (n - 1) * size * READ;
    assert_eq!(picodollars(found(&at_end).memory.as_ref().unwrap().carried_usd), i128::from(5 * per_session));

    // Written after every fourth request, too: sources are fetched in the first eight, so the fifth and the ninth find another text, and
    // what stands behind it is written once more.
    let memory = "write: (by: harness, every: requests(4)), store: file()";
    let [_, within] = run(alike, "behind_system", memory, &["history.use.trusts_note=0"]);
    let broken: u64 =
        [4, 8].iter().map(|it| (alike.read(*it) - STABLE) * (WRITE - READ) + size * (WRITE - READ)).sum();
    // In the first session the memory has four notes from the fifth request on, and eight from the ninth.
    let first = (4 * 60) * WRITE + 3 * (4 * 60) * READ + size * WRITE + (n - 9) * size * READ;
    let behind: u64 = [4, 8].iter().map(|it| (alike.read(*it) - STABLE) * (WRITE - READ)).sum();
    let all = first + behind + 5 * (per_session + broken);
    assert_eq!(picodollars(found(&within).memory.as_ref().unwrap().carried_usd), i128::from(all));
    assert_eq!(found(&within).memory.as_ref().unwrap().writes, 2 * 6);

    // In front of everything, a change also breaks tools and system prompt.
    let [_, at_head] = run(alike, "head", memory, &["history.use.trusts_note=0"]);
    let more = 6 * 2 * STABLE * (WRITE - READ);
    assert_eq!(picodollars(found(&at_head).memory.as_ref().unwrap().carried_usd), i128::from(all + more));

    // Behind everything it is plain input, whatever changes.
    let [_, at_tail] =
        run(alike, "tail", "write: (by: harness), store: file()", &["history.use.trusts_note=0"]);
    assert_eq!(
        picodollars(found(&at_tail).memory.as_ref().unwrap().carried_usd),
        i128::from(5 * n * size * INPUT)
    );
}

#[test]
fn a_memory_that_never_helps_costs_exactly_its_tokens_and_its_writes() {
    let alike = Alike { sessions: 5, sources: 6, tokens: 700, more: 9, changes_every: 3 };

    for layout in ["head", "behind_system", "tail"] {
        let [none, mine] =
            run(alike, layout, "write: (by: harness), store: file()", &["history.use.trusts_note=0"]);
        let memory = found(&mine).memory.as_ref().unwrap();
        assert_eq!(picodollars(memory.net_usd), picodollars(memory.carried_usd), "{layout}");
        assert!(
            memory.carried_usd > 0.0 && memory.spared_usd.abs() < 1e-15 && memory.stale_usd.abs() < 1e-15
        );
        let more = mine.tally.costs.total().unwrap() - none.tally.costs.total().unwrap();
        assert_eq!(picodollars(more), picodollars(memory.carried_usd), "{layout}");
    }
    // Of an agent that writes: its call sends the last prompt once more, and says the new notes.
    let [_, mine] =
        run(alike, "tail", "store: file()", &["history.use.trusts_note=0", "history.write.takes=1"]);
    let last = alike.read(alike.requests());
    let notes = [6, 2, 2, 2, 2].iter().map(|it| it * 60 + 60).sum::<u64>();
    let memory = found(&mine).memory.as_ref().unwrap();
    assert_eq!(picodollars(memory.written_usd), i128::from(5 * last * READ + notes * OUTPUT));
    assert_eq!(picodollars(memory.net_usd), picodollars(memory.written_usd + memory.carried_usd));
}

#[test]
fn sources_that_change_with_each_session_make_all_that_is_served_stale() {
    let alike = Alike { sessions: 7, sources: 5, tokens: 400, more: 3, changes_every: 1 };
    for store in
        ["file()", "topics()", "entries()", "summary(words: 5000)", "banks(capacity: 50)", "document()"]
    {
        let memory = format!("write: (by: harness), store: {store}");
        let [_, mine] = run(alike, "behind_system", &memory, &[]);
        let found = found(&mine);
        let memory = found.memory.as_ref().unwrap();
        assert_eq!((memory.probes, memory.fresh, memory.stale), (30, 0, 30), "{store}");
        assert_eq!((found.rediscovered().calls, found.kinds["file"].changed.calls), (30, 30));
        assert!(
            memory.spared.abs() < 1e-15 && (memory.misled - 0.3).abs() < 1e-12 && memory.net_usd > 0.0,
            "{store}"
        );
        assert_eq!(memory.verdict, "harms", "{store}");
    }
}

#[test]
fn a_perfect_memory_of_constant_sources_spares_every_fetch_but_the_first() {
    let alike = Alike { sessions: 9, sources: 7, tokens: 1_200, more: 11, changes_every: 0 };
    let memory = "write: (keeps: whole, by: harness), store: file()";

    let [none, mine] = run(alike, "behind_system", memory, &["history.use.trusts_whole=1"]);

    let (n, all) = (alike.requests(), 8 * 7);
    let told = found(&mine).memory.clone().unwrap();
    assert_eq!((told.probes, told.fresh, told.stale), (all, all, 0));
    assert!((told.spared - 1.0).abs() < 1e-12);
    assert!(mine.tally.sums.needs.calls.to_f64().abs() < 1e-9, "nothing is fetched again");
    assert!((none.tally.sums.needs.calls.to_f64() - 56.0).abs() < 1e-9);
    // A fetch is written with the next request and read by all later ones; its call is said, and sends tools, system prompt and message
    // once more.
    let step = CALL + alike.tokens;
    let fetch =
        |nth: u64| step * WRITE + (n - nth - 2) * step * READ + CALL * OUTPUT + (STABLE + USER) * READ;
    let spared = 8 * (0..7).map(fetch).sum::<u64>();
    assert_eq!(picodollars(told.spared_usd), i128::from(spared));
    let size = 7 * alike.tokens;
    let carried = 8 * n * size * READ - 8 * size * READ + size * WRITE * 8;
    assert_eq!(picodollars(told.carried_usd), i128::from(carried));
    assert_eq!(picodollars(told.net_usd), i128::from(carried) - i128::from(spared));
}

#[test]
fn the_bill_without_a_memory_is_the_recorded_one() {
    let alike = Alike { sessions: 4, sources: 3, tokens: 500, more: 2, changes_every: 2 };
    let [none, _] = run(alike, "tail", "store: file()", &[]);

    let n = alike.requests();
    let prompt = |request: u64| STABLE + USER + request.min(3) * (CALL + 500);
    let session = (1..n).map(|it| prompt(it - 1) * READ + (prompt(it) - prompt(it - 1)) * WRITE).sum::<u64>();
    let all = 4 * (session + prompt(0) * WRITE + n * CALL * OUTPUT);
    assert_eq!(picodollars(none.tally.costs.total().unwrap()), exact(Cost(all.into())));
    assert_eq!(picodollars(found(&none).billed_usd), i128::from(all));
}

#[test]
fn what_is_read_back_is_limited_by_room_and_by_rank_and_changes_as_the_policy_says() {
    let alike = Alike { sessions: 4, sources: 10, tokens: 500, more: 2, changes_every: 0 };
    let shown = |memory: &str| {
        let [_, mine] = run(alike, "tail", memory, &[]);
        let it = found(&mine).memory.clone().unwrap();
        (it.fresh, it.shown_max, it.writes)
    };

    assert_eq!(shown("write: (by: harness), store: file(tokens: 300)"), (15, 300, 1));
    assert_eq!(shown("write: (by: harness), store: banks(capacity: 4)"), (12, 240, 1));
    assert_eq!(shown("write: (by: harness), store: entries(), read: top(3)"), (9, 180, 1));
    assert_eq!(shown("write: (by: harness), store: summary(words: 100)"), (6, 120, 1), "133 tokens");
    assert_eq!(
        shown("write: (by: harness), store: topics()"),
        (30, 12, 1),
        "a folder is a line of the index"
    );
    assert_eq!(shown("write: (by: harness, of: [page]), store: file()"), (0, 0, 0));
    assert_eq!(shown("write: (by: harness, every: sessions(3)), store: file()"), (10, 600, 1));
    assert_eq!(shown("write: (by: harness, keeps: whole), store: file()"), (30, 5_000, 1));
    // Appended notes stay: with each change there is one more.
    let changing = Alike { changes_every: 1, ..alike };
    let [_, mine] = run(changing, "tail", "write: (by: harness), store: entries()", &[]);
    assert_eq!(found(&mine).memory.as_ref().unwrap().shown_max, 3 * 600);
}

#[test]
fn a_verdict_is_open_where_it_hangs_on_what_is_assumed_and_not_told_of_few_fetches() {
    let verdict = |alike: Alike, set: &[&str]| {
        let [_, mine] = run(alike, "behind_system", "write: (by: harness), store: file()", set);
        let it = found(&mine).memory.clone().unwrap();
        assert!(it.net_interval[0] <= it.net_usd && it.net_usd <= it.net_interval[1]);
        (it.verdict, it.harms_from.is_some())
    };
    let same = Alike { sessions: 12, sources: 10, tokens: 1_500, more: 30, changes_every: 0 };

    assert_eq!(verdict(same, &[]), ("pays", true));
    assert_eq!(verdict(Alike { changes_every: 4, ..same }, &[]), ("open", true));
    assert_eq!(
        verdict(Alike { changes_every: 1, ..same }, &[]),
        ("harms", true),
        "it would pay if they did not change"
    );
    assert_eq!(verdict(Alike { sessions: 2, ..same }, &[]), ("cannot tell", true));
    assert!(!verdict(Alike { tokens: 30, ..same }, &["history.use.trusts_note=0"]).1, "nothing is at stake");
}

#[test]
fn it_harms_from_the_rate_of_change_at_which_it_costs_nothing() {
    // One source in four changes each time; a stale note costs as much as the declared number says.
    let alike = Alike { sessions: 9, sources: 8, tokens: 2_000, more: 12, changes_every: 4 };
    let [_, mine] = run(alike, "behind_system", "write: (by: harness), store: file()", &[]);
    let it = found(&mine).memory.clone().unwrap();
    let rate = it.harms_from.unwrap();

    // Net at a rate r of change is linear in r; at the rate that is told it is nothing.
    let net = |rate: f64| {
        it.carried_usd + it.written_usd + it.at_stake_usd * (rate * (it.stale_fetches - 1.0) - (1.0 - rate))
    };
    assert!(net(rate).abs() < 1e-12 && rate > 0.25 && rate < 0.5, "{rate}");
    assert!(it.net_usd < 0.0, "one in four is below it");
}

/// A call and its result, in a session that is written by hand.
pub(crate) struct Step(pub(crate) &'static str, pub(crate) &'static str, pub(crate) &'static str);

/// Writes a Claude Code session: each step is a request of its own.
pub(crate) fn log(id: &str, folder: &str, day: u32, steps: &[Step]) -> String {
    let mut text = String::new();
    let mut parent = "null".to_owned();
    let mut line = |kind: &str, name: &str, second: usize, message: &str| {
        let uuid = format!("{id}-{name}");
        let _ = writeln!(
            text,
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{id}","cwd":"{folder}","isSidechain":false,"timestamp":"2026-02-{day:02}T10:00:{second:02}.000Z","version":"2.1.30","message":{message}}}"#
        );
        parent = format!("\"{uuid}\"");
    };
    line("user", "u", 0, r#"{"role":"user","content":"Go on."}"#);
    let mut prompt = 10_000;
    for (nth, Step(tool, input, output)) in steps.iter().enumerate() {
        let (read, written) = if nth == 0 { (0, prompt) } else { (prompt, 500) };
        prompt = read + written;
        let usage = format!(
            r#"{{"input_tokens":0,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":40,"cache_creation":{{"ephemeral_5m_input_tokens":{written},"ephemeral_1h_input_tokens":0}}}}"#
        );
        let call = format!(r#"{{"type":"tool_use","id":"toolu_{id}{nth}","name":"{tool}","input":{input}}}"#);
        let reply = format!(
            r#"{{"id":"msg_{id}{nth}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{call}],"usage":{usage}}}"#
        );
        line("assistant", &format!("a{nth}"), 2 * nth + 1, &reply);
        let result = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{id}{nth}","content":"{output}"}}]}}"#
        );
        line("user", &format!("r{nth}"), 2 * nth + 2, &result);
    }
    let usage = format!(
        r#"{{"input_tokens":0,"cache_read_input_tokens":{prompt},"cache_creation_input_tokens":500,"output_tokens":40,"cache_creation":{{"ephemeral_5m_input_tokens":500,"ephemeral_1h_input_tokens":0}}}}"#
    );
    let reply = format!(
        r#"{{"id":"msg_{id}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"Done."}}],"usage":{usage}}}"#
    );
    line("assistant", "end", 50, &reply);
    text
}

/// A folder of four sessions of one project and one of another.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let cli = "/Users/ann/cli";
    let sessions = [
        (
            "b",
            log(
                "b",
                cli,
                1,
                &[
                    Step("Read", r#"{"file_path":"/Users/ann/cli/src/a.rs"}"#, "one"),
                    Step("Read", r#"{"file_path":"/Users/ann/cli/src/a.rs"}"#, "one"),
                    Step("Grep", r#"{"pattern":"x","path":"src"}"#, "src/a.rs"),
                    Step("Bash", r#"{"command":"git status"}"#, "clean"),
                    Step("Bash", r#"{"command":"cargo test"}"#, "ok"),
                ],
            ),
        ),
        (
            "a",
            log(
                "a",
                &format!("{cli}/.worktrees/7"),
                3,
                &[
                    Step("Read", r#"{"file_path":"/Users/ann/cli/.worktrees/7/src/a.rs"}"#, "one"),
                    Step("Read", r#"{"file_path":"/Users/ann/cli/.worktrees/7/src/a.rs","offset":9}"#, "two"),
                    Step("Grep", r#"{"path":"src","pattern":"x"}"#, "src/a.rs, src/b.rs"),
                    Step(
                        "Edit",
                        r#"{"file_path":"/Users/ann/cli/.worktrees/7/src/a.rs","old_string":"one","new_string":"two"}"#,
                        "done",
                    ),
                    Step("Bash", r#"{"command":"git   status"}"#, "dirty"),
                    Step("Bash", r#"{"command":"cargo test"}"#, "failed"),
                ],
            ),
        ),
        (
            "c",
            log(
                "c",
                cli,
                8,
                &[
                    Step("Read", r#"{"file_path":"src/a.rs"}"#, "two"),
                    Step("Read", r#"{"file_path":"CLAUDE.md"}"#, "rules"),
                ],
            ),
        ),
        (
            "d",
            log(
                "d",
                "/Users/ann/web",
                9,
                &[Step("Read", r#"{"file_path":"/Users/ann/web/src/a.rs"}"#, "one")],
            ),
        ),
    ];
    for (name, text) in sessions {
        fs::write(folder.path().join(format!("{name}.jsonl")), text).unwrap();
    }
    folder
}

/// Runs `ctxsim import --memory` in a folder; returns what it prints.
fn memory(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    let output = command
        .args(["import", "--memory"])
        .args(args)
        .current_dir(folder)
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns what each kind of source was found to be, by project: `kind found calls`.
fn counts(report: &str) -> BTreeMap<String, Vec<String>> {
    let report: Value = serde_json::from_str(report).unwrap();
    let mut counts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for run in report["runs"].as_array().unwrap().iter().filter(|it| it["policy"] == "histories/none") {
        let kinds = run["history"]["kinds"].as_object().unwrap();
        let found = kinds.iter().flat_map(|(kind, found)| {
            let found = found.as_object().unwrap().iter();
            found.map(move |(class, it)| (kind, class, it["calls"].as_u64().unwrap())).filter(|it| it.2 > 0)
        });
        let found = found.map(|(kind, class, calls)| format!("{kind} {class} {calls}")).collect();
        counts.insert(run["scenario"].as_str().unwrap().to_owned(), found);
    }
    counts
}

#[test]
fn a_session_finds_what_earlier_ones_of_its_project_fetched_the_same_or_changed() {
    let folder = folder();
    let json = memory(folder.path(), &[".", "--format", "json"]);

    let counts = counts(&json);
    let cli = [
        "action changed 1",
        "action new 1",
        "file again 1",
        "file changed 1",
        "file new 2",
        "file other_part 1",
        "file unchanged 1",
        "lookup changed 1",
        "lookup new 1",
        "search changed 1",
        "search new 1",
    ];
    assert_eq!(counts["history/Users/ann/cli"], cli);
    assert_eq!(counts["history/Users/ann/web"], ["file new 1"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let of_cli =
        |run: &&Value| run["scenario"] == "history/Users/ann/cli" && run["policy"] == "histories/none";
    let own = report["runs"].as_array().unwrap().iter().find(of_cli).unwrap()["history"].clone();
    assert_eq!((&own["sessions"], &own["requests"], &own["own_changes"]), (&3.into(), &16.into(), &1.into()));
    assert_eq!(
        own["lags"]["1"]["changed"], 3,
        "the file, the search and the lookup; the outcome of a test is no source"
    );
    assert_eq!(
        (&own["days"]["1 to 7 days"]["changed"], &own["days"]["1 to 7 days"]["unchanged"]),
        (&3.into(), &1.into())
    );
    assert_eq!(own["memory_file"]["name"], "CLAUDE.md");
}

#[test]
fn a_folder_costs_what_its_logs_say_and_a_memory_that_nobody_trusts_its_tokens_more() {
    let folder = folder();
    let policy = "(name: \"tail\", about: \"A file.\", memory: sources(write: (by: harness), store: file()))";
    fs::write(folder.path().join("tail.ron"), policy).unwrap();
    let set = ["--set", "history.use.trusts_note=0", "--format", "json"];
    let args =
        [&["a.jsonl", "b.jsonl", "c.jsonl", "--policy", "histories/none", "tail.ron"][..], &set].concat();
    let report: Value = serde_json::from_str(&memory(folder.path(), &args)).unwrap();
    let [none, tail] = report["runs"].as_array().unwrap().as_slice() else { panic!("two runs") };

    // Each session writes 10,000 tokens, then reads all and writes 500 more.
    let session = |steps: u64| {
        let later = (1..=steps).map(|it| (10_000 + 500 * (it - 1)) * READ + 500 * WRITE).sum::<u64>();
        10_000 * WRITE + later + (steps + 1) * 40 * OUTPUT
    };
    let billed = [5, 6, 2].map(session).iter().sum::<u64>();
    let total = |run: &Value| picodollars(run["totals"]["cost_usd"]["total"].as_f64().unwrap());
    assert_eq!(total(none), i128::from(billed));
    assert_eq!(picodollars(none["history"]["billed_usd"].as_f64().unwrap()), i128::from(billed));

    let told = &tail["history"]["memory"];
    let shown = (told["shown_tokens"].as_f64().unwrap() * 16.0).round() as u64;
    assert!(shown > 0 && told["writes"] == 3, "{told}");
    assert_eq!(total(tail) - total(none), i128::from(shown * INPUT));
    assert_eq!(picodollars(told["net_usd"].as_f64().unwrap()), i128::from(shown * INPUT));
}

/// A folder of sessions of one project that read the same two files, each of which says the same for so many sessions.
fn reads(sessions: u32, same_for: u32) -> TempDir {
    let folder = TempDir::new().unwrap();
    for nth in 0..sessions {
        let says = |file: &str| -> &'static str { format!("{file} says {}", nth / same_for).leak() };
        let read =
            |file: &str| -> &'static str { format!(r#"{{"file_path":"/Users/ann/cli/{file}"}}"#).leak() };
        let steps = ["one.rs", "two.rs"].map(|it| Step("Read", read(it), says(it)));
        let id = ["a", "b", "c", "d", "e", "f"][nth as usize];
        fs::write(folder.path().join(format!("{id}.jsonl")), log(id, "/Users/ann/cli", nth + 1, &steps))
            .unwrap();
    }
    let policy = "(name: \"whole\", about: \"Whole files.\", layout: (memory: behind_system), memory: \
        sources(write: (keeps: whole, by: harness), store: file()))";
    fs::write(folder.path().join("whole.ron"), policy).unwrap();
    folder
}

/// Returns what a memory of whole sources that everybody trusts came to in such a folder.
fn whole(folder: &Path) -> Value {
    let args = [
        ".",
        "--policy",
        "histories/none",
        "whole.ron",
        "--set",
        "history.use.trusts_whole=1",
        "--format",
        "json",
    ];
    let report: Value = serde_json::from_str(&memory(folder, &args)).unwrap();
    let mine = report["runs"].as_array().unwrap().iter().find(|it| it["policy"] == "whole").unwrap();
    mine["history"]["memory"].clone()
}

#[test]
fn in_a_folder_of_logs_a_perfect_memory_spares_every_fetch_but_the_first_and_one_of_changing_sources_none() {
    // A session has three requests: the first writes 10,000 tokens, each later one 500 more, of a call and its result. Four sessions
    // begin with two files that are known.
    let fetch = |later: u64| 500 * (WRITE + later * READ) + 40 * OUTPUT + 10_000 * READ;
    let fetched = 4 * (fetch(1) + fetch(0));
    let usd = |told: &Value, field: &str| picodollars(told[field].as_f64().unwrap());

    let same = whole(reads(5, 6).path());
    let shown = same["shown_max"].as_u64().unwrap();
    let carried = 4 * shown * (WRITE + 2 * READ);
    assert_eq!((&same["fresh"], &same["stale"], &same["writes"]), (&8.into(), &0.into(), &1.into()));
    assert!(shown > 0);
    assert_eq!(usd(&same, "spared_usd"), i128::from(fetched));
    assert_eq!(usd(&same, "carried_usd"), i128::from(carried));
    assert_eq!(usd(&same, "net_usd"), i128::from(carried) - i128::from(fetched));

    // What everybody trusts and nothing holds any more is fetched twice, by the declared cost of a stale note.
    let changing = whole(reads(5, 1).path());
    assert_eq!(
        (&changing["fresh"], &changing["stale"], &changing["writes"]),
        (&0.into(), &8.into(), &5.into())
    );
    assert_eq!((usd(&changing, "spared_usd"), usd(&changing, "stale_usd")), (0, i128::from(fetched)));
    assert_eq!(usd(&changing, "net_usd"), i128::from(carried + fetched));
}

#[test]
fn a_user_is_one_history_if_asked_for_and_neither_order_nor_threads_change_a_byte() {
    let folder = folder();
    let by_user = memory(folder.path(), &[".", "--by", "user", "--format", "json"]);
    assert_eq!(counts(&by_user).keys().collect::<Vec<_>>(), ["history/Users/ann"]);

    let one = memory(
        folder.path(),
        &["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl", "--threads", "1", "--format", "json"],
    );
    let other = memory(
        folder.path(),
        &["d.jsonl", "c.jsonl", "b.jsonl", "a.jsonl", "--threads", "2", "--format", "json"],
    );
    let sorted = |text: &str| {
        let mut all: Value = serde_json::from_str(text).unwrap();
        all["runs"].take()
    };
    assert_eq!(sorted(&one), sorted(&other));
}

#[test]
fn a_project_of_an_unknown_model_takes_no_part_and_is_named_and_alone_it_is_refused() {
    let folder = folder();
    let odd = log("e", "/Users/ann/odd", 9, &[Step("Read", r#"{"file_path":"a.rs"}"#, "one")]);
    fs::write(folder.path().join("e.jsonl"), odd.replace("claude-opus-4-5-20251101", "mystery-9")).unwrap();

    let text = memory(folder.path(), &["."]);
    assert!(text.contains("history/Users/ann/odd: no profile covers the model `mystery-9`"), "{text}");
    assert!(
        !counts(&memory(folder.path(), &[".", "--format", "json"])).contains_key("history/Users/ann/odd")
    );

    let mut alone = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    let refused = alone.args(["import", "--memory", "e.jsonl"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("error[model-unknown]"));
    let priced = memory(folder.path(), &["e.jsonl", "--profile", PROFILE, "--format", "json"]);
    assert_eq!(counts(&priced)["history/Users/ann/odd"], ["file new 1"], "a file alone has its project, too");
}

#[test]
fn the_tables_say_what_cannot_be_told_and_the_scenario_can_be_written_and_run() {
    let folder = folder();
    let text = memory(folder.path(), &["a.jsonl", "b.jsonl", "c.jsonl", "--width", "200"]);
    for said in [
        "Does a memory pay?",
        "cannot tell",
        "4 times something was rediscovered, fewer than 30",
        "CLAUDE.md",
    ] {
        assert!(text.contains(said), "{said} is not in {text}");
    }

    memory(folder.path(), &["a.jsonl", "b.jsonl", "--scenario", "--output", "mine.ron"]);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
        let output = command.args(args).current_dir(folder.path()).env_remove("COLUMNS").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let swept = run(&[
        "sweep",
        "--policy",
        "histories/file",
        "--vary",
        "memory.sources.store.file.tokens=60,600",
        "--scenario",
        "mine.ron",
        "--format",
        "json",
    ]);
    assert!(swept.contains("memory.sources.store.file.tokens=60"), "{swept}");
    let rows = run(&[
        "run",
        "--scenario",
        "mine.ron",
        "--policy",
        "histories/none",
        "--rows",
        "probes",
        "--format",
        "csv",
    ]);
    assert_eq!(rows.lines().count(), 1 + 10, "{rows}");
}

#[test]
fn rediscovery_in_recorded_sessions_is_what_a_script_counts_in_their_logs() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE") else { return };
    // The script counts the agents' own sessions, and not what `progress` records tell of their sub-agents.
    let own = tempfile::tempdir().unwrap();
    let folders = ["claude-code", "claude-code-2"].map(|it| {
        let (from, to) = (Path::new(&root).join("recorded").join(it), own.path().join(it));
        std::fs::create_dir(&to).unwrap();
        for file in std::fs::read_dir(from).unwrap().map(|it| it.unwrap()) {
            let text = std::fs::read_to_string(file.path()).unwrap();
            let lines = text.split_inclusive('\n').filter(|it| !it.contains("\"agent_progress\""));
            std::fs::write(to.join(file.file_name()), lines.collect::<String>()).unwrap();
        }
        to.display().to_string()
    });
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let json = memory(here, &[&folders[0], &folders[1], "--policy", "histories/none", "--format", "json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let count = |project: &str, kind: &str, found: &str| {
        let run = report["runs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["scenario"] == format!("history{project}"))
            .unwrap();
        let count = |class: &str, what: &str| run["history"]["kinds"][kind][class][what].as_u64().unwrap();
        // The script knows no prompts, and so not what a reset took out of them.
        let with_lost =
            |what: &str| count(found, what) + if found == "again" { count("lost", what) } else { 0 };
        [with_lost("calls"), with_lost("tokens")]
    };

    let table = include_str!("../data/histories/rediscovery.csv");
    let (mut n_rows, mut n_sized, mut calls) = (0, 0, 0);
    for row in table.lines().skip(1).map(|it| it.split(',').collect::<Vec<_>>()) {
        let counted = count(row[0], row[1], row[2]);
        assert_eq!(counted[0].to_string(), row[3], "{row:?}");
        n_rows += 1;
        calls += counted[0];
        let is_again = row[2] == "unchanged" || row[2] == "changed";
        assert!(!is_again || row[5] == "0", "each that is found again has a size: {row:?}");
        // Where a prompt shrank, the script has no size for what came before it.
        if row[5] == "0" {
            n_sized += 1;
            assert_eq!(counted[1].to_string(), row[4], "{row:?}");
        }
    }
    assert_eq!((n_rows, n_sized, calls), (63, 59, 1_244));
}
