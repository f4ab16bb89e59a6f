//! Overrides and parameters: what wins, what fits where, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::path::Path;

use ctxsim::catalog::Catalog;
use ctxsim::compare::{Comparison, Plan};
use ctxsim::spec::PolicySpec;
use ctxsim::spec::decode::{Format, decode};
use ctxsim::spec::set::Setting;
use ctxsim::spec::size::SizeSpec;

fn catalog() -> Catalog {
    Catalog::bundled().with_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small")).unwrap()
}

fn comparison(scenario: &str, set: &[&str]) -> Comparison {
    let owned = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
    Comparison {
        policies: owned(&["keep", "cap", "cap_low"]),
        scenarios: owned(&[scenario]),
        profiles: owned(&["plain"]),
        set: owned(set),
        ..Comparison::default()
    }
}

/// Returns the cap that a policy runs with.
fn cap(plan: &Plan, policy: usize) -> Option<SizeSpec> {
    plan.scenarios[0].policies[policy].params.get("cap").cloned()
}

/// Returns what is wrong with a comparison.
fn problems(comparison: &Comparison) -> String {
    Plan::new(&catalog(), comparison).map(|_| ()).unwrap_err().to_string()
}

const POLICY: &str = r#"(
    name: "p",
    about: "A stage with a goal.",
    stages: [(
        name: "history",
        when: prompt(above: limit),
        scope: (keep_recent: turns(2)),
        until: prompt(at_most: tokens(100)),
        apply: drop,
    )],
)"#;

/// Applies an override to the policy above.
fn set(text: &str) -> Result<PolicySpec, String> {
    let mut specs = [decode::<PolicySpec>(POLICY, Format::Ron).unwrap()];
    let setting = Setting::parse(text).map_err(|it| it.to_string())?;
    let passes = |it: &PolicySpec| ctxsim::model::Policy::new(it).is_ok();
    setting.apply(&mut specs, passes).map_err(|it| it.to_string())?;
    let [spec] = specs;
    Ok(spec)
}

#[test]
fn a_file_with_a_number_that_overrides_cannot_hold_is_told_which_is_the_largest() {
    let text = POLICY.replace("tokens(100)", "tokens(10000000000000000000)");
    let mut specs = [decode::<PolicySpec>(&text, Format::Ron).unwrap()];

    let setting = Setting::parse("stages.history.when.prompt.above.ratio=0.5").unwrap();
    let problem = setting.apply(&mut specs, |_| true).unwrap_err();
    let expected = "what is overridden may hold no number above 9223372036854775807: change the file";
    assert_eq!(problem.help.as_deref(), Some(expected));
}

#[test]
fn a_sibling_variant_replaces_the_one_that_is_written() {
    let expected =
        |from: &str, to: &str| decode::<PolicySpec>(&POLICY.replace(from, to), Format::Ron).unwrap();

    assert_eq!(
        set("stages.history.until.prompt.at_most.ratio=0.5"),
        Ok(expected("tokens(100)", "ratio(0.5)"))
    );
    assert_eq!(set("stages.history.when.prompt.above.ratio=0.5"), Ok(expected("limit", "ratio(0.5)")));
    assert_eq!(
        set("stages.history.until.body.at_most.tokens=7"),
        Ok(expected("prompt(at_most: tokens(100))", "body(at_most: tokens(7))"))
    );
    assert_eq!(set("stages.0.scope.keep_recent.steps=3"), Ok(expected("turns(2)", "steps(3)")));
    assert_eq!(set("stages.history.until.prompt.at_most=window"), Ok(expected("tokens(100)", "window")));
}

#[test]
fn a_sibling_comparison_replaces_the_one_that_is_written() {
    let spec = set("stages.history.until.prompt.at_least.tokens=9").unwrap();

    let expected = POLICY.replace("at_most: tokens(100)", "at_least: tokens(9)");
    assert_eq!(spec, decode(&expected, Format::Ron).unwrap(), "two comparisons would not pass");
}

#[test]
fn a_path_that_leads_nowhere_is_answered_with_what_is_there() {
    let told = |text: &str| set(text).unwrap_err();

    assert!(told("stages.histroy.when.always=1").contains("did you mean `history`?"));
    assert!(told("stages.history.untill.prompt.at_most.ratio=1").contains("did you mean `until`?"));
    assert!(told("stages.history.until.prompt.at_most.ratoi=1").contains("did you mean `ratio`?"));
    assert!(told("stages.history.until.prompt.at_most.tokens=many").contains("a whole number belongs here"));
    assert!(told("stage.history=1").contains("did you mean `stages`?"));
    assert!(told("stages.history").contains("has no value"));
    assert!(told("params.cap.tokens=1..9:2").contains("is a range"));
}

#[test]
fn parameters_win_in_their_order() {
    let catalog = catalog();

    let written = Plan::new(&catalog, &comparison("one", &[])).unwrap();
    assert_eq!(cap(&written, 0), None, "a policy that does not declare a parameter has none");
    assert_eq!(cap(&written, 1), Some(SizeSpec::Tokens(4_000)));
    assert_eq!(cap(&written, 2), Some(SizeSpec::Tokens(1_500)), "a variant beats its base");

    let of_scenario = Plan::new(&catalog, &comparison("two", &[])).unwrap();
    assert_eq!(cap(&of_scenario, 2), Some(SizeSpec::Tokens(900)), "a scenario beats a policy");

    let of_user = Plan::new(&catalog, &comparison("two", &["params.cap.ratio=0.5"])).unwrap();
    let half = decode::<SizeSpec>("ratio(0.5)", Format::Ron).unwrap();
    assert_eq!(cap(&of_user, 1), Some(half), "an override beats a scenario");
}

#[test]
fn a_parameter_that_no_policy_declares_is_a_problem() {
    let told = problems(&comparison("one", &["params.cab.tokens=1"]));

    assert!(told.contains("`params.cab.tokens`") && told.contains("did you mean `cap`?"), "{told}");
}

#[test]
fn profiles_and_scenarios_are_overridden_too() {
    let set = ["profile.limits.input_tokens=3000", "scenario.seed=7"];
    let plan = Plan::new(&catalog(), &comparison("one", &set)).unwrap();

    assert_eq!(plan.profiles[0].limits.prompt, 3_000);
    assert_eq!(plan.scenarios[0].seed, 7);
}

#[test]
fn profiles_that_differ_in_prices_share_their_simulations() {
    let mut comparison = comparison("one", &[]);
    comparison.profiles = vec!["plain".to_owned(), "dear".to_owned()];

    let plan = Plan::new(&catalog(), &comparison).unwrap();

    assert_eq!((plan.cells().count(), plan.n_simulations()), (6, 3));
}
