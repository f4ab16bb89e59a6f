//! Folders of recordings in memory: their order, their names, what counts once, what cannot be used, and advice on them.

use ctxsim::{Catalog, Comparison, Plan, Recording, RunId, Scenario};

use crate::support::*;

const SESSION: &str = "scenarios/recorded/claude-code-session.jsonl";
const PROFILE: &str = "anthropic/claude-sonnet-4.5";

fn bytes(path: &str) -> Vec<u8> {
    fs::read(path).unwrap()
}

fn read(name: &str, bytes: &[u8]) -> Scenario {
    Recording::new(name).read(bytes).unwrap().remove(0)
}

fn plan(policies: &[&str]) -> Plan {
    let comparison = policies.iter().fold(Comparison::new(), |it, name| it.policy(*name));
    comparison.scenario(read("mine", &bytes(SESSION))).profile(PROFILE).plan().unwrap()
}

#[test]
fn files_of_a_folder_have_the_order_and_the_names_of_the_command_line() {
    let named = Recording::names(&["p/two/a.jsonl", "p/b.jsonl", "p/one/a.jsonl", "p/one-more/c.jsonl"]);

    let paths: Vec<String> = named.iter().map(|it| it.0.display().to_string()).collect();
    assert_eq!(
        paths,
        ["p/b.jsonl", "p/one/a.jsonl", "p/one-more/c.jsonl", "p/two/a.jsonl"],
        "folders before names with a hyphen"
    );
    assert_eq!(named.iter().map(|it| it.1.as_str()).collect::<Vec<_>>(), ["b", "one/a", "c", "two/a"]);
}

#[test]
fn a_session_in_two_files_counts_once_and_the_longer_file_stays() {
    let whole = bytes("tests/data/recorded/pi-session.jsonl");
    let half = whole.len() / 2 + whole[whole.len() / 2..].iter().position(|it| *it == b'\n').unwrap() + 1;
    let mut sessions = vec![read("half", &whole[..half]), read("whole", &whole)];
    assert_eq!(Recording::remove_duplicates(&mut sessions), ["half"]);
    assert_eq!(sessions.iter().map(Scenario::name).collect::<Vec<_>>(), ["whole"]);
    assert!(Recording::remove_duplicates(&mut sessions).is_empty());
}

#[test]
fn a_session_whose_model_has_no_profile_is_an_error_or_is_left_out_with_the_reason() {
    let sessions = || {
        let renamed = String::from_utf8(bytes(SESSION))
            .unwrap()
            .replace("\"model\":\"claude", "\"model\":\"unheard-of");
        [read("known", &bytes(SESSION)), read("unknown", renamed.as_bytes())]
    };
    let comparison = || Comparison::new().policy("identity").scenarios(sessions()).own_models();

    let problems = comparison().run().unwrap_err().problems();
    assert!(problems[0].message.contains("unheard-of"), "{problems:?}");
    let report = comparison().skip_unusable().run().unwrap();
    assert_eq!(report.runs().iter().map(ctxsim::Run::scenario).collect::<Vec<_>>(), ["known"]);
    assert!(report.json().unwrap().contains("no profile covers"));
}

#[test]
fn numbers_of_a_policy_are_at_the_paths_that_override_them() {
    let catalog = Catalog::bundled();
    let numbers = catalog.policy_numbers("agents/claude_code/auto_compact").unwrap();
    let value = |path: &str| {
        numbers.iter().find(|it| it.0 == path).unwrap_or_else(|| panic!("{path}: {numbers:?}")).1
    };
    assert_eq!(value("params.buffer.tokens"), Some(13_000.0));
    assert_eq!(value("params.trigger.tokens"), None, "it is computed from the model's limits");
    assert!(catalog.policy_about("agents/claude_code/auto_compact").unwrap().starts_with("At window"));
    for (path, _) in &numbers {
        let set = |value: u64| Comparison::new().policy("agents/claude_code/auto_compact").set(path, value);
        let plan = set(60_000).scenario("recorded/claude-code").profile(PROFILE).plan();
        assert!(plan.is_ok(), "{path}: {plan:?}");
    }
    assert!(catalog.policy_numbers("nope").is_err());
}

#[test]
fn runs_of_a_plan_are_listed_and_each_can_be_explained() {
    let plan = plan(&["identity", "truncate_oldest"]);
    let runs = plan.runs().unwrap();
    assert_eq!(runs, ["identity", "truncate_oldest"].map(|it| RunId::new(it, "mine", PROFILE)));
    assert!(plan.explain(&runs[1], 1).unwrap().to_string().contains("truncate_oldest"));
}

#[test]
fn advice_on_bytes_is_that_of_the_command_line() {
    let args = ["advise", SESSION, "--format", "json"];
    let printed: Value = parsed(&ctxsim(root(), args));

    let advice = Comparison::new().scenario(read("mine", &bytes(SESSION))).advise(None, None).unwrap();
    let told: Value = serde_json::from_str(advice.json()).unwrap();
    for field in ["month", "tried", "levers", "pasted", "lifetimes", "in_force"] {
        assert_eq!(told["agents"][0][field], printed["agents"][0][field], "{field}");
    }
    assert!(!told["agents"][0]["levers"].as_array().unwrap().is_empty());
    assert!(advice.to_string().contains("Nothing to "));
    assert!(Comparison::new().scenario(read("mine", &bytes(SESSION))).advise(Some("nope"), None).is_err());
}
