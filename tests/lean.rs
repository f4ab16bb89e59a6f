//! What a library without the command line simulates: every bundled policy, and every suite but those that need a feature that is left out, which they name.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
#![cfg(all(feature = "bundled", not(feature = "cli")))]

use ctxsim::{Catalog, Comparison, Error};

/// What a build without a feature says: the code, the feature, and whether this build has it.
const LEFT_OUT: [(&str, &str, bool); 2] = [
    ("guard-metric", "worlds", cfg!(feature = "worlds")),
    ("world-missing", "worlds", cfg!(feature = "worlds")),
];

/// Returns the feature that a refusal names, which this build must lack; every problem must name it.
fn named(what: &str, error: &Error) -> &'static str {
    let mut features: Vec<&'static str> = Vec::new();
    for problem in error.problems() {
        let known = LEFT_OUT.iter().find(|it| it.0 == problem.code);
        let (_, feature, is_there) = known.unwrap_or_else(|| panic!("{what}: {error}"));
        assert!(!is_there, "{what}: {error}");
        let help = problem.help.unwrap_or_default();
        assert!(help.starts_with(&format!("enable its feature `{feature}`")), "{what}: {help}");
        features.push(*feature);
    }
    features[0]
}

#[test]
fn every_bundled_policy_is_simulated() {
    let catalog = Catalog::bundled();
    let mut playing = Comparison::new().policy("identity");
    for name in catalog.policies() {
        let asked = Comparison::new()
            .policy("identity")
            .policy(name)
            .scenario("duckagent/fix_test_loop")
            .profile("unlimited");
        match asked.plan() {
            // What a memory or a load of its own needs is refused for that reason, with any features.
            Err(error) if error.problems().iter().all(|it| it.code == "policy-unread") => {}
            Err(error) => panic!("{name}: {error}"),
            Ok(_) => playing = playing.policy(name),
        }
    }
    Comparison::new().scenario("recorded/claude-code").advise(None, None).unwrap();

    let report = playing.scenario("duckagent/fix_test_loop").profile("unlimited").run().unwrap();

    report.all_passed().unwrap();
    assert!(report.runs().len() > 150, "{}", report.runs().len());
    assert!(report.runs().iter().all(|it| it.prompt_max() > 0));
}

#[test]
fn every_bundled_suite_is_planned_or_names_the_feature_and_the_usual_one_runs() {
    let refused: Vec<String> = Catalog::bundled()
        .suites()
        .filter_map(|it| {
            let error = Comparison::new().suite(it).plan().err()?;
            Some(format!("{it}: {}", named(it, &error)))
        })
        .collect();

    assert_eq!(refused.is_empty(), cfg!(feature = "worlds"), "{refused:#?}");
    for usual in ["default", "field", "sensitivity"] {
        assert!(!refused.iter().any(|it| it.starts_with(&format!("{usual}:"))), "{refused:#?}");
    }
    Comparison::new().run().unwrap().all_passed().unwrap();
}
