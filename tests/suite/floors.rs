//! A floor of evidence is an absolute share: what the base keeps neither lowers nor raises it.

use ctxsim::catalog::InputKind;
use ctxsim::report::verdict::Verdict;

use crate::support::*;

/// Tunes a memory of a conversation on few trials.
fn tuned(base: &str, min_evidence: &str) -> Value {
    let text = out(&ctxsim(
        root(),
        [
            "tune",
            "--json",
            "--scenario",
            "context_decay/paper",
            "--profile",
            "anthropic/claude-sonnet-5",
            "--policy",
            "context_decay/sliding_window_summary",
            "--base",
            base,
            "--trials",
            "4",
            "--vary",
            "params.window.ratio=0.1,0.2,0.4",
            "--min-evidence",
            min_evidence,
        ],
    ));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_forgetful_base_does_not_lower_the_floor_of_a_memory() {
    let found = tuned("context_decay/naive_truncation", "0.9");

    let part = &found["parts"][0];
    assert_eq!(
        (part["kept_of"].as_str(), found["is_recommended"].as_bool()),
        (Some("facts found"), Some(false))
    );
    assert_eq!(found["why_not"], "base_below_floor");
    let shares = ["evidence_kept", "base_kept", "evidence_low"].map(|it| part[it].as_f64().unwrap());
    assert!(shares.iter().all(|it| (0.0..=1.0).contains(it)) && shares[0] > shares[1], "{shares:?}");
    let reason = found["reason"].as_str().unwrap();
    assert!(reason.contains("these keep more: ") && reason.contains("window.ratio="), "{reason}");
}

#[test]
fn a_floor_that_both_keep_is_passed_by_the_absolute_share() {
    let found = tuned("context_decay/naive_truncation", "0.05");

    assert_ne!(found["why_not"], "base_below_floor");
    assert_ne!(found["why_not"], "evidence");
}

/// What a report of the bundled session says of policies in this order.
fn verdict(policies: [&str; 3], min_evidence: f64) -> Verdict {
    let mut catalog = bundled_catalog();
    let stages = "(name: \"drop\", scope: (kinds: [user, assistant, reasoning]), apply: drop)";
    let file: PolicyFile =
        decode(&format!("(name: \"drop_users\", about: \"\", stages: [{stages}])"), Format::Ron).unwrap();
    catalog.add_built(InputKind::Policy, "drop_users", file, None);
    let comparison = Comparison {
        policies: policies.map(str::to_owned).to_vec(),
        scenarios: vec!["recorded/claude-code".to_owned()],
        own_models: true,
        ..Comparison::default()
    };
    let mut report = Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap();
    report.min_evidence = min_evidence;
    report.verdicts().remove(0)
}

#[test]
fn nothing_is_cheap_against_a_base_below_the_floor_and_what_keeps_more_is_named() {
    let found = verdict(["drop_users", "identity", "truncate_oldest"], 0.9);

    assert!(found.cheapest.is_none() && found.lossy.is_empty(), "{found:?}");
    assert!(found.baseline_keeps.is_some_and(|it| it < 0.8), "{found:?}");
    assert_eq!(found.keep_more[0].policy, "identity", "what keeps most stands first");
    let words = found.full_text();
    assert_says(&words, &["nothing is recommended for being cheap. These keep more: identity (100.0%"]);
}

#[test]
fn a_base_on_the_floor_is_a_measure_and_a_setting_passes_from_its_share_on() {
    let base = verdict(["identity", "drop_users", "truncate_oldest"], 0.9);
    let kept = base.lossy.iter().chain(&base.cheapest).find(|it| it.policy == "truncate_oldest");
    assert!(base.baseline_keeps.is_none() && base.cheapest.is_some(), "{base:?}");
    assert!(base.cheapest.as_ref().is_none_or(|it| it.policy != "drop_users"));

    let share = kept.and_then(|it| it.evidence_kept);
    if let Some(share) = share.filter(|_| kept.is_some_and(|it| it.change < Some(0.0))) {
        let at = verdict(["identity", "drop_users", "truncate_oldest"], share);
        let above = verdict(["identity", "drop_users", "truncate_oldest"], share + 1e-6);
        let is_chosen = |it: &Verdict| it.cheapest.as_ref().is_some_and(|it| it.policy == "truncate_oldest");
        assert!(is_chosen(&at) && !is_chosen(&above));
    }
}
