//! Nothing is done twice: how often recordings are read, policies compiled and simulations played.

use ctxsim::counts::{Counts, counted};
use ctxsim::take::with_threads;

use crate::import::undo::{BY_ITSELF, compacted};
use crate::support::*;

const POLICIES: [&str; 4] =
    ["identity", "clear_tool_results", "sliding_window", "duckagent/immediate_summary"];

fn comparison(folder: &Path) -> Comparison {
    Comparison { own_models: true, ..comparing(&POLICIES, &[&folder.display().to_string()], &[]) }
}

fn plan(comparison: &Comparison) -> Plan {
    planned(comparison)
}

/// Counts work on one thread, so that all of it is counted.
fn on_one_thread(work: impl FnOnce() + Send) -> Counts {
    with_threads(Some(1), || counted(work).1)
}

/// A session of one compaction, by a model that is known.
fn with_compaction() -> String {
    compacted(BY_ITSELF).replace("\"model\":\"m\"", "\"model\":\"claude-opus-4-5-20251101\"")
}

fn pi() -> &'static str {
    include_str!("../data/recorded/pi-session.jsonl")
}

#[test]
fn a_recording_is_imported_once_a_policy_compiled_once_a_load_and_a_simulation_played_once() {
    let folder = folder_of_sessions("nets/plain", &[pi()]);
    let plan = plan(&comparison(&folder));

    let mut n_sampled = 0;
    let done = on_one_thread(|| {
        let report = plan.report(None, &|_, _| {}).unwrap();
        n_sampled = report.runs.iter().map(|it| u64::from(it.tally.n_played)).sum();
    });

    // The bill is compared with a policy of no run, which is compiled to find the run that is like it.
    let n_policies = POLICIES.len() as u64;
    assert_eq!((done.imports, done.compiled), (1, n_policies + 1), "{done:?}");
    assert_eq!(done.plays, plan.n_simulations().unwrap() as u64 + n_sampled, "{done:?}");
    assert_eq!(done.layouts, 0);
}

#[test]
fn a_recording_is_imported_once_under_all_assumptions_about_requests_that_no_log_has() {
    let sides = [
        ("none", HiddenRequest::None),
        ("usual", HiddenRequest::Usual),
        ("inferred", HiddenRequest::Inferred),
    ];
    let folder = folder_of_sessions(
        "nets/under",
        &[pi(), include_str!("../../scenarios/recorded/claude-code-session.jsonl")],
    );
    let policies = vec!["identity".to_owned()];
    let comparison = Comparison { policies, ..comparison(&folder) };
    let told = |load: &Load| {
        let timeline = load.timeline().unwrap();
        (load.name.clone(), timeline.harness, timeline.side_requests.clone(), timeline.assumptions.clone())
    };
    let plan = plan(&comparison);

    let mut under = Vec::new();
    let done = on_one_thread(|| {
        let one = |load: &Load, _: &(dyn Fn(usize, usize) + Sync)| {
            std::iter::once(load).chain(&load.under).map(told).collect::<Vec<_>>()
        };
        under = plan.map_loads_assuming(&sides.map(|it| it.1), None, &|_, _| {}, one).unwrap().0;
    });

    assert_eq!(done.imports, 2, "{done:?}");
    assert!(under.iter().all(|it| it.len() == sides.len()), "{under:?}");
    for (nth, (name, _)) in sides.iter().enumerate() {
        let set = vec![format!("scenario.load.recorded.assume.side_request={name}")];
        let alone = Plan::new(&bundled_catalog(), &Comparison { set, ..comparison.clone() }).unwrap();
        let alone = alone.map_loads(None, &|_, _| {}, |load, _| told(load)).unwrap();
        assert_eq!(under.iter().map(|it| it[nth].clone()).collect::<Vec<_>>(), alone, "{name}");
    }
    assert_ne!(under[1][0], under[1][1], "the usual side requests are assumed");
}

#[test]
fn a_session_with_compactions_is_played_once_in_each_layout_that_decides_or_bills_it() {
    let folder = folder_of_sessions("nets/compacted", &[&with_compaction()]);
    let plan = plan(&comparison(&folder));

    let done = on_one_thread(|| {
        plan.report(None, &|_, _| {}).unwrap();
    });

    // One compaction has two layouts: as recorded, and without it.
    assert_eq!((done.imports, done.layouts), (1, 1), "{done:?}");
    assert_eq!(done.plays, 2 * plan.n_simulations().unwrap() as u64, "{done:?}");
}

#[test]
fn what_differs_in_cache_rules_and_limits_alone_is_played_once_for_all_price_lists() {
    let folder = folder_of_sessions("nets/prices", &[pi()]);
    let suite = Some("sensitivity".to_owned());
    // A play with drawn needs answers for all of them, too.
    let set = vec!["scenario.refetch.played_trials=1".to_owned()];
    let plan = plan(&Comparison { own_models: false, suite, set, ..comparison(&folder) });

    let mut n_simulations = 0;
    let done = on_one_thread(|| {
        n_simulations = plan.sensitivity_to_profiles(None, &|_, _| {}).unwrap().n_simulations as u64;
    });

    // What is left are other counts of tokens, and limits that change what a policy does.
    assert!(n_simulations > 100 && done.plays * 3 < n_simulations, "{done:?} of {n_simulations}");
}

#[test]
fn a_comparison_learns_rows_and_broken_prefixes_from_the_plays_that_it_is_billed_by() {
    let folder = folder_of_sessions("nets/compared", &[&with_compaction()]);
    let plan = plan(&comparison(&folder));

    let done = on_one_thread(|| {
        plan.contrast_pairs(&[[0, 1], [0, 3]], None, &|_, _| {}).unwrap();
    });

    assert_eq!((done.imports, done.layouts), (1, 1), "{done:?}");
    assert_eq!(done.plays, 2 * plan.n_simulations().unwrap() as u64, "{done:?}");
}

#[test]
fn rows_of_a_session_that_a_policy_leaves_as_recorded_are_played_once() {
    let folder = folder_of_sessions("nets/rows", &[&with_compaction()]);
    let plan = plan(&Comparison { policies: vec!["identity".to_owned()], ..comparison(&folder) });

    let done = on_one_thread(|| {
        plan.map_loads(None, &|_, _| {}, Load::rows).unwrap();
    });

    assert_eq!((done.imports, done.plays, done.layouts), (1, 1, 0), "{done:?}");
}

#[test]
fn where_only_the_newest_are_asked_for_the_others_are_glanced_at_and_never_imported() {
    let later =
        pi().replace("\"timestamp\":\"2025-", "\"timestamp\":\"2026-").replace("\"id\":\"", "\"id\":\"b");
    let folder = folder_of_sessions("nets/newest", &[pi(), &later, &with_compaction()]);
    let plan = plan(&Comparison { limit: Some(1), ..comparison(&folder) });

    let done = on_one_thread(|| {
        assert_eq!(plan.report(None, &|_, _| {}).unwrap().sessions.len(), 1);
    });

    // What the index tells of a log need not be glanced at.
    assert_eq!((done.imports, done.glances, done.scans), (1, 2, 0), "{done:?}");
}

#[test]
fn what_ended_before_a_day_or_is_of_another_model_is_told_by_the_index_and_never_imported() {
    let older = with_compaction().replace("2026-01-01", "2025-01-01");
    let folder = folder_of_sessions("nets/since", &[&older, &with_compaction()]);
    let asked = Comparison { since: Some("2026-01-01".to_owned()), ..comparison(&folder) };
    let count = |comparison: &Comparison| {
        let mut n_sessions = 0;
        let done = on_one_thread(|| {
            n_sessions = plan(comparison).report(None, &|_, _| {}).map_or(0, |it| it.sessions.len());
        });
        (n_sessions, done.scans, done.imports, done.glances)
    };

    assert_eq!(count(&asked), (1, 2, 1, 0));
    assert_eq!(count(&Comparison { model: Some("sonnet".to_owned()), ..comparison(&folder) }), (0, 2, 0, 0));
}
