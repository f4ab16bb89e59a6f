//! Policies of the field: each names its sources, each of its stages acts on a bundled load, and what it does there is locked.

mod first_edits;
mod measured;
mod pairs;
mod ranking;
mod reality;
mod second_edits;
mod settings;
mod targets;

use ctxsim::catalog::InputKind;

use crate::support::*;

/// The loads on which they are tried, in this order; the second has reasoning.
const LOADS: [&str; 2] = ["agents/coding_day", "recorded/claude-code"];

/// The profile under which they are tried: a window of 200,000 tokens.
const PROFILE: &str = "anthropic/claude-sonnet-4.5";

/// Loads for presets that act on longer histories alone, and a profile with a window of a million tokens.
const LARGE_LOADS: [&str; 2] = ["agents/coding_day", "field/long400_pauses"];
const LARGE_PROFILE: &str = "anthropic/claude-opus-4.6";

/// The names of all presets but those of the live grid, which has tests of its own.
fn names() -> Vec<String> {
    let is_tried = |it: &String| !it.starts_with("agents/agent_framework/");
    all_names().into_iter().filter(is_tried).collect()
}

fn all_names() -> Vec<String> {
    let catalog = bundled_catalog();
    catalog.names(InputKind::Policy).filter(|it| it.starts_with("agents/")).map(str::to_owned).collect()
}

/// The loads, each with all presets in the order of their names.
fn loads() -> Vec<Load> {
    opened(names(), LOADS, PROFILE)
}

/// The same for the larger loads.
fn large_loads() -> Vec<Load> {
    opened(names(), LARGE_LOADS, LARGE_PROFILE)
}

fn opened(policies: Vec<String>, loads: [&str; 2], profile: &str) -> Vec<Load> {
    let comparison = Comparison {
        policies,
        scenarios: loads.map(str::to_owned).to_vec(),
        profiles: vec![profile.to_owned()],
        ..Comparison::default()
    };
    let plan = planned(&comparison);
    let opened = plan.scenarios.iter().map(|it| plan.open(it).unwrap_or_else(|it| panic!("{it}")));
    opened.flatten().collect()
}

/// The timeline of a load.
fn timeline(load: &Load) -> &Timeline {
    load.timeline().unwrap_or_else(|| panic!("{} has no items", load.name))
}

#[test]
fn there_are_fifty_of_them_and_each_says_where_it_comes_from_and_how_well_that_is_known() {
    let loads = loads();
    let presets = &loads[0].policies;
    assert!(presets.len() >= 50, "{}", presets.len());
    for policy in presets {
        let name = &policy.name;
        assert!(!policy.sources.is_empty() && policy.as_of.is_some(), "{name} names no source or no day");
        let tag = policy.about.strip_suffix(']').and_then(|it| it.rsplit_once('[')).map(|it| it.1);
        let known = ["S", "D", "R", "2", "G", "PR", "measured"];
        let is_known = tag.is_some_and(|it| it.split(['/', ',']).all(|it| known.contains(&it.trim())));
        assert!(is_known, "{name} does not end with a tag of evidence: {}", policy.about);
    }
}
