//! What mends a memory, by how much, and what it leaves; streams are few here, and `figures` has the published sizes.

use ctxsim::input::policy::memory::Overlay;

use super::*;

fn error(scenario: &str, policy: &str) -> f64 {
    summary(&load(scenario), 40, &memory(policy), model("mid")).mean("accumulator_error").unwrap()
}

#[test]
fn exact_totals_cut_the_error_by_a_third_and_are_never_a_perfect_oracle() {
    let (without, with) = (error("s2_20", "lossy"), error("s2_20", "lossy_overlay"));

    assert!((0.5..0.75).contains(&(with / without)), "{with} of {without}");
    let half = ctxsim::input::policy::memory::SessionMemory {
        overlay: Some(Overlay { marked: 0.5 }),
        ..memory("lossy")
    };
    let half = summary(&load("s2_20"), 40, &half, model("mid")).mean("accumulator_error").unwrap();
    assert!(with < half && half < without, "a change without a mark stays wrong");
}

#[test]
fn the_careful_prompt_alone_does_not_cut_the_error_of_balances_that_are_carried() {
    assert_eq!(error("s2_20", "careful"), error("s2_20", "lossy"));
    assert_eq!(error("s2_20", "lossy_1200"), error("s2_20", "lossy"), "nor do more words");
    assert!(error("s2_20", "careful_sum") < error("s2_20", "lossy_sum"));
}

#[test]
fn perfect_retrieval_and_perfect_context_each_leave_error_behind() {
    let all = summary(&load("s2_20"), 40, &memory("lossy"), model("mid"));
    let of = |name: &str| all.mean(name).unwrap();

    assert!(of("accumulator_error_p2") > 0.0 && of("accumulator_error_p3") > 0.0);
    assert!(of("accumulator_error_p3") < 0.25 * of("accumulator_error"));
    assert_eq!(of("accumulator_error_p2"), of("accumulator_error"), "a balance has no retrieval step");
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn an_early_trigger_beats_a_late_one_stream_by_stream_and_rewriting_the_past_backfires() {
    let of = load("s2_20_many");
    let error = |trial: u64, name: &str| {
        let stream = stream(&of, trial);
        let log = play(&stream, &[], &memory(name));
        let asked = log.asked.iter().filter_map(|it| {
            let ctxsim::worlds::aging::stream::Ask::Total { accumulator, at } = stream.probes[it.probe].ask
            else {
                return None;
            };
            let gold = stream.graph.total(accumulator as usize, at) as f64;
            Some((it.answers[0].total.unwrap_or(0.0) - gold).abs())
        });
        let errors: Vec<f64> = asked.collect();
        errors.iter().sum::<f64>() / errors.len() as f64
    };
    let mut sums = [0.0; 4];
    for trial in 0..400 {
        let names = ["controller_aggressive", "controller_conservative", "controller_retroactive", "lossy"];
        sums.iter_mut().zip(names).for_each(|(sum, name)| *sum += error(trial, name));
    }
    let [aggressive, conservative, retroactive, none] = sums;

    assert!(aggressive < conservative && conservative < none, "{sums:?}");
    assert!(retroactive > aggressive, "{sums:?}");
}

#[test]
fn a_run_keeps_its_keywords_while_its_total_is_off_from_the_third_session_on() {
    let of = load("s2_10");
    let stream = stream(&of, 2);
    let log = play(&stream, &[], &memory("careful"));
    let scores: Vec<f64> = log.sessions.iter().filter_map(|it| it.score).collect();
    let mut lines = String::new();
    for it in &log.asked {
        if let ctxsim::worlds::aging::stream::Ask::Total { at, .. } = stream.probes[it.probe].ask {
            let gold = stream.graph.total(0, at);
            let stated = it.answers[0].total.unwrap_or(f64::NAN);
            lines += &format!("session {}: total of session {at} is {gold}, stated {stated}\n", it.session);
        }
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;

    assert_snapshot("aging", "compounding", &format!("keyword recall {mean:.3}\n{lines}"));
}

#[test]
fn the_whole_history_summarised_anew_loses_to_a_compact_summary_right_after_a_session() {
    let recall = |name: &str| summary(&load("s6_12"), 40, &memory(name), model("mid")).mean("lag.1").unwrap();

    assert!(recall("growing_history") < 0.9 * recall("lossy"));
}

#[test]
fn violations_stay_near_none_while_precision_falls() {
    let all = summary(&load("s2_10"), 20, &memory("lossy"), model("mid"));

    assert!(all.mean("violation_rate").unwrap() < 0.05);
    assert!(all.mean("m0").unwrap() > 0.9 && all.mean("final").unwrap() < 0.5);
    let by_session: Vec<f64> = all.violations.iter().flatten().map(|it| it.mean).collect();
    assert_eq!(by_session.len(), 10, "every session asks for the constraints");
    let mean = by_session.iter().sum::<f64>() / 10.0;
    assert!((mean - all.mean("violation_rate").unwrap()).abs() < 1e-9);
}

#[test]
fn a_second_file_opened_for_a_question_lifts_recall_and_leaves_what_was_written_as_it_is() {
    let of = |name: &str| summary(&load("s7_10"), 40, &memory(name), model("mid"));
    let (one, two) = (of("workspace"), of("workspace_reread"));

    assert!(two.mean("mean").unwrap() > 1.1 * one.mean("mean").unwrap());
    assert!(two.mean("accumulator_error").unwrap() < one.mean("accumulator_error").unwrap());
    assert_eq!(two.mean("ws_fid"), one.mean("ws_fid"));
}
