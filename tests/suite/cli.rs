//! The command line: what it prints, what it refuses, and how it ends.

#[cfg(unix)]
mod folders;
mod import;
#[cfg(unix)]
mod kept;
#[cfg(unix)]
mod output;
mod store;
mod terminal;
mod verbs;
mod words;

use ctxsim::app::input_text;
use ctxsim::catalog::InputKind;
use ctxsim::input::Format;

use crate::support::*;

/// Runs the binary in the folder of small inputs.
fn ctxsim(args: &[&str]) -> Output {
    crate::support::ctxsim(data("small"), args)
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty(), "nothing is printed when an input is bad");
    String::from_utf8(output.stderr.clone()).unwrap().replace(&data("").display().to_string(), "")
}

#[test]
fn a_suite_is_drawn_as_tables_that_add_up_its_scenarios() {
    let text = out(&ctxsim(&["run", "--suite", "small", "--profile", "plain"]));

    assert_snapshot("cli", "run_table", &text);
}

#[test]
fn a_run_that_stops_at_its_limit_is_a_result() {
    let text = out(&ctxsim(&["run", "--policy", "keep", "--scenario", "one", "--profile", "narrow"]));

    assert!(text.contains("stopped at turn 1 of 2 (limit)"), "{text}");
}

#[test]
fn a_scenario_without_needs_shows_no_recovery_and_says_so() {
    let args = ["run", "--policy", "keep", "--scenario", "no_needs", "--profile", "plain"];
    let text = out(&ctxsim(&args));
    let json = out(&ctxsim(&[&args[..], &["--format", "jsonl"]].concat()));

    assert!(text.contains("Note: no_needs: this scenario declares no evidence needs"), "{text}");
    assert!(json.contains(r#""expected_calls":null"#) && json.contains(r#""evidence_kept":null"#), "{json}");
}

#[test]
fn the_document_has_a_run_for_each_cell_and_a_sum_for_each_policy_and_profile() {
    let document: Value = parsed(&ctxsim(&["run", "--suite", "small", "--format", "json"]));

    assert_eq!(document["schema"], "ctxsim.report/1");
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * 2 * 3 + 2 * 3);
    for run in runs {
        let (totals, cost) = (&run["totals"], &run["totals"]["cost_usd"]);
        let tokens = |name: &str| totals[name].as_u64().unwrap();
        assert_eq!(
            tokens("input_tokens"),
            tokens("cache_read_tokens") + tokens("cache_write_tokens") + tokens("uncached_tokens")
        );
        let parts = ["base", "recovery", "compaction", "penalty"].map(|it| cost[it].as_f64().unwrap());
        assert!((parts.iter().sum::<f64>() - cost["total"].as_f64().unwrap()).abs() < 1e-12);
    }
    let sum = runs.iter().find(|it| it["scenario"] == "ALL").unwrap();
    assert_eq!(sum["totals"]["turns_completed"], 4);
    assert_eq!((&sum["label"], &sum["retention"]), (&"baseline".into(), &Value::Null));
}

#[test]
fn a_suite_means_the_same_files_from_any_folder() {
    let suite = data("small_elsewhere/beside.toml").display().to_string();
    let from = |folder: &str| {
        let args = ["run", "--suite", &suite, "--format", "jsonl"];
        out(&crate::support::ctxsim(data(folder), args))
    };

    assert_eq!(from("small").lines().count(), 2);
    assert_eq!(from("small"), from("prices"));
    assert_eq!(out(&ctxsim(&["validate", &suite])), "1 input is valid\n");
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let with = |threads| out(&ctxsim(&["run", "--suite", "small", "--format", "json", "--threads", threads]));

    assert_eq!(with("1"), with("2"));
    assert_eq!(with("1"), with("7"));
}

#[test]
fn request_rows_cost_what_their_run_costs() {
    let args = ["run", "--policy", "cap", "--scenario", "one", "--profile", "plain"];
    let rows = out(&ctxsim(&[&args[..], &["--rows", "requests"]].concat()));
    let run: Value = parsed(&ctxsim(&[&args[..], &["--format", "jsonl"]].concat()));

    let rows: Vec<Value> = rows.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let cost: f64 = rows.iter().map(|it| it["cost_usd"].as_f64().unwrap()).sum();
    assert_eq!(run["totals"]["requests"], rows.len());
    assert!((cost - run["totals"]["cost_usd"]["base"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(rows[0].get("policy"), None, "a single run needs no name");
    assert!(rows.iter().any(|it| it["changed_by"] == "cap"), "{rows:?}");
}

#[test]
fn two_broken_files_are_told_together_with_their_places() {
    let paths =
        ["first", "second", "circle"].map(|it| data(&format!("broken/{it}.ron")).display().to_string());
    let mut args = vec!["run", "--scenario", "one", "--profile", "plain"];
    for path in &paths {
        args.extend(["--policy", path]);
    }

    let run = refused(&ctxsim(&args));
    let validate = refused(&ctxsim(&[&["validate"][..], &paths.each_ref().map(String::as_str)].concat()));

    assert_eq!(run.lines().count(), validate.lines().count());
    assert_snapshot("cli", "broken_files", &validate);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let text = refused(&ctxsim(&["run", "--policy", "kep", "--scenario", "one", "--profile", "plain"]));

    assert!(text.contains("unknown policy `kep`") && text.contains("did you mean `keep`?"), "{text}");
}

#[test]
fn wrong_usage_ends_with_two_and_good_inputs_with_zero() {
    assert_eq!(ctxsim(&["run", "--nonsense"]).status.code(), Some(2));
    assert_eq!(ctxsim(&["run", "--rows", "requests", "--format", "table"]).status.code(), Some(2));
    assert_eq!(out(&ctxsim(&["validate", "policies", "profiles/plain.toml"])), "4 inputs are valid\n");
    assert!(out(&ctxsim(&["list", "suites"])).contains("small"));
    assert!(out(&ctxsim(&["--completions", "bash"])).contains("ctxsim"));
}

#[test]
fn a_file_is_of_the_kind_that_its_fields_say_whatever_the_folders_above_are_called() {
    let folder = tempdir().unwrap();
    let below = folder.path().join("profiles/work");
    fs::create_dir_all(&below).unwrap();
    let policy = below.join("identity.ron");
    fs::copy("policies/identity.ron", &policy).unwrap();

    assert_eq!(out(&ctxsim(&["validate", policy.to_str().unwrap()])), "1 input is valid\n");

    fs::write(&policy, "(about: \"nothing yet\")").unwrap();
    let told = refused(&ctxsim(&["validate", policy.to_str().unwrap()]));
    assert!(told.contains("add `prices`"), "a profile is meant where a folder says so: {told}");
}

#[test]
fn an_output_file_is_written_whole_and_a_bad_input_leaves_it_alone() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("output_whole");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("report.csv");
    fs::write(&path, "before").unwrap();
    let output = path.display().to_string();

    refused(&ctxsim(&["run", "--suite", "small", "--policy", "kep", "--output", &output]));
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");

    out(&ctxsim(&["run", "--suite", "small", "--force", "--output", &output]));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("policy,scenario,profile,seed,trials,label,totals.turns_requested,"), "{text}");
    assert_eq!(text.lines().count(), 1 + 12);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file stays behind");
}

#[test]
fn a_file_is_converted_and_back_without_changing_its_meaning() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("convert");
    fs::create_dir_all(&folder).unwrap();
    let policy = folder.join("cap.toml").display().to_string();

    let own = fs::read_to_string(data("small/policies/cap.ron")).unwrap();
    assert_eq!(out(&ctxsim(&["show", "policies/cap.ron", "--as", "ron"])), own, "it is RON already");
    out(&ctxsim(&["show", "policies/cap.ron", "--as", "toml", "--output", &policy]));
    let there = folder.join("cap.ron").display().to_string();
    out(&ctxsim(&["show", &policy, "--as", "ron", "--force", "--output", &there]));
    let back = out(&ctxsim(&["show", &there, "--as", "toml"]));

    assert_eq!(back, fs::read_to_string(&policy).unwrap());
    let ron = fs::read_to_string(&there).unwrap();
    assert!(ron.contains("tokens(") && !ron.contains("Some("), "{ron}");
}

#[test]
fn a_bundled_input_is_named_to_be_shown_in_the_other_language() {
    let toml = out(&ctxsim(&["show", "clear_tool_results", "--as", "toml"]));

    assert!(
        toml.starts_with("# This project's original name for the provider's defaults.\n\nname = "),
        "{toml}"
    );
    assert_eq!(out(&ctxsim(&["show", "policy", "clear_tool_results", "--as", "toml"])), toml);
    let told = refused(&ctxsim(&["show", "clear_tool_result", "--as", "toml"]));
    assert!(told.contains("did you mean `clear_tool_results`?"), "{told}");
}

#[test]
fn every_bundled_input_keeps_its_comments_in_the_other_language() {
    let catalog = bundled_catalog();
    let (mut n_inputs, mut n_comments) = (0, 0);
    for kind in InputKind::ALL {
        for name in catalog.names(kind) {
            let origin = catalog.find_origin(kind, name).unwrap();
            let Some(from) = Format::from_path(origin.path()) else { continue };
            let (mark, to) = match from {
                Format::Ron => ("//", Format::Toml),
                Format::Toml => ("#", Format::Ron),
            };
            let own = origin.read_text().unwrap().into_owned();
            let shown = input_text(&catalog, Some(kind), name, Some(to)).unwrap();
            let comments = own.lines().filter_map(|it| it.trim_start().strip_prefix(mark)).map(str::trim);
            for comment in comments.filter(|it| !it.starts_with(":schema")) {
                assert!(shown.contains(comment), "{name}: {comment}\n{shown}");
                n_comments += 1;
            }
            n_inputs += 1;
        }
    }
    assert!(n_inputs > 400 && n_comments > 200, "{n_comments} comments of {n_inputs} inputs");
}

#[test]
fn an_input_is_shown_as_its_file_has_it_and_a_policy_with_what_its_bases_give() {
    let policies = root().join("policies");
    let own = fs::read_to_string(policies.join("identity.ron")).unwrap();
    assert_eq!(out(&ctxsim(&["show", "policy", "identity"])), own);
    assert_eq!(
        out(&ctxsim(&["show", "policy", data("small/policies/cap.ron").to_str().unwrap()])).lines().count(),
        { fs::read_to_string(data("small/policies/cap.ron")).unwrap().lines().count() }
    );
    for (kind, name) in [("profile", "plain"), ("scenario", "duckagent/plain_chat"), ("suite", "default")] {
        assert!(out(&ctxsim(&["show", kind, name])).contains(name), "{kind}");
    }

    let folder = tempdir().unwrap();
    let shown = folder.path().join("cap_low.ron");
    out(&ctxsim(&["show", "policy", "cap_low", "--merged", "--output", shown.to_str().unwrap()]));
    let text = fs::read_to_string(&shown).unwrap();
    assert!(!text.contains("base:") && text.contains("stages:"), "{text}");
    assert!(fs::read_to_string(data("small/policies/cap_low.ron")).unwrap().contains("base:"));
    let run = |policy: &str| {
        out(&ctxsim(&[
            "run",
            "--policy",
            policy,
            "--scenario",
            "two",
            "--profile",
            "plain",
            "--format",
            "jsonl",
        ]))
    };
    assert_eq!(run(shown.to_str().unwrap()), run("cap_low"));
}

#[test]
fn a_listing_is_narrowed_by_what_names_and_sentences_say() {
    let text = out(&ctxsim(&["list", "--filter", "TOOL RESULTS"]));

    assert!(text.contains("clear_tool_results") && !text.contains("sliding_window"), "{text}");
    let told = refused(&ctxsim(&["list", "profiles", "--filter", "sonet"]));
    assert!(told.contains("no profile has `sonet`") && told.contains("`--filter sonnet`"), "{told}");
}

#[test]
fn a_manual_page_is_written_for_each_command() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    fs::create_dir_all(&folder).unwrap();

    out(&ctxsim(&["--man", "--output", &folder.display().to_string()]));
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(page("ctxsim.1").starts_with(".ie") && page("ctxsim.1").contains("ctxsim\\-validate(1)"));
    assert!(
        page("ctxsim-run.1").contains("PATH=VALUE") && page("ctxsim-prices-import.1").contains("as\\-of")
    );
    assert_eq!(out(&ctxsim(&["--man"])), page("ctxsim.1"));
}

#[test]
fn starting_with_sessions_that_do_not_exist_writes_nothing() {
    let folder = tempdir().unwrap();
    let init = crate::support::ctxsim(folder.path(), ["init", "--sessions", "nowhere"]);

    assert_eq!(init.status.code(), Some(2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_schema_is_printed_or_all_are_written() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schema");
    fs::create_dir_all(&folder).unwrap();

    out(&ctxsim(&["show", "--schema", "--output", &folder.display().to_string()]));
    let kept = fs::read_to_string(data("../../schema/suite.json")).unwrap();
    assert_eq!(fs::read_to_string(folder.join("suite.json")).unwrap(), kept);
    assert_eq!(out(&ctxsim(&["show", "--schema", "suite"])), kept);
    assert_eq!(ctxsim(&["show", "--schema"]).status.code(), Some(2), "a kind or a folder is asked for");
}

#[test]
fn every_format_writes_the_same_runs() {
    let with = |format| out(&ctxsim(&["run", "--suite", "small", "--format", format]));

    let document: Value = serde_json::from_str(&with("json")).unwrap();
    let n_runs = document["runs"].as_array().unwrap().len();
    assert_eq!(with("jsonl").lines().count(), n_runs);
    let n_sums = document["runs"].as_array().unwrap().iter().filter(|it| it["scenario"] == "ALL").count();
    assert_eq!(with("csv").lines().count(), 1 + n_runs - n_sums, "a column adds up to each run once");
    assert!(n_sums > 0);
    let drawn = |text: String| text.matches("\nkeep ").count() + text.matches("| keep ").count();
    assert_eq!(drawn(with("table")), drawn(with("markdown")));
    assert!(!with("table").contains('\u{1b}'), "colours vanish in pipes");
}

#[test]
fn completions_are_written_for_four_shells() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(out(&ctxsim(&["--completions", shell])).contains("ctxsim"), "{shell}");
    }
}

#[test]
fn a_request_is_explained_or_refused_with_the_way_out() {
    let args = ["explain", "--policy", "cap", "--scenario", "one", "--profile", "plain"];
    let with = |more: &[&str]| ctxsim(&[&args[..], more].concat());

    let text = out(&with(&["--request", "2"]));
    assert!(text.starts_with("Request 2 of ") && !text.contains('\x1b'), "colours vanish in pipes: {text}");
    let json: Value = parsed(&with(&["--request", "2", "--format", "json"]));
    assert_eq!(json["request"], 2);

    let refusals = [
        (with(&["--request", "999"]), "there is no request 999: this run makes"),
        (with(&["--request", "0"]), "use a whole number of at least 1"),
        (with(&["--request", "2", "--policy", "keep"]), "cannot be used multiple times"),
        (with(&["--request", "2", "--session", "x"]), "has no session `x`"),
    ];
    for (output, message) in refusals {
        let text = refused(&output);
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn the_requests_of_a_conversation_are_listed_and_explained() {
    let base = ["--policy", "context_decay/naive_truncation", "--scenario", "context_decay/trials"];
    let run = [&["run"][..], &base, &["--profile", "context_decay/words", "--trials", "2"]].concat();
    let rows = out(&ctxsim(&[&run[..], &["--rows", "requests"]].concat()));
    let rows: Vec<Value> = rows.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let whole: Value = parsed(&ctxsim(&[&run[..], &["--format", "jsonl"]].concat()));

    let sum = |name: &str| rows.iter().map(|it| it[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(whole["totals"]["requests"], rows.len());
    assert_eq!(whole["totals"]["input_tokens"], sum("prompt_tokens"));
    assert_eq!(whole["totals"]["cache_read_tokens"], sum("cache_read_tokens"));
    assert!(rows.iter().any(|it| it["actions"].as_u64().unwrap() > 0), "what the policy did is told");

    let length = rows.last().unwrap()["length"].as_u64().unwrap();
    let of: Vec<_> = rows.iter().filter(|it| it["length"] == length && it["trial"] == 1).collect();
    let (length, last) = (length.to_string(), of.len().to_string());
    let explain = ["--length", &length, "--trial", "1", "--request", &last, "--format", "json"];
    let line = [&["explain"][..], &base, &["--profile", "context_decay/words"], &explain].concat();
    let explained: Value = parsed(&ctxsim(&line));
    assert_eq!(explained["row"]["prompt_tokens"], of.last().unwrap()["prompt_tokens"], "{explained}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let folder = tempdir().unwrap();
    let marked = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("\u{feff}{text}")).unwrap();
        path.display().to_string()
    };
    let reference = |name: &str| fs::read_to_string(root().join("docs/reference").join(name)).unwrap();
    let prices = marked("l.json", include_str!("../data/prices/litellm/prices.json"));
    let files = ["policy.ron", "scenario.toml"].map(|it| marked(it, &reference(it)));

    let imported = ctxsim(&["prices", "import", &prices, "--as-of", "2026-11-21"]);
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let valid = ctxsim(&["validate", &files[0], &files[1]]);
    assert!(valid.status.success(), "{}", String::from_utf8_lossy(&valid.stderr));
}

#[test]
fn a_run_is_drawn_as_a_page_or_as_the_chart_that_is_asked_for() {
    let run = ["run", "--suite", "small", "--scenario", "one", "--profile", "plain"];
    let page = out(&ctxsim(&[&run[..], &["--format", "html"]].concat()));
    let first = out(&ctxsim(&[&run[..], &["--format", "svg"]].concat()));
    let cost = out(&ctxsim(&[&run[..], &["--chart", "cost"]].concat()));
    let missing = refused(&ctxsim(&[&run[..], &["--chart", "cost-2"]].concat()));

    assert!(page.contains("<title>Context policies compared: one</title>"));
    for name in ["frontier", "cost", "requests"] {
        assert!(page.contains(&format!("<figure id=\"{name}\"")), "{name}");
    }
    assert!(
        first.contains(">Cost against evidence kept</text>")
            && cost.contains(">Cost by part of the bill</text>")
    );
    assert_says(&missing, &["this run has no chart `cost-2`", "`requests`"]);

    let many = ["run", "--suite", "small", "--profile", "openai/*", "--profile", "anthropic/*"];
    let page = out(&ctxsim(&[&many[..], &["--format", "html"]].concat()));
    assert!(
        page.contains("id=\"requests\"") && !page.contains("id=\"requests-2\""),
        "of the dearest run alone"
    );
    let drawn = out(&ctxsim(&[&many[..], &["--chart", "requests"]].concat()));
    assert!(drawn.contains("What each request costs, and where the cache broke"), "{drawn}");
}
