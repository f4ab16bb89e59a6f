//! Parts: however a run is shared out, its parts fold to the bytes that one process writes.

use proptest::prelude::*;

use crate::support::*;

/// Logs of several formats, some with sub-agents, compactions and records that are left out.
const LOGS: &str = "\
    pi-session.jsonl kimi-agents.jsonl kimi-session.jsonl codex-rollout.jsonl copilot-cli-agents.jsonl \
    dsh-compaction.jsonl omp-session.jsonl openclaw-broken.jsonl";

/// A folder with the logs, one of which is cut off in the middle of a line, and one file that is no log.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    for name in listed(LOGS) {
        fs::copy(data("recorded").join(name), logs.join(name)).unwrap();
    }
    let whole = fs::read_to_string(data("recorded/pi-session.jsonl")).unwrap();
    let begin = whole.replacen("\"id\":\"", "\"id\":\"cut-", 1);
    fs::write(logs.join("cut.jsonl"), &begin[..begin.len() * 2 / 3]).unwrap();
    fs::write(logs.join("broken.jsonl"), "{\"no\": \"log\"}\n").unwrap();
    folder
}

/// Makes the shards of a run in the order given, and returns what they fold to.
fn folded(folder: &Path, what: &[&str], order: &[usize], of: usize) -> String {
    let parts = format!("parts-{of}");
    for part in order {
        let shard = format!("{part}/{of}");
        out(&ctxsim(folder, [&["run"], what, &["--parts", &parts, "--shard", &shard]].concat()));
    }
    out(&ctxsim(folder, ["run", "--merge", &parts, "--format", "json"]))
}

fn whole(folder: &Path, what: &[&str]) -> String {
    out(&ctxsim(folder, [&["run"], what, &["--totals", "--format", "json"]].concat()))
}

#[test]
fn one_two_and_seven_shards_of_logs_fold_to_the_bytes_of_one_process() {
    let folder = folder();
    let once = whole(folder.path(), &["logs"]);

    assert_eq!(folded(folder.path(), &["logs"], &[1], 1), once);
    assert_eq!(folded(folder.path(), &["logs"], &[2, 1], 2), once);
    assert_eq!(folded(folder.path(), &["logs"], &[5, 3, 7, 1, 2, 6, 4], 7), once);

    let totals: Value = serde_json::from_str(&once).unwrap();
    assert!(totals["sessions"]["sessions"].as_u64().unwrap() >= 10, "{}", totals["sessions"]);
    assert!(totals.get("runs").is_none());
}

/// From ten cases on a session is told what its user's earlier ones counted, also those of another shard.
#[test]
fn shards_of_a_user_s_sessions_know_what_earlier_ones_counted() {
    let logs = crate::neighbours::first_reads(&[true; 14]);
    let what = [logs.path().to_str().unwrap(), "--policy", "identity"];
    let folder = tempdir().unwrap();
    let once = whole(folder.path(), &what);

    assert_eq!(folded(folder.path(), &what, &[3, 1, 2], 3), once);

    let left = |it: &str| -> f64 {
        let totals: Value = serde_json::from_str(it).unwrap();
        totals["totals"][0]["policies"][0]["totals"]["cost_usd"]["left_by_others"].as_f64().unwrap()
    };
    let alone = whole(folder.path(), &[&what[..], &["--alone"]].concat());
    assert!(
        left(&once) < left(&alone),
        "more is expected to have been left: {} {}",
        left(&once),
        left(&alone)
    );
}

/// Leaves out words and intervals: they rest on each session beside all that is compared, and a fold keeps sums.
fn of_sums(value: &Value) -> Value {
    const JUDGED: [&str; 5] = ["words", "word", "why", "interval", "expected"];
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|it| !JUDGED.contains(&it.0.as_str()));
            kept.map(|(name, inner)| (name.clone(), of_sums(inner))).collect()
        }
        Value::Array(all) => all.iter().map(of_sums).collect(),
        leaf => leaf.clone(),
    }
}

#[test]
fn totals_are_those_of_the_report_and_a_table_shows_them() {
    let folder = folder();
    let what = args("logs --policy identity clear_tool_results");
    let report = out(&ctxsim(folder.path(), [&["run"], &what[..], &["--format", "json"]].concat()));
    let [report, totals]: [Value; 2] =
        [report, whole(folder.path(), &what)].map(|it| serde_json::from_str(&it).unwrap());

    let shown = |it: &Value| it["scenarios"].as_u64().unwrap() > 1;
    let tables =
        |it: &Value| it["totals"].as_array().unwrap().iter().filter(|it| shown(it)).map(of_sums).collect();
    let [of_report, of_fold]: [Vec<Value>; 2] = [&report, &totals].map(tables);
    assert!(of_report == of_fold, "tables of several scenarios differ");
    for place in ["notes", "bill", "skipped", "suite"] {
        assert!(report[place] == totals[place], "{place} differs");
    }
    assert!(of_sums(&report["verdicts"]) == of_sums(&totals["verdicts"]), "verdicts differ");
    folded(folder.path(), &what, &[1], 1);
    let table = |args: &[&str]| out(&ctxsim(folder.path(), args));
    let merged = table(&["run", "--merge", "parts-1", "--width", "100"]);
    assert_eq!(merged, table(&[&["run"], &what[..], &["--totals", "--width", "100"]].concat()));
    assert!(merged.contains("the evidence"), "{merged}");
}

#[test]
fn generated_and_bundled_scenarios_fold_too() {
    let folder = tempdir().unwrap();
    let what = args(
        "--scenario duckagent/fix_test_loop duckagent/plain_chat duckagent/incremental_workspace_audit duckagent/large_mcp_or_web_result \
        --policy identity clear_tool_results hindsight \
        --profile anthropic/claude-sonnet-4.5 openai/gpt-5.6-sol",
    );
    let once = whole(folder.path(), &what);

    assert_eq!(folded(folder.path(), &what, &[2, 1], 2), once);
    assert_eq!(folded(folder.path(), &what, &[7, 6, 5, 4, 3, 2, 1], 7), once);
}

/// Returns the number of the line that is cut off.
fn begin_of_cut(folder: &Path) -> usize {
    fs::read_to_string(folder.join("logs/cut.jsonl")).unwrap().lines().count()
}

#[test]
fn a_log_that_is_cut_off_or_broken_is_counted_in_its_part_and_in_the_totals() {
    let folder = folder();
    let totals: Value = serde_json::from_str(&folded(folder.path(), &["logs"], &[1, 2], 2)).unwrap();

    let skipped = totals["skipped"].as_array().unwrap();
    assert!(skipped.iter().any(|it| it["file"].as_str().unwrap().ends_with("broken.jsonl")), "{skipped:?}");
    let cut = &totals["sessions"]["left_out"]["records that are cut off"];
    assert!(cut["records"].as_u64().unwrap() > 0 && cut["sessions"].as_u64().unwrap() > 0, "{cut}");
    let parts =
        [1, 2].map(|it| fs::read_to_string(folder.path().join(format!("parts-2/part-{it}-of-2.jsonl"))));
    let parts: Vec<Value> = parts
        .iter()
        .flat_map(|it| it.as_ref().unwrap().lines())
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let named = |name: &str| {
        parts.iter().find(|it| it["name"].as_str().unwrap().rsplit('/').next() == Some(name)).unwrap()
    };
    let lost = named("cut")["loads"][0]["left_out"].to_string();
    let cut = begin_of_cut(folder.path());
    let told = format!("{{\"count\":1,\"line\":{cut},\"what\":\"records that are cut off\"}}");
    assert!(lost.contains(&told), "{lost}");
    assert_eq!(named("broken")["skipped"][0]["reason"], "not a recorded session");
}

#[test]
fn parts_that_are_there_are_not_made_again_and_what_a_killed_process_left_is() {
    let folder = folder();
    let once = whole(folder.path(), &["logs"]);
    let run = ["run", "logs", "--parts", "parts"];
    assert!(out(&ctxsim(folder.path(), run)).contains("10 parts made;"));
    assert!(out(&ctxsim(folder.path(), run)).contains("0 parts made, 10 were there already;"));

    let file = folder.path().join("parts/part-1-of-1.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 100]).unwrap();
    let cut = ctxsim(folder.path(), ["run", "--merge", "parts"]);
    let told = String::from_utf8_lossy(&cut.stderr).into_owned();
    assert_eq!(cut.status.code(), Some(2));
    assert!(told.contains("cut off") && told.contains("run its shard again"), "{told}");

    assert!(out(&ctxsim(folder.path(), run)).contains("1 parts made, 9 were there already;"));
    assert_eq!(out(&ctxsim(folder.path(), ["run", "--merge", "parts", "--format", "json"])), once);
}

#[test]
fn parts_of_another_job_or_version_are_refused_with_what_to_do() {
    let folder = folder();
    folded(folder.path(), &["logs"], &[1, 2], 2);
    let refused = |args: &[&str], code: &str, help: &str| {
        let told = refusal(&ctxsim(folder.path(), args));
        assert!(told.contains(code) && told.contains(help), "{told}");
    };

    let other = ["run", "logs", "--parts", "parts-2", "--policy", "identity"];
    refused(&other, "part-job", "name another folder");
    out(&ctxsim(folder.path(), ["run", "logs", "--policy", "identity", "--parts", "other"]));
    refused(&["run", "--merge", "parts-2", "other"], "part-job", "one command line");
    fs::write(
        folder.path().join("logs/new.jsonl"),
        fs::read(data("recorded/openclaw-session.jsonl")).unwrap(),
    )
    .unwrap();
    refused(&["run", "logs", "--parts", "parts-2"], "part-job", "name another folder");
    refused(&["run", "--merge", "parts-2/part-1-of-2.jsonl"], "part-missing", "run every shard");
    let file = folder.path().join("parts-2/part-1-of-2.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    // However many parts a file says that there are.
    let many = text.lines().next().unwrap().replacen("\"of\":", "\"of\":100000000000000", 1);
    fs::write(folder.path().join("many.jsonl"), many).unwrap();
    refused(&["run", "--merge", "many.jsonl"], "part-missing", "run every shard");
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&file, text.replacen(&version, "\"version\":\"9.9.9\"", 1)).unwrap();
    refused(&["run", "--merge", "parts-2"], "part-version", "use one version for all parts");
    fs::write(&file, text.replacen("\"seed\":", "\"seed\":9", 1) + &text).unwrap();
    refused(&["run", "--merge", "parts-2"], "part-twice", "run their shard again");
}

#[test]
fn what_does_not_fold_refuses_the_option_by_name() {
    let folder = tempdir().unwrap();
    for (what, code) in [
        (&["--suite", "aging-lite"][..], "part-findings"),
        (&["--suite", "context-decay"], "part-findings"),
        (&["--suite", "field"], "part-guards"),
    ] {
        for asked in [&["--totals"][..], &["--parts", "parts"]] {
            let told = refusal(&ctxsim(folder.path(), [&["run"], what, asked].concat()));
            assert!(told.contains(code) && told.contains("`--totals` and `--parts`"), "{told}");
        }
    }
    assert!(!folder.path().join("parts").exists());
    let memories = args(
        "tune --scenario aging/s2 --policy aging/lossy --vary memory.sessions.store.summary.words=150,300 \
        --parts parts",
    );
    let told = String::from_utf8_lossy(&ctxsim(folder.path(), &memories).stderr).into_owned();
    assert!(told.contains("part-findings") && !folder.path().join("parts").exists(), "{told}");
    for verb in ["compare", "advise"] {
        let told = ctxsim(folder.path(), [verb, "--parts", "parts"]).stderr;
        assert!(String::from_utf8_lossy(&told).contains("unexpected argument `--parts`"), "{verb}");
    }
}

#[test]
fn a_search_in_one_two_or_seven_shards_comes_to_the_bytes_of_one_process() {
    let folder = folder();
    let path = folder.path();
    let vary = "params.trigger.tokens=3000,40000";
    let what = ["tune", "--policy", "clear_tool_results", "--vary", vary, "logs"];
    let once = out(&ctxsim(path, [&what[..], &["--json"]].concat()));
    let table = out(&ctxsim(path, [&what[..], &["--width", "100"]].concat()));

    for order in [&[1][..], &[2, 1], &[5, 3, 7, 1, 2, 6, 4]] {
        let parts = format!("tuned-{}", order.len());
        for part in order {
            let shard = format!("{part}/{}", order.len());
            out(&ctxsim(path, [&what[..], &["--parts", &parts, "--shard", &shard]].concat()));
        }
        assert_eq!(out(&ctxsim(path, ["run", "--merge", &parts, "--format", "json"])), once, "{parts}");
        assert_eq!(out(&ctxsim(path, ["run", "--merge", &parts, "--width", "100"])), table, "{parts}");
        let again = [&what[..], &["--parts", &parts]].concat();
        assert!(out(&ctxsim(path, &again)).contains("0 parts made, 10 were there already;"));
    }
    let other = ctxsim(path, [&what[..], &["--min-evidence", "0.5", "--parts", "tuned-1"]].concat());
    let told = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(other.status.code() == Some(2) && told.contains("part-job"), "{told}");
    // A search does not tell what was skipped, so what was named and cannot be used is an error, as in one process.
    let named = [&what[..5], &["logs/broken.jsonl", "logs/pi-session.jsonl"]].concat();
    for more in [&[][..], &["--parts", "named"]] {
        let told = ctxsim(path, [&named[..], more].concat());
        let words = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(told.status.code() == Some(2) && words.contains("broken.jsonl"), "{more:?}: {words}");
    }
    out(&ctxsim(path, ["run", "--merge", "tuned-1", "--html", "tuned.html"]));
    assert!(fs::read_to_string(path.join("tuned.html")).unwrap().contains("clear_tool_results"));
}

#[test]
fn totals_come_as_a_page_with_the_verdict_of_their_table() {
    let folder = folder();
    let path = folder.path();
    folded(path, &["logs"], &[1], 1);

    let table = out(&ctxsim(path, ["run", "--merge", "parts-1", "--width", "1000", "--html", "totals.html"]));

    let verdict = table.lines().next().unwrap();
    let page = fs::read_to_string(path.join("totals.html")).unwrap();
    let begin = verdict.split([':', ',']).next().unwrap();
    assert!(page.contains(begin) && page.contains("<svg"), "{begin}");
    out(&ctxsim(path, ["run", "logs", "--totals", "--format", "html", "--output", "once.html"]));
    assert_eq!(page, fs::read_to_string(path.join("once.html")).unwrap());
    let csv = ctxsim(path, ["run", "logs", "--totals", "--format", "csv"]);
    assert!(String::from_utf8_lossy(&csv.stderr).contains("as tables, as JSON or as a page"));
}

/// Shards, an order in which processes end, and tasks that were tried again: the shared sessions, where they are.
#[test]
fn the_shared_sessions_fold_to_the_bytes_of_one_process() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = tempdir().unwrap();
    let of = ["recorded/claude-code", "recorded/claude-code-2"].map(|it| root.join(it).display().to_string());
    let what = [of[0].as_str(), of[1].as_str()];
    let once = whole(folder.path(), &what);

    assert_eq!(folded(folder.path(), &what, &[2, 1], 2), once);
    assert_eq!(folded(folder.path(), &what, &[4, 7, 1, 3, 6, 2, 5], 7), once);
}

/// The parts of a plan and what one process makes of it.
fn made() -> &'static (Vec<String>, String) {
    static MADE: OnceLock<(Vec<String>, String)> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut plan =
            ctxsim::Comparison::new().policy("identity").policy("clear_tool_results").policy("hindsight");
        plan = plan.profile("anthropic/claude-sonnet-4.5").profile("deepseek/deepseek-v4-flash");
        for seed in 0..7 {
            plan = plan.scenario(ctxsim::Scenario::generate("random", 4, seed).unwrap());
        }
        let plan = plan.plan().unwrap();
        let parts = plan.parts(1, 1, |_| ControlFlow::Continue(())).unwrap();
        (parts, plan.totals().unwrap().json().unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A fold of a set of parts: neither order, nor grouping, nor what is there twice changes a byte.
    #[test]
    fn a_fold_is_associative_commutative_and_idempotent(
        order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle(),
        cuts in prop::collection::vec(0..7_usize, 0..4),
        again in prop::collection::vec(0..7_usize, 0..5),
    ) {
        let (parts, once) = made();
        let mut cuts = cuts;
        cuts.sort_unstable();
        let mut groups: Vec<Vec<&str>> = vec![Vec::new()];
        for (nth, it) in order.iter().enumerate() {
            if cuts.contains(&nth) {
                groups.push(Vec::new());
            }
            groups.last_mut().unwrap().push(&parts[*it]);
        }
        groups.push(again.iter().map(|it| parts[*it].as_str()).collect());
        groups.reverse();
        prop_assert_eq!(&ctxsim::Totals::fold(groups.concat()).unwrap().json().unwrap(), once);
    }

    #[test]
    fn a_fold_without_some_part_is_none(missing in 0..7_usize) {
        let (parts, _) = made();
        let left = parts.iter().enumerate().filter(|it| it.0 != missing).map(|it| it.1);
        let problems = ctxsim::Totals::fold(left).unwrap_err();
        prop_assert_eq!(problems.problems()[0].code, "part-missing");
    }
}
