//! Grids of variants: what they come to, shards, and what is held out when numbers are tuned.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn ctxsim(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ctxsim")).args(args).current_dir(folder).output().unwrap()
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

const SWEEP: [&str; 11] = [
    "sweep",
    "--policy",
    "clear_tool_results",
    "--vary",
    "params.trigger.tokens=20000..60000:5000",
    "--vary",
    "params.clear_at_least.tokens=0,5000",
    "--scenario",
    "duckagent/incremental_workspace_audit",
    "--profile",
    "anthropic/claude-sonnet-5.5",
];

#[test]
fn a_point_of_a_sweep_is_the_run_with_its_overrides() {
    let folder = tempfile::tempdir().unwrap();
    let sweep: Value =
        serde_json::from_str(&out(&ctxsim(folder.path(), &[&SWEEP[..], &["--format", "json"]].concat())))
            .unwrap();
    let points = sweep["points"].as_array().unwrap();
    assert_eq!(points.len(), 18);

    for nth in [0, 7, 17] {
        let mut args = vec!["run", "--policy", "clear_tool_results", "--format", "json"];
        args.extend(&SWEEP[7..]);
        let set: Vec<&str> =
            points[nth]["set"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        set.iter().for_each(|it| args.extend(["--set", it]));
        let run: Value = serde_json::from_str(&out(&ctxsim(folder.path(), &args))).unwrap();
        let totals = &run["runs"][0]["totals"];
        assert_eq!(points[nth]["numbers"]["cost_usd.total"], totals["cost_usd"]["total"], "{set:?}");
        assert_eq!(points[nth]["numbers"]["evidence_kept"], totals["evidence_kept"], "{set:?}");
    }
}

#[test]
fn shards_on_any_number_of_threads_merge_to_the_bytes_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let with = |more: &[&str]| out(&ctxsim(folder.path(), &[&SWEEP[..], more].concat()));
    let whole = with(&["--format", "json", "--threads", "1"]);
    assert_eq!(whole, with(&["--format", "json", "--threads", "2"]));

    for shard in ["1/3", "2/3", "3/3"] {
        with(&["--shard", shard, "--output", &format!("shard-{}.json", &shard[..1])]);
    }

    let merge = |files: &[&str]| ctxsim(folder.path(), &[&["merge", "--format", "json"][..], files].concat());
    assert_eq!(out(&merge(&["shard-3.json", "shard-1.json", "shard-2.json"])), whole);
    let missing = merge(&["shard-3.json", "shard-1.json"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("point 1 is missing"));
    assert_eq!(merge(&["shard-1.json", "shard-1.json"]).status.code(), Some(2));
}

#[test]
fn loads_are_varied_too_and_wrong_paths_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let vary = "profile.limits.input_tokens=200000,400000";
    let text = out(&ctxsim(folder.path(), &[&SWEEP[..], &["--vary", vary]].concat()));
    assert!(text.contains("36 points"), "{text}");

    let args = [&SWEEP[..3], &["--vary", "params.triger.tokens=1,2"], &SWEEP[7..]].concat();
    let output = ctxsim(folder.path(), &args);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("did you mean `params.trigger.tokens`?"), "{told}");
}

/// Makes copies of a session in two projects.
fn sessions() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/recorded/claude-code-session.jsonl");
    let text = fs::read_to_string(session).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for project in ["one", "two"] {
        fs::create_dir(folder.path().join(project)).unwrap();
        for nth in 0..4 {
            let n = lines.len() * (6 + nth) / 10 + usize::from(project == "two");
            fs::write(
                folder.path().join(project).join(format!("s{nth}.jsonl")),
                lines[..n].join("\n") + "\n",
            )
            .unwrap();
        }
    }
    folder
}

#[test]
fn tuning_holds_out_a_project_and_writes_only_what_it_recommends() {
    let folder = sessions();
    let run = |floor: &str, output: &str| {
        let args = [
            "tune",
            "--policy",
            "clear_tool_results",
            "--vary",
            "params.trigger.tokens=20000,40000,60000,80000",
        ];
        let more = [
            "--profile",
            "anthropic/claude-opus-4.5",
            "--min-evidence",
            floor,
            "--output",
            output,
            "--json",
            ".",
        ];
        serde_json::from_str::<Value>(&out(&ctxsim(folder.path(), &[&args[..], &more].concat()))).unwrap()
    };
    for floor in ["0%", "100%"] {
        let output = format!("tuned{}.ron", floor.trim_end_matches('%'));
        let found = run(floor, &output);
        let path = folder.path().join(&output);
        assert_eq!(found["split"], "project");
        assert_eq!(found["is_recommended"].as_bool().unwrap(), path.exists(), "{found}");
        assert_eq!(found["is_recommended"].as_bool().unwrap(), found["reason"].is_null(), "{found}");
        if path.exists() {
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains("ctxsim tune on"), "{text}");
            out(&ctxsim(folder.path(), &["validate", &output]));
            run(floor, "again.ron");
            let again = fs::read_to_string(folder.path().join("again.ron")).unwrap();
            assert_eq!(again.replace("\"again\"", "\"tuned0\""), text, "the same seed gives the same file");
        }
    }
}

#[test]
fn where_everything_is_needed_nothing_is_recommended() {
    let folder = tempfile::tempdir().unwrap();
    // Whatever is cleared of these loads is needed again, so that no variant keeps everything and saves.
    let args = [
        "tune",
        "--policy",
        "clear_tool_results",
        "--vary",
        "params.trigger.tokens=20000,40000",
        "--min-evidence",
        "100%",
    ];
    let more = [
        "--scenario",
        "duckagent/validation_exact_revisit_work",
        "duckagent/code_compare_two_files",
        "duckagent/fix_test_loop",
    ];
    let output = ctxsim(
        folder.path(),
        &[&args[..], &["--profile", "anthropic/claude-sonnet-5.5"], &more, &["--output", "tuned.ron"]]
            .concat(),
    );

    assert!(out(&output).contains("Nothing is recommended: "));
    assert!(!folder.path().join("tuned.ron").exists());
}
