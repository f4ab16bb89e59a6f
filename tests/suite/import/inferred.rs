//! Needs that the calls of a session give away, and what they cost when a policy drops their results.

use ctxsim::quantity::Expected;
use ctxsim::timeline::Level;

use super::*;

/// A line of a session: who says what.
fn line(kind: &str, n: usize, content: &Value) -> String {
    let parent = n.checked_sub(1).map(|it| format!("u{it}"));
    let message = match kind {
        "assistant" => json!({"id": format!("m{n}"), "model": "m", "content": content}),
        _ => json!({"role": "user", "content": content}),
    };
    let record = json!({"type": kind, "uuid": format!("u{n}"), "parentUuid": parent, "message": message});
    format!("{record}\n")
}

/// What happens in a session, one line each.
enum Said<'a> {
    User(&'a str),
    Agent(&'a str),
    /// A call and its result.
    Call(&'a str, Value, &'a str),
}

use Said::{Agent, Call, User};

/// Imports a session with some assumptions.
fn import_with(said: &[Said<'_>], assume: &Assume) -> Timeline {
    let mut lines = Vec::new();
    for said in said {
        let n = lines.len();
        match said {
            User(text) => lines.push(line("user", n, &json!(text))),
            Agent(text) => lines.push(line("assistant", n, &json!([{"type": "text", "text": text}]))),
            Call(tool, input, result) => {
                let id = format!("c{n}");
                let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
                let result = json!([{"type": "tool_result", "tool_use_id": id, "content": result}]);
                lines.push(line("assistant", n, &call));
                lines.push(line("user", n + 1, &result));
            }
        }
    }
    import(&lines.concat(), "test", assume, &[]).unwrap().timeline
}

fn session(said: &[Said<'_>]) -> Timeline {
    import_with(said, &Assume::default())
}

/// Returns, for each need, its rule, its step and its result's item.
fn needs(timeline: &Timeline) -> Vec<(&'static str, u32, u32)> {
    let needs = timeline.needs.of_items().iter();
    needs.map(|it| (it.inferred.rule, it.inferred.step, it.inferred.item)).collect()
}

/// A file of three lines, as a reading tool numbers it.
const FILE: &str = "     1→fn main() {\n     2→    go(\"and a lot more than the call itself has to say, so that it brings something\");\n     3→}";

fn read(path: &str) -> Said<'_> {
    Call("Read", json!({"file_path": path}), FILE)
}

fn search(path: &str) -> Said<'_> {
    Call("Grep", json!({"path": path, "pattern": "zz"}), "nothing")
}

#[test]
fn an_edit_needs_the_newest_result_that_holds_its_old_text() {
    let edit = json!({"file_path": "a.rs", "old_string": "fn main() {\n    go(", "new_string": "x"});
    let timeline = session(&[
        User("go"),
        read("a.rs"),
        Call("Read", json!({"file_path": "b.rs"}), "something else"),
        Call("Edit", edit, "done"),
        Agent("ok"),
    ]);

    assert_eq!(needs(&timeline), [("old_text", 2, 2)]);
    let need = &timeline.needs.of_items()[0].need;
    assert_eq!((need.level, need.weight), (Level::ExactEvidence, 0.73));
    assert!(
        need.interval[0] < need.weight && need.weight < need.interval[1],
        "it was measured, within an interval"
    );
}

#[test]
fn an_edit_whose_old_text_no_result_holds_needs_no_result_for_it() {
    let edit = json!({"file_path": "a.rs", "old_string": "never to be seen", "new_string": "x"});
    let timeline = session(&[User("go"), read("a.rs"), Call("Edit", edit, "done"), Agent("ok")]);

    assert_eq!(needs(&timeline), [("same_path", 1, 2)], "it comes back to the file all the same");
}

#[test]
fn a_later_search_of_the_same_file_needs_what_was_read_of_it_and_a_folder_is_no_file() {
    let folder =
        || Call("Grep", json!({"path": "/src", "pattern": "zz"}), "and a lot of things that it found there");
    let timeline = session(&[User("go"), read("a.rs"), folder(), folder(), search("a.rs"), Agent("ok")]);

    assert_eq!(needs(&timeline), [("same_path", 3, 2)]);
}

#[test]
fn a_later_read_of_the_same_file_is_the_fetch_itself_and_needs_nothing() {
    let timeline = session(&[User("go"), read("a.rs"), read("a.rs"), Agent("ok")]);

    assert_eq!(needs(&timeline), []);
}

#[test]
fn a_process_that_is_polled_again_needs_the_newest_result_that_names_it() {
    let poll = || Call("BashOutput", json!({"bash_id": "b7"}), "still going");
    let timeline = session(&[
        User("go"),
        Call("Bash", json!({"command": "make"}), "Running in the background with ID: b7"),
        poll(),
        poll(),
        Agent("ok"),
    ]);

    assert_eq!(needs(&timeline), [("polled_again", 1, 2), ("polled_again", 2, 4)]);
    assert_eq!(timeline.needs.of_items()[0].need.level, Level::ContinuationHandle);
}

#[test]
fn a_literal_needs_the_result_that_said_it_last_until_the_agent_has_said_it_itself() {
    let found = || Call("Bash", json!({"command": "ls"}), "there is token_budget_max in it");
    let used = || Call("Bash", json!({"command": "echo token_budget_max"}), "");
    let silent = session(&[User("go"), found(), used(), used(), Agent("ok")]);
    let told =
        session(&[User("go"), found(), Agent("I see token_budget_max."), User("yes"), used(), Agent("ok")]);
    let prose = session(&[
        User("go"),
        Call("Bash", json!({"command": "ls"}), "extraordinarily"),
        Call("Bash", json!({"command": "echo extraordinarily"}), ""),
        Agent("ok"),
    ]);

    assert_eq!(needs(&silent), [("literals", 1, 2)]);
    assert_eq!(needs(&told), []);
    assert_eq!(needs(&prose), [], "a word of prose is no literal");
}

#[test]
fn a_rule_of_no_weight_finds_nothing_and_an_unknown_rule_is_refused() {
    let assume = |text: &str| -> Assume { decode(text, Format::Toml).unwrap() };
    let said = || [User("go"), read("a.rs"), search("a.rs"), Agent("ok")];

    assert_eq!(needs(&session(&said())).len(), 1);
    assert_eq!(needs(&import_with(&said(), &assume("needs.same_path.weight = 0.0"))), []);
    let problems = import("", "test", &assume("needs.same_file.weight = 1.0"), &[]).unwrap_err();
    assert_eq!(problems[0].code.name(), "need-rule-unknown");
    assert_eq!(problems[0].place.field, "load.recorded.assume.needs.same_file");
}

/// Plays a session under a policy that drops what was read before the last step.
fn dropped(said: &[Said<'_>]) -> Rows {
    let policy = r#"(name: "drop", about: "Drops.", stages: [
        (name: "drop", scope: (tools: ["Read"], keep_recent: steps(1)), apply: drop),
    ])"#;
    let policy = policy_from(policy);
    let mut rows = Rows::default();
    Simulation::new(&session(said), &policy, &Limits::NONE, &CacheRules::None).run(&mut rows);
    rows
}

#[test]
fn a_dropped_result_is_fetched_again_where_the_prompt_still_names_it_and_else_it_is_lost() {
    let after = |user| {
        [User(user), read("a.rs"), Call("Bash", json!({"command": "ls"}), "x"), search("a.rs"), Agent("ok")]
    };

    let named = dropped(&after("Look at a.rs now."));
    let unnamed = dropped(&after("Look at it."));

    assert_eq!(named.needs.len(), 1);
    let row = |rows: &Rows| (rows.needs[0].met, rows.needs[0].calls, rows.needs[0].failed);
    assert_eq!(row(&named), (0.0, 0.73, 0.0));
    assert_eq!(row(&unnamed), (0.0, 0.0, 0.73));
    assert!(named.needs[0].fetched > 0);
    assert_eq!(named.needs[0].inferred.unwrap().rule, "same_path");
}

/// Runs policies on the bundled session.
fn bundled(policies: &[&str]) -> Report {
    reported(&comparing(policies, &["recorded/claude-code"], &["interval/anthropic-claude-sonnet-4.5"]))
}

#[test]
fn on_the_bundled_session_dropping_costs_recovery_and_evidence_and_foresight_costs_neither() {
    let report = bundled(&["identity", "truncate_oldest", "clairvoyant"]);
    let [identity, truncate, clairvoyant] = &report.runs[..] else { panic!("three runs") };

    let needs = |it: &ctxsim::take::Run| it.tally.sums.needs;
    assert_eq!(
        (needs(identity).calls, needs(identity).failed, identity.tally.evidence_kept()),
        (Expected::ZERO, Expected::ZERO, Some(1.0))
    );
    assert!(needs(truncate).calls > Expected::ZERO && needs(truncate).failed > Expected::ZERO);
    assert!(truncate.tally.evidence_kept().unwrap() < 0.95);
    assert_eq!((needs(clairvoyant).calls, clairvoyant.tally.evidence_kept()), (Expected::ZERO, Some(1.0)));
    let prompt_max = |it: &ctxsim::take::Run| it.tally.sums.main.prompt_max;
    assert!([clairvoyant, truncate].into_iter().all(|it| prompt_max(it) < prompt_max(identity)));
}

#[test]
fn the_reference_says_what_the_two_ends_of_an_exact_excerpt_imply() {
    let policy = "duckagent/duckagent_recoverable_decay_guarded_mid";
    let come_to = |excerpt: &str| {
        let comparison = Comparison {
            set: vec![format!("scenario.load.recorded.assume.exact_excerpt={excerpt}")],
            ..comparing(&["identity", policy], &["recorded/claude-code"], &["interval/openai-gpt-5.4"])
        };
        let plan = ctxsim::app::Plan::new(&ctxsim::catalog::bundled_catalog(), &comparison).unwrap();
        let report = plan.report(Some(1), &|_, _| {}).unwrap();
        let usd = |at: usize| report.runs[at].tally.costs.total().unwrap();
        let kept = report.runs[1].tally.evidence_kept().unwrap();
        (100.0 * (usd(1) / usd(0) - 1.0), 100.0 * kept)
    };

    let (whole, short) = (come_to("\"whole\""), come_to("{ at_most = 256 }"));
    let text = include_str!("../../../docs/reference/scenario.toml");
    let words: Vec<&str> = text.split_whitespace().filter(|it| *it != "#").collect();
    let expected = format!(
        "−{:.1}% of cost and {:.1}% of evidence kept with \"whole\", −{:.1}% and {:.1}% with {{ at_most = 256 }}",
        -whole.0, whole.1, -short.0, short.1
    );
    assert!(words.join(" ").contains(&expected), "{expected}");
}
