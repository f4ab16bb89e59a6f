//! What `validate` warns of: each rule finds its broken file and leaves the mended one alone.

use ctxsim::app::check::{WARNINGS, lint_input};
use ctxsim::catalog::{Catalog, InputKind};
use ctxsim::input::policy::lint::LINTS;

use crate::support::*;

fn codes(catalog: &Catalog, kind: InputKind, name: &str) -> Vec<&'static str> {
    lint_input(catalog, kind, name).unwrap().iter().map(|it| it.code.name()).collect()
}

#[test]
fn each_warning_finds_its_broken_file_and_not_the_mended_one() {
    let catalog = bundled_catalog();
    let folder = root().join("tests/lints");
    let of_policies = LINTS.iter().map(|it| (InputKind::Policy, "ron", it.code.name()));
    let of_others = [
        (InputKind::Policy, "ron", "lifetime-not-offered"),
        (InputKind::Suite, "toml", "breakpoints-unknown"),
        (InputKind::Profile, "toml", "price-unused"),
    ];
    let of_scenarios = WARNINGS.iter().map(|it| (InputKind::Scenario, "toml", it.name()));
    for (kind, ending, code) in of_policies.chain(of_scenarios).chain(of_others) {
        let file = |state: &str| folder.join(format!("{code}.{state}.{ending}")).display().to_string();
        assert_eq!(codes(&catalog, kind, &file("broken")), [code]);
        assert_eq!(codes(&catalog, kind, &file("mended")), Vec::<&str>::new(), "{code}");
    }
}

#[test]
fn bundled_scenarios_are_warned_of_nothing_but_the_needs_that_duckagent_itself_loses() {
    let catalog = bundled_catalog();
    let warned: Vec<&str> = catalog
        .names(InputKind::Scenario)
        .filter(|it| !codes(&catalog, InputKind::Scenario, it).is_empty())
        .collect();
    assert_eq!(warned, ["duckagent/large_mcp_or_web_result", "duckagent/validation_chat_mixed_work"]);
}

#[test]
fn bundled_policies_are_warned_of_nothing_that_their_files_do_not_allow_with_a_reason() {
    let catalog = bundled_catalog();
    for name in catalog.names(InputKind::Policy) {
        assert_eq!(codes(&catalog, InputKind::Policy, name), Vec::<&str>::new(), "{name}");
        for (code, reason) in &catalog.policy(name).unwrap().spec.allows {
            assert!(reason.len() > 10, "{name} allows {code} without a reason");
        }
    }
}

#[test]
fn a_policy_that_is_warned_of_is_valid_unless_it_is_held_to_warnings_too() {
    let validate = |more: &[&str]| {
        let args = [&["validate", "tests/lints/trigger-is-target.broken.ron"], more].concat();
        let output = ctxsim(root(), args);
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };

    let (code, text) = validate(&[]);
    assert_eq!(code, Some(0));
    assert_says(&text, &["warning[trigger-is-target]", "1 input is valid, with 1 warning"]);
    let (code, text) = validate(&["--strict"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("error[trigger-is-target]"), "{text}");
}
