//! Parts of histories: however `ctxsim import --memory` is shared out, its parts come to the bytes that one process writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ctxsim::app::parts::{Making, PlanShard};
use ctxsim::app::{Comparison, Plan, never_stops};
use ctxsim::catalog::bundled_catalog;
use ctxsim::counts::counted;
use ctxsim::report::part::HistoryPart;
use ctxsim::take::with_threads;
use serde_json::Value;
use tempfile::TempDir;

use crate::histories::{self, Step, log};
use crate::sweep::{ctxsim, out};

/// Logs of other formats, of some projects and of none.
const OTHERS: [&str; 5] = [
    "pi-session.jsonl",
    "codex-rollout.jsonl",
    "kimi-agents.jsonl",
    "openclaw-broken.jsonl",
    "copilot-cli-agents.jsonl",
];

/// Folders of logs: of several projects and formats, one of an unknown model, one that two files hold, one that is cut off, and files that
/// are no logs.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let own = histories::folder();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    for name in ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"] {
        fs::copy(own.path().join(name), logs.join(name)).unwrap();
    }
    fs::copy(own.path().join("d.jsonl"), logs.join("d-again.jsonl")).unwrap();
    let read = |id, project, day| {
        log(
            id,
            project,
            day,
            &[Step("Read", r#"{"file_path":"a.rs"}"#, "one"), Step("Read", r#"{"file_path":"b.rs"}"#, "two")],
        )
    };
    let odd = read("odd", "/Users/ann/odd", 9).replace("claude-opus-4-5-20251101", "mystery-9");
    fs::write(logs.join("odd.jsonl"), odd).unwrap();
    let cut = read("cut", "/Users/bob/tools", 11);
    fs::write(logs.join("cut.jsonl"), &cut[..cut.len() * 3 / 4]).unwrap();
    let more = folder.path().join("more");
    fs::create_dir(&more).unwrap();
    for name in OTHERS {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded").join(name);
        fs::copy(recorded, more.join(name)).unwrap();
    }
    fs::write(more.join("tools.jsonl"), read("tools", "/Users/bob/tools", 10)).unwrap();
    for (nth, name) in ["broken.jsonl", "worse.jsonl"].iter().enumerate() {
        fs::write(more.join(name), format!("{{\"no\": \"log {nth}\"}}\n")).unwrap();
    }
    fs::write(more.join("asked.jsonl"), read("asked", "/Users/ann/cli", 12).lines().next().unwrap()).unwrap();
    folder
}

/// Both folders, in an order in which names do not stand.
const WHAT: [&str; 2] = ["more", "logs"];

fn memory(folder: &Path, what: &[&str]) -> String {
    out(&ctxsim(folder, &[&["import", "--memory"], what].concat()))
}

/// Makes the shards in the order given; returns the name of their folder.
fn made(folder: &Path, what: &[&str], order: &[usize], of: usize) -> String {
    let parts = format!("parts-{of}-{}", what.len());
    for part in order {
        let shard = format!("{part}/{of}");
        memory(folder, &[what, &["--parts", &parts, "--shard", &shard]].concat());
    }
    parts
}

/// Returns the parts of a folder.
fn parts(folder: &Path) -> Vec<Value> {
    let mut all = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        all.extend(text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()));
    }
    all.sort_by_key(|it| it["nth"].as_u64());
    all
}

/// Holds that shards in some order come to the bytes of one process in all formats.
fn assert_bytes(folder: &Path, what: &[&str], shards: &[&[usize]]) {
    let once = |format: &str| memory(folder, &[what, &["--format", format, "--width", "120"]].concat());
    let once = ["json", "table", "html", "svg"].map(|it| (it, once(it)));
    for order in shards {
        let parts = made(folder, what, order, order.len());
        for (format, once) in &once {
            let merged =
                out(&ctxsim(folder, &["run", "--merge", &parts, "--format", format, "--width", "120"]));
            assert!(merged == *once, "{format} of {order:?}:\n{merged}\n{once}");
        }
    }
}

#[test]
fn one_two_and_seven_shards_of_projects_come_to_the_bytes_of_one_process() {
    let folder = folder();
    let orders: [&[usize]; 3] = [&[1], &[2, 1], &[5, 3, 7, 1, 2, 6, 4]];
    assert_bytes(folder.path(), &WHAT, &orders);

    let report: Value =
        serde_json::from_str(&memory(folder.path(), &[&WHAT[..], &["--format", "json"]].concat())).unwrap();
    let names: Vec<&str> =
        report["runs"].as_array().unwrap().iter().map(|it| it["scenario"].as_str().unwrap()).collect();
    for project in ["history/Users/ann/cli", "history/Users/ann/web", "history/Users/bob/tools"] {
        assert!(names.contains(&project), "{names:?}");
    }
    let shares: Vec<usize> = (1..=7)
        .map(|it| fs::read_to_string(folder.path().join(format!("parts-7-2/part-{it}-of-7.jsonl"))))
        .map(|it| it.unwrap().lines().count())
        .collect();
    assert!(shares.iter().filter(|it| **it > 0).count() > 2, "{shares:?}");
}

#[test]
fn users_and_policies_of_ones_own_are_shared_out_as_well() {
    let folder = folder();
    let what = [
        "more",
        "logs",
        "--by",
        "user",
        "--policy",
        "histories/none",
        "histories/file",
        "--set",
        "history.use.trusts_note=0.6",
    ];
    assert_bytes(folder.path(), &what, &[&[2, 1]]);

    let names: Vec<String> = parts(&folder.path().join(format!("parts-2-{}", what.len())))
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        ["history/Users/ann", "history/Users/bob"].iter().all(|it| names.contains(&(*it).to_owned())),
        "{names:?}"
    );
}

#[test]
fn one_log_alone_comes_to_one_part() {
    let folder = folder();
    assert_bytes(folder.path(), &["logs/a.jsonl"], &[&[1], &[2, 1]]);
}

#[test]
fn what_takes_no_part_is_told_once_and_what_is_cut_off_counts_as_far_as_it_goes() {
    let folder = folder();
    let name = made(folder.path(), &WHAT, &[7, 2, 3, 4, 5, 6, 1], 7);
    let parts = parts(&folder.path().join(&name));

    let skipped: Vec<&str> = parts
        .iter()
        .flat_map(|it| it["skipped"].as_array().into_iter().flatten())
        .map(|it| it["file"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    for file in ["broken.jsonl", "worse.jsonl", "asked.jsonl", "d.jsonl"] {
        assert_eq!(skipped.iter().filter(|it| **it == file).count(), 1, "{file} in {skipped:?}");
    }
    let merged: Value =
        serde_json::from_str(&out(&ctxsim(folder.path(), &["run", "--merge", &name, "--format", "json"])))
            .unwrap();
    let note = merged["notes"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|it| it.as_str().filter(|it| it.contains("take no part")));
    assert!(note.unwrap().starts_with(&format!("{} recordings take no part: ", skipped.len())), "{note:?}");
    let tools = parts.iter().find(|it| it["name"] == "history/Users/bob/tools").unwrap();
    let found = &tools["loads"][0]["runs"][0]["found"];
    let requests = found["requests"].as_u64().unwrap();
    assert_eq!(found["sessions"], 2);
    assert!(requests > 3 && requests < 6, "a whole session has three, and the other is cut off: {requests}");
    let odd = parts.iter().find(|it| it["name"] == "history/Users/ann/odd").unwrap();
    assert!(
        odd["loads"][0]["notes"].to_string().contains("no profile covers the model `mystery-9`"),
        "{odd}"
    );
}

#[test]
fn parts_of_histories_that_are_there_are_not_made_again_and_what_a_killed_process_left_is() {
    let folder = folder();
    let json = ["--format", "json"];
    let once = memory(folder.path(), &[&WHAT[..], &json].concat());
    let run = [&WHAT[..], &["--parts", "parts"]].concat();
    let first = memory(folder.path(), &run);
    let n = parts(&folder.path().join("parts")).len();
    assert!(n > 4 && first.contains(&format!("{n} parts made;")), "{first}");
    assert!(memory(folder.path(), &run).contains(&format!("0 parts made, {n} were there already;")));

    let file = folder.path().join("parts/part-1-of-1.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 100]).unwrap();
    refused(folder.path(), &["run", "--merge", "parts"], "part-broken", "run its shard again");
    assert!(memory(folder.path(), &run).contains(&format!("1 parts made, {} were there already;", n - 1)));
    assert_eq!(out(&ctxsim(folder.path(), &[&["run", "--merge", "parts"], &json[..]].concat())), once);
}

/// Holds that a command is refused with a code and with what to do.
fn refused(folder: &Path, args: &[&str], code: &str, help: &str) {
    let output = ctxsim(folder, args);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(told.contains(code) && told.contains(help), "{told}");
}

#[test]
fn parts_of_another_job_over_histories_are_refused_with_what_to_do() {
    let folder = folder();
    let name = made(folder.path(), &["logs"], &[1, 2], 2);
    let folder = folder.path();
    let parts = ["import", "--memory", "logs", "--parts", &name];
    for other in [
        &["--by", "user"][..],
        &["--policy", "histories/none"],
        &["--profile", "anthropic/claude-opus-4.5"],
        &["--set", "history.use.trusts_note=0.6"],
        &["--seed", "7"],
    ] {
        refused(folder, &[&parts, other].concat(), "part-job", "name another folder");
    }
    refused(folder, &["run", "logs", "--parts", &name], "part-job", "a folder of its own");
    out(&ctxsim(folder, &["run", "logs", "--parts", "runs"]));
    refused(folder, &["import", "--memory", "logs", "--parts", "runs"], "part-job", "a folder of its own");
    refused(folder, &["run", "--merge", &name, "runs"], "part-job", "a folder of its own");
    out(&ctxsim(folder, &["import", "--memory", "logs", "--by", "user", "--parts", "users"]));
    refused(folder, &["run", "--merge", &name, "users"], "part-job", "one command line");

    // Elsewhere, and named in another way, it is the same job.
    fs::create_dir(folder.join("elsewhere")).unwrap();
    fs::rename(folder.join("logs"), folder.join("elsewhere/logs")).unwrap();
    let there = format!("../{name}");
    let again = out(&ctxsim(&folder.join("elsewhere"), &["import", "--memory", "./logs", "--parts", &there]));
    assert!(again.contains(" 0 parts made"), "{again}");
    let log = folder.join("elsewhere/logs/a.jsonl");
    fs::write(&log, fs::read_to_string(&log).unwrap() + "\n").unwrap();
    refused(
        &folder.join("elsewhere"),
        &["import", "--memory", "logs", "--parts", &there],
        "part-job",
        "name another folder",
    );

    let file = folder.join(&name).join("part-1-of-2.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let first = folder.join("first.jsonl");
    fs::write(&first, whole.lines().next().unwrap().to_owned() + "\n").unwrap();
    refused(folder, &["run", "--merge", "first.jsonl"], "part-missing", "run every shard");
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&file, whole.replacen(&version, "\"version\":\"9.9.9\"", 1)).unwrap();
    refused(folder, &["run", "--merge", &name], "part-version", "use one version for all parts");
    fs::write(&file, whole.replacen("\"seed\":", "\"seed\":9", 1) + &whole).unwrap();
    refused(folder, &["run", "--merge", &name], "part-twice", "run their shard again");
    fs::write(&file, whole.replacen("\"lookup\":", "\"guess\":", 1)).unwrap();
    refused(folder, &["run", "--merge", &name], "part-broken", "a history has no `guess`");
}

#[test]
fn what_is_no_part_of_histories_is_refused_by_name() {
    let folder = folder();
    for asked in [
        &["--rows", "probes"][..],
        &["--format", "json"],
        &["--output", "a.json"],
        &["--html", "a.html"],
        &["--scenario"],
    ] {
        let output =
            ctxsim(folder.path(), &[&["import", "--memory", "logs", "--parts", "parts"], asked].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{asked:?}");
        assert!(told.contains("--parts") && told.contains(asked[0]), "{told}");
    }
    assert!(!folder.path().join("parts").exists());
    refused(
        folder.path(),
        &["import", "--memory", "logs", "--shard", "1/2"],
        "usage",
        "missing: `--parts <DIR>`",
    );
    made(folder.path(), &["logs"], &[1], 1);
    refused(
        folder.path(),
        &["run", "--merge", "parts-1-1", "--output", "logs/a.jsonl", "--format", "json"],
        "output",
        "",
    );
}

#[test]
fn without_a_history_that_can_be_played_a_merge_says_why() {
    let folder = folder();
    let path = folder.path();
    memory(path, &["logs/odd.jsonl", "--parts", "odd"]);
    refused(path, &["run", "--merge", "odd"], "model-unknown", "mystery-9");
    fs::create_dir(path.join("no-logs")).unwrap();
    for name in ["broken.jsonl", "worse.jsonl"] {
        fs::rename(path.join("more").join(name), path.join("no-logs").join(name)).unwrap();
    }
    memory(path, &["no-logs", "--parts", "none"]);
    refused(
        path,
        &["run", "--merge", "none"],
        "nothing-to-run",
        "not a recorded session (2: broken.jsonl, worse.jsonl)",
    );
    refused(
        path,
        &["import", "--memory", "no-logs"],
        "nothing-to-run",
        "not a recorded session (2: broken.jsonl, worse.jsonl)",
    );
}

#[test]
fn a_share_reads_only_the_logs_of_its_own_projects() {
    let folder = histories::folder();
    let path = folder.path().display();
    let scenario = format!("(name: \"mine\", about: \"Logs.\", load: history(from: recorded([\"{path}\"])))");
    let mut catalog = bundled_catalog();
    assert!(catalog.hold_text("scenarios/mine.ron", scenario));
    let comparison = Comparison {
        policies: vec!["histories/none".to_owned()],
        scenarios: vec!["mine".to_owned()],
        ..Comparison::default()
    };
    let plan = Plan::new(&catalog, &comparison).unwrap();
    let read = |shard: PlanShard, is_there: bool| {
        let made: Mutex<Vec<String>> = Mutex::default();
        let take = |part: HistoryPart| {
            made.lock().unwrap().push(part.name);
            Ok(())
        };
        let work = || {
            let histories = plan.histories(None).unwrap();
            let (job, head, has) = (histories.job(0.9), histories.head(0.9), |_| is_there);
            let making = Making { threads: None, job: &job, head: &head, shard, has: &has, take: &take };
            histories.parts(&never_stops(&|_, _| {}), &making).unwrap();
        };
        let imports = with_threads(Some(1), || counted(work).1).imports;
        (made.into_inner().unwrap(), imports)
    };

    let [cli, web] = ["mine/Users/ann/cli", "mine/Users/ann/web"];
    let share = |name: &str, of| (1..=of).find(|part| PlanShard { part: *part, of }.has(name)).unwrap();
    let of = (2..99).find(|of| share(cli, *of) != share(web, *of)).unwrap();
    for part in 1..=of {
        let expected = match part {
            it if it == share(cli, of) => (vec![cli.to_owned()], 3),
            it if it == share(web, of) => (vec![web.to_owned()], 1),
            _ => (Vec::new(), 0),
        };
        assert_eq!(read(PlanShard { part, of }, false), expected);
    }
    assert_eq!(read(PlanShard::WHOLE, false).1, 4);
    assert_eq!(read(PlanShard::WHOLE, true), (Vec::new(), 0));
}

/// The shared sessions, where they are.
#[test]
fn the_shared_sessions_come_to_the_bytes_of_one_process() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = tempfile::tempdir().unwrap();
    let of = ["recorded/claude-code", "recorded/claude-code-2"].map(|it| root.join(it).display().to_string());
    assert_bytes(folder.path(), &[&of[0], &of[1]], &[&[1], &[2, 1], &[4, 7, 1, 3, 6, 2, 5]]);
}
