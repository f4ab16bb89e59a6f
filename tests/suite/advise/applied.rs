//! Settings that a user asks for, and settings files that are changed and put back.

use ctxsim::app::advise::agents::{Agent, AgentSetting, SettingsForm};
use ctxsim::app::advise::edit::{apply_forecast, undo_forecast};
use ctxsim::report::advise::saved::{FormerValue, SavingsForecast};

use super::*;

/// A settings file as people have it.
const REAL: &str = "{\n    \"model\": \"opus\",\n    \"env\": { \"DISABLE_TELEMETRY\": \"1\" },\n    \"permissions\": {\n        \"allow\": [\"Read\"]\n    },\n    \"hooks\": {}\n}\n";

/// A forecast of settings of an agent.
fn forecast(agent: &str, set: &[&str]) -> SavingsForecast {
    let text = format!(
        r#"{{"schema":"ctxsim.forecast/2","agent":"{agent}","set":{},"until_ms":0,"versions":[],"change":-0.1,"interval":[-0.2,-0.05],"before":[],"kinds":[]}}"#,
        serde_json::to_string(set).unwrap()
    );
    parse_forecasts("f.json", &text).unwrap().remove(0)
}

/// Applies settings to a file, and puts back what was there; returns what stood between.
fn there_and_back(agent: &str, set: &[&str], text: &str) -> String {
    let mut saved = forecast(agent, set);
    let changed = apply_forecast(&saved, "settings", text).unwrap();
    saved.former = changed.former;
    let back = undo_forecast(&saved, "settings", &changed.text).unwrap();
    assert_eq!(back.text, text, "byte for byte");
    changed.text
}

#[test]
fn what_is_applied_changes_its_own_key_alone_and_undo_puts_every_byte_back() {
    let both = there_and_back("Claude Code", &["autoCompactWindow=160000", "promptCacheTtl=1h"], REAL);
    let added = ",\n    \"autoCompactWindow\": 160000,\n    \"promptCacheTtl\": \"1h\"\n}\n";
    assert_eq!(both, REAL.replace("\n}\n", added).replace("]\n,", "]\n    },"));

    let inside = there_and_back("Claude Code", &["env.CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS=100000"], REAL);
    let own = "{ \"DISABLE_TELEMETRY\": \"1\", \"CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS\": \"100000\" }";
    assert_eq!(inside, REAL.replace("{ \"DISABLE_TELEMETRY\": \"1\" }", own));

    let other = "{\"autoCompactWindow\":180000,\"model\":\"opus\"}";
    let changed = there_and_back("Claude Code", &["autoCompactWindow=160000"], other);
    assert_eq!(changed, "{\"autoCompactWindow\":160000,\"model\":\"opus\"}");
    assert_eq!(
        there_and_back("Claude Code", &["env.CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS=150000"], "{}\n"),
        "{\n  \"env\": {\n    \"CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS\": \"150000\"\n  }\n}\n"
    );
}

#[test]
fn toml_and_lists_of_variables_are_changed_in_their_own_lines() {
    let config = "model = \"gpt-5\" # the newest\n\n[tools]\nweb = true\n";
    let changed = there_and_back("Codex", &["model_auto_compact_token_limit=150000"], config);
    assert_eq!(changed, config.replace("\n[tools]", "\nmodel_auto_compact_token_limit = 150000\n[tools]"));
    let set = "model_auto_compact_token_limit = 200_000 # mine\n[tools]\nweb = true\n";
    let changed = there_and_back("Codex", &["model_auto_compact_token_limit=150000"], set);
    assert_eq!(changed, set.replace("200_000", "150000"));
    let script = "export PI_CACHE_RETENTION=short\nexport OTHER=1\n";
    assert_eq!(there_and_back("pi", &["PI_CACHE_RETENTION=long"], script), script.replace("short", "long"));
}

#[test]
fn a_file_that_somebody_changed_since_is_not_undone_and_a_setting_of_another_place_is_not_applied() {
    let mut saved = forecast("Claude Code", &["autoCompactWindow=160000"]);
    let nothing = undo_forecast(&saved, "s.json", REAL).unwrap_err().to_string();
    assert!(nothing.contains("was not applied"), "{nothing}");
    let changed = apply_forecast(&saved, "s.json", REAL).unwrap();
    saved.former.clone_from(&changed.former);
    let since =
        undo_forecast(&saved, "s.json", &changed.text.replace("160000", "170000")).unwrap_err().to_string();
    assert!(since.contains("is `170000`, but `160000` was applied"), "{since}");
    let gone = undo_forecast(&saved, "s.json", REAL).unwrap_err().to_string();
    assert!(gone.contains("is not there"), "{gone}");
    let elsewhere =
        apply_forecast(&forecast("pi", &["PI_CACHE_RETENTION=long"]), "s.json", "{}").unwrap_err();
    assert!(elsewhere.to_string().contains("is not a setting of this file"), "{elsewhere}");
    let outranked = "{\"env\": {\"CLAUDE_CODE_AUTO_COMPACT_WINDOW\": \"150000\"}}";
    let told = apply_forecast(&saved, "s.json", outranked).unwrap();
    assert!(told.notes[0].contains("`env.CLAUDE_CODE_AUTO_COMPACT_WINDOW`"), "{:?}", told.notes);
    assert!(told.text.contains("\"CLAUDE_CODE_AUTO_COMPACT_WINDOW\": \"150000\""), "{}", told.text);
}

/// A folder of logs in which an hour saves.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    write(&folder.path().join("logs"), &SAVES.sessions(), "s");
    folder
}

fn text_of(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_command_line_applies_advice_and_takes_it_back_and_writes_no_other_file() {
    let folder = folder();
    fs::write(folder.path().join("settings.json"), REAL).unwrap();
    let apply = ["advise", "logs", "--settings", "settings.json", "--apply", "--save", "f.json"];

    let done = ctxsim(folder.path(), apply);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();

    assert!(done.status.success(), "{told}");
    assert!(told.contains("+     \"promptCacheTtl\": \"1h\""), "{told}");
    assert!(told.contains("ctxsim advise --undo f.json --settings settings.json"), "{told}");
    let changed = text_of(folder.path(), "settings.json");
    assert!(changed.contains("\"promptCacheTtl\": \"1h\""), "{changed}");
    let names = || {
        let mut all: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all
    };
    assert_eq!(names(), ["f.json", "logs", "settings.json"]);
    assert!(
        ctxsim(folder.path(), ["advise", "--undo", "f.json", "--settings", "settings.json"]).status.success()
    );
    assert_eq!(text_of(folder.path(), "settings.json"), REAL);
    let again = ctxsim(folder.path(), ["advise", "--undo", "f.json", "--settings", "settings.json"]);
    assert_eq!(again.status.code(), Some(2), "what was taken back is there no more");
    assert_eq!(names(), ["f.json", "logs", "settings.json"]);
    let bare = ctxsim(folder.path(), ["advise", "logs", "--apply"]);
    assert_eq!(bare.status.code(), Some(2), "it must be told which file");
}

#[test]
fn nothing_to_apply_is_said_behind_the_list_and_a_missing_settings_file_before_any_work() {
    let folder = folder();
    fs::write(folder.path().join("settings.json"), REAL).unwrap();
    let logs = fs::read_dir(folder.path().join("logs")).unwrap().map(|it| it.unwrap().path());
    let one = logs.into_iter().find(|it| it.is_file()).unwrap().display().to_string();
    let apply = |settings| ctxsim(folder.path(), ["advise", &one, "--settings", settings, "--apply"]);

    let done = apply("settings.json");
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{told}");
    assert!(told.contains("nothing was written to `settings.json`"), "{told}");
    assert!(told.contains("Claude Code: nothing is “do”; name a setting with `--try KEY=VALUE`"), "{told}");
    assert_eq!(text_of(folder.path(), "settings.json"), REAL);

    let told = refusal(&apply("nowhere.json"));
    assert_says(&told, &["there is no such settings file", "`{}` if they are JSON"]);
}

#[cfg(unix)]
#[test]
fn a_settings_file_behind_a_link_is_not_written() {
    let folder = folder();
    fs::write(folder.path().join("real.json"), REAL).unwrap();
    std::os::unix::fs::symlink("real.json", folder.path().join("settings.json")).unwrap();

    let done = ctxsim(folder.path(), ["advise", "logs", "--settings", "settings.json", "--apply"]);

    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("is a link"));
    assert_eq!(text_of(folder.path(), "real.json"), REAL);
}

#[test]
fn a_setting_that_is_asked_for_comes_first_with_the_word_of_the_list_and_its_forecast_is_saved() {
    let folder = folder();

    let nothing = ctxsim(folder.path(), args("advise logs --try promptCacheTtl=5m --save f.json"));
    let text = String::from_utf8_lossy(&nothing.stdout).into_owned();
    let heading = "Cache the main conversation for 5 minutes\nIt changes nothing in these sessions.\n";
    assert!(text.starts_with(heading), "{text}");
    assert!(!text[..text.find("Do this").unwrap()].contains("Put this"), "nothing to paste: {text}");
    assert_says(
        &refusal(&nothing),
        &["nothing was written to `f.json`", "Claude Code: `--try` changes nothing in these sessions"],
    );
    assert!(!folder.path().join("f.json").exists());
    let text = out(&ctxsim(
        folder.path(),
        args("advise logs --try promptCacheTtl=1h --try autoCompactWindow=150000 --save f.json"),
    ));
    assert!(
        text.starts_with(
            "Cache the main conversation for 1 hour + Compact at a window of 150,000 tokens (try)"
        ),
        "{text}"
    );
    let saved = &parse_forecasts("f.json", &text_of(folder.path(), "f.json")).unwrap()[0];
    assert_eq!(saved.set, ["promptCacheTtl=1h", "autoCompactWindow=150000"]);
    let json: Value =
        parsed(&ctxsim(folder.path(), ["advise", "logs", "--try", "promptCacheTtl=1h", "--format", "json"]));
    let agent = &json["agents"][0];
    assert_eq!(agent["asked"]["lever"], agent["pasted"], "what is asked for is what is advised");
    let (bare, _) = advice_on(&folder.path().join("logs"), None);
    assert_eq!(
        agent["levers"].as_array().unwrap().len(),
        bare.levers.len(),
        "a value of the menu adds no row"
    );
    assert_eq!(bare.asked, None);
}

#[test]
fn what_cannot_be_asked_for_says_what_can() {
    let folder = folder();
    let mut told = String::new();
    let all = "\
        autoCompactWindw=150000 autoCompactWindow=160k autoCompactWindow=auto autoCompactWindow \
        bashOutputMaxChars=-1 idleCompaction=false promptCacheTtl=2h PI_CACHE_RETENTION=long";
    for asked in listed(all) {
        let done = ctxsim(folder.path(), ["advise", "logs", "--try", asked]);
        assert_eq!(done.status.code(), Some(2), "{asked}");
        told += &format!("{}\n", String::from_utf8_lossy(&done.stderr).trim());
    }
    assert_snapshot("advise", "asked_wrongly", &told);
}

/// Undoes a forecast that says it replaced values by others: key, what stands in the file, what stood there; returns what is wrong with it.
fn forged(agent: &str, all: &[[&str; 3]], text: &str) -> String {
    let former = |[key, written, before]: &[&str; 3]| FormerValue {
        key: (*key).to_owned(),
        written: (*written).to_owned(),
        before: Some((*before).to_owned()),
        made: String::new(),
    };
    let saved = SavingsForecast { former: all.iter().map(former).collect(), ..forecast(agent, &[]) };
    undo_forecast(&saved, "settings", text).unwrap_err().to_string()
}

#[test]
fn a_forecast_of_somebody_else_puts_back_only_settings_of_its_agent_and_values_that_they_take() {
    let json = "{\"hooks\": {}, \"autoCompactWindow\": 160000, \"promptCacheTtl\": \"1h\"}";
    let hook = r#"{"SessionStart":[{"hooks":[{"type":"command","command":"touch OWNED"}]}]}"#;
    let hooks = ["hooks", "{}", hook];
    let both = forged("Claude Code", &[hooks, ["autoCompactWindow", "160000", "[1]"]], json);
    assert!(both.contains("`hooks` is not a setting") && both.contains("`[1]` is not a value"), "{both}");
    for value in ["5", "99999999", "\"160000\", \"hooks\": {}", "160000\n", "1e6", "\"x\"", "{}"] {
        let wrong = forged("Claude Code", &[["autoCompactWindow", "160000", value]], json);
        assert!(wrong.contains("is not a value of `autoCompactWindow`"), "{value}: {wrong}");
    }
    let script = "export EDITOR=vim\nexport PI_CACHE_RETENTION=long\n";
    let editor = forged("pi", &[["EDITOR", "vim", "vim\ntouch OWNED #"]], script);
    assert!(editor.contains("`EDITOR` is not a setting of pi"), "{editor}");
    for value in ["short\ntouch OWNED #", "short; touch OWNED", "$(touch OWNED)", "short # x", "`id`", ""] {
        let wrong = forged("pi", &[["PI_CACHE_RETENTION", "long", value]], script);
        assert!(wrong.contains("is not a value of `PI_CACHE_RETENTION`"), "{value:?}: {wrong}");
    }
    let toml = "model_auto_compact_token_limit = 150000\n";
    for value in ["1\nnotify = [\"sh\"]", "\"1\"\n", "1 # x", "[1]", "{ a = 1 }"] {
        let wrong = forged("Codex", &[["model_auto_compact_token_limit", "150000", value]], toml);
        assert!(wrong.contains("is not a value of"), "{value:?}: {wrong}");
    }
    // What is applied is of the same kind: a forecast is not read from its own agent alone.
    let env = apply_forecast(&forecast("pi", &["PI_CACHE_RETENTION=long\ntouch OWNED"]), "settings", script);
    assert!(env.unwrap_err().to_string().contains("is not a value of `PI_CACHE_RETENTION`"));
}

/// Writes a value as its file does.
fn in_file(setting: &AgentSetting, value: &str) -> String {
    let is_plain = value.parse::<f64>().is_ok() || ["true", "false"].contains(&value);
    let is_bare = setting.form == SettingsForm::Env || !setting.is_text && is_plain;
    if is_bare { value.to_owned() } else { format!("\"{value}\"") }
}

#[test]
fn every_value_of_every_setting_in_a_file_is_applied_over_every_other_and_undone() {
    let mut n = 0;
    for agent in Agent::all_by_file_name().unwrap().values() {
        for setting in &agent.settings {
            let key = &setting.key;
            let text = |value: &str| match setting.form {
                SettingsForm::Json => {
                    let nested = key
                        .split('.')
                        .rev()
                        .fold(in_file(setting, value), |inner, step| format!("{{\"{step}\": {inner}}}"));
                    Some(format!("{nested}\n"))
                }
                SettingsForm::Toml => Some(format!("{key} = {}\n", in_file(setting, value))),
                SettingsForm::Env => Some(format!("export {key}={}\n", in_file(setting, value))),
                SettingsForm::Code => None,
            };
            for [from, to] in
                setting.values.iter().flat_map(|it| setting.values.iter().map(move |to| [it, to]))
            {
                let Some(text) = text(from) else { continue };
                there_and_back(&agent.name, &[&format!("{key}={to}")], &text);
                n += 1;
            }
        }
    }
    assert!(n > 50, "{n}");
}

#[test]
fn a_range_that_names_two_numbers_is_the_one_that_values_are_held_to() {
    let number = |it: &str| it.split(' ').next().and_then(|it| it.replace(',', "").parse::<u64>().ok());
    let mut n = 0;
    for setting in Agent::all_by_file_name().unwrap().values().flat_map(|it| &it.settings) {
        let named = setting.range.split_once(" to ").and_then(|(from, to)| {
            Some([number(from)?, number(to.trim_end_matches(|it: char| !it.is_ascii_digit()))?])
        });
        assert_eq!(setting.between, named, "{}: {}", setting.key, setting.range);
        n += usize::from(named.is_some());
    }
    assert!(n > 1);
}

#[test]
fn what_would_change_is_shown_before_anything_is_written() {
    let folder = folder();
    fs::write(folder.path().join("settings.json"), REAL).unwrap();
    let apply = ["advise", "logs", "--settings", "settings.json", "--apply", "--save", "f.json"];
    let undo = ["advise", "--undo", "f.json", "--settings", "settings.json"];
    let dry = |args: &[&str]| {
        let done = ctxsim(folder.path(), [args, &["--dry-run"]].concat());
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{told}");
        told
    };

    assert!(dry(&apply).contains("+     \"promptCacheTtl\": \"1h\""));
    assert!(!folder.path().join("f.json").exists());
    assert_eq!(text_of(folder.path(), "settings.json"), REAL);
    out(&ctxsim(folder.path(), apply));
    let changed = text_of(folder.path(), "settings.json");
    assert!(dry(&undo).contains("-     \"promptCacheTtl\": \"1h\""));
    assert_eq!(text_of(folder.path(), "settings.json"), changed);
    #[cfg(target_os = "linux")]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut unseen = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
        let unseen = unseen.args(undo).current_dir(folder.path()).stderr(full).output().unwrap();
        assert_eq!(unseen.status.code(), Some(2), "nobody could see it");
        assert_eq!(text_of(folder.path(), "settings.json"), changed);
    }
    out(&ctxsim(folder.path(), undo));
    assert_eq!(text_of(folder.path(), "settings.json"), REAL);
    // What an undo does not look at is not taken for something that it does.
    for more in [&["--html", "p.html"][..], &["--details"], &["--agent", "pi"], &["--since", "2026-01-01"]] {
        assert_eq!(ctxsim(folder.path(), [&undo, more].concat()).status.code(), Some(2), "{more:?}");
    }
    let bare = ctxsim(folder.path(), ["advise", "logs", "--dry-run"]);
    assert_eq!(bare.status.code(), Some(2), "there is nothing that it could show");
}

/// Writes sessions of Codex whose prompts grow by 6,500 tokens with each request, from a day of January on.
fn write_codex(folder: &Path, prefix: &str, first_day: usize, n: usize) {
    for nth in 0..n {
        let mut lines = vec![
            json!({"type": "session_meta", "payload": {"id": format!("{prefix}{nth}"), "cwd": "/Users/ann/p", "cli_version": "0.140.0"}}),
            json!({"type": "turn_context", "payload": {"model": "gpt-5"}}),
        ];
        let item = |role: &str, part: &str, text: String| json!({"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": part, "text": text}]}});
        let mut total = 0;
        for at in 0..20 {
            let read = if at == 0 { 0 } else { 6_500 * at / 128 * 128 };
            let prompt = 6_500 * (at + 1) + nth;
            total += prompt;
            let usage = |input| json!({"input_tokens": input, "cached_input_tokens": read, "output_tokens": 50, "reasoning_output_tokens": 0});
            lines.push(item("user", "input_text", format!("{at} {}", "word ".repeat(5_100))));
            lines.push(item("assistant", "output_text", format!("done {at}")));
            let info = json!({"total_token_usage": usage(total), "last_token_usage": usage(prompt)});
            lines.push(json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}}));
        }
        let time =
            |at: usize| format!("2026-01-{:02}T00:{:02}:{:02}.000Z", first_day + nth, at / 60, at % 60);
        let line = |(at, line): (usize, &mut Value)| {
            line["timestamp"] = time(at).into();
            format!("{line}\n")
        };
        let text: String = lines.iter_mut().enumerate().map(line).collect();
        fs::write(folder.join(format!("rollout-{prefix}{nth}.jsonl")), text).unwrap();
    }
}

#[test]
fn a_folder_of_two_agents_is_applied_saved_and_undone_in_one_call_and_held_against_later_sessions() {
    let folder = folder();
    let logs = folder.path().join("logs");
    write_codex(&logs, "c", 1, 12);
    let config = "model = \"gpt-5\" # the newest\n\n[tools]\nweb = true\n";
    let write_settings = || {
        fs::write(folder.path().join("settings.json"), REAL).unwrap();
        fs::write(folder.path().join("config.toml"), config).unwrap();
    };
    write_settings();
    let tried = "--try promptCacheTtl=1h --try model_auto_compact_token_limit=80000";
    let all =
        format!("advise logs {tried} --settings config.toml --settings settings.json --apply --save f.json");

    let done = ctxsim(folder.path(), args(&all));

    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{told}");
    assert_says(
        &told,
        &[
            "Saved for Claude Code: `promptCacheTtl=1h`",
            "Saved for Codex: `model_auto_compact_token_limit=80000`",
        ],
    );
    assert_says(&told, &["ctxsim advise --undo f.json --settings settings.json --settings config.toml"]);
    assert!(text_of(folder.path(), "settings.json").contains("\"promptCacheTtl\": \"1h\""));
    let toml = config.replace("\n[tools]", "\nmodel_auto_compact_token_limit = 80000\n[tools]");
    assert_eq!(text_of(folder.path(), "config.toml"), toml);
    let undo = ctxsim(
        folder.path(),
        args("advise --undo f.json --settings codex=config.toml --settings settings.json"),
    );
    assert!(undo.status.success(), "{}", String::from_utf8_lossy(&undo.stderr));
    assert_eq!(
        [text_of(folder.path(), "settings.json"), text_of(folder.path(), "config.toml")],
        [REAL, config]
    );

    // Afterwards: sessions of Codex that are as before, and none of Claude Code.
    write_codex(&logs, "d", 20, 3);
    let found: Value = parsed(&ctxsim(folder.path(), args("realised f.json logs --format json")));
    let others = found["other_agents"].as_array().unwrap();
    assert_eq!((found["agent"].as_str(), others[0]["agent"].as_str()), (Some("Claude Code"), Some("Codex")));
    assert_eq!(
        (&others[0]["sessions"], &others[0]["kinds"][0]["silent"]),
        (&json!(0), &json!(3)),
        "{others:?}"
    );

    // Only one has a file, and then none has.
    let one = ctxsim(folder.path(), args(&format!("advise logs {tried} --settings settings.json --apply")));
    let told = String::from_utf8_lossy(&one.stderr).into_owned();
    assert!(
        one.status.success() && told.contains("Nothing was written for Codex: add `--settings codex=FILE`."),
        "{told}"
    );
    assert_eq!(text_of(folder.path(), "config.toml"), config);
    write_settings();
    fs::write(folder.path().join("other.json"), "{}").unwrap();
    for (given, says) in [
        (
            "--settings codx=config.toml",
            "`--settings claude-code=config.toml` or `--settings codex=config.toml`",
        ),
        ("--settings pi=other.json", "it cannot be told whose settings `other.json` has"),
        (
            "--settings settings.json --settings other.json",
            "name its agent: `--settings claude-code=other.json`",
        ),
    ] {
        let told = refusal(&ctxsim(folder.path(), args(&format!("advise logs {tried} {given} --apply"))));
        assert_says(&told, &["--settings", says]);
    }
    assert_eq!(text_of(folder.path(), "settings.json"), REAL);
}

#[test]
fn of_several_agents_that_with_something_to_do_is_applied_and_the_other_says_why_not() {
    let folder = folder();
    let codex = data("recorded/codex-rollout.jsonl");
    fs::copy(codex, folder.path().join("logs/codex.jsonl")).unwrap();
    fs::write(folder.path().join("settings.json"), REAL).unwrap();

    let all = ["advise", "logs", "--settings", "settings.json", "--apply", "--save", "f.json"];
    let done = ctxsim(folder.path(), [&all[..], &["--dry-run"]].concat());

    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.success() && told.contains("Nothing was written for Codex: nothing is “do”"),
        "{told}"
    );
    assert!(String::from_utf8_lossy(&done.stdout).contains("Codex"), "the list is shown all the same");
    assert_eq!(text_of(folder.path(), "settings.json"), REAL);
    let one = out(&ctxsim(folder.path(), [&all[..], &["--agent", "claude-code"]].concat()));
    assert!(one.contains("1 skipped: of another agent (1)") && !one.contains("Codex"), "{one}");
    let saved = &parse_forecasts("f.json", &text_of(folder.path(), "f.json")).unwrap()[0];
    assert_eq!(saved.agent, "Claude Code");
    assert!(text_of(folder.path(), "settings.json").contains("\"promptCacheTtl\": \"1h\""));
}
