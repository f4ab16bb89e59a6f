//! What is printed of recorded sessions and price lists, and what of a folder is left out.

use super::*;

/// Returns a folder with two recorded sessions and two files that are none.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    for name in ["codex-rollout.jsonl", "pi-session.jsonl"] {
        fs::copy(data("recorded").join(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("notes.jsonl"), "{}").unwrap();
    fs::write(folder.path().join("other.csv"), "a,b").unwrap();
    folder
}

#[test]
fn what_is_carried_is_added_up_explained_and_told_with_what_was_skipped() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();

    let text = out(&ctxsim(&["import", "--carried", path]));

    assert_snapshot("cli", "carried_table", &text);
    let document: Value = parsed(&ctxsim(&["import", "--carried", path, "--format", "json"]));
    assert_eq!(document["skipped"].as_array().unwrap().len(), 2);
}

#[test]
fn sessions_are_selected_alike_for_every_kind_of_import() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    for kind in [&[][..], &["--carried"], &["--report"]] {
        let import = |more: &[&str]| ctxsim(&[&["import", path][..], kind, more].concat());

        let (newest, sonnet) = (import(&["--limit", "1"]), import(&["--model", "sonnet"]));
        let told = |it: &Output| one_line(&(out(it) + &String::from_utf8_lossy(&it.stderr)));
        assert_says(
            &told(&newest),
            &["3 skipped: not a recorded session (2: notes.jsonl, other.csv); older than the newest 1 (1)"],
        );
        assert_says(&told(&sonnet), &["pi-session", "recorded with an unknown model (1)"]);
        assert!(refused(&import(&["--since", "2040-01-01"])).contains("before 2040-01-01 (2)"));
    }
}

/// Returns the bundled session, changed.
fn session(change: impl Fn(&str) -> String) -> String {
    change(include_str!("../../../scenarios/recorded/claude-code-session.jsonl"))
}

#[test]
fn a_session_with_a_wrong_bill_is_refused_if_named_and_left_out_of_a_folder_with_the_reason() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("good.jsonl"), session(str::to_owned)).unwrap();
    let bad = folder.path().join("bad.jsonl");
    let wrong = session(|it| it.replace("\"cache_read_input_tokens\":", "\"cache_read_input_tokens\":-"));
    fs::write(&bad, wrong).unwrap();

    let named = refused(&ctxsim(&["run", bad.to_str().unwrap()]));
    let found = out(&ctxsim(&["run", folder.path().to_str().unwrap()]));

    assert!(named.contains("error[recording-usage]: negative, on 144 lines"), "{named}");
    assert!(named.contains("bad.jsonl:9:425 message.usage.cache_read_input_tokens"), "{named}");
    let found = one_line(&found);
    assert_says(&found, &[" 1 skipped: line ", "`message.usage.cache_read_input_tokens` is negative, on "]);
}

#[test]
fn a_session_whose_bills_have_another_name_is_told_as_an_estimate_wherever_it_is_shown() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("good.jsonl"), session(str::to_owned)).unwrap();
    fs::write(path("renamed.jsonl"), session(|it| it.replace("\"usage\"", "\"tokens\""))).unwrap();
    let told = "69 of 138 requests have no recorded usage, so their sizes are estimated from the text";

    let text = one_line(&out(&ctxsim(&["run", folder.path().to_str().unwrap()])));
    assert_says(&text, &["2 sessions read (138 requests)", &format!("{told}: "), "renamed (all)"]);
    let verdict = text.rsplit("Verdict: ").next().unwrap();
    assert!(verdict.contains(&format!("Estimated: {told}.")), "{verdict}");

    let document: Value = parsed(&ctxsim(&["run", folder.path().to_str().unwrap(), "--format", "json"]));
    let estimated = |nth: usize| document["sessions"][nth]["requests_estimated"].as_u64();
    assert_eq!([estimated(0), estimated(1)], [Some(0), Some(69)]);
    assert_eq!(document["verdicts"][0]["verdict"]["estimated"], json!({"requests": 69, "of": 138}));

    let held = out(&ctxsim(&["import", &path("renamed.jsonl")]));
    assert!(held.contains("without recorded usage, so that sizes are estimated from the text: 69 requests"));
    let held: Value = parsed(&ctxsim(&["import", &path("renamed.jsonl"), "--format", "json"]));
    let session = &held["files"][0]["sessions"][0];
    assert!(session["prompt_tokens_max"].is_null() && session["output_tokens"].is_null(), "{session}");
    assert_eq!(session["requests_estimated"], 69);
}

#[test]
fn a_report_on_several_files_leaves_out_those_that_cannot_be_used_and_says_why() {
    let folder = tempdir().unwrap();
    let broken = folder.path().join("broken.jsonl");
    fs::write(&broken, "{\"broken").unwrap();
    let pi = data("recorded").join("pi-session.jsonl");
    let report = |files: &[&Path]| {
        let files = files.iter().map(|it| it.to_str().unwrap());
        ctxsim(&["import", "--report"].into_iter().chain(files).collect::<Vec<_>>())
    };

    let both = report(&[&pi, &broken]);

    let told = String::from_utf8_lossy(&both.stderr).into_owned();
    assert!(out(&both).contains("pi-session"), "{told}");
    assert!(told.contains("1 skipped") && told.contains("broken.jsonl"), "{told}");
    assert!(refused(&report(&[&broken])).contains("recording-unknown"), "one file alone is an error");
}

#[test]
fn a_model_that_no_log_and_nobody_named_is_said_where_bills_are_judged() {
    let session = data("recorded").join("kimi-session.jsonl").display().to_string();

    let text = out(&ctxsim(&["import", "--report", &session]));
    let flat = one_line(&text);
    let told = "1 session without a model in the log, judged under anthropic/claude-opus-4.5";
    assert!(flat.starts_with(&format!("Note: {told}")) && flat.contains("`--profile`"), "{text}");
    let json: Value = parsed(&ctxsim(&["import", "--report", &session, "--format", "json"]));
    let assumed = &json["as_recorded"]["sessions"][0]["assumed_profile"];
    assert_eq!(assumed, "anthropic/claude-opus-4.5", "{json}");
    let named = out(&ctxsim(&["import", "--report", &session, "--profile", "moonshotai/kimi-k2.6"]));
    assert!(!named.contains("without a model"), "{named}");
    let own = data("recorded").join("pi-session.jsonl").display().to_string();
    assert!(!out(&ctxsim(&["import", "--report", &own])).contains("without a model"));
}

#[test]
fn thoughts_that_a_provider_drops_are_no_resets_of_the_history() {
    let resets = |file: &str| {
        let session = data("recorded").join(file).display().to_string();
        let json: Value = parsed(&ctxsim(&["import", &session, "--format", "json"]));
        json["files"][0]["sessions"][0]["resets"].as_u64().unwrap()
    };

    // Thoughts leave before each request; once the prompt shrank beyond that, from 40,914 to 40,122 tokens.
    assert_eq!(resets("gemini-part.jsonl"), 1);
    assert_eq!(resets("opencode-part.json"), 1, "what a harness removes still counts");
}

/// Returns the amounts of a sentence in cents, each with its sign.
fn cents(sentence: &str) -> Vec<i64> {
    let amounts = sentence.split('$').skip(1).zip(sentence.split('$'));
    let amount = |(text, before): (&str, &str)| {
        let digits: String = text.chars().take_while(|it| it.is_ascii_digit() || *it == '.').collect();
        let cents: i64 = digits.trim_end_matches('.').replace('.', "").parse().unwrap();
        if before.trim_end().ends_with('−') { -cents } else { cents }
    };
    amounts.map(amount).collect()
}

#[test]
fn the_bill_as_logged_is_the_first_number_and_the_simulated_cost_adds_up_from_it() {
    for file in ["pi-session.jsonl", "claude-code-progress.jsonl"] {
        let session = data("recorded").join(file).display().to_string();
        let imported = out(&ctxsim(&["import", &session]));
        let run = out(&ctxsim(&["run", "--policy", "identity", "--width", "1000", "--details", &session]));
        let json: Value = parsed(&ctxsim(&["run", "--policy", "identity", "--format", "json", &session]));

        let line = |start: &str| run.lines().find(|it| it.starts_with(start)).unwrap();
        let (logged, simulated) = (line("As logged: $"), line("Simulated as it was: $"));
        assert!(imported.starts_with(logged), "{logged}\n{imported}");
        let [total, terms @ ..] = &cents(simulated)[..] else { panic!("{simulated}") };
        assert_eq!(*total, terms.iter().sum::<i64>(), "{simulated}");
        assert_eq!(terms[0], cents(logged)[0], "{logged}\n{simulated}");
        let usd = |name: &str| json["as_logged"][name].as_f64().unwrap();
        let parts = ["uncached_usd", "cache_read_usd", "cache_write_usd", "output_usd"].map(usd);
        assert!((usd("total_usd") - parts.iter().sum::<f64>()).abs() < 1e-9, "{json}");
        assert!(
            logged.starts_with(&format!("As logged: ${:.2} at list prices", usd("total_usd"))),
            "{logged}"
        );
    }
    let unknown = data("recorded/codex-rollout.jsonl").display().to_string();
    let told = out(&ctxsim(&["import", &unknown]));
    let without_price =
        "As logged: nothing that has a price, but a model that is not named (3 requests, 3,000 tokens).";
    assert!(told.starts_with(without_price), "{told}");
    let folder = tempdir().unwrap();
    let hostile = folder.path().join("hostile.jsonl");
    let log = fs::read_to_string(data("recorded/pi-session.jsonl")).unwrap();
    fs::write(&hostile, log.replace("claude-sonnet-4-5", "evil\\u001b[31m\\n::error::x")).unwrap();
    let told = out(&ctxsim(&["import", hostile.to_str().unwrap()]));
    assert!(
        told.starts_with("As logged: nothing that has a price, but evil␛[31m␊::error::x (59 requests, "),
        "{told}"
    );
    let of_generated = out(&ctxsim(&["run", "--suite", "small", "--profile", "plain"]));
    assert!(!of_generated.contains("As logged"), "what nobody recorded has no bill: {of_generated}");
}

#[test]
fn a_bill_is_divided_by_what_is_asked_for_and_another_key_is_refused_by_name() {
    let [pi, claude] = ["pi-session.jsonl", "claude-code-progress.jsonl"]
        .map(|it| data("recorded").join(it).display().to_string());
    let by = |key: &str, more: &[&str]| ctxsim(&[&["import", &pi, &claude, "--by", key], more].concat());

    let text = out(&by("day", &["--width", "120"]));
    let rows = |text: &str| -> Vec<String> {
        let lines = text.lines().map(one_line);
        lines.filter(|it| it.starts_with("20") || it.starts_with("total ")).collect()
    };
    assert_eq!(
        rows(&text),
        [
            "2025-11-20 29 100 865,735 126,658 0 8,570 0.86",
            "2025-11-21 30 13 1,533,978 11,605 0 5,327 0.58",
            "2026-02-03 7 39 74,500 8,400 11,400 301 0.13",
            "total 66 152 2,474,213 146,663 11,400 14,198 1.58"
        ]
    );
    assert!(text.starts_with("As logged: $1.58 at list prices") && text.contains("Days are those of UTC."));
    let weeks = rows(&out(&by("week", &[])));
    let named: Vec<_> = weeks.iter().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(named, ["2025-11-17", "2026-02-02", "total"], "by their Mondays");

    let users = out(&by("user", &[]));
    assert!(users.contains("\n/home/ann ") && users.contains("\nnot told "), "{users}");
    let alone = out(&ctxsim(&["import", &claude, "--by", "project"]));
    assert!(alone.contains("\n/home/ann/project "), "a log alone tells its folder, too: {alone}");

    let json: Value = parsed(&by("lane", &["--format", "json"]));
    let groups = json["groups"].as_array().unwrap();
    let names: Vec<_> = groups.iter().map(|it| it["group"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "sub-agents"]);
    let sum = |field: &str| groups.iter().map(|it| it[field].as_f64().unwrap()).sum::<f64>();
    for field in ["requests", "cache_read_tokens", "total_usd"] {
        assert!((sum(field) - json["total"][field].as_f64().unwrap()).abs() < 1e-9, "{field}: {json}");
    }
    let csv = out(&by("month", &["--format", "csv"]));
    assert!(csv.starts_with("by,group,requests,uncached_tokens,") && csv.contains("\nmonth,2025-11,59,113,"));

    let unknown = refused(&by("moth", &[]));
    assert!(unknown.contains("`moth`") && unknown.contains("month"), "{unknown}");
    let no_list = refused(&ctxsim(&["import", &pi, "--format", "csv"]));
    assert!(no_list.contains("`import` without `--by` needs `--format table` or `json`"), "{no_list}");
}

#[test]
fn a_bill_is_shown_in_another_currency_at_the_users_rate_and_a_rate_that_is_none_is_refused() {
    let pi = data("recorded").join("pi-session.jsonl").display().to_string();
    let by = |currency: &str, more: &[&str]| {
        ctxsim(&[&["import", &pi, "--by", "model", "--currency", currency], more].concat())
    };

    let text = out(&by("EUR=0.5", &[]));
    let flat = one_line(&text);
    assert!(flat.starts_with("As logged: 0.72 EUR at list prices for 59 requests"), "{text}");
    assert!(flat.contains("output EUR ") && flat.contains("total 59 113 2,399,713 138,263 0 13,897 0.72 "));
    assert!(flat.contains("Amounts are in EUR, at 0.5 EUR for a US dollar: that rate is yours"), "{text}");
    assert!(!text.contains('$') && !text.contains("USD"), "{text}");
    let json: Value = parsed(&by("JPY=150", &["--format", "json"]));
    let (usd, shown) = (json["total"]["total_usd"].as_f64().unwrap(), &json["shown"]);
    assert_eq!((&shown["currency"], &shown["rate"]), (&"JPY".into(), &150.0.into()));
    assert!((shown["total"].as_f64().unwrap() - 150.0 * usd).abs() < 1e-9, "{json}");
    let csv = out(&by("JPY=150", &["--format", "csv"]));
    assert!(csv.lines().next().unwrap().ends_with(",currency,rate,total"), "{csv}");

    for bad in ["EUR", "EUR=", "EUR=nan", "EUR=-1", "EUR=0", "EUR=inf", "EUR=1e-400", "eur=1", "=1", "USD=1"]
    {
        let told = refused(&by(bad, &[]));
        assert!(told.contains("write CODE=RATE, such as `EUR=0.92`"), "{bad}: {told}");
    }
    assert!(refused(&ctxsim(&["import", &pi, "--currency", "EUR=0.9"])).contains("--by"));
}

#[test]
fn a_providers_own_export_is_set_beside_the_logs_of_the_same_days_in_one_line() {
    let folder = tempdir().unwrap();
    let export = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let costs = export(
        "costs.json",
        r#"{"data":[{"starting_at":"2026-10-12T00:00:00Z","results":[{"currency":"USD","amount":"8.0"}]},
            {"starting_at":"2026-10-13T00:00:00Z","results":[]}],"has_more":false}"#,
    );
    let usage = export(
        "usage.csv",
        "usage_date_utc,usage_input_tokens_no_cache,usage_input_tokens_cache_read,usage_output_tokens\n2026-10-12,15,9860,220\n",
    );
    let reply = |id: &str, parent: &str, minute: u64, [read, written, output]: [u64; 3]| {
        json!({"type": "assistant", "uuid": id, "parentUuid": parent, "sessionId": "s", "cwd": "/a", "version": "2.0.55",
            "timestamp": format!("2026-10-12T10:0{minute}:00.000Z"), "requestId": id, "message": {"id": id, "role": "assistant",
                "model": "claude-opus-5", "content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 5 * minute,
                    "cache_read_input_tokens": read, "cache_creation_input_tokens": written, "output_tokens": output}}})
    };
    let first = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","cwd":"/a","version":"2.0.55","timestamp":"2026-10-12T10:00:00.000Z","message":{"role":"user","content":"go"}}"#;
    let replies = [reply("a", "u", 1, [0, 9_860, 178]), reply("b", "a", 2, [9_860, 420, 42])];
    let logs = export("session.jsonl", &format!("{first}\n{}\n{}\n", replies[0], replies[1]));
    let against = |it: &str, more: &[&str]| ctxsim(&[&["import", &logs, "--against", it], more].concat());

    let text = out(&against(&costs, &[]));
    let line = "The provider's export says $0.08 for these days (2026-10-12 to 2026-10-13), the logs $0.07 at list prices (";
    assert!(text.starts_with(line), "{text}");
    let text = out(&against(&usage, &[]));
    let line = "The provider's export says 10,095 tokens (uncached 15, read 9,860, written 0, output 220) for these days (2026-10-12), \
         the logs 20,375 tokens (uncached 15, read 9,860, written 10,280, output 220).";
    assert!(text.starts_with(line), "{text}");
    let _: Value = parsed(&against(&costs, &["--format", "json"]));
    assert!(refused(&against(&logs, &[])).contains("not a provider's export of usage or costs"));
    assert!(refused(&ctxsim(&["import", &costs])).contains("ctxsim import LOGS --against FILE"));
}

/// Returns a made-up session of Claude Code: a prompt of so many tokens, of which the first request reads some, and two turns.
fn two_turns(folder: &str, day: &str, prompt: u64, read: u64) -> String {
    let line = |id: &str, parent: &str, minute: u64, of: Value| {
        let mut record = json!({
            "uuid": id, "parentUuid": (!parent.is_empty()).then_some(parent), "sessionId": folder, "cwd": folder, "version": "2.0.55",
            "timestamp": format!("{day}T10:0{minute}:00.000Z"),
        });
        record.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let user = |text: &str| json!({ "type": "user", "message": { "role": "user", "content": text } });
    let reply = |id: &str, [uncached, read, written, output]: [u64; 4]| {
        json!({ "type": "assistant", "message": {
            "id": id, "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": [{ "type": "text", "text": "Done." }],
            "usage": { "input_tokens": uncached, "cache_read_input_tokens": read, "cache_creation_input_tokens": written, "output_tokens": output,
                "cache_creation": { "ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0 } },
        } })
    };
    [
        line("u1", "", 0, user("Fix the test.")),
        line("a1", "u1", 1, reply("m1", [3, read, prompt - read - 3, 10])),
        line("u2", "a1", 2, user("Thanks, and now the other.")),
        line("a2", "u2", 3, reply("m2", [3, prompt - 3, 40, 10])),
    ]
    .concat()
}

#[test]
fn what_prompts_begin_with_is_told_by_user_and_project_and_split_only_where_a_bill_tells() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("ann.jsonl", &two_turns("/home/ann/shop", "2026-03-01", 20_003, 12_000));
    write("bob.jsonl", &two_turns("/home/bob/web", "2026-03-11", 30_003, 0));
    let path = folder.path().to_str().unwrap();
    let fixed = |more: &[&str]| ctxsim(&[&["import", "--fixed", path], more].concat());

    let json: Value = parsed(&fixed(&["--format", "json"]));
    let rows = json["rows"].as_array().unwrap();
    let by: Vec<_> =
        rows.iter().map(|it| ["user", "project", "part"].map(|key| it[key].as_str().unwrap())).collect();
    assert_eq!(
        by,
        [
            ["/home/ann", "/home/ann/shop", "hidden: shared"],
            ["/home/ann", "/home/ann/shop", "hidden: own"],
            ["/home/bob", "/home/bob/web", "hidden: unsplit"],
        ]
    );
    let of = |row: usize, field: &str| rows[row][field].as_f64().unwrap();
    let tokens = |row: usize| {
        ["cache_read_tokens", "cache_write_short_tokens", "uncached_tokens"].map(|it| of(row, it))
    };
    assert_eq!(tokens(0), [24_000.0, 0.0, 0.0], "read by both requests");
    let behind = of(1, "first_prompt_tokens_median");
    assert!((7_950.0..8_000.0).contains(&behind), "all but the message: {behind}");
    assert_eq!(tokens(1), [behind, behind, 0.0], "written by the first request, read by the second");
    let whole = of(2, "first_prompt_tokens_max");
    assert_eq!(tokens(2), [whole, whole, 0.0]);
    // Sonnet 4.5 reads for $0.30 and writes for $3.75.
    for (row, [read, written]) in [(0, [24_000.0, 0.0]), (1, [behind, behind]), (2, [whole, whole])] {
        assert!((of(row, "total_usd") - (read * 0.3 + written * 3.75) / 1e6).abs() < 1e-12, "{row}: {json}");
        let a_month = of(row, "usd_a_month") / of(row, "total_usd");
        assert!((a_month - 30.0 / 10.0).abs() < 0.01, "ten days are scaled to thirty: {a_month}");
    }
    let all =
        ["fixed_usd", "messages_usd", "output_usd"].iter().map(|it| json[it].as_f64().unwrap()).sum::<f64>();
    assert!((all - json["as_logged"]["total_usd"].as_f64().unwrap()).abs() < 1e-12, "{json}");

    let text = out(&fixed(&[]));
    let flat = one_line(&text);
    assert!(
        flat.starts_with("The fixed part of the prompts cost $0.16 in 2 sessions: $0.14 to write"),
        "{text}"
    );
    assert_says(&flat, &["/home/bob/web 1 ", "a month (scaled to 30 days from 10.0 days"]);
    assert!(text.lines().count() <= 60, "{text}");
    let csv = out(&fixed(&["--format", "csv"]));
    assert!(csv.starts_with("user,project,lane,part,sessions,") && csv.lines().count() == 4, "{csv}");
    assert!(refused(&fixed(&["--by", "model"])).contains("--by"));
}

#[test]
fn the_bill_as_logged_is_in_every_report_on_recordings_or_it_is_said_why_not() {
    let pi = data("recorded").join("pi-session.jsonl").display().to_string();
    let flat = |args: &[&str]| one_line(&out(&ctxsim(&[args, &[&pi]].concat())));
    let bill = "As logged: $1.45 at list prices for 59 requests (";

    for profile in [&[][..], &["--profile", "moonshotai/kimi-k2.6"]] {
        let report = flat(&[&["import", "--report"], profile].concat());
        assert!(report.starts_with(bill), "at the prices of the log's own model: {report}");
    }
    let json: Value = parsed(&ctxsim(&["import", "--report", "--format", "json", &pi]));
    assert_eq!(json["as_logged"]["requests"], 59);
    let claude = data("recorded").join("claude-code-progress.jsonl").display().to_string();
    let advice = out(&ctxsim(&["advise", &claude]));
    assert!(advice.contains("As logged: $0.13 at list prices for 7 requests"), "{advice}");

    let run = ["run", "--policy", "identity"];
    assert!(flat(&run).contains("As logged: $1.45 at list prices for 59 requests; simulated as it was: $"));
    for (more, why) in [
        (&["--profile", "moonshotai/kimi-k2.6"][..], "profiles are not chosen by the models of the logs"),
        (&["--totals"], "totals do not hold it"),
    ] {
        let told = format!("The bill as logged is left out, because {why}: `ctxsim import` shows it.");
        assert!(flat(&[&run, more].concat()).contains(&told), "{more:?}");
    }
}

#[test]
fn sub_agents_of_which_a_log_holds_totals_alone_are_estimated_beside_the_bill_wherever_it_stands() {
    let folder = tempdir().unwrap();
    let log = include_str!("../../data/recorded/claude-code-totals.jsonl");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("one.jsonl", log);
    let path = folder.path().to_str().unwrap();
    let flat = |args: &[&str]| one_line(&out(&ctxsim(args)));
    let bill = "As logged: $0.12 at list prices for 7 requests (";
    let estimated = "Estimated, and not in it: $0.65 ($0.57 to $0.78) for the input of 5 sub-agents of which the logs hold only totals; 3 at \
                     the prices of the session's model, as the logs name no other.";

    let in_short = "Not in it: about $0.65 for 5 sub-agents of which the logs hold only totals.";
    for args in [
        &["import"][..],
        &["import", "--by", "model"],
        &["import", "--report"],
        &["run", "--policy", "identity"],
    ] {
        let text = flat(&[args, &[path]].concat());
        let is_run = args[0] == "run";
        let [bill, estimated] =
            if is_run { [bill.trim_end_matches(" ("), in_short] } else { [bill, estimated] };
        assert!(text.contains(bill) && text.contains(estimated), "{args:?}: {text}");
    }
    let advice = flat(&["advise", path]);
    assert!(advice.contains(in_short), "{advice}");
    assert!(flat(&["advise", path, "--details"]).contains(estimated));
    let total = || -> Value {
        let json: Value = parsed(&ctxsim(&["import", "--by", "model", "--format", "json", path]));
        json["total"].clone()
    };
    // Haiku writes for an hour, Opus for five minutes: $0.10 and $2, $0.50 and $6.25.
    let usd = |tools: f64,
               agents: f64,
               tokens: f64,
               [read, write]: [f64; 2],
               [requests, share, written]: [f64; 3]| {
        (requests * (tools + agents) * share * tokens / agents * read + written * tokens * write) / 1e6
    };
    let of = |ratios: [f64; 3]| {
        usd(9.0, 1.0, 40_000.0, [0.1, 2.0], ratios)
            + usd(4.0, 1.0, 30_000.0, [0.5, 6.25], ratios)
            + usd(12.0, 3.0, 60_000.0, [0.5, 6.25], ratios)
    };
    let it = total();
    for (field, ratios) in [
        ("input_usd", [0.589, 0.692, 0.845]),
        ("input_usd_low", [0.426, 0.571, 0.788]),
        ("input_usd_high", [0.697, 0.752, 1.0]),
    ] {
        assert!((it["estimated"][field].as_f64().unwrap() - of(ratios)).abs() < 1e-9, "{field}: {it}");
    }
    assert_eq!(it["requests"], 7, "no part of the bill");

    // What another file holds of a sub-agent is billed there, and estimated nowhere.
    let own = log.lines().filter(|it| it.contains("a5ide") && it.contains("\"isSidechain\": true"));
    let own: Vec<String> = own.map(|it| it.replace("a5ide", "a2wo").replace("\"sm1\"", "\"sm2\"")).collect();
    assert_eq!(own.len(), 2);
    write("agent-a2wo.jsonl", &(own.join("\n") + "\n"));
    let it = total();
    assert_eq!((&it["requests"], &it["estimated"]["sub_agents"]), (&8.into(), &4.into()), "{it}");
    // The same log again tells of the same sub-agents.
    write("two.jsonl", &log.replace("session-1", "session-2"));
    assert_eq!(total()["estimated"]["sub_agents"], 4);
}

#[test]
fn where_a_log_names_a_plan_dollars_are_said_to_be_list_prices() {
    let folder = tempdir().unwrap();
    let log = include_str!("../../data/recorded/codex-rollout.jsonl");
    let path = folder.path().join("rollout.jsonl");
    let told = |plan: &str| {
        let limits =
            format!(r#""type":"token_count","rate_limits":{{"limit_id":"codex","plan_type":{plan}}}"#);
        let named = log.replace(r#""type":"token_count""#, &limits);
        assert_ne!(named, log);
        fs::write(&path, named).unwrap();
        out(&ctxsim(&["import", path.to_str().unwrap()]))
    };
    let sentence = |plan: &str| {
        format!("The logs name a plan (`{plan}`): dollars are list prices, not what a subscription costs.")
    };

    assert!(told(r#""pro""#).contains(&sentence("pro")));
    assert!(told(r#""acme-only""#).contains(&sentence("another")), "a name that may be somebody's");
    for none in ["null", "7", "{}", r#""""#] {
        assert!(!told(none).contains("The logs name"), "{none}");
    }
    let redacted = folder.path().join("redacted.jsonl");
    told(r#""team""#);
    let export = ["show", path.to_str().unwrap(), "--redact", "--output", redacted.to_str().unwrap()];
    out(&ctxsim(&export));
    assert!(out(&ctxsim(&["import", redacted.to_str().unwrap()])).contains(&sentence("team")));
}

#[test]
fn a_report_has_at_most_60_lines_unless_details_are_asked_for() {
    let folder = tempdir().unwrap();
    for nth in 0..30 {
        let text = two_turns(&format!("/home/ann/{nth}"), "2026-03-01", 20_000 + nth, 0);
        // One reads what no record explains.
        let text = if nth == 7 { text.replace("20004", "17004").replace(":40,", ":3040,") } else { text };
        fs::write(folder.path().join(format!("session-{nth}.jsonl")), text).unwrap();
    }
    let reference = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from);
    let folders = std::iter::once(folder.path().to_owned()).chain(reference.map(|it| it.join("recorded")));
    for folder in folders {
        let report =
            |more: &[&str]| out(&ctxsim(&[&["import", "--report", folder.to_str().unwrap()], more].concat()));
        let (short, full) = (report(&[]), report(&["--details"]));
        assert!(
            short.lines().count() <= 60 && full.lines().count() > 60,
            "{}: {short}",
            short.lines().count()
        );
        assert_eq!(short.lines().next(), full.lines().next(), "one bill");
        for what in ["as recorded", "with usual side requests", "with inferred side requests"] {
            assert!(short.contains(&format!("\n{what} ")), "{what}: {short}");
        }
        assert!(short.ends_with("`--format json` has all of them.\n"), "{short}");
        assert!(full.contains("\nAs recorded\n") && !full.contains("--details"), "{full}");
    }
}

#[test]
fn an_import_has_at_most_60_lines_unless_details_are_asked_for() {
    let mut folders = vec![data("recorded"), data("").join("../../scenarios/recorded")];
    let reference = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from);
    folders.extend(reference.into_iter().map(|it| it.join("recorded")));
    for folder in folders {
        let folder = folder.to_str().unwrap();
        let text = out(&ctxsim(&["import", folder]));
        let details = out(&ctxsim(&["import", folder, "--details"]));
        assert!(text.starts_with("As logged: $") && text.lines().count() <= 60, "{folder}: {text}");
        assert_eq!(text.lines().next(), details.lines().next(), "one bill");
        if details.lines().count() <= 60 {
            assert_eq!(text, details, "nothing is hidden that has room");
            continue;
        }
        let last = "`--details` shows the sessions of each file, and all that is left out, with its lines; `--by KEY` divides the bill; \
            `--fixed` shows what every prompt begins with.";
        assert_eq!(text.lines().last(), Some(last));
        assert!(text.contains("\nleft out\n") && details.contains("longest"), "{text}");
        assert_eq!(text.lines().filter(|it| it.starts_with("file ")).count(), 1, "one table: {text}");
    }
    assert!(out(&ctxsim(&["import", data("recorded").to_str().unwrap(), "--details"])).lines().count() > 60);
}
