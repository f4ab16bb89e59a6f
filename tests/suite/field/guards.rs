//! The suites `field-directions` and `field-counter` hold for other seeds, and so do the guards that a suite has no words for.

use ctxsim::price;

use super::*;

/// The seeds that are tried: three here, twenty where the reference is asked for, long sessions five.
fn seeds(n_all: u64) -> std::ops::RangeInclusive<u64> {
    1..=if std::env::var_os("CTXSIM_REFERENCE").is_some() { n_all } else { 2 }
}

/// A workload from another seed.
fn drawn(name: &str, seed: u64) -> Timeline {
    timeline(&ScenarioFile { seed, ..workload(name) })
}

fn cost(timeline: &Timeline, policy: &Policy, profile: &Profile) -> u128 {
    picodollars(&play(timeline, policy, profile), profile)
}

/// Runs a suite from seeds and returns what of it does not hold.
fn broken(suite: &str, seeds: impl Iterator<Item = u64>) -> Vec<String> {
    let mut told = Vec::new();
    for seed in seeds {
        let comparison =
            Comparison { suite: Some(suite.to_owned()), seed: Some(seed), ..Comparison::default() };
        let report = reported(&comparison);
        let verdicts = report.guard_verdicts.iter().filter(|it| !it.holds);
        told.extend(verdicts.map(|it| format!("seed {seed}: {it}")));
    }
    told
}

#[test]
fn the_published_directions_hold() {
    assert_eq!(broken("field-directions", seeds(20)), [] as [String; 0]);
}

#[test]
fn a_simulator_that_always_favours_batches_fails() {
    assert_eq!(broken("field-counter", seeds(5)), [] as [String; 0]);
}

#[test]
fn each_separate_pass_costs_four_times_an_aligned_one_and_the_session_ten_points_more() {
    let profile = profile("sonnet-5");
    for seed in seeds(20) {
        let timeline = drawn("triage_long", seed);
        let none = cost(&timeline, &policy("none"), &profile);
        let [aligned, separate] =
            ["compact", "compact_separate"].map(|it| play(&timeline, &policy(it), &profile));
        let passes = |rows: &ctxsim::ledger::Rows| -> Vec<u128> {
            let passes = rows.requests.iter().filter(|it| it.role == Role::Summariser);
            passes.map(|it| price::request(it, &profile.prices).unwrap().0).collect()
        };

        let pairs: Vec<(u128, u128)> = passes(&aligned).into_iter().zip(passes(&separate)).collect();
        assert!(!pairs.is_empty() && pairs.iter().all(|(one, other)| *other >= 4 * one), "{seed}: {pairs:?}");
        let [aligned, separate] = [aligned, separate].map(|it| picodollars(&it, &profile));
        assert!(separate >= aligned + none / 10, "{seed}: {aligned}, {separate} of {none}");
    }
}

#[test]
fn in_longer_sessions_compaction_overtakes_the_prune() {
    for seed in seeds(20) {
        let mut spec = ScenarioFile { seed, ..workload("triage_long") };
        let LoadSpec::Generate(generate) = &mut spec.load else { panic!("{} has no patterns", spec.name) };
        generate.patterns[0].times = 60;
        let timeline = timeline(&spec);
        for profile in ["sonnet-5", "gpt-5", "gpt-5.6-sol"].map(profile) {
            let [prune, compact] = ["prune", "compact"].map(|it| cost(&timeline, &policy(it), &profile));

            assert!(compact < prune, "{seed}: {compact} and {prune} under {}", profile.name);
        }
    }
}

#[test]
fn a_mark_in_front_of_the_turn_that_is_pruned_gives_back_what_long_turns_cost() {
    let (profile, timeline) = (profile("sonnet-5"), drawn("long400", 1));
    let marked = |name: &str, back: u8| {
        let text = format!(
            "(name: \"it\", about: \"it\", layout: (breakpoints: [(at: end_of(system)), (at: before_turn({back})), \
             (at: last_messages(n: 2))]))"
        );
        let layout: PolicyFile = decode(&text, Format::Ron).unwrap_or_else(|it| panic!("{it:?}"));
        let mut spec =
            bundled_catalog().policy(&format!("field/{name}")).unwrap_or_else(|it| panic!("{it}")).spec;
        spec.layout = layout.layout;
        cost(&timeline, &Policy::new(&spec).unwrap_or_else(|it| panic!("{it:#?}")), &profile)
    };
    let usual = |name: &str| cost(&timeline, &policy(name), &profile);
    let none = usual("none");

    assert_eq!(marked("prune", 0), usual("prune"), "behind what is pruned it helps nothing");
    assert!(marked("prune", 1) + none / 20 < usual("prune"));
    assert!(usual("clear_100k") > none && marked("clear_100k", 0) * 10 < none * 6);
}
