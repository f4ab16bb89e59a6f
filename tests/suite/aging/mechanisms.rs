//! All four mechanisms of ageing show in the lighter subset, and one that cannot show is one that cannot occur.

use ctxsim::worlds::aging::AgingSummary;

use crate::support::*;

fn report(suite: &str, scenario: &str) -> Report {
    let comparison = Comparison {
        suite: Some(suite.to_owned()),
        ..comparing(&[], &[&format!("aging/{scenario}")], &["aging/gpt-4o"])
    };
    reported(&comparison)
}

/// Returns a number of each memory.
fn numbers(report: &Report, name: &str) -> Vec<(String, f64)> {
    let of = |it: &ctxsim::take::Run| {
        Some((it.policy.trim_start_matches("aging/").to_owned(), it.found::<AgingSummary>()?.mean(name)?))
    };
    report.runs.iter().filter_map(of).collect()
}

fn number(report: &Report, name: &str, policy: &str) -> f64 {
    numbers(report, name).into_iter().find(|it| it.0 == policy).unwrap().1
}

#[test]
fn the_lighter_subset_shows_all_four_mechanisms() {
    let s6 = report("aging-lite", "s6_lite");

    let ceiling = number(&s6, "final", "full_context");
    assert!(number(&s6, "final", "lossy") < ceiling, "compression");
    assert!(number(&s6, "version_accuracy", "careful") < 1.0, "revision");
    for (policy, shock) in numbers(&s6, "shock") {
        match policy.as_str() {
            // What keeps nothing has nothing to lose.
            "no_memory" => assert_eq!(shock, 0.0),
            _ => assert!(shock < 0.0, "maintenance of {policy}: {shock}"),
        }
    }
    for policy in ["full_context", "append_only", "careful", "lossy", "workspace"] {
        let [right, confused] = ["binding", "confusion_rate"].map(|it| number(&s6, it, policy));
        assert!(right > 0.0 && right < 1.0, "interference of {policy}: {right}");
        assert!(confused > 0.0 || policy == "lossy", "{policy} confuses: {confused}");
    }
    let s2 = report("aging-lite", "s2");
    assert!(number(&s2, "accumulator_error", "lossy") > number(&s2, "accumulator_error", "full_context"));
}

#[test]
fn the_whole_suite_asks_for_what_can_be_confused_before_the_flush() {
    let s6 = report("aging-full", "s6");

    for (policy, right) in numbers(&s6, "binding") {
        match policy.as_str() {
            // Nothing is kept; and episodes of this length keep no figure that could be confused.
            "no_memory" | "lossy_episodic" => assert_eq!(right, 0.0, "{policy}"),
            _ => assert!(right > 0.0, "{policy}"),
        }
    }
}
