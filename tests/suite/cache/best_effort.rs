//! What verdicts say of caches that their provider calls best effort: how much rests on them.

use crate::support::*;

/// A comparison of two policies on a bundled load, as JSON.
fn compared(profile: &str, set: Option<&str>) -> Value {
    let compare = args("compare --base identity --candidate clear_tool_results --scenario agents/coding_day");
    let set = set.iter().flat_map(|it| ["--set", it]);
    let args = compare.into_iter().chain(["--profile", profile, "--format", "json"]).chain(set);
    let all: Value = parsed(&ctxsim(root(), args));
    all["comparisons"][0].clone()
}

fn base_cost(of: &Value) -> f64 {
    let numbers = of["numbers"].as_array().unwrap();
    let cost = numbers.iter().find(|it| it["place"] == "totals.cost_usd.total").unwrap();
    cost["base"].as_f64().unwrap()
}

#[test]
fn what_rests_on_best_effort_is_what_the_bill_grows_by_if_no_request_is_served() {
    let found = compared("openai/gpt-4.1", None);
    let none = compared("openai/gpt-4.1", Some("profile.cache.prefix_interval.hits.probability=0"));
    let stake = &found["trust"]["best_effort"];
    let times = stake["times_without_hits"].as_f64().unwrap();

    assert!(times > 2.0, "{stake}");
    assert!((times - base_cost(&none) / base_cost(&found)).abs() < 1e-9, "{stake}");
    assert_eq!(none["trust"]["best_effort"], Value::Null, "nothing rests on what is not read");
    assert_eq!(stake["times_as_counted"], Value::Null, "nobody counted these models");
}

#[test]
fn where_hits_were_counted_the_cost_at_their_share_stands_between_all_and_none() {
    let stake = compared("google/gemini-2.5-flash", None)["trust"]["best_effort"].clone();
    let none = stake["times_without_hits"].as_f64().unwrap();
    let counted: Vec<f64> =
        stake["times_as_counted"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();

    // Of what could be read, 0.8795 × (1 − 0.80) is not; at the ends nothing, and 0.963 × (1 − 0.35).
    for (share, times) in [0.1759, 0.0, 0.62595].iter().zip(&counted) {
        assert!((1.0 + share * (none - 1.0) - times).abs() < 1e-9, "{stake}");
    }
}

#[test]
fn providers_that_promise_hits_and_published_figures_have_no_such_doubt() {
    for profile in
        ["anthropic/claude-sonnet-5", "duckagent/deepseek-chat", "google/gemini-3.8-flash-explicit"]
    {
        assert_eq!(compared(profile, None)["trust"]["best_effort"], Value::Null, "{profile}");
    }
}

#[test]
fn a_policy_that_is_run_alone_has_no_verdict_and_a_note_says_it() {
    let said = |profile: &str| {
        let args = ["run", "--scenario", "agents/coding_day", "--policy", "identity", "--profile", profile];
        one_line(&out(&ctxsim(root(), args)))
    };

    assert!(said("google/gemini-2.5-flash").contains(
        "Under google/gemini-2.5-flash, all of the bill of identity rests on caches that are best effort: with hits as in recorded sessions"
    ));
    assert!(!said("anthropic/claude-sonnet-5").contains("best effort"));
}
