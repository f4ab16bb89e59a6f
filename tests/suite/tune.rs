//! What is held out when numbers are tuned, what is varied, and what is told where nothing is recommended.

mod coverage;
mod design;
mod draws;
pub(crate) mod folders;
mod goal;
mod made_up;

use crate::support::*;
use crate::sweep::needed_to_the_end;

/// Holds a table of the page of trust, or of one with its details, to what was found: between the marks of its name.
pub(super) fn hold_table(page: &str, name: &str, table: &str) {
    let page = root().join("docs").join(page);
    let document = fs::read_to_string(&page).unwrap();
    let [from, to] = [format!("<!-- {name} -->\n"), format!("<!-- /{name} -->")];
    let (before, rest) = document.split_once(&from).unwrap();
    let (shown, after) = rest.split_once(&to).unwrap();
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        fs::write(&page, format!("{before}{from}{table}{to}{after}")).unwrap();
        return;
    }
    assert!(shown == table, "set CTXSIM_BLESS to write what was found: {table}");
}

/// Tunes or sweeps a policy on some loads, and returns the JSON.
fn found(folder: &Path, verb: &[&str], policy: &str, vary: &[&str], loads: &[String]) -> Value {
    let vary = vary.iter().flat_map(|it| ["--vary", it]);
    let args: Vec<&str> = verb.iter().copied().chain(["--policy", policy]).chain(vary).collect();
    let loads: Vec<&str> = loads.iter().map(String::as_str).collect();
    let rest = [&["--profile", "anthropic/claude-sonnet-5.5", "--scenario"], &loads[..]].concat();
    parsed(&ctxsim(folder, [args, rest].concat()))
}

const TUNE: [&str; 2] = ["tune", "--json"];
const AUTO_COMPACT: &str = "agents/claude_code/auto_compact";

#[test]
fn a_computed_trigger_and_a_zero_are_varied_and_what_was_measured_is_not() {
    let folder = tempdir().unwrap();
    let loads = needed_to_the_end(folder.path());

    let compact = found(folder.path(), &TUNE, AUTO_COMPACT, &[], &loads);
    let clear = found(folder.path(), &TUNE, "clear_tool_results", &[], &loads[..5]);

    let paths = |it: &Value| -> Vec<String> {
        it["varied"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&compact), ["params.trigger.tokens"]);
    let least = &compact["varied"][0]["values"][0];
    assert_eq!(least, "67000", "Claude Code accepts no less: {compact}");
    let fixed: Vec<&str> =
        compact["fixed"].as_array().unwrap().iter().map(|it| it["param"].as_str().unwrap()).collect();
    assert!(fixed.contains(&"summary") && fixed.contains(&"output_reserve"), "{fixed:?}");
    let expected = ["params.trigger.tokens", "params.keep.count", "params.clear_at_least.tokens"];
    assert_eq!(paths(&clear), expected);
}

#[test]
fn tune_answers_with_every_point_the_best_one_and_one_reason_even_if_it_recommends_nothing() {
    let folder = tempdir().unwrap();
    let loads = needed_to_the_end(folder.path());

    let json = found(folder.path(), &TUNE, AUTO_COMPACT, &[], &loads);

    assert_eq!(json["is_recommended"], false);
    assert_eq!(json["points"].as_array().unwrap().len(), json["variants"].as_u64().unwrap() as usize);
    assert_eq!((&json["chosen"], &json["parts"]), (&json["points"][0]["set"], &json["points"][0]["parts"]));
    assert_eq!(json["parts"].as_array().unwrap().len(), 2);
    assert!(json["parts"].as_array().unwrap().iter().all(|it| it["cost"].is_f64()), "{json}");
    assert!(json["why_not"].is_string() && json["reason"].is_string(), "{json}");
}

#[test]
fn a_point_of_tune_costs_on_both_parts_what_it_costs_in_a_sweep() {
    let folder = tempdir().unwrap();
    let loads = needed_to_the_end(folder.path());
    let vary = ["params.trigger.tokens=40000..120000:20000"];

    let tuned = found(folder.path(), &TUNE, AUTO_COMPACT, &vary, &loads);
    let swept = found(folder.path(), &["sweep", "--format", "json"], AUTO_COMPACT, &vary, &loads);

    same_costs(&tuned, &swept);
}

/// A document and entries lay out a different number of turns, of which each completes its own.
#[test]
fn memories_that_make_different_requests_of_the_same_chats_are_compared() {
    let folder = tempdir().unwrap();
    let args = args(
        "tune --json --scenario memory_runners/spec --profile anthropic/claude-haiku-4.5 \
        --base memory_runners/entries --policy memory_runners/context_only \
        --set scenario.load.chats.from.generated.sessions=10 \
        --vary memory.service.store.cap.words=250,1000",
    );

    let json: Value = parsed(&ctxsim(folder.path(), &args));

    assert_ne!(json["why_not"], "not_comparable", "{json}");
    let parts = json["points"].as_array().unwrap().iter().flat_map(|it| it["parts"].as_array().unwrap());
    assert!(
        parts.clone().count() > 0 && parts.clone().all(|it| it["cost"].is_f64() && it["base_cost"].is_f64()),
        "{json}"
    );
}

/// Checks that the parts of each tuned point add up to the point of a sweep.
fn same_costs(tuned: &Value, swept: &Value) {
    let points = swept["points"].as_array().unwrap();
    assert_eq!(tuned["points"].as_array().unwrap().len(), points.len());
    for point in tuned["points"].as_array().unwrap() {
        let of_sweep = points.iter().find(|it| it["set"] == point["set"]).unwrap();
        let sum = |of: &str| -> f64 {
            point["parts"].as_array().unwrap().iter().map(|it| it[of].as_f64().unwrap()).sum()
        };
        for (own, swept) in [("cost", "numbers"), ("base_cost", "base")] {
            let swept = of_sweep[swept]["cost_usd.total"].as_f64().unwrap();
            assert!((sum(own) - swept).abs() < 1e-9, "{own} of {}: {} {swept}", point["set"], sum(own));
        }
    }
}

#[test]
fn stages_that_never_fire_are_the_reason_and_so_are_too_few_sessions() {
    let folder = tempdir().unwrap();
    let loads = needed_to_the_end(folder.path());

    let json = found(folder.path(), &TUNE, AUTO_COMPACT, &["params.trigger.tokens=700000,800000"], &loads);
    assert_eq!(json["why_not"], "never_fires", "{json}");
    assert_eq!(json["never_fired"], json!(["compact"]));

    let vary = ["params.trigger.tokens=20000,40000", "params.keep.count=1,3"];
    let args = args(
        "--min-evidence 0 --base agents/claude_code/auto_compact \
        --set agents/claude_code/auto_compact.params.trigger.tokens=20000",
    );
    let json = found(folder.path(), &[&TUNE[..], &args].concat(), "clear_tool_results", &vary, &loads[..7]);
    assert_eq!(json["why_not"], "too_few_sessions", "{json}");
    let reason = json["reason"].as_str().unwrap();
    assert!(reason.starts_with("7 sessions are too few") && reason.ends_with("so it takes 9"), "{reason}");
    assert_eq!(json["parts"].as_array().unwrap().len(), 1, "the best on all of them is shown all the same");
}

/// Makes copies of a session in two projects.
fn sessions() -> TempDir {
    let folder = tempdir().unwrap();
    let session = root().join("scenarios/recorded/claude-code-session.jsonl");
    let text = fs::read_to_string(session).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for project in ["one", "two"] {
        fs::create_dir(folder.path().join(project)).unwrap();
        for nth in 0..6 {
            let n = lines.len() * (8 + nth) / 14 + usize::from(project == "two");
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
#[ignore = "slow: .ci/run runs it"]
fn tuning_holds_out_the_newer_sessions_and_writes_only_what_it_recommends() {
    let folder = sessions();
    let run = |floor: &str, output: &str| {
        let command = format!(
            "tune --policy clear_tool_results --vary params.trigger.tokens=20000,40000,60000,80000 \
            --profile anthropic/claude-opus-4.5 --min-evidence {floor} --output {output} --json ."
        );
        parsed::<Value>(&ctxsim(folder.path(), args(&command)))
    };
    for floor in ["0%", "100%"] {
        let output = format!("tuned{}.ron", floor.trim_end_matches('%'));
        let found = run(floor, &output);
        let path = folder.path().join(&output);
        assert_eq!(found["split"], "time");
        assert_eq!(found["is_recommended"].as_bool().unwrap(), path.exists(), "{found}");
        assert_eq!(found["is_recommended"].as_bool().unwrap(), found["reason"].is_null(), "{found}");
        if path.exists() {
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains("ctxsim tune on"), "{text}");
            out(&ctxsim(folder.path(), ["validate", &output]));
            run(floor, "again.ron");
            let again = fs::read_to_string(folder.path().join("again.ron")).unwrap();
            assert_eq!(again.replace("\"again\"", "\"tuned0\""), text, "the same seed gives the same file");
        }
    }
}

#[test]
fn where_everything_is_needed_to_the_end_nothing_is_recommended() {
    let folder = tempdir().unwrap();
    let loads = needed_to_the_end(folder.path());
    let args = args(
        "tune --policy clear_tool_results --vary params.trigger.tokens=20000,40000,80000,900000 \
         --profile anthropic/claude-sonnet-5.5 --output tuned.ron --scenario",
    );
    let loads: Vec<&str> = loads.iter().map(String::as_str).collect();
    let output = ctxsim(folder.path(), [args, loads].concat());

    let text = one_line(&out(&output));
    let told = "Nothing is recommended: no variant costs less than identity; the best costs the same.";
    assert!(text.contains(told), "{text}");
    assert!(!folder.path().join("tuned.ron").exists());
}

#[test]
fn a_narrow_table_wraps_and_keeps_every_column() {
    let folder = tempdir().unwrap();
    let tune = args(
        "tune --policy clear_tool_results --vary params.trigger.tokens=20000,40000 \
        --vary params.clear_at_least.tokens=0,5000 --scenario duckagent/incremental_workspace_audit \
        --profile anthropic/claude-sonnet-5.5",
    );
    for width in ["34", "40", "60", "100"] {
        let text = out(&ctxsim(folder.path(), [&tune[..], &["--width", width]].concat()));
        let most: usize = width.parse().unwrap();
        assert!(text.lines().all(|it| it.chars().count() <= most), "{text}");
        let row = text.lines().find(|it| it.contains("0.299634")).unwrap();
        assert!(row.contains("+41.9%") && row.contains("94.4%"), "every number stands in the row: {text}");
        assert!(text.contains("kept") && !text.contains("columns hidden"), "{text}");
    }
}

#[test]
fn what_cannot_be_tuned_is_told_with_the_way_out() {
    let folder = tempdir().unwrap();
    let told = |args: &[&str]| {
        let output =
            ctxsim(folder.path(), [&["tune"], args, &["--scenario", "duckagent/plain_chat"]].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };

    let text = told(&["--policy", "identity"]);
    assert_says(&text, &["error[tune-params]", "`--vary stages.NAME.FIELD=1,2,4`"]);
    let text = told(&["--policy", "agents/claude_code/microcompact_idle"]);
    assert!(text.contains("no parameter of agents/claude_code/microcompact_idle is a setting"), "{text}");
    let text = told(&["--policy", "clear_tool_results", "--vary", "scenario.seed=1,2"]);
    assert!(text.contains("error[tune-loads]") && text.contains("`ctxsim sweep` varies others"), "{text}");
    let text = told(&["--policy", "clear_tool_results", "--output", "tuned.txt"]);
    assert!(text.contains("error[output-extension]") && text.contains("tuned.txt"), "{text}");
}

#[test]
fn tuning_on_the_reference_sessions_recommends_what_saves_on_those_held_out_or_says_why_not() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = tempdir().unwrap();
    let sessions =
        ["claude-code", "claude-code-2"].map(|it| root.join("recorded").join(it).display().to_string());
    for policy in ["agents/claude_code/auto_compact", "clear_tool_results"] {
        let args = ["tune", "--policy", policy, "--json", &sessions[0], &sessions[1]];
        let found: Value = parsed(&ctxsim(folder.path(), args));
        assert_eq!(found["varied"][0]["path"], "params.trigger.tokens");
        assert_eq!(
            (found["parts"].as_array().unwrap().len(), found["chosen"].is_array()),
            (2, true),
            "{found}"
        );
        assert_eq!(found["split"], "time");
        assert_ne!(found["is_recommended"].as_bool().unwrap(), found["reason"].is_string(), "{found}");
        if found["is_recommended"] == true {
            let out = &found["parts"][1];
            assert!(out["spread"]["interval"][1].as_f64().unwrap() < 0.0, "{found}");
            assert!(out["evidence_low"].as_f64().unwrap() >= 0.9, "{found}");
        }
    }
}

#[test]
fn tune_and_sweep_agree_on_the_trigger_of_claude_code_on_the_reference_sessions() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = tempdir().unwrap();
    let sessions =
        ["claude-code", "claude-code-2"].map(|it| root.join("recorded").join(it).display().to_string());
    let vary = "params.trigger.tokens=60000..160000:20000";
    let run = |verb: &[&str]| -> Value {
        let args = [verb, &["--policy", AUTO_COMPACT, "--vary", vary, &sessions[0], &sessions[1]]].concat();
        parsed(&ctxsim(folder.path(), &args))
    };

    same_costs(&run(&TUNE), &run(&["sweep", "--format", "json"]));
}

#[test]
fn a_request_below_one_gets_one_answer() {
    let folder = tempdir().unwrap();
    for request in ["-1", "0", "first"] {
        let args = ["explain", "--policy", "identity", "--scenario", "example", "--request", request];
        let told = refusal(&ctxsim(folder.path(), args));
        assert!(told.contains("use a whole number of at least 1"), "{request}: {told}");
    }
}
