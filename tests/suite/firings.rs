//! Stages that never fire are told, with the reason.

use ctxsim::report::{html, json, run_blocks, runs};
use ctxsim::row::csv;

use crate::support::*;

/// Runs a policy with these stages on two scenarios, in which prompts are at most 8,110 tokens long.
fn report(stages: &str) -> Report {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mine.ron");
    fs::write(&path, format!("(name: \"mine\", about: \"Waits.\", stages: [{stages}])")).unwrap();
    let small = data("small");
    let catalog = bundled_catalog().with_folder(&small).unwrap();
    let comparison = comparing(&["keep", &path.display().to_string()], &["one", "two"], &["plain"]);
    Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap()
}

/// Returns what is said of the policy's stages.
fn told(stages: &str) -> Vec<String> {
    report(stages).notes.into_iter().filter(|it| it.starts_with("mine")).collect()
}

#[test]
fn a_stage_that_never_fired_is_told_with_what_it_waited_for() {
    let prompts = |report: &Report| report.runs.iter().map(|it| it.tally.sums.main.prompt_max).max().unwrap();
    let stage = |when: &str| format!("(name: \"compact\", {when} apply: drop)");

    let longest = prompts(&report(&stage("when: prompt(above: tokens(180_000)),")));
    let longest = ctxsim::grid::numbers::thousands(longest);
    let expected = format!(
        "mine changed nothing: `compact` never fired: no prompt exceeded 180,000; the longest was {longest}."
    );
    assert_eq!(told(&stage("when: prompt(above: tokens(180_000)),")), [expected]);
    let expected = format!(
        "mine changed nothing: `compact` never fired: no prompt reached 180,000; the longest was {longest}."
    );
    assert_eq!(told(&stage("when: all([prompt(at_least: tokens(180_000)), every(turns(1))]),")), [expected]);
    let expected = "mine changed nothing: `compact` never fired: its condition never held.";
    assert_eq!(told(&stage("when: count(of: turns, at_least: 99),")), [expected]);
    assert_eq!(told(&stage("at: [turn_end], when: idle(longer_than: \"9h\"),")), [expected]);
}

#[test]
fn a_stage_that_fired_and_changed_nothing_is_told_and_one_that_acted_is_not() {
    let [note] =
        told("(name: \"cut\", scope: (tools: [\"nobody\"]), apply: show(handle))").try_into().unwrap();
    assert!(
        note.starts_with("mine changed nothing: `cut` fired ")
            && note.ends_with(" times but changed nothing."),
        "{note}"
    );

    let acts = "(name: \"cut\", scope: (kinds: [tool_result]), apply: show(handle))";
    assert_eq!(told(acts), Vec::<String>::new());
    let run = report(acts).runs.into_iter().find(|it| it.policy == "mine").unwrap();
    let firing = run.tally.outcome.firings[0];
    assert!(firing.acted > 0 && firing.fired >= firing.acted, "{firing:?}");
    assert_eq!(firing.fired, run.tally.sums.main.n, "it is considered before each request");
}

#[test]
fn firings_stand_in_every_format() {
    let report = report("(name: \"compact\", when: prompt(above: tokens(180_000)), apply: drop)");

    for text in [
        run_blocks::report_text(&report, run_blocks::RunLayout::default()),
        run_blocks::report_markdown(&report, Detail::Groups).to_string(),
        // A page sets what stands in backticks as code.
        html::html_page(&report, Detail::Groups, &html::Traces::default())
            .unwrap()
            .replace("<code>", "`")
            .replace("</code>", "`"),
    ] {
        assert!(text.contains("`compact` never fired: no prompt exceeded 180,000"), "{text}");
    }
    let document: Value = serde_json::from_str(&json::report_json(&report).unwrap()).unwrap();
    let expected = json!([{ "stage": "compact", "fired": 0, "acted": 0 }]);
    assert_eq!((&document["runs"][0]["stages"], &document["runs"][1]["stages"]), (&json!([]), &expected));
    let csv = String::from_utf8(csv::table(&[runs::run_rows(&report, true)]).unwrap()).unwrap();
    assert!(csv.lines().next().unwrap().contains(",stages") && csv.contains(",compact 0"), "{csv}");
}
