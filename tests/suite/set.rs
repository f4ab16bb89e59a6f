//! Overrides and parameters: what wins, what fits where, and what is refused.

use ctxsim::catalog::Catalog;
use ctxsim::input::profile::cache::{Cache, PrefixIntervalFields};
use ctxsim::input::text::set::Override;
use ctxsim::input::text::source::decode_table;

use crate::support::*;

fn catalog() -> Catalog {
    bundled_catalog().with_folder(&data("small")).unwrap()
}

fn comparison(scenario: &str, set: &[&str]) -> Comparison {
    Comparison { set: owned(set), ..comparing(&["keep", "cap", "cap_low"], &[scenario], &["plain"]) }
}

/// Returns the cap that a policy runs with.
fn cap(plan: &Plan, policy: usize) -> Option<Size> {
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
fn set(text: &str) -> Result<PolicyFile, String> {
    set_in(POLICY, text)
}

fn set_in(policy: &str, text: &str) -> Result<PolicyFile, String> {
    let mut specs = [decode::<PolicyFile>(policy, Format::Ron).unwrap()];
    let setting = Override::parse(text).map_err(|it| it.to_string())?;
    let passes = |it: &PolicyFile| ctxsim::input::Policy::new(it).is_ok();
    setting.apply(&mut specs, passes).map_err(|it| it.to_string())?;
    let [spec] = specs;
    Ok(spec)
}

#[test]
fn an_override_leaves_the_largest_numbers_of_a_file_as_they_are() {
    let large = u64::MAX.to_string();
    let text = POLICY.replace("tokens(100)", &format!("tokens({large})"));
    let mut specs = [decode::<PolicyFile>(&text, Format::Ron).unwrap()];

    let setting = Override::parse(&format!("stages.history.when.prompt.above.tokens={large}")).unwrap();
    setting.apply(&mut specs, |_| true).unwrap();

    assert_eq!(format!("{specs:?}").matches(&large).count(), 2);
}

#[test]
fn a_number_may_have_a_suffix_or_be_a_multiple_of_what_is_there() {
    let tokens = |text: &str| {
        let spec = set(&format!("stages.history.until.prompt.at_most.tokens={text}"))?;
        let text = format!("{:?}", spec.stages[0].until);
        Ok::<_, String>(text.split("Tokens(").nth(1).unwrap().split(')').next().unwrap().to_owned())
    };

    assert_eq!(tokens("100k"), Ok("100000".to_owned()));
    assert_eq!(tokens("1.5M"), Ok("1500000".to_owned()));
    assert_eq!(tokens("2_000K"), Ok("2000000".to_owned()));
    assert_eq!(tokens("*2"), Ok("200".to_owned()));
    assert_eq!(tokens("*0.333"), Ok("33".to_owned()), "products floor");
    assert!(
        tokens("1.0005k").is_err() && tokens("k").is_err() && tokens("*").is_err() && tokens("*-1").is_err()
    );
    assert_eq!(set("stages.history.name=100k").unwrap().stages[0].name, "100k", "text stays text");

    let doubled = Plan::new(&catalog(), &comparison("one", &["profile.prices.0.input=*2"])).unwrap();
    let usual = Plan::new(&catalog(), &comparison("one", &[])).unwrap();
    assert_eq!(doubled.profiles[0].prices.usual().input.0, 2 * usual.profiles[0].prices.usual().input.0);
}

#[test]
fn a_bare_number_has_the_unit_of_the_number_that_stands_there() {
    let goal = |there: &str, text: &str| {
        let policy = POLICY.replace("tokens(100)", there);
        set_in(&policy, &format!("stages.history.until.prompt.at_most{text}"))
            .map(|it| format!("{:?}", it.stages[0].until))
    };

    for (there, bare, whole) in [
        ("tokens(100)", "=250", ".tokens=250"),
        ("tokens(100)", "=2k", ".tokens=2000"),
        ("ratio(0.5)", "=0.25", ".ratio=0.25"),
        ("ratio(0.5)", "=25%", ".ratio=0.25"),
    ] {
        assert_eq!(goal(there, bare), goal(there, whole), "{there} {bare}");
        assert!(goal(there, whole).is_ok(), "{there} {whole}");
    }
    for (there, bare) in [("tokens(100)", "=0.5"), ("ratio(0.5)", "=20000"), ("limit", "=20000")] {
        let told = goal(there, bare).unwrap_err();
        assert!(told.contains("has no unit"), "{there} {bare}: {told}");
    }
}

#[test]
fn a_bare_number_sets_a_parameter_of_a_bundled_policy() {
    let comparison = Comparison {
        set: owned(&["params.trigger=20_000"]),
        ..comparing(
            &["identity", "clear_tool_results_at_40k_min_5k"],
            &["duckagent/fix_test_loop"],
            &["unlimited"],
        )
    };

    let plan = planned(&comparison);

    let trigger = plan.scenarios[0].policies[1].params.get("trigger").cloned();
    assert_eq!(trigger, Some(Size::Tokens(20_000)));
}

#[test]
fn a_sibling_variant_replaces_the_one_that_is_written() {
    let expected =
        |from: &str, to: &str| decode::<PolicyFile>(&POLICY.replace(from, to), Format::Ron).unwrap();

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

    assert!(told("stages.histroy.when.always=1").contains("did you mean `stages.history.when.always`?"));
    assert!(
        told("stages.history.untill.prompt.at_most.ratio=1")
            .contains("did you mean `stages.history.until.prompt.at_most.ratio`?")
    );
    assert!(
        told("stages.history.until.prompt.at_most.ratoi=1")
            .contains("did you mean `stages.history.until.prompt.at_most.ratio`?")
    );
    assert!(told("stages.history.until.prompt.at_most.tokens=many").contains("expected a whole number"));
    assert!(told("stage.history=1").contains("did you mean `stages.history`?"));
    assert!(told("stages.history").contains("has no value"));
    assert!(told("params.cap.tokens=1..9:2").contains("is a range"));
}

#[test]
fn parameters_win_in_their_order() {
    let catalog = catalog();

    let written = Plan::new(&catalog, &comparison("one", &[])).unwrap();
    assert_eq!(cap(&written, 0), None, "a policy that does not declare a parameter has none");
    assert_eq!(cap(&written, 1), Some(Size::Tokens(4_000)));
    assert_eq!(cap(&written, 2), Some(Size::Tokens(1_500)), "a variant beats its base");

    let of_scenario = Plan::new(&catalog, &comparison("two", &[])).unwrap();
    assert_eq!(cap(&of_scenario, 2), Some(Size::Tokens(900)), "a scenario beats a policy");

    let of_user = Plan::new(&catalog, &comparison("two", &["cap.params.cap.ratio=0.5"])).unwrap();
    let half = decode_table::<Size>("ratio(0.5)", Format::Ron).unwrap();
    assert_eq!(cap(&of_user, 1), Some(half), "an override beats a scenario");
}

#[test]
fn a_parameter_of_several_policies_is_said_of_one_or_outright_of_all() {
    let told = problems(&comparison("one", &["params.cap.tokens=7"]));
    assert!(told.contains("2 policies have a parameter `cap`: `cap`, `cap_low`"), "{told}");
    assert!(told.contains("`cap.params.cap.tokens=…`") && told.contains("`*.params.cap.tokens=…`"), "{told}");

    let caps = |set: &str| {
        let plan = Plan::new(&catalog(), &comparison("one", &[set])).unwrap();
        [1, 2].map(|it| cap(&plan, it).unwrap())
    };
    assert_eq!(caps("cap_low.params.cap.tokens=7"), [Size::Tokens(4_000), Size::Tokens(7)]);
    assert_eq!(caps("*.params.cap.tokens=7"), [Size::Tokens(7), Size::Tokens(7)]);

    let alone = Comparison {
        policies: vec!["keep".to_owned(), "cap".to_owned()],
        ..comparison("one", &["params.cap.tokens=7"])
    };
    let plan = Plan::new(&catalog(), &alone).unwrap();
    assert_eq!(cap(&plan, 1), Some(Size::Tokens(7)), "one policy has it, so it is meant");
}

#[test]
fn a_policy_s_name_may_hold_dots_and_slashes_and_the_longest_that_is_known_wins() {
    let folder = tempdir().unwrap();
    fs::create_dir_all(folder.path().join("policies/mine")).unwrap();
    let write = |name: &str, about: &str| {
        let text = format!(
            "(name: \"mine/{name}\", about: \"{about}\", params: {{ \"trigger\": tokens(9000) }},
              stages: [(name: \"cut\", when: prompt(above: param(\"trigger\")), apply: drop)])"
        );
        fs::write(folder.path().join(format!("policies/mine/{name}.ron")), text).unwrap();
    };
    write("v1", "The first.");
    write("v1.params", "Called after a root.");
    let catalog = catalog().with_folder(folder.path()).unwrap();
    let triggers = |set: &str| {
        let policies = vec!["mine/v1".to_owned(), "mine/v1.params".to_owned()];
        let plan = Plan::new(&catalog, &Comparison { policies, ..comparison("one", &[set]) }).unwrap();
        plan.scenarios[0].policies.iter().map(|it| it.params["trigger"].clone()).collect::<Vec<_>>()
    };

    assert_eq!(triggers("mine/v1.params.trigger.tokens=1"), [Size::Tokens(1), Size::Tokens(9_000)]);
    assert_eq!(triggers("mine/v1.params.params.trigger.tokens=1"), [Size::Tokens(9_000), Size::Tokens(1)]);
}

#[test]
fn a_profile_s_name_may_hold_dots_and_the_longest_that_is_known_wins() {
    let folder = tempdir().unwrap();
    fs::create_dir_all(folder.path().join("profiles")).unwrap();
    let plain = data("small/profiles/plain.toml");
    let plain = fs::read_to_string(plain).unwrap();
    for name in ["gpt-5", "gpt-5.6"] {
        let text = plain.replace("name = \"plain\"", &format!("name = \"{name}\"\nmodels = [\"{name}\"]"));
        fs::write(folder.path().join(format!("profiles/{name}.toml")), text).unwrap();
    }
    let catalog = catalog().with_folder(folder.path()).unwrap();
    let limits = |set: &str| {
        let profiles = ["gpt-5", "gpt-5.6"].map(str::to_owned).to_vec();
        let plan = Plan::new(&catalog, &Comparison { profiles, ..comparison("one", &[set]) });
        plan.map(|it| it.profiles.iter().map(|it| it.limits.prompt).collect::<Vec<_>>())
            .map_err(|it| it.to_string())
    };
    let usual = limits("scenario.seed=0").unwrap()[0];

    assert_eq!(limits("profile.gpt-5.6.limits.input_tokens=3000"), Ok(vec![usual, 3_000]));
    assert_eq!(limits("profile.gpt-5.limits.input_tokens=3000"), Ok(vec![3_000, usual]));
    assert_eq!(limits("profile.limits.input_tokens=3000"), Ok(vec![3_000, 3_000]));
    let told = limits("profile.gpt-5.7.limits.input_tokens=3000").unwrap_err();
    assert!(told.contains("this run has no profile `gpt-5.7`"), "{told}");
    assert!(told.contains("did you mean `profile.gpt-5.6.limits.input_tokens`?"), "{told}");
}

#[test]
fn an_unfinished_path_is_answered_with_the_nearest_full_one() {
    let told = |set: &str| problems(&comparison("one", &[set]));

    assert!(told("cap.=3").contains("the path ends with a dot"));
    let missing = told("cap_low..cap=3");
    assert_says(&missing, &["the path has two dots in a row", "did you mean `cap_low.params.cap` or"]);
    let bare = told("context_tokens=3");
    assert!(bare.contains("did you mean `profile.limits.context_tokens`"), "{bare}");
    let several = told("tokens=3");
    assert!(several.contains("`cap.params.cap.tokens`, `cap_low.params.cap.tokens` or 1 more?"), "{several}");
}

#[test]
fn a_misspelt_parameter_is_answered_from_all_policies_and_a_misspelt_policy_with_its_name() {
    let default = |set: &str| {
        let comparison = Comparison { set: vec![set.to_owned()], ..Comparison::default() };
        Plan::new(&bundled_catalog(), &comparison).map(|_| ()).unwrap_err().to_string()
    };
    let told = default("params.triger.tokens=1");
    assert!(told.contains("did you mean `params.trigger.tokens`?"), "{told}");
    let told = default("truncate_oldes.params.budget=1");
    assert!(told.contains("this run has no policy `truncate_oldes`"), "{told}");
    assert!(told.contains("did you mean `truncate_oldest.params.budget`?"), "{told}");
}

#[test]
fn a_parameter_that_nothing_reads_cannot_be_set() {
    let set = ["duckagent/duckagent_summary_history_recoverable_current.params.completed_exact.tokens=9"];
    let policies = vec!["duckagent/duckagent_summary_history_recoverable_current".to_owned()];
    let comparison = Comparison { policies, ..comparison("one", &set) };

    assert!(problems(&comparison).contains("the parameter `completed_exact` is never used"));
}

#[test]
fn a_parameter_that_no_policy_declares_is_a_problem() {
    let told = problems(&comparison("one", &["params.cab.tokens=1"]));

    assert_says(&told, &["`params.cab.tokens`", "did you mean `params.cap.tokens`?"]);
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

    assert_eq!((plan.report(Some(1), &|_, _| {}).unwrap().runs.len(), plan.n_simulations().unwrap()), (6, 3));
}

#[test]
fn an_event_without_the_value_that_it_needs_is_answered_with_that_value() {
    let answer = |event: &str| {
        let set = format!("scenario.load.aging.events=[{{session = 2, what = {event}}}]");
        problems(&comparison("aging/s5", &[&set]))
    };
    for event in ["memory_compaction", "partial_reset", "reduce_budget", "prompt_update"] {
        let told = answer(&format!("\"{event}\""));
        assert!(told.contains(&format!("`{event}` needs a value")), "{told}");
        assert!(told.contains(&format!("write `{{ {event} = … }}` with its value")), "{told}");
    }
    let told = answer("{ partial_reset = {} }");
    assert!(told.contains("missing field `share`") && told.contains("add `share`"), "{told}");
    let two = "scenario.load.aging.events=[{session = 2, what = \"recompact\"}, {session = 3, what = \"partial_reset\"}]";
    let told = problems(&comparison("aging/s5", &[two]));
    assert!(told.contains("one of `recompact`, `partial_reset` needs a value"), "{told}");
}

#[test]
fn a_value_may_be_written_as_in_a_policy_in_ron() {
    let size = |text: &str| {
        let spec = set(&format!("stages.history.when.prompt.above={text}"))?;
        Ok::<_, String>(format!("{:?}", spec.stages[0].when))
    };

    for (text, read) in [
        ("ratio(0.3)", "Ratio("),
        ("ratio(30%)", "Ratio("),
        ("tokens(40k)", "Tokens(40000)"),
        ("tokens(1e6)", "Tokens(1000000)"),
        ("min([tokens(40k), limit])", "Min([Tokens(40000), Limit])"),
        ("times(0.5, window)", "Times("),
        ("by_window(below: 200k, then: ratio(0.8), otherwise: limit)", "ByWindow { below: 200000"),
    ] {
        let told = size(text).unwrap();
        assert!(told.contains(read), "{text}: {told}");
    }
    let told = size("tokens(0.3)").unwrap_err();
    assert!(told.contains("whole number"), "{told}");
    for no_value in ["ratio(0.3", "ratio(0.3))", "a b(1)", "(1)", "plain"] {
        assert!(size(no_value).is_err(), "{no_value}");
    }
    let spec = set("stages.history.until.prompt.at_most.tokens=1e9").unwrap();
    assert!(format!("{:?}", spec.stages[0].until).contains("Tokens(1000000000)"));
    let spec = set("stages.history.when.prompt.above.ratio=70%").unwrap();
    assert!(format!("{:?}", spec.stages[0].when).contains("Ratio("));
}

/// Returns the cache rules of a profile after an override, or why there are none.
fn rules(text: &str) -> Result<Cache, String> {
    let profile = "(name: \"p\", about: \"a\", as_of: \"2026-01-01\", sources: [], cache: prefix_cap(min_tokens: 5), prices: [])";
    let mut files = [decode::<ProfileFile>(profile, Format::Ron).unwrap()];
    Override::parse(text).unwrap().apply(&mut files, |_| true).map_err(|it| it.to_string())?;
    Ok(files[0].cache.clone())
}

#[test]
fn cache_rules_keep_their_fields_under_another_name() {
    let interval = PrefixIntervalFields { min_tokens: Some(5), ..Default::default() };

    assert_eq!(rules("profile.cache=prefix_interval"), Ok(Cache::PrefixInterval(interval)));
    assert_eq!(rules("profile.cache=none"), Ok(Cache::None));
    assert!(rules("profile.cache=blocks").unwrap_err().contains("`min_tokens`"));
}

#[test]
fn fields_of_other_cache_rules_are_not_meant() {
    assert!(rules("profile.cache.units.min_tokens=5").is_err());
    let said = rules("profile.cache.min_tokens=5").unwrap_err();
    assert!(said.contains("did you mean `profile.cache.prefix_cap.min_tokens`?"), "{said}");
}
