//! Verdicts print the setting that makes the real agent do what is advised, with the numbers that it ran with.

use ctxsim::input::policy::Apply;
use saphyr_parser::Parser;

use super::*;

/// Compares a preset with keeping everything, whatever it loses.
fn compared(preset: &str, set: &str, profiles: &[&str]) -> Report {
    let comparison =
        Comparison { set: vec![set.to_owned()], ..comparing(&["identity", preset], &[LOADS[0]], profiles) };
    let report = reported(&comparison);
    Report { min_evidence: 0.0, ..report }
}

#[test]
fn a_verdict_ends_with_the_setting_and_its_tuned_numbers() {
    let report = compared("agents/anthropic/compact", "params.trigger.tokens=90000", &["field/sonnet-5"]);

    let told = "To apply anthropic/compact, put this in the request (beta compact-2026-01-12): {\"context_management\": {\"edits\": \
                [{\"type\": \"compact_20260112\", \"trigger\": {\"type\": \"input_tokens\", \"value\": 90000}}]}}";
    let words = report.verdict_lines();
    assert!(words[0].ends_with(told), "{words:?}");
    let of_json = serde_json::to_value(report.verdicts()).unwrap();
    assert!(of_json[0]["cheapest"]["apply"]["write"].as_str().unwrap().contains("90000"), "{of_json}");
}

#[test]
fn numbers_of_a_setting_are_those_of_the_profile() {
    let set = "agents/claude_code/auto_compact.params.trigger.tokens=150000";
    let report = compared("agents/claude_code/auto_compact", set, &["field/sonnet-5"]);
    let words = report.verdict_lines();
    // The harness takes 20,000 for the output and 13,000 for its own off the window.
    assert!(words[0].contains("\"autoCompactWindow\": 183000}"), "{words:?}");
}

#[test]
fn a_setting_of_several_lines_keeps_them_wherever_it_is_shown() {
    let report = compared(
        "agents/codex/auto_compact_body",
        "params.model_auto_compact_token_limit.tokens=60000",
        &["field/sonnet-5"],
    );
    let lines = "model_auto_compact_token_limit = 60000\n\
                 model_auto_compact_token_limit_scope = \"body_after_prefix\"";

    let words = report.verdict_lines();
    assert!(words[0].ends_with(&format!("put this in ~/.codex/config.toml:\n{lines}")), "{words:?}");
    let table =
        ctxsim::report::run_blocks::report_text(&report, ctxsim::report::run_blocks::RunLayout::default());
    assert!(table.contains(&format!(":\n{lines}\n")), "{table}");
    let markdown = ctxsim::report::run_blocks::job_summary_markdown(&report);
    assert!(markdown.contains(&format!(":  \n{}\n", lines.replace('\n', "  \n"))), "{markdown}");
}

#[test]
fn every_setting_of_a_preset_can_be_written_in_the_format_of_its_file() {
    let load = &loads()[0];
    let with_setting = load.policies.iter().filter(|it| it.apply.is_some());
    let n_settings = with_setting.count();
    assert!(n_settings >= 40, "{n_settings}");
    let comparison = Comparison {
        policies: load.policies.iter().map(|it| it.name.clone()).collect(),
        ..comparing(&[], &["duckagent/plain_chat"], &[PROFILE])
    };
    let report = reported(&comparison);

    for (run, policy) in report.runs.iter().zip(&load.policies) {
        assert_eq!(run.apply.is_some(), policy.apply.is_some(), "{}", policy.name);
        if let Some(Apply { at, write }) = run.apply.as_deref() {
            let wrong = fault(at, write);
            assert!(wrong.is_none(), "{}: {}\n{write}", policy.name, wrong.unwrap_or_default());
        }
    }
}

/// Says what is wrong with a setting in the format of the place that it goes to.
fn fault(at: &str, write: &str) -> Option<String> {
    let is_json = at.ends_with(".json")
        || ["the request", "the options of the SDK", "settings.json of Zed"]
            .iter()
            .any(|it| at.starts_with(it));
    if is_json {
        let found = serde_json::from_str::<serde_json::Map<_, _>>(write);
        return found.err().map(|it| it.to_string());
    }
    if at.ends_with(".toml") {
        return write.parse::<toml::Table>().err().map(|it| it.to_string());
    }
    if at.ends_with(".yaml") || at == "the agent's YAML" {
        return Parser::new_from_str(write).find_map(Result::err).map(|it| it.to_string());
    }
    let is_right = match at {
        "the command line" => is_command(write),
        "the environment" => write.split_once('=').is_some_and(|it| is_variable(it.0) && !it.1.is_empty()),
        "the code of the agent" | "the call of tool_runner" => is_balanced(write),
        "the settings page of Roo Code, which keeps them in no file" => true,
        _ => return Some(format!("no test knows the format of {at:?}")),
    };
    (!is_right).then(|| format!("cannot be pasted into {at}"))
}

/// Whether a line is a program with long options, each with at most one value.
fn is_command(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let is_option = |it: &str| it.starts_with("--");
    !is_option(words[0]) && words.windows(2).skip(1).all(|it| is_option(it[0]) || is_option(it[1]))
}

/// Whether a name is one of a variable of the environment.
fn is_variable(name: &str) -> bool {
    name.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
}

/// Whether each bracket of an expression is closed in its turn, and each quotation mark too.
fn is_balanced(code: &str) -> bool {
    let (mut open, mut is_quoted) = (Vec::new(), false);
    for letter in code.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(letter) => return false,
            _ => {}
        }
    }
    open.is_empty() && !is_quoted
}
